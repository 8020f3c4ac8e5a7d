"""Pages of schedules, which start training runs automatically."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from games.accounts.forms import refusal_add
from games.accounts.principal import Principal
from games.accounts.views import account_required
from games.exceptions import PlayError
from games.transport.error_responses import form_only, not_found_response, refusal_response
from learning.access import machine_for, machines_visible
from learning.forms.runs import StageFormSet
from learning.forms.schedules import TimingForm, timing_to_form
from learning.kinds.machines import opponent_machines
from learning.models import Machine, Schedule
from learning.selectors import machines as selectors
from learning.selectors.schedules import (
    crontab_text,
    next_runs,
    schedule_for,
    schedule_line,
    schedules_of,
    sees_all_schedules,
    timezone_of,
    timezone_usual,
)
from learning.services import schedules as services_schedules
from learning.services.runs import Stage
from learning.services.schedules import Timing

schedule_account_required = account_required(
    "Log in to train a machine at times that you choose.",
    "Without an account you can play a machine, and it learns from each game.",
)


@schedule_account_required
@require_safe
def schedule_list(request: HttpRequest) -> HttpResponse:
    """Show the account's schedules, and the machines for which it can create a schedule."""
    assert request.user.pk is not None
    context = {
        "sees_all": sees_all_schedules(request.user),
        "schedules": [schedule_line(schedule, Principal.of(request.user)) for schedule in schedules_of(request.user)],
        "machines": [
            {"name": machine.name, "url": reverse("schedule_new", args=[machine.pk])}
            for machine in selectors.machine_list_of(request.user.pk)
        ],
    }
    return render(request, "learning/schedules.html", context)


@schedule_account_required
@require_http_methods(["GET", "HEAD", "POST"])
def schedule_new(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Show the form for opponents, games and times, and create the schedule."""
    try:
        machine = machine_for(request.user, machine_id, to="train")
    except PlayError as error:
        return refusal_response(request, error, reverse("machine", args=[machine_id]))
    stages, timing = _forms(request, machine)
    status = 200
    if request.method == "POST" and stages.is_valid() and timing.is_valid():
        data = timing.cleaned_data
        try:
            schedule = services_schedules.schedule_create(
                user=request.user,
                machine=str(machine.pk),
                stages=[Stage(**stage) for stage in stages.cleaned_data],
                timing=data["timing"],
                seed=data["seed"],
            )
            return redirect(schedule)
        except PlayError as error:
            refusal_add(timing, error)
            status = error.status
    context = {"machine": _brief(machine), "stages": stages, "timing": timing}
    return render(request, "learning/schedule.html", context, status=status)


@schedule_account_required
@require_http_methods(["GET", "HEAD", "POST"])
def schedule_page(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Show a schedule: its next runs, the outcome of its last run, and a form to change the schedule."""
    try:
        schedule = schedule_for(request.user, schedule_id)
    except PlayError as error:
        return not_found_response(request, error)
    is_own = schedule.owner_id == request.user.pk
    stages, timing = _forms(request, schedule.machine, schedule)
    status = 200
    if request.method == "POST" and stages.is_valid() and timing.is_valid():
        data = timing.cleaned_data
        try:
            services_schedules.schedule_update(
                user=request.user,
                schedule_id=schedule.pk,
                stages=[Stage(**stage) for stage in stages.cleaned_data],
                timing=data["timing"],
                seed=data["seed"],
                fresh_seed=data["seed"] is None,
            )
        except PlayError as error:
            refusal_add(timing, error)
            status = error.status
        else:
            messages.success(request, "The schedule was changed.")
            return redirect(schedule)
    context = {
        "schedule": {
            **schedule_line(schedule, Principal.of(request.user)),
            "next": next_runs(schedule),
            "zone": ZoneInfo(timezone_of(schedule.task) or "UTC"),
        },
        "machine": _brief(schedule.machine),
        "stages": stages,
        "timing": timing,
        "may_change": is_own or sees_all_schedules(request.user, "change"),
        "may_delete": is_own or sees_all_schedules(request.user, "delete"),
    }
    return render(request, "learning/schedule.html", context, status=status)


@form_only("schedule", "schedule_id")
@schedule_account_required
def schedule_pause(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Pause (``paused=on``) or resume a schedule."""
    try:
        schedule = services_schedules.schedule_update(
            user=request.user, schedule_id=schedule_id, paused=request.POST.get("paused") == "on"
        )
    except PlayError as error:
        return not_found_response(request, error)
    return redirect(schedule)


@schedule_account_required
@require_http_methods(["GET", "HEAD", "POST"])
def schedule_delete(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Delete a schedule after a confirmation page."""
    try:
        schedule = schedule_for(request.user, schedule_id, "delete")
        if request.method == "POST":
            services_schedules.schedule_delete(user=request.user, schedule_id=schedule_id)
            messages.success(request, "The schedule was deleted. Its runs are kept.")
            return redirect("schedules")
    except PlayError as error:
        return not_found_response(request, error)
    context = {
        "title": f"Delete this schedule of {schedule.machine.name}?",
        "words": "It will start no more runs. The runs that it started stay. The machine keeps what it has learnt.",
        "act": "Delete it",
        "back": schedule.get_absolute_url(),
    }
    return render(request, "learning/ask.html", context)


def _forms(request: HttpRequest, machine: Machine, schedule: Schedule | None = None) -> tuple[Any, TimingForm]:
    partners = opponent_machines(machine, machines_visible(request.user))
    initial: dict[str, Any] = {"timezone": timezone_usual(request.user)}
    if schedule is not None:
        interval = schedule.task.interval
        timing = (
            Timing(every=interval.every, period=interval.period)
            if interval
            else Timing(crontab=crontab_text(schedule.task))
        )
        initial |= {**timing_to_form(timing), "seed": schedule.seed}
        initial["timezone"] = timezone_of(schedule.task) or initial["timezone"]
    stages = StageFormSet(
        request.POST or None,
        form_kwargs={"game": machine.game_rules, "machines": partners},
        prefix="stage",
        initial=schedule.stages if schedule is not None else None,
    )
    return stages, TimingForm(request.POST or None, initial=initial)


def _brief(machine: Machine) -> dict[str, Any]:
    return {"id": machine.pk, "name": machine.name, "url": machine.get_absolute_url(), "learns": machine.learns}
