"""Pages of rooms. Each view parses the request, calls one service or selector, and responds."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.generic import TemplateView

from games.accounts.claims import WAITING_CODES_KEY
from games.accounts.identity import guest_for_seat, principal_of_request
from games.accounts.principal import Principal
from games.accounts.throttles import Guesses
from games.codes import parse_code
from games.exceptions import (
    MatchNotFoundError,
    PlayError,
    RoomNotFoundError,
    TooManyGuessesError,
)
from games.live import rooms
from games.live.game_view import game_view
from games.live.room_state import manageable_machine_ids
from games.live.rooms import RoomEntry, is_person_in_room, match_enter, room_enter
from games.live.serializers import RoomCreateSerializer, parse_room
from games.transport.error_responses import form_only, not_found_response, redirect_back, too_many_response


@form_only("lobby")
def room_create(request: HttpRequest) -> HttpResponse:
    """Open a room from the lobby or a machine's page, and redirect to it."""
    form = request.POST.copy()
    for name in form.keys() - RoomCreateSerializer().fields.keys():  # such as the CSRF token
        del form[name]
    try:
        data = parse_room(form)
        with guest_for_seat(request, principal_of_request(request)) as person:
            seat_result = rooms.room_create(person=person, **data)
    except PlayError as error:
        return redirect_back(request, error)
    return redirect(seat_result.room)


@form_only("lobby")
def room_join(request: HttpRequest) -> HttpResponse:
    """Take the free seat of a room by its code. If no seat is free, the visitor watches."""
    person = principal_of_request(request)
    try:
        code = parse_code(request.POST.get("code", ""))
        both = "both" in request.POST
        if not both and _is_waiting_in_room(request, code, person):
            return render(request, "games/against_yourself.html", {"code": code})
        with (
            Guesses(request, request.user.pk).guard(lambda: is_person_in_room(code=code, person=person)),
            guest_for_seat(request, person) as newcomer,
        ):
            rooms.room_join(code=code, person=newcomer, both=both)
    except TooManyGuessesError as error:
        return too_many_response(request, error.retry_after_s)
    except RoomNotFoundError as error:
        return redirect_back(request, error)
    except PlayError as error:
        messages.info(request, str(error))
    return redirect("room", code)


def _is_waiting_in_room(request: HttpRequest, code: str, person: Principal) -> bool:
    """Whether this browser already waits in the room, as the current user or as an account that has logged out."""
    with Guesses(request, request.user.pk).guard(lambda: is_person_in_room(code=code, person=person)):
        entry = room_enter(code=code, person=person)
    is_own = bool(entry.roles) or code in request.session.get(WAITING_CODES_KEY, ())
    return is_own and entry.view["status"] == "waiting"


@require_safe
def room_page(request: HttpRequest, code: str) -> HttpResponse:
    """Show the match page, to players and spectators. Another spelling of the code redirects to the room's address."""
    try:
        if (parsed_code := parse_code(code)) != code:
            return redirect("room", parsed_code)
        person = principal_of_request(request)
        with Guesses(request, request.user.pk).guard(lambda: is_person_in_room(code=code, person=person)):
            entry = room_enter(code=code, person=person)
    except TooManyGuessesError as error:
        return too_many_response(request, error.retry_after_s)
    except RoomNotFoundError as error:
        return not_found_response(request, error)
    machine_ids = manageable_machine_ids(entry.room, request.user)
    return _match_response(request, entry, is_host=entry.is_host, managed=machine_ids)


@require_safe
def match_page(request: HttpRequest, code: str, number: str) -> HttpResponse:
    """Show a finished match with its replay, at its own address. An unfinished match redirects to its room."""
    try:
        match_number = int(number) if number.isdecimal() and len(number) <= 20 else 0  # No match has the number 0.
        is_other_spelling = match_number and number != str(match_number)
        if (parsed_code := parse_code(code)) != code or is_other_spelling or request.path.endswith("/"):
            return redirect("match", parsed_code, match_number or number)
        person = principal_of_request(request)
        with Guesses(request, request.user.pk).guard(lambda: is_person_in_room(code=code, person=person)):
            entry = match_enter(code=code, number=match_number, person=person)
    except TooManyGuessesError as error:
        return too_many_response(request, error.retry_after_s)
    except MatchNotFoundError:
        return not_found_response(request, MatchNotFoundError(code, number[:20]), near=reverse("room", args=[code]))
    except RoomNotFoundError as error:
        return not_found_response(request, error)
    if entry.view["status"] != "finished":
        return redirect(entry.room)
    return _match_response(request, entry, number=entry.view["number"])


def _match_response(request: HttpRequest, entry: RoomEntry, **more: Any) -> HttpResponse:
    context = {
        "room": entry.room.code,
        "role": entry.role,
        "roles": entry.roles,
        "is_host": False,
        "managed": [],
        "state": entry.view,
        "game": game_view(entry.room.game_rules),
        "share_url": request.build_absolute_uri(request.path),
    }
    return render(request, "games/room.html", context | more)


class About(TemplateView):
    """The about page: how machines learn, keyboard shortcuts, and which data are kept how long."""

    template_name = "games/about.html"

    def get_context_data(self, **context: Any) -> dict[str, object]:
        """Add the configured retention times in days."""
        names = ("KEEP_GUEST_MATCHES_DAYS", "KEEP_MATCHES_DAYS", "KEEP_LOG_INS_DAYS")
        return super().get_context_data(**context, **{name.lower(): getattr(settings, name) for name in names})


about = About.as_view()
