"""REST API of rooms: parse, call one service or selector, respond. Sockets call the same services."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from time import perf_counter
from typing import Any

from django.http.response import HttpResponseBase
from django.middleware.csrf import get_token
from django.utils.cache import get_conditional_response
from django.utils.decorators import method_decorator
from django.views.decorators.http import conditional_page
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from beadbox.rules.errors import UnknownGameError
from beadbox.rules.registry import GAMES, game_get
from games import exceptions
from games.accounts.authentication import GUEST_KEY, ScopePermission, SessionAuthentication, scope_require
from games.accounts.identity import guest_for_seat, origin_hash, principal_of, seat_token_of
from games.accounts.principal import Principal
from games.accounts.throttles import Guesses, LiveThrottle, RoomThrottle, TokenThrottle
from games.codes import parse_code
from games.limits.admission import ADMISSION
from games.live.game_view import game_view
from games.live.play import match_draw, match_play_move, match_resign, match_step
from games.live.room_state import room_positions
from games.live.rooms import (
    SeatResult,
    is_person_in_room,
    match_enter,
    room_create,
    room_enter,
    room_join,
    room_reset,
    room_state_get,
)
from games.live.serializers import (
    MoveSerializer,
    PositionsQuerySerializer,
    RefusalSerializer,
    ResetSerializer,
    RoomCreateSerializer,
    SeatedSerializer,
    SeatSerializer,
    StepSerializer,
    parse_data,
    parse_room,
    refusal_responses,
)
from games.live.states import GameList, GameShape, Joined, MatchBoards, RoomState
from games.transport.metrics import MOVE_SECONDS
from games.transport.paging import Page, parameter_names_require

_STATE_RESPONSE = {200: OpenApiResponse(RoomState, "The state: docs/protocol.md.")}
_PAGE_PARAMETERS = [OpenApiParameter(name, int) for name in ("limit", "offset")]
_TOKEN_PARAMETER = OpenApiParameter(
    "X-Seat-Token", str, OpenApiParameter.HEADER, description="The token that proves a seat."
)


class PublicView(APIView):
    """A public endpoint. The seats of a room decide on permissions in it."""

    permission_classes = [ScopePermission]
    needs_scope = "play"


@method_decorator(conditional_page, name="dispatch")
class PollingView(APIView):
    """An endpoint for polling by pages that have no socket. Responds 304 while nothing has changed."""

    def get_throttles(self) -> list[Any]:
        """Limit reads by the rate of live pages, and other requests by the usual rate."""
        if self.request.method in SAFE_METHODS:
            return [LiveThrottle(), TokenThrottle()]
        return super().get_throttles()


class RoomCodeView(PublicView):
    """An endpoint of a room by its code. An unknown code counts as a guess.

    Pages whose socket is blocked play here, so each seat has its own rate.
    """

    throttle_classes = (TokenThrottle, RoomThrottle, LiveThrottle)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Parse the code. Refuse clients with too many wrong guesses, and writes while too many requests wait."""
        code = self.kwargs["code"] = parse_code(kwargs["code"])
        super().initial(request, *args, **kwargs)
        if request.method == "POST" and ADMISSION.is_full:
            raise exceptions.BusyError
        Guesses(request, request.user.pk).require(lambda: is_person_in_room(code=code, person=_person(request, code)))

    def handle_exception(self, exc: Exception) -> Response:
        """Count an unknown room code as a guess."""
        if isinstance(exc, exceptions.RoomNotFoundError) and not isinstance(exc, exceptions.NotACodeError):
            Guesses(self.request, self.request.user.pk).count()
        return super().handle_exception(exc)


def _person(request: Request, code: str = "") -> Principal:
    """Return the caller, by session or Bearer token, and by the seat token in the body or header.

    REST framework checks the CSRF token only for accounts, but a guest's session holds seats too. A seat token that
    proves a seat in this room is sufficient: it needs no CSRF token, and the guest's session is ignored.
    """
    token = seat_token_of(request)
    session = request.session if request.auth is None else None
    if session is not None and GUEST_KEY in session and request.method not in SAFE_METHODS:
        if token and is_person_in_room(code=code, person=Principal(token=token)):
            session = None
        else:
            SessionAuthentication().enforce_csrf(request)
    return principal_of(request.user, session, token, origin_hash(request))


@contextmanager
def _person_for_seat(request: Request, code: str = "") -> Iterator[Principal]:
    """Yield the caller for a block that takes a seat. A guest gets a guest number and a session cookie."""
    person = _person(request, code)
    if request.auth is not None or person.user_id is not None:
        yield person
        return
    get_token(request)
    with guest_for_seat(request, person) as guest:
        yield guest


def _seat_response(seat_result: SeatResult, status: int) -> Response:
    role = None if seat_result.side is None else seat_result.room.game_rules.presentation.layout.roles[seat_result.side]
    body = {"code": seat_result.room.code, "role": role}
    if seat_result.token:
        body["seat_token"] = seat_result.token
    return Response(body, status=status)


class GameListView(PublicView):
    """The list of games, one for each family."""

    @extend_schema(operation_id="games_list", parameters=_PAGE_PARAMETERS, responses={200: GameList})
    def get(self, request: Request) -> Response:
        """List each family's standard game, with its layout, its opponents and the slugs of its variants."""
        page, games = Page(), [game for game in GAMES.values() if game.slug == game.family]
        return page.get_paginated_response([game_view(one) for one in page.paginate_queryset(games, request, self)])


class GameView(PublicView):
    """One game of a family of variants, by its slug."""

    @extend_schema(responses={200: GameShape})
    def get(self, request: Request, slug: str) -> Response:
        """Everything needed to draw and start the game."""
        try:
            return Response(game_view(game_get(slug)))
        except UnknownGameError as error:
            return Response({"detail": str(error), "code": error.code}, status=404)


class RoomListView(PublicView):
    """The collection of rooms, to which a request can add one."""

    @extend_schema(
        request=RoomCreateSerializer,
        # 404 and 409 come from the machines that sit down: no such machine, or the other side only. 409 is also the
        # room limit.
        responses={201: SeatedSerializer, 404: RefusalSerializer, 409: RefusalSerializer},
    )
    def post(self, request: Request) -> Response:
        """Open a room and take a seat in it, by default that of the first side. Or host an exhibition in it."""
        request_data = parse_room(request.data)
        if request_data["takes_over"] and not request_data["fresh"]:
            scope_require(request, "train")
        with _person_for_seat(request) as person:
            seat_result = room_create(person=person, **request_data)
        return _seat_response(seat_result, 201)


class RoomView(RoomCodeView):
    """The state of a room and its latest match."""

    @extend_schema(responses=_STATE_RESPONSE)
    def get(self, request: Request, code: str) -> HttpResponseBase:
        """The state of the room; the code suffices to read it. 304 if its ``ETag`` is that of ``If-None-Match``."""
        view = room_state_get(code=code, person=_person(request))
        return _conditional_response(request, Response(view), view)


class RoomMatchView(RoomCodeView):
    """The state of one match of a room."""

    @extend_schema(responses=_STATE_RESPONSE)
    def get(self, request: Request, code: str, number: str) -> Response:
        """Return the final state of the match with this number. For a match in play, return its current state."""
        return Response(match_enter(code=code, number=int(number), person=_person(request)).view)


class RoomJoinedView(RoomCodeView):
    """The first message of the room's socket."""

    @extend_schema(
        responses={200: OpenApiResponse(Joined, "As the frame `joined`: docs/protocol.md.")},
        parameters=[_TOKEN_PARAMETER],
    )
    def get(self, request: Request, code: str) -> HttpResponseBase:
        """Return the caller's role and the state, for a page without a socket. 304 as for the state."""
        joined = room_enter(code=code, person=_person(request)).joined
        return _conditional_response(request, Response(joined), joined["state"], joined["roles"], joined["host"])


def _conditional_response(request: Request, response: Response, view: RoomState, *more: Any) -> HttpResponseBase:
    """Return 304 if the client already has this version of the state, with the same ``more``."""
    version = (view["version"], [seat["hidden"] for seat in view["seats"]], *more)
    response["ETag"] = f'W/"{sha256(repr(version).encode()).hexdigest()[:16]}"'
    response["Cache-Control"] = "private, no-cache"
    answer = get_conditional_response(request, etag=response["ETag"], response=response)
    return response if answer is None else answer


class RoomPositionsView(RoomCodeView):
    """The boards of a match: the room's latest, or the requested one."""

    @extend_schema(parameters=[PositionsQuerySerializer], responses={200: MatchBoards})
    def get(self, request: Request, code: str) -> Response:
        """The board before the first move and after each; the code suffices to read them."""
        parameter_names_require(request, PositionsQuerySerializer().fields)
        return Response(room_positions(code, **parse_data(PositionsQuerySerializer, request.query_params)))


class RoomJoinView(RoomCodeView):
    """Takes the free seat of a room for the caller."""

    @extend_schema(request=None, responses={200: SeatedSerializer, **refusal_responses(exceptions.RoomFullError)})
    def post(self, request: Request, code: str) -> Response:
        """Take the free seat; 409 when both are taken."""
        with _person_for_seat(request, code) as person:
            seat_result = room_join(code=code, person=person)
        return _seat_response(seat_result, 200)


class RoomMoveView(RoomCodeView):
    """Plays a move for the caller in the room's current match."""

    @extend_schema(
        request=MoveSerializer,
        responses={
            **_STATE_RESPONSE,
            **refusal_responses(
                exceptions.MatchFinishedError,
                exceptions.MatchWaitingError,
                exceptions.StalePlyError,
                exceptions.NotYourTurnError,
            ),
        },
        parameters=[_TOKEN_PARAMETER],
    )
    def post(self, request: Request, code: str) -> Response:
        """Play a move. Return the state after it and the machine's answer."""
        data = parse_data(MoveSerializer, request.data)
        person = _person(request, code)
        started_at_s = perf_counter()
        view = match_play_move(code=code, person=person, move=data["move"], ply=data.get("ply"))
        MOVE_SECONDS.observe(perf_counter() - started_at_s)
        return Response(view)


class RoomStepView(RoomCodeView):
    """Plays an exhibition on, by its host."""

    @extend_schema(
        request=StepSerializer,
        responses={
            **_STATE_RESPONSE,
            **refusal_responses(
                exceptions.NotAnExhibitionError, exceptions.MatchFinishedError, exceptions.StalePlyError
            ),
        },
        parameters=[_TOKEN_PARAMETER],
    )
    def post(self, request: Request, code: str) -> Response:
        """Let the players of an exhibition play at most ``plies`` plies. Return the state after them. Host only."""
        data = parse_data(StepSerializer, request.data)
        person = _person(request, code)
        return Response(match_step(code=code, person=person, ply=data.get("ply"), max_plies=data["plies"]))


class RoomResignView(RoomCodeView):
    """Resigns the room's current match for the caller."""

    @extend_schema(
        request=SeatSerializer,
        responses={**_STATE_RESPONSE, **refusal_responses(exceptions.MatchFinishedError, exceptions.MatchWaitingError)},
        parameters=[_TOKEN_PARAMETER],
    )
    def post(self, request: Request, code: str) -> Response:
        """Resign the current match, and return its final state."""
        parse_data(SeatSerializer, request.data)
        return Response(match_resign(code=code, person=_person(request, code)))


class RoomDrawView(RoomCodeView):
    """Offers a draw in the room's current match for the caller, or accepts the other player's offer."""

    @extend_schema(
        request=SeatSerializer,
        responses={
            **_STATE_RESPONSE,
            **refusal_responses(exceptions.MatchFinishedError, exceptions.MatchWaitingError, exceptions.NoDrawError),
        },
        parameters=[_TOKEN_PARAMETER],
    )
    def post(self, request: Request, code: str) -> Response:
        """Offer a draw, or accept the other player's offer. A machine accepts at once. Return the state after that."""
        parse_data(SeatSerializer, request.data)
        return Response(match_draw(code=code, person=_person(request, code)))


class RoomResetView(RoomCodeView):
    """Starts a new match in a room after the end of the last one."""

    @extend_schema(
        request=ResetSerializer,
        responses={
            **_STATE_RESPONSE,
            **refusal_responses(
                exceptions.MatchNotFinishedError, exceptions.CannotSwapError, exceptions.RoomQuotaError
            ),
        },
        parameters=[_TOKEN_PARAMETER],
    )
    def post(self, request: Request, code: str) -> Response:
        """Start a new match in the same room, with sides swapped on request."""
        data = parse_data(ResetSerializer, request.data)
        return Response(room_reset(code=code, person=_person(request, code), swap=data["swap"]))
