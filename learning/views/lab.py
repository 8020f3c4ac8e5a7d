"""Pages of the lab: make a machine, change it, look into all its boxes at any time, and ask why it moves."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from games.exceptions import PlayError
from games.selectors import game_view
from learning import selectors, selectors_boxes, selectors_strength, services
from learning.access import machine_for
from learning.core.machines.presets import ALL_PRESETS
from learning.exceptions import BoxNotFoundError, MachineNotFoundError
from learning.forms import MachineDetailsForm, MachineForm, machine_kinds, rule_to_form
from learning.models import Machine
from learning.views.pages import lesson_line
from learning.views.runs import not_found, refused


@login_required
@require_http_methods(["GET", "POST"])
def machine_new(request: HttpRequest) -> HttpResponse:
    """Make a machine from a preset, or with every field of its rule set by hand."""
    form = MachineForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        wanted = {key: form.cleaned_data[key] for key in ("game", "side", "name", "description", "is_public", "rule")}
        preset = "" if wanted["rule"] else form.cleaned_data["preset"]
        try:
            machine = services.machine_make(user=request.user, preset=preset, **wanted)
        except PlayError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{machine.name} is ready. It has learnt nothing yet: train it, or play it.")
            return redirect(machine)
    context = {
        "form": form,
        "kinds": machine_kinds(),
        "rules": {slug: rule_to_form(preset.rule) for slug, preset in ALL_PRESETS.items()},
    }
    return render(request, "learning/machine_new.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def machine_edit(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Rename, describe, freeze or publish a machine; the ways to make it forget or to delete it."""
    try:
        machine = machine_for(request.user, machine_id, to="edit")
        facts = {key: getattr(machine, key) for key in ("name", "description", "is_public", "learns")}
        form = MachineDetailsForm(request.POST or None, initial=facts)
        if request.method == "POST" and form.is_valid():
            services.machine_update(user=request.user, machine_id=machine.pk, **form.cleaned_data)
            return redirect(machine)
    except PlayError as error:
        return refused(request, error, reverse("machine", args=[machine_id]))
    return render(request, "learning/machine_edit.html", {"machine": _brief(machine), "form": form})


@login_required
@require_POST
def machine_set(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Freeze, resume, publish or hide a machine with one button of its page."""
    learns, is_public = (request.POST[key] == "on" if key in request.POST else None for key in ("learns", "is_public"))
    try:
        machine = services.machine_update(user=request.user, machine_id=machine_id, learns=learns, is_public=is_public)
    except PlayError as error:
        return refused(request, error, reverse("machine", args=[machine_id]))
    return redirect(machine)


@login_required
@require_POST
def machine_clone(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Copy a machine as it stands; the copy belongs to who asks."""
    try:
        name = request.POST.get("name", "").strip()[:80]
        copy = services.machine_copy(user=request.user, machine_id=machine_id, name=name)
    except PlayError as error:
        return refused(request, error, reverse("machine", args=[machine_id]))
    messages.success(request, f"{copy.name} is yours. It begins with the beads of the one it was copied from.")
    return redirect(copy)


@login_required
@require_http_methods(["GET", "POST"])
def machine_reset(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Let a machine forget everything; what would be lost is said first."""
    try:
        if request.method == "POST":
            machine = services.machine_reset(user=request.user, machine_id=machine_id)
            messages.success(request, f"{machine.name} has forgotten everything. Its boxes are as on the first day.")
            return redirect(machine)
        machine = machine_for(request.user, machine_id, to="edit")
    except PlayError as error:
        return refused(request, error, reverse("machine", args=[machine_id]))
    return _confirm(request, machine, "reset")


@login_required
@require_http_methods(["GET", "POST"])
def machine_delete(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Delete a machine; what would be lost is said first."""
    try:
        machine = machine_for(request.user, machine_id, to="edit")
        if request.method == "POST":
            services.machine_delete(user=request.user, machine_id=machine_id)
            messages.success(request, f"{machine.name} is gone.")
            return redirect("machines")
    except PlayError as error:
        return refused(request, error, reverse("machine", args=[machine_id]))
    return _confirm(request, machine, "delete")


def _confirm(request: HttpRequest, machine: Machine, act: str) -> HttpResponse:
    context = {"machine": _brief(machine), "act": act, "loss": selectors.machine_loss(machine)}
    return render(request, "learning/confirm.html", context)


@require_GET
def gallery(request: HttpRequest, machine_id: int) -> HttpResponse:
    """All boxes with filters, as they stand or as they stood after any lesson."""
    try:
        machine = machine_for(request.user, machine_id)
    except PlayError as error:
        return not_found(request, error)
    if machine.keeps_values:
        return redirect("values", machine.pk)
    first, last = selectors.lesson_span(machine)
    packed = selectors_boxes.box_gallery(machine)
    context = {
        "machine": _brief(machine),
        "packed": packed,
        "n_boxes": machine.boxes.count(),
        "n_shown": len(packed["boxes"]),
        "game": game_view(machine.rules),
        "drawn": selectors_boxes.draw_last(machine),
        "first": first,
        "last": last,
    }
    return render(request, "learning/gallery.html", context)


@require_GET
def boxes_at(request: HttpRequest, machine_id: int, number: int) -> HttpResponse:
    """The beads of all boxes as they stood after a lesson, and what that lesson was, for the time machine."""
    try:
        machine = machine_for(request.user, machine_id)
    except PlayError as error:
        return JsonResponse({"detail": str(error), "code": error.code}, status=error.status)
    number = min(number, machine.n_lessons)
    lesson = selectors.lesson_at(machine, number)
    line = lesson_line(lesson) if lesson else None
    return JsonResponse(
        {
            "number": number,
            "beads": selectors_boxes.boxes_at(machine, number),
            "lesson": line and {"sentence": line["sentence"], "when": line["age"].isoformat(), "url": line["url"]},
        }
    )


@require_GET
def why(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Why this move: a position typed or clicked together, in any orientation, and what the machine would do there."""
    try:
        machine = machine_for(request.user, machine_id)
    except PlayError as error:
        return not_found(request, error)
    if machine.keeps_values:
        return redirect("values", machine.pk)
    start = machine.rules.encode(machine.rules.initial_position())
    asked = request.GET.get("position", "").strip() or start
    wants_json = request.headers.get("Accept", "").startswith("application/json")
    problem = ""
    try:
        view = selectors_boxes.explore_view(machine, asked)
    except BoxNotFoundError as error:
        if wants_json:
            return JsonResponse({"detail": str(error), "code": error.code}, status=error.status)
        problem, view = str(error), selectors_boxes.explore_view(machine, start)
    if view["why"] and view["why"]["box"]:
        visits = selectors_strength.visit_probabilities(machine)
        view["why"]["visit"] = None if visits is None else visits.get(view["why"]["box_position"])
    if wants_json:
        return JsonResponse(view)
    context = {
        "machine": {**_brief(machine), "side_name": machine.get_side_display()},
        "view": view,
        "asked": asked,
        "problem": problem,
        "game": game_view(machine.rules),
    }
    return render(request, "learning/why.html", context, status=404 if problem else 200)


def _brief(machine: Machine) -> dict[str, Any]:
    return selectors.machine_brief(machine)


@require_GET
def drawings(request: HttpRequest, machine_id: int) -> HttpResponse:
    """The boxes of a machine after Gardner as he drew them, beside the fewer that a mirror leaves."""
    try:
        machine = machine_for(request.user, machine_id)
        groups = selectors_boxes.drawings_view(machine)
    except (MachineNotFoundError, BoxNotFoundError) as error:
        return not_found(request, error)
    moves: dict[int, dict[str, Any]] = {}
    for group in groups:
        number = group["move_number"]
        move = moves.setdefault(number, {"number": number, "n_drawings": 0, "n_boxes": 0})
        move["n_drawings"] += len(group["drawings"])
        move["n_boxes"] += 1
    context = {
        "machine": _brief(machine),
        "game": game_view(machine.rules),
        "groups": groups,
        "moves": list(moves.values()),
        "n_drawings": sum(move["n_drawings"] for move in moves.values()),
        "n_boxes": len(groups),
    }
    return render(request, "learning/drawings.html", context)
