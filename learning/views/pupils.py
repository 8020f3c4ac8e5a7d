"""Pages of a pupil: type a code, choose a name, play, come back, and change the player."""

from __future__ import annotations

from uuid import uuid4

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from games.accounts.authentication import GUEST_KEY
from games.accounts.forms import refusal_add
from games.accounts.identity import pupil_enter, pupil_leave, pupil_of
from games.accounts.throttles import Guesses
from games.exceptions import PlayError, TooManyGuessesError
from games.live.game_view import game_view
from games.transport.error_responses import (
    form_only,
    not_found_response,
    redirect_back,
    refusal_response,
    too_many_response,
)
from games.transport.metrics import REFUSALS
from learning.exceptions import ClassNotFoundError, NoPupilError, PupilRemovedError
from learning.forms.classrooms import NAME_HELP, ClassCodeForm, JoinForm
from learning.kinds.class_results import final_view
from learning.models import Classroom, ClassStatus, Participant
from learning.selectors.classrooms import (
    classroom_by_secret,
    classroom_on_screen,
    final_on_pages,
    find_by_code,
    participant_of_browser,
    pupil_name,
)
from learning.services import participants as services
from learning.views.class_addresses import addresses_of
from learning.views.sharing import link_open

N_NAMES = 3
"""Number of generated names that a pupil can choose from."""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def class_code(request: HttpRequest) -> HttpResponse:
    """Show the field for a code. The code of a class leads to its page, a return code to the pupil's machine."""
    form, status = ClassCodeForm(request.POST or None), 200
    if request.method == "POST" and form.is_valid():
        try:
            with Guesses(request, request.user.pk).guard(wrong_guess=ClassNotFoundError):
                found = find_by_code(form.cleaned_data["code"])
        except TooManyGuessesError as error:
            return too_many_response(request, error.retry_after_s)
        except PlayError as error:
            REFUSALS.labels("page", error.code).inc()
            form.add_error("code", str(error))
            status = error.status
        else:
            if isinstance(found, Classroom):
                return redirect("class_join", found.secret)
            _enter(request, found)
            return redirect("class_me")
    return render(request, "classes/code.html", {"form": form}, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def class_join(request: HttpRequest, secret: str) -> HttpResponse:
    """Show the names to choose from, and add the pupil. Pupils of the class get their own page instead."""
    try:
        classroom = classroom_by_secret(secret)
    except ClassNotFoundError as error:
        return not_found_response(request, error)
    pupil = pupil_of(request.session)
    if pupil is not None and pupil["classroom"] == classroom.pk:
        return redirect("class_me")
    form, status = JoinForm(request.POST or None), 200
    words = [services.random_name_numbers() for _ in range(N_NAMES)]
    names = [(f"{first}-{second}", pupil_name(first, second)) for first, second in words]
    if request.method == "POST":
        chosen = request.POST.get("words", "")
        names = [(chosen, _name_of(chosen))] if _name_of(chosen) else names
    form.fields["words"].choices = names  # type: ignore[attr-defined]
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            participant = services.participant_join(
                classroom_id=classroom.pk,
                guest=data["guest"],
                name_numbers=data["words"],
                typed_name=data["typed_name"],
            )
        except PlayError as error:
            refusal_add(form, error)
            status = error.status
        else:
            _enter(request, participant)
            return redirect("class_me")
    context = {
        "classroom": classroom,
        "form": form,
        "guest": form["guest"].value() or uuid4().hex,
        "name_help": NAME_HELP,
        "is_closed": classroom.is_locked or classroom.status == ClassStatus.FINISHED,
    }
    return render(request, "classes/join.html", context, status=status)


def _name_of(words: str) -> str:
    """Return the generated name for a value of the form; an empty text for any other value."""
    first, _, second = words.partition("-")
    if not (first.isascii() and first.isdigit() and second.isascii() and second.isdigit() and len(words) < 10):
        return ""
    return pupil_name(int(first), int(second))


def _enter(request: HttpRequest, participant: Participant) -> None:
    pupil_enter(
        request.session,
        participant.guest,
        participant=participant.pk,
        classroom=participant.classroom_id,
        name=services.seat_name(participant),
        code=participant.code,
    )


def pupil_required(request: HttpRequest) -> Participant:
    """Return the pupil of the browser.

    The session is brought up to date: it forgets a pupil that was removed, and stores the changes of a merged pupil.

    Raises:
        NoPupilError, PupilRemovedError.
    """
    pupil = pupil_of(request.session)
    try:
        participant = participant_of_browser(pupil, request.session.get(GUEST_KEY, ""))
    except (NoPupilError, PupilRemovedError):
        pupil_leave(request.session)
        raise
    facts = (participant.pk, participant.code, services.seat_name(participant))
    if pupil is not None and (pupil["participant"], pupil["code"], pupil["name"]) != facts:
        _enter(request, participant)
    return participant


@never_cache
@require_safe
def class_me(request: HttpRequest) -> HttpResponse:
    """Show a pupil their machine and the table of the class."""
    if pupil_of(request.session) is None:
        return redirect("class_code")
    try:
        participant = pupil_required(request)
    except PlayError as error:
        return redirect_back(request, error, "class_code")
    context = {
        "participant": participant,
        "classroom": participant.classroom,
        "game": {"layout": game_view(participant.classroom.game_rules)["layout"]},
        "machine": participant.machine,
        "shown": final_on_pages(participant.classroom),
        "is_over": participant.classroom.status == ClassStatus.FINISHED,
    }
    return render(request, "classes/me.html", context)


@form_only("class_me")
def class_play(request: HttpRequest) -> HttpResponse:
    """Seat a pupil at the board against their machine."""
    try:
        return redirect(services.participant_play(pupil_required(request)).room)
    except (NoPupilError, PupilRemovedError) as error:
        return redirect_back(request, error, "class_code")
    except PlayError as error:
        return refusal_response(request, error, "class_me")


@form_only("class_me")
def class_leave(request: HttpRequest) -> HttpResponse:
    """Let another pupil use the browser. The machine waits for the return code."""
    pupil = pupil_of(request.session)
    pupil_leave(request.session)
    url = reverse("class_code")
    if pupil is not None:
        url = f"{url}?left={pupil['code']}"
    return redirect(url)


@never_cache
@require_safe
def class_screen(request: HttpRequest, secret: str) -> HttpResponse:
    """Show a class on a projector: code, link and table. The browser may then look at the machines of the class."""
    try:
        classroom = classroom_on_screen(secret)
    except ClassNotFoundError as error:
        return not_found_response(request, error)
    link_open(request, classroom.link_id)
    shown = final_on_pages(classroom)
    context = {
        "classroom": classroom,
        "shown": shown,
        "final_view": None if shown is None else final_view(classroom, shown),
        **addresses_of(request, classroom),
        "game": {"layout": game_view(classroom.game_rules)["layout"]},
    }
    response = render(request, "classes/screen.html", context)
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response
