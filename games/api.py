"""The REST side of rooms: parse, call one service or selector, answer. The same road as the socket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from django.middleware.csrf import get_token
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import APIException
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from games import exceptions, services
from games.authentication import GUEST_KEY, ScopePermission, scope_require
from games.crowd import CROWD
from games.identity import address_of, guest_seated, person_of
from games.metrics import MOVE_SECONDS
from games.rules.errors import UnknownGameError
from games.rules.registry import GAMES, game_get
from games.selectors import game_view, room_positions
from games.serializers import (
    MoveSerializer,
    PositionsQuerySerializer,
    RefusalSerializer,
    ResetSerializer,
    RoomCreateSerializer,
    SeatedSerializer,
    SeatSerializer,
    StepSerializer,
    parse_room,
    parsed,
    refusals,
)
from games.states import GameList, GameShape, MatchBoards, RoomState
from games.throttles import Guesses

_STATE = {200: OpenApiResponse(RoomState, "The state: docs/protocol.md.")}
_TOKEN = OpenApiParameter("X-Seat-Token", str, OpenApiParameter.HEADER, description="Proves whose seat it is.")


class PublicView(APIView):
    """An endpoint that anybody may call; who may do what in a room is decided by its seats."""

    permission_classes = [ScopePermission]
    needs_scope = "play"


class RoomCodeView(PublicView):
    """An endpoint of a room by its code. A code that is wrong is a guess, and counts as one."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse who has guessed too often, and whoever acts when too many wait already."""
        super().initial(request, *args, **kwargs)
        if request.method == "POST":
            CROWD.admit()
        Guesses(request, request.user.pk).require(
            kwargs["code"], lambda: _person(request, kwargs["code"], _body(request))
        )

    def handle_exception(self, exc: Exception) -> Response:
        """Count a guess."""
        if isinstance(exc, exceptions.RoomNotFoundError):
            Guesses(self.request, self.request.user.pk).count()
        return super().handle_exception(exc)


def _body(request: Request) -> dict[str, Any]:
    """As much of the body as tells whose seat it is."""
    try:
        token = request.data.get("seat_token") if isinstance(request.data, dict) else None
    except APIException:
        return {}
    return {"seat_token": token} if isinstance(token, str) else {}


def _person(request: Request, code: str = "", data: dict[str, Any] | None = None) -> services.Person:
    """Who asks: by session or Bearer token, or by seat token in body or header. A bare role proves nothing.

    REST framework checks the CSRF token of accounts only, and a guest's session holds seats as well. A seat token that
    proves a seat in this room speaks for itself: it needs no CSRF token, and the guest's session does not count.
    """
    token = ((data or {}).get("seat_token") or request.headers.get("X-Seat-Token", ""))[:100]
    session = request._request.session if request.auth is None else None
    if session is not None and GUEST_KEY in session and request.method not in SAFE_METHODS:
        if token and services.room_is_of(code=code, person=services.Person(token=token)):
            session = None
        else:
            SessionAuthentication().enforce_csrf(request)
    return person_of(request.user, session, token, address_of(request))


@contextmanager
def _newcomer(request: Request, code: str = "") -> Iterator[services.Person]:
    """Who takes a seat in this block: a guest gets a number in the session, and the cookie to play on with it."""
    person = _person(request, code)
    if request.auth is not None or person.user_id is not None:
        yield person
        return
    get_token(request._request)
    with guest_seated(request._request, person) as guest:
        yield guest


def _seated(seated: services.Seated, status: int) -> Response:
    role = None if seated.side is None else seated.room.game_rules.look.layout.roles[seated.side]
    body = {"code": seated.room.code, "role": role}
    if seated.token:
        body["seat_token"] = seated.token
    return Response(body, status=status)


class GameListView(PublicView):
    """Every game there is."""

    @extend_schema(operation_id="games_list", responses={200: GameList})
    def get(self, request: Request) -> Response:
        """The games, with layout and opponents; of each family the usual one, with the slugs of its variants."""
        games = [game_view(game) for game in GAMES.values() if game.slug == game.family]
        return Response({"count": len(games), "next": None, "previous": None, "results": games})


class GameView(PublicView):
    """One game."""

    @extend_schema(responses={200: GameShape})
    def get(self, request: Request, slug: str) -> Response:
        """Everything needed to draw and start the game."""
        try:
            return Response(game_view(game_get(slug)))
        except UnknownGameError as error:
            return Response({"detail": str(error), "code": error.code}, status=404)


class RoomListView(PublicView):
    """Opens rooms."""

    @extend_schema(
        request=RoomCreateSerializer,
        # Of machines, which sit down by themselves: who is not there, and who plays the other side. And too many rooms.
        responses={201: SeatedSerializer, 404: RefusalSerializer, 409: RefusalSerializer},
    )
    def post(self, request: Request) -> Response:
        """Open a room and take a seat in it: the first side if you do not say; or host an exhibition in it."""
        asked = parse_room(request.data)
        if asked["takes_over"] and not asked["fresh"]:
            scope_require(request, "train")
        with _newcomer(request) as person:
            seated = services.room_create(person=person, **asked)
        return _seated(seated, 201)


class RoomView(RoomCodeView):
    """The state of a room."""

    @extend_schema(responses=_STATE)
    def get(self, request: Request, code: str) -> Response:
        """The state, for anybody who has the code."""
        return Response(services.room_look(code=code, person=_person(request)))


class RoomPositionsView(RoomCodeView):
    """The boards of the match that is being played, or was played last."""

    @extend_schema(parameters=[PositionsQuerySerializer], responses={200: MatchBoards})
    def get(self, request: Request, code: str) -> Response:
        """The board before the first move and after each, for anybody who has the code."""
        return Response(room_positions(code, **parsed(PositionsQuerySerializer, request.query_params)))


class RoomJoinView(RoomCodeView):
    """Takes the free seat."""

    @extend_schema(request=None, responses={200: SeatedSerializer, **refusals(exceptions.RoomFullError)})
    def post(self, request: Request, code: str) -> Response:
        """Take the free seat; 409 when both are taken."""
        with _newcomer(request, code) as person:
            seated = services.room_join(code=code, person=person)
        return _seated(seated, 200)


class RoomMoveView(RoomCodeView):
    """Plays a move."""

    @extend_schema(
        request=MoveSerializer,
        responses={
            **_STATE,
            **refusals(
                exceptions.MatchFinishedError,
                exceptions.MatchWaitingError,
                exceptions.StalePlyError,
                exceptions.NotYourTurnError,
            ),
        },
        parameters=[_TOKEN],
    )
    def post(self, request: Request, code: str) -> Response:
        """Play a move; the state after it and the machine's answer."""
        data = parsed(MoveSerializer, request.data)
        person = _person(request, code, data)
        begin = perf_counter()
        view = services.match_play_move(code=code, person=person, move=data["move"], ply=data.get("ply"))
        MOVE_SECONDS.observe(perf_counter() - begin)
        return Response(view)


class RoomStepView(RoomCodeView):
    """Lets an exhibition go on."""

    @extend_schema(
        request=StepSerializer,
        responses={
            **_STATE,
            **refusals(exceptions.NotAnExhibitionError, exceptions.MatchFinishedError, exceptions.StalePlyError),
        },
        parameters=[_TOKEN],
    )
    def post(self, request: Request, code: str) -> Response:
        """Let the players of an exhibition play one ply, or several; the state after it. For its host alone."""
        data = parsed(StepSerializer, request.data)
        person = _person(request, code, data)
        return Response(services.match_step(code=code, person=person, ply=data.get("ply"), plies=data["plies"]))


class RoomResignView(RoomCodeView):
    """Gives a match up."""

    @extend_schema(
        request=SeatSerializer,
        responses={**_STATE, **refusals(exceptions.MatchFinishedError, exceptions.MatchWaitingError)},
        parameters=[_TOKEN],
    )
    def post(self, request: Request, code: str) -> Response:
        """Resign the current match."""
        data = parsed(SeatSerializer, request.data)
        return Response(services.match_resign(code=code, person=_person(request, code, data)))


class RoomResetView(RoomCodeView):
    """Plays again."""

    @extend_schema(
        request=ResetSerializer,
        responses={
            **_STATE,
            **refusals(exceptions.MatchNotFinishedError, exceptions.CannotSwapError, exceptions.RoomQuotaError),
        },
        parameters=[_TOKEN],
    )
    def post(self, request: Request, code: str) -> Response:
        """Start a new match in the same room, sides swapped on request."""
        data = parsed(ResetSerializer, request.data)
        return Response(services.room_reset(code=code, person=_person(request, code, data), swap=data["swap"]))
