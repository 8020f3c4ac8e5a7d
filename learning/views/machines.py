"""Pages of a machine: show, create, change, copy, reset and delete it."""

from __future__ import annotations

from functools import partial

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from beadbox.learners.presets import ALL_PRESETS
from beadbox.seeds import MAX_SEED
from games.accounts.forms import refusal_add
from games.accounts.principal import Principal
from games.accounts.views import account_required
from games.exceptions import PlayError
from games.live.game_view import game_view
from games.transport.error_responses import form_only, not_found_response, refusal_response
from learning.access import can_edit, cause_hidden, is_lent, is_own, machine_for, machines_visible, may_use
from learning.exceptions import MachineNotFoundError
from learning.forms.machines import MachineDetailsForm, MachineForm, games_with, machine_kinds, usual_presets
from learning.forms.runs import seed_new
from learning.kinds.code import machine_code
from learning.kinds.machines import opponent_machines
from learning.kinds.registry import kind_of, kind_of_rule
from learning.models import Machine
from learning.selectors import machines as selectors
from learning.selectors import runs as selectors_runs
from learning.services import machines as services
from learning.services.copies import machine_copy
from learning.services.snapshots import snapshot_choose

account_or_guest_required = account_required(
    "Log in to change, share, reset or delete this machine.",
    "Without an account you can look at public machines and play against them.",
    lambda user: user.is_authenticated or getattr(user, "guest", None) is not None,
)
"""Decorator of pages for accounts and for guests with a guest number; other visitors have to log in first."""


@require_safe
def machine_page(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Show a machine: its results, memory, strength and rule."""
    try:
        machine = machine_for(request.user, machine_id)
    except MachineNotFoundError as error:
        return not_found_response(request, error)
    lessons = selectors.lesson_list_recent(machine).annotate(is_hidden=cause_hidden(Principal.of(request.user)))
    recent = [selectors.lesson_line(lesson, is_hidden=lesson.is_hidden) for lesson in lessons]
    learns_for_us = machine.learns and request.user.is_authenticated and can_edit(request.user, machine)
    is_lent_machine = is_lent(request.user, machine)
    common_context = {
        "game": game_view(machine.game_rules),
        "can_edit": can_edit(request.user, machine),
        "is_lent": is_lent_machine,
        "may_share": is_own(request.user, machine) and not machine.is_public,
        "is_guests": machine.guest is not None and not is_lent_machine,
        "is_public": machine.is_public,
        "runs": [] if is_lent_machine else selectors_runs.run_list_open(machine),
        "partners": opponent_machines(machine, machines_visible(request.user)) if learns_for_us else [],
        "seed": seed_new(),
        "max_seed": MAX_SEED,
        "recent": recent,
        "code": None if is_lent_machine else machine_code(machine, partial(may_use, request.user, to="export")),
    }
    kind = kind_of(machine)
    page = kind.page.machine_page(machine, kind.training.strength(machine), request.GET.dict())
    return render(request, page.template, common_context | page.context, status=page.status)


@account_required(
    "Log in to make a machine with a rule of your choice.",
    "Without an account you can teach a new machine by playing against it.",
)
@require_http_methods(["GET", "HEAD", "POST"])
def machine_new(request: HttpRequest) -> HttpResponse:
    """Create a machine from a preset, or with every field of its rule set by hand."""
    form = MachineForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        values = {key: form.cleaned_data[key] for key in ("game", "side", "name", "description", "is_public", "rule")}
        preset = "" if values["rule"] else form.cleaned_data["preset"]
        try:
            machine = services.machine_create_for_account(user=request.user, preset=preset, **values)
        except PlayError as error:
            refusal_add(form, error)
        else:
            messages.success(request, f"{machine.name} is ready. It has learnt nothing yet. Train it or play it.")
            return redirect(machine)
    context = {
        "form": form,
        "kinds": machine_kinds(),
        "usual": usual_presets(),
        "games": games_with(),
        "rules": {
            slug: kind_of_rule(preset.rule).page.rule_to_form(preset.rule) for slug, preset in ALL_PRESETS.items()
        },
    }
    return render(request, "learning/machine_new.html", context)


@account_or_guest_required
@require_http_methods(["GET", "HEAD", "POST"])
def machine_edit(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Rename, describe, freeze or publish a machine; show the links to reset or delete the machine."""
    try:
        machine = machine_for(request.user, machine_id, to="edit")
        facts = {key: getattr(machine, key) for key in ("name", "description", "is_public", "learns")}
        form = MachineDetailsForm(request.POST or None, initial=facts)
        if machine.guest is not None:
            del form.fields["is_public"], form.fields["learns"]
        if request.method == "POST" and form.is_valid():
            services.machine_update(user=request.user, machine_id=machine.pk, **form.cleaned_data)
            return redirect(machine)
    except PlayError as error:
        return refusal_response(request, error, reverse("machine", args=[machine_id]))
    return render(request, "learning/machine_edit.html", {"machine": machine.brief, "form": form})


@form_only("machine", "machine_id")
@account_required(
    "Log in to change this machine.", "Without an account you can look at public machines and play against them."
)
def machine_set(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Freeze, resume, publish or hide a machine with one button of its page."""
    learns, is_public = (request.POST[key] == "on" if key in request.POST else None for key in ("learns", "is_public"))
    try:
        machine = services.machine_update(user=request.user, machine_id=machine_id, learns=learns, is_public=is_public)
    except PlayError as error:
        return refusal_response(request, error, reverse("machine", args=[machine_id]))
    return redirect(machine)


@form_only("machine", "machine_id")
@account_required(
    "Log in to change what this machine plays by.",
    "Without an account you can look at public machines and play against them.",
)
def machine_snapshot(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Restore one of a machine's snapshots. The machine continues to play and to learn from there."""
    try:
        machine = snapshot_choose(user=request.user, machine_id=machine_id, choice=request.POST.get("snapshot", ""))
    except PlayError as error:
        return refusal_response(request, error, reverse("machine", args=[machine_id]))
    messages.success(request, f"{machine.name} is back at the snapshot. It continues to learn from there.")
    return redirect(f"{machine.get_absolute_url()}#kept")


@form_only("machine", "machine_id")
@account_required(
    "Log in to copy this machine and train the copy.",
    "Without an account you can look at public machines and play against them.",
)
def machine_clone(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Copy a machine in its current state; the copy belongs to the requesting account."""
    try:
        name = request.POST.get("name", "").strip()[:80]
        copy = machine_copy(user=request.user, machine_id=machine_id, name=name)
    except PlayError as error:
        return refusal_response(request, error, reverse("machine", args=[machine_id]))
    messages.success(request, f"{copy.name} is yours. It starts with everything that the original has learnt.")
    return redirect(copy)


@account_or_guest_required
@require_http_methods(["GET", "HEAD", "POST"])
def machine_reset(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Reset a machine, after a page that shows what would be lost."""
    try:
        if request.method == "POST":
            machine = services.machine_reset(user=request.user, machine_id=machine_id)
            messages.success(request, f"{machine.name} is reset. It knows nothing, as at its start.")
            return redirect(machine)
        machine = machine_for(request.user, machine_id, to="edit")
    except PlayError as error:
        return refusal_response(request, error, reverse("machine", args=[machine_id]))
    return _confirm(request, machine, "reset")


@account_or_guest_required
@require_http_methods(["GET", "HEAD", "POST"])
def machine_delete(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Delete a machine, after a page that shows what would be lost."""
    try:
        machine = machine_for(request.user, machine_id, to="delete")
        if request.method == "POST":
            services.machine_delete(user=request.user, machine_id=machine_id)
            messages.success(request, f"{machine.name} was deleted.")
            return redirect("machines")
    except PlayError as error:
        return refusal_response(request, error, reverse("machine", args=[machine_id]))
    return _confirm(request, machine, "delete")


def _confirm(request: HttpRequest, machine: Machine, act: str) -> HttpResponse:
    context = {
        "machine": machine.brief,
        "noun": kind_of(machine).page.text.noun,
        "act": act,
        "loss": selectors.machine_deletion_counts(machine),
    }
    return render(request, "learning/confirm.html", context)
