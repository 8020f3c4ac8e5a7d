"""Pages of a teacher: the classes of the account, a new class, and one class with its pupils."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from beadbox.policies.registry import UNIFORM
from games.accounts.forms import refusal_add
from games.accounts.views import account_required
from games.exceptions import MalformedError, PlayError
from games.live.game_view import game_view
from games.transport.error_responses import form_only, refusal_response
from learning.access import row_id
from learning.forms.class_proposals import proposal_of
from learning.forms.classrooms import ClassForm
from learning.models import ClassStatus
from learning.selectors.classrooms import classroom_of, classrooms_of, final_of, pupils_of
from learning.services import classrooms as services
from learning.services import participants as services_participants
from learning.views.class_addresses import addresses_of, trials_of
from learning.views.sharing import link_open

teacher_required = account_required(
    "Log in to open a class.", "Pupils need no account. They join with the code of the class."
)


@teacher_required
@require_safe
def classroom_list(request: HttpRequest) -> HttpResponse:
    """Show the classes of the account."""
    return render(request, "classes/classes.html", {"classrooms": classrooms_of(request.user)})


@teacher_required
@require_http_methods(["GET", "HEAD", "POST"])
def classroom_new(request: HttpRequest) -> HttpResponse:
    """Show the form of a new class, with a forecast of what its machines will learn, or open the class."""
    form, status, proposal = ClassForm(request.POST or None), 200, None
    if request.method == "POST" and form.is_valid():
        try:
            if "propose" not in request.POST:
                return redirect(services.classroom_open(user=request.user, plan=form.plan()))
            proposal = proposal_of(form.plan())
        except PlayError as error:
            refusal_add(form, error)
            status = error.status
    return render(request, "classes/new.html", {"form": form, "proposal": proposal}, status=status)


@teacher_required
@never_cache
@require_safe
def classroom_page(request: HttpRequest, classroom_id: int) -> HttpResponse:
    """Show a class to its teacher: code and link, pupils, and what the teacher can do."""
    try:
        classroom = classroom_of(request.user, classroom_id)
    except PlayError as error:
        return refusal_response(request, error, "classes")
    link_open(request, classroom.link_id)
    context = {
        "classroom": classroom,
        **addresses_of(request, classroom),
        "pupils": pupils_of(classroom),
        "final": final_of(classroom),
        "opponent": UNIFORM[classroom.opponent].name,
        "game": {"layout": game_view(classroom.game_rules)["layout"]},
    }
    return render(request, "classes/class.html", context)


@teacher_required
@never_cache
@require_safe
def classroom_trial(request: HttpRequest, classroom_id: int) -> HttpResponse:
    """Show a teacher a QR code for each address of the site, and the results of tests by devices."""
    try:
        classroom = classroom_of(request.user, classroom_id)
    except PlayError as error:
        return refusal_response(request, error, "classes")
    context = {"classroom": classroom, **addresses_of(request, classroom), "trials": trials_of(request, classroom)}
    return render(request, "classes/trial.html", context)


@teacher_required
@form_only("classroom", "classroom_id")
def classroom_act(request: HttpRequest, classroom_id: int, action: str) -> HttpResponse:
    """Carry out the action of a button on the page of a class, and show the page again."""
    if action not in _CLASS_ACTIONS:
        raise Http404
    try:
        done = _CLASS_ACTIONS[action](request, classroom_id)
    except PlayError as error:
        return refusal_response(request, error, reverse("classroom", args=[classroom_id]))
    messages.success(request, done)
    return redirect("classes") if action == "delete" else redirect("classroom", classroom_id)


def _set_status(status: ClassStatus, done: str) -> Callable[[HttpRequest, int], str]:
    def act(request: HttpRequest, classroom_id: int) -> str:
        services.classroom_set_status(user=request.user, classroom_id=classroom_id, status=status)
        return done

    return act


def _set(done: str, *, is_locked: bool | None = None, hides_names: bool | None = None) -> Callable[..., str]:
    def act(request: HttpRequest, classroom_id: int) -> str:
        services.classroom_update(
            user=request.user, classroom_id=classroom_id, is_locked=is_locked, hides_names=hides_names
        )
        return done

    return act


def _final(request: HttpRequest, classroom_id: int) -> str:
    services.final_begin(user=request.user, classroom_id=classroom_id)
    return "The final begins. The projector shows it when it is ready."


def _final_cancel(request: HttpRequest, classroom_id: int) -> str:
    services.final_cancel(user=request.user, classroom_id=classroom_id)
    return "The final is cancelled."


def _reset(request: HttpRequest, classroom_id: int) -> str:
    n_machines = services.machines_reset(user=request.user, classroom_id=classroom_id)
    return f"All machines have their first beads again: {n_machines}."


def _delete(request: HttpRequest, classroom_id: int) -> str:
    services.classroom_delete(user=request.user, classroom_id=classroom_id)
    return "The class is deleted."


_CLASS_ACTIONS: Mapping[str, Callable[[HttpRequest, int], str]] = {
    "pause": _set_status(ClassStatus.PAUSED, "The class is paused. The machines wait."),
    "resume": _set_status(ClassStatus.OPEN, "The class is open. Everyone can play."),
    "finish": _set_status(ClassStatus.FINISHED, "The class is finished. Typed names are gone."),
    "lock": _set("The class takes no new pupils.", is_locked=True),
    "unlock": _set("New pupils can join.", is_locked=False),
    "hide": _set("The table shows numbers for names.", hides_names=True),
    "show": _set("The table shows names.", hides_names=False),
    "final": _final,
    "final-cancel": _final_cancel,
    "reset": _reset,
    "delete": _delete,
}


@teacher_required
@form_only("classroom", "classroom_id")
def pupil_act(request: HttpRequest, classroom_id: int, participant_id: int, action: str) -> HttpResponse:
    """Carry out the action of a button beside a pupil, and show the page of the class again."""
    if action not in _PUPIL_ACTIONS:
        raise Http404
    try:
        done = _PUPIL_ACTIONS[action](request, participant_id)
    except PlayError as error:
        return refusal_response(request, error, reverse("classroom", args=[classroom_id]))
    messages.success(request, done)
    return redirect("classroom", classroom_id)


def _remove(request: HttpRequest, participant_id: int) -> str:
    services_participants.participant_remove(user=request.user, participant_id=participant_id)
    return "The pupil is out of the class."


def _move(request: HttpRequest, participant_id: int) -> str:
    participant = services_participants.participant_move(user=request.user, participant_id=participant_id)
    return f"Type this return code at the other device: {participant.code}."


def _rename(request: HttpRequest, participant_id: int) -> str:
    name = request.POST.get("name", "")
    services_participants.participant_rename(user=request.user, participant_id=participant_id, name=name)
    return "The name is changed."


def _hide(request: HttpRequest, participant_id: int) -> str:
    services_participants.participant_hide(user=request.user, participant_id=participant_id, is_hidden=True)
    return "The table shows a number for this name."


def _show(request: HttpRequest, participant_id: int) -> str:
    services_participants.participant_hide(user=request.user, participant_id=participant_id, is_hidden=False)
    return "The table shows this name."


def _merge(request: HttpRequest, participant_id: int) -> str:
    into_id = _id_of(request.POST, "into")
    into = services_participants.participant_merge(user=request.user, participant_id=participant_id, into_id=into_id)
    return f"Both browsers now teach the machine of {into.public_name}."


def _id_of(data: QueryDict, field: str) -> int:
    number = row_id(data.get(field, ""))
    if number is None:
        raise MalformedError(f"{field}: Choose a pupil.")
    return number


_PUPIL_ACTIONS: Mapping[str, Callable[[HttpRequest, int], str]] = {
    "remove": _remove,
    "move": _move,
    "rename": _rename,
    "hide": _hide,
    "show": _show,
    "merge": _merge,
}


@require_safe
def class_privacy(request: HttpRequest) -> HttpResponse:
    """Show what a class stores, where, for how long, and the name of the operator."""
    context = {
        "operator": settings.OPERATOR,
        "contact": settings.OPERATOR_CONTACT,
        "match_days": settings.KEEP_GUEST_MATCHES_DAYS,
        "machine_days": settings.KEEP_GUEST_MACHINES_DAYS,
    }
    return render(request, "classes/privacy.html", context)
