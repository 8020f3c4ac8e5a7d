"""Pages of a machine's boxes: one box, all boxes now or earlier, why this move, and Gardner's drawings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from beadbox.policies.registry import UNIFORM
from games.accounts.principal import Principal
from games.exceptions import PlayError
from games.live.game_view import game_view
from games.transport.error_responses import not_found_response, refusal_json_response
from learning.access import cause_hidden, is_lent, machine_for
from learning.exceptions import BoxNotFoundError, HistoryCompactedError, MachineNotFoundError
from learning.kinds.boxes import look
from learning.kinds.boxes.look import box_get, box_history, box_view, drawings_view, latest_draw
from learning.kinds.boxes.page import box_gallery, visit_figures
from learning.kinds.boxes.training import box_visits, visits_of_box
from learning.kinds.boxes.why import explore_view
from learning.kinds.registry import kind_of
from learning.models import LessonKind
from learning.selectors import machines as selectors

HISTORY_PAGE = 50


@require_safe
def box_page(request: HttpRequest, machine_id: int, position: str) -> HttpResponse:
    """Show a box and every change of its beads."""
    try:
        machine = machine_for(request.user, machine_id)
        box = box_get(machine, position)
    except (MachineNotFoundError, BoxNotFoundError) as error:
        return not_found_response(request, error)
    view = box_view(machine.cabinet, box)
    hidden = cause_hidden(Principal.of(request.user), "lesson__")
    page = Paginator(box_history(box).annotate(is_hidden=hidden), HISTORY_PAGE).get_page(request.GET.get("page"))
    context = {
        "machine": {
            "id": machine.pk,
            "name": machine.name,
            "url": machine.get_absolute_url(),
            "folded_at": machine.folded_at,
        },
        "box_json": view,
        "box": {
            "position": box.position,
            "move_number": box.move_number,
            "n_beads": sum(box.beads),
            "n_draws": sum(box.visits),
            "start": list(zip(view["slots"], box.start, strict=True)),
            "visits": [(UNIFORM[slug].name, visits) for slug, visits in visits_of_box(machine, box.position)],
            "plies": None if machine.game_rules.always_ends else machine.game_rules.ply_limit,
        },
        "game": game_view(machine.game_rules),
        "page_obj": page,
        "history": [_history_line(change, view["slots"]) for change in page],
    }
    return render(request, "learning/box.html", context)


def _history_line(change: Any, slots: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a change of a box in the form of a line of its history."""
    lesson = change.lesson
    line = selectors.lesson_line(lesson, is_hidden=change.is_hidden)
    return {
        "when": lesson.created_at,
        "cause": "Filled again: it was empty." if lesson.kind == LessonKind.REFILL else line["sentence"],
        "url": line["url"],
        "changes": list(_bead_changes(change.deltas, slots)),
        "after": change.after,
    }


def _bead_changes(deltas: list[int], slots: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    for slot, delta in zip(slots, deltas, strict=True):
        if delta:
            yield {"mark": slot["mark"], "colour": slot["colour"], "name": slot["name"], "delta": delta}


@require_safe
def gallery(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Show all boxes with filters, as they are now or as they were after any lesson."""
    try:
        machine = machine_for(request.user, machine_id)
    except PlayError as error:
        return not_found_response(request, error)
    if (page_name := kind_of(machine).page.text.why) != "why":
        return redirect(page_name, machine.pk)
    first, last = selectors.lesson_span(machine)
    packed = box_gallery(machine)
    context = {
        "machine": machine.brief,
        "is_lent": is_lent(request.user, machine),
        "packed": packed,
        "n_boxes": machine.boxes.count(),
        "n_shown": len(packed["boxes"]),
        "game": game_view(machine.game_rules),
        "drawn": latest_draw(machine),
        "first": first,
        "last": last,
        "folded_at": machine.folded_at,
    }
    return render(request, "learning/gallery.html", context)


@require_safe
def boxes_at(request: HttpRequest, machine_id: int, number: int) -> HttpResponse:
    """Return the beads of all boxes as they were after a lesson, and the lesson in words, as JSON for the gallery."""
    try:
        machine = machine_for(request.user, machine_id)
    except PlayError as error:
        return refusal_json_response(error)
    number = min(number, machine.n_lessons)
    try:
        beads = look.boxes_at(machine, number)
    except HistoryCompactedError as error:
        return refusal_json_response(error)
    line = selectors.lesson_line_at(machine, number, Principal.of(request.user))
    return JsonResponse(
        {
            "number": number,
            "games": selectors.n_games_after_lesson(machine, number),
            "beads": beads,
            "lesson": line and {"sentence": line["sentence"], "when": line["age"].isoformat(), "url": line["url"]},
        }
    )


@require_safe
def why(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Explain the machine's choice in a position that is typed or set up by clicks, in any orientation."""
    try:
        machine = machine_for(request.user, machine_id)
    except PlayError as error:
        return not_found_response(request, error)
    if (page_name := kind_of(machine).page.text.why) != "why":
        return redirect(page_name, machine.pk)
    start = machine.game_rules.encode(machine.game_rules.initial_position())
    text = request.GET.get("position", "").strip() or start
    wants_json = request.headers.get("Accept", "").startswith("application/json")
    error_text = ""
    try:
        view = explore_view(machine, text)
    except BoxNotFoundError as error:
        if wants_json:
            return refusal_json_response(error)
        error_text, view = str(error), explore_view(machine, start)
    if view["why"] and view["why"]["box"]:
        view["why"]["visit"] = visit_figures(machine, box_visits(machine), view["why"]["box_position"])
    if wants_json:
        return JsonResponse(view)
    context = {
        "machine": {**machine.brief, "side_name": machine.get_side_display()},
        "view": view,
        "asked": text,
        "problem": error_text,
        "game": game_view(machine.game_rules),
    }
    return render(request, "learning/why.html", context, status=404 if error_text else 200)


@require_safe
def drawings(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Show Gardner's drawings of a machine's boxes; two drawings that are mirror images belong to one box."""
    try:
        machine = machine_for(request.user, machine_id)
        groups = drawings_view(machine)
    except (MachineNotFoundError, BoxNotFoundError) as error:
        return not_found_response(request, error)
    moves: dict[int, dict[str, Any]] = {}
    for group in groups:
        number = group["move_number"]
        move = moves.setdefault(number, {"number": number, "n_drawings": 0, "n_boxes": 0})
        move["n_drawings"] += len(group["drawings"])
        move["n_boxes"] += 1
    context = {
        "machine": machine.brief,
        "game": game_view(machine.game_rules),
        "groups": groups,
        "moves": list(moves.values()),
        "n_drawings": sum(move["n_drawings"] for move in moves.values()),
        "n_boxes": len(groups),
    }
    return render(request, "learning/drawings.html", context)
