"""Read boxes, and describe their slots and their present and earlier beads for pages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.urls import reverse

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.printed_set import printed_set
from beadbox.learners.boxes.rule import EmptyOpening, WhenEmpty
from beadbox.learners.boxes.table import boxes_compile
from beadbox.rules.errors import InvalidPositionError
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition, Symmetry
from beadbox.rules.outcome import Side
from games.live.states import MovesView, Placement, SlotView
from learning.exceptions import BoxNotFoundError, HistoryCompactedError
from learning.models import AnyBox, Change, Draw, Machine
from learning.selectors.machines import history_compacted_text
from learning.states import box_state

GARDNER_PRESETS = ("gardner-her", "gardner-her-reward")
"""The presets with the rule of Martin Gardner's hexapawn machine."""


MAX_SHOWN_BOXES = 20_000
"""Maximum number of boxes on a page: enough for all boxes of any game that can be listed."""


MAX_BOXES_WITH_DRAWINGS = 100
"""Maximum number of boxes of a machine for which Gardner's drawings are shown."""


def placement_view(symmetry: Symmetry) -> Placement:
    """Return, for clients, the symmetry that maps a printed box to the board."""
    return {
        "name": symmetry.name,
        "quarter_turns": symmetry.quarter_turns,
        "mirrored": symmetry.mirrored,
        "cells": list(symmetry.cells),
        "exchanged": symmetry.exchanged,
    }


def moves_view(game: AnyGame, moves: Sequence[AnyMove]) -> MovesView:
    """Return moves as text, as the ids of the cells that each move touches, and in words."""
    return {
        "moves": [game.format_move(move) for move in moves],
        "paths": [game.presentation.path_ids(move) for move in moves],
        "names": [game.presentation.describe_move(move) for move in moves],
    }


@lru_cache(maxsize=2000)  # called at every move of a live match, for every box opened in the match so far
def slots_view(cabinet: Cabinet, box_position: AnyPosition) -> list[SlotView]:
    """Return the bead (colour, mark) of each slot of a box, and the moves of the printed position that share the slot.

    Cached: callers share the result and must not change it.
    """
    game = cabinet.game
    view: list[SlotView] = []
    for printed, moves in zip(cabinet.slot_labels(box_position), cabinet.slot_classes(box_position), strict=True):
        bead = game.presentation.bead(box_position, printed)
        view.append(
            {
                "colour": bead.colour,
                "mark": bead.mark,
                "name": game.presentation.describe_move(printed),
                "printed": game.format_move(printed),
                "printed_path": game.presentation.path_ids(printed),
                **moves_view(game, moves),
            }
        )
    return view


def box_view(cabinet: Cabinet, box: AnyBox) -> dict[str, Any]:
    """Return a box in the form in which pages draw it."""
    position = cabinet.game.decode(box.position)
    return {
        **box_state(box),
        "board": list(cabinet.game.pieces(position)),
        "move_number": box.move_number,
        "ply": box.ply,
        "slots": slots_view(cabinet, position),
        "url": box.get_absolute_url(),
    }


def box_wall(machine: Machine) -> dict[str, Any]:
    """Return the boxes of a machine in order of play, at most :data:`MAX_SHOWN_BOXES`, in a compact form.

    Each distinct slot and piece is listed once, and boxes refer to their indices (:data:`BoxLabels`). A page of 10,000
    boxes stays small in this way.
    """
    rows = list(
        machine.boxes.order_by("ply", "position").values_list(
            "position", "move_number", "ply", "start", "beads", "visits"
        )[:MAX_SHOWN_BOXES]
    )
    cabinet = machine.cabinet
    if cabinet.game.listable:
        printed, slots, pieces = box_labels(cabinet)
    else:
        printed, slots, pieces = _box_labels(cabinet, [row[0] for row in rows])
    return {"slots": slots, "pieces": pieces, "boxes": [(*row, *printed[row[0]]) for row in rows]}


def box_totals(machine: Machine, wall: dict[str, Any]) -> tuple[int, int]:
    """Return the number of boxes of a machine and of beads in them.

    ``wall`` is the result of :func:`box_wall`; a query is needed only if it may not hold all boxes.
    """
    boxes = wall["boxes"]
    if len(boxes) < MAX_SHOWN_BOXES:
        return len(boxes), sum(sum(beads) for _, _, _, _, beads, *_ in boxes)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), coalesce(sum((SELECT sum(n) FROM unnest(beads) AS n)), 0)::bigint"
            " FROM learning_heldbox WHERE machine_id = %s",
            [machine.pk],
        )
        n_boxes, n_beads = cursor.fetchone()
        return n_boxes, n_beads


def bead_marks(machine: Machine) -> dict[int, list[str]]:
    """Return the letters of the beads of each colour in a machine's boxes."""
    cabinet = machine.cabinet
    if cabinet.game.listable:
        _, slots, _ = box_labels(cabinet)
    else:
        _, slots, _ = _box_labels(cabinet, list(machine.boxes.values_list("position", flat=True)))
    marks: dict[int, set[str]] = {}
    for slot in slots:
        marks.setdefault(slot["colour"], set()).add(slot["mark"])
    return {colour: sorted(marks[colour]) for colour in sorted(marks)}


def has_drawings(machine: Machine) -> bool:
    """Return whether Gardner's drawings can be shown beside the boxes: the machine has his rule, side and size."""
    return (
        machine.preset in GARDNER_PRESETS
        and machine.side == Side.SECOND
        and machine.game_rules.listable
        and machine.boxes.count() <= MAX_BOXES_WITH_DRAWINGS
    )


def drawings_view(machine: Machine) -> list[dict[str, Any]]:
    """Return every box as Gardner drew it, once or as a pair of mirror images, in order of play.

    Raises:
        BoxNotFoundError: the machine does not have Gardner's rule, side and size.
    """
    if not has_drawings(machine):
        raise BoxNotFoundError(f"Gardner made no drawings for a machine like {machine.name}.")
    cabinet = machine.cabinet
    game = cabinet.game
    groups: dict[str, dict[str, Any]] = {}
    for position in printed_set(cabinet):
        printed = cabinet.box_position(position)
        key = game.encode(printed)
        group = groups.setdefault(
            key,
            {
                "box": key,
                "move_number": cabinet.move_number(printed) + 1,
                "url": reverse("box", args=[machine.pk, key]),
                "drawings": [],
            },
        )
        slots = zip(slots_view(cabinet, printed), cabinet.slot_moves(position), strict=True)
        group["drawings"].append(
            {
                "position": game.encode(position),
                "board": list(game.pieces(position)),
                "slots": [{**slot, **moves_view(game, moves)} for slot, moves in slots],
            }
        )
    return sorted(groups.values(), key=lambda group: (group["move_number"], group["box"]))


BoxLabels = tuple[dict[str, tuple[list[int], list[int]]], list[Any], list[str | None]]
"""The indices of the pieces and slots of each box, by position; then the list of slots and the list of pieces."""


@lru_cache(maxsize=32)
def box_labels(cabinet: Cabinet) -> BoxLabels:
    """Return the pieces and slots of all boxes of a cabinet. Its game can be listed.

    Cached: callers share the result and must not change it.
    """
    return _box_labels(cabinet, boxes_compile(cabinet.game, cabinet.side, cabinet.rule).keys)


def _box_labels(cabinet: Cabinet, keys: Sequence[str]) -> BoxLabels:
    """Return the pieces and slots of the boxes at these positions."""
    slot_index: dict[str, int] = {}
    piece_index: dict[str | None, int] = {}
    views: list[Any] = []
    printed = {}
    for key in keys:
        position = cabinet.game.decode(key)
        slot_indices = []
        for view in slots_view(cabinet, position):
            text = repr(view)
            if text not in slot_index:
                slot_index[text] = len(views)
                views.append(view)
            slot_indices.append(slot_index[text])
        board = [piece_index.setdefault(piece, len(piece_index)) for piece in cabinet.game.pieces(position)]
        printed[key] = (board, slot_indices)
    return printed, views, list(piece_index)


def stop_sentence(machine: Machine) -> str:
    """Return a sentence for a machine with an empty first box that is never refilled; else an empty text."""
    rule = machine.box_rule
    if rule.when_empty is not WhenEmpty.RESIGN or rule.empty_opening is not EmptyOpening.STOP:
        return ""
    first = machine.boxes.filter(move_number=1).values_list("beads", flat=True)
    n_empty = sum(not any(beads) for beads in first)
    if not n_empty:
        return ""
    if machine.side == Side.FIRST:
        return "Its first box is empty, and its rule never fills it again: it refuses to play and resigns every game."
    boxes = "first box is" if n_empty == 1 else "first boxes are"
    return f"{n_empty} {boxes} empty, and its rule never fills them again: where it opens one, it resigns at once."


def box_get(machine: Machine, text: str) -> AnyBox:
    """Return the box that the machine opens in a position, which may be given in any orientation.

    Raises:
        BoxNotFoundError: the text is no position, or the machine has no box there.
    """
    cabinet = machine.cabinet
    try:
        position = cabinet.game.decode_as(text, cabinet.side)
    except InvalidPositionError as error:
        raise BoxNotFoundError(error.sentence) from None
    key = cabinet.game.encode(cabinet.box_position(position))
    box = machine.boxes.filter(position=key).first()
    if box is None:
        raise BoxNotFoundError(f"{machine.name} has no box for {text!r}.")
    return box


def boxes_at(machine: Machine, lesson_number: int) -> dict[str, list[int]]:
    """Return the beads of the boxes as they were after a lesson (0: at the start), by position, for the gallery.

    A single query is used, because the history may be compacted between two queries. A machine's lessons are written
    under its lock, so their ids ascend with their numbers, and so do the ids of a box's changes.

    Raises:
        HistoryCompactedError: the machine's history begins at a later lesson.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT box.position, coalesce(latest.after, box.start),"
            " (SELECT n_folded FROM learning_machine WHERE id = box.machine_id)"
            " FROM learning_heldbox box LEFT JOIN LATERAL ("
            " SELECT change.after FROM learning_change change WHERE change.box_id = box.id AND change.lesson_id <="
            " (SELECT max(id) FROM learning_lesson WHERE machine_id = %s AND number <= %s)"
            " ORDER BY change.lesson_id DESC, change.id DESC LIMIT 1"
            ") AS latest ON true WHERE box.machine_id = %s ORDER BY box.ply, box.position LIMIT %s",
            [machine.pk, lesson_number, machine.pk, MAX_SHOWN_BOXES],
        )
        rows = cursor.fetchall()
    if rows and lesson_number < rows[0][2]:
        raise HistoryCompactedError(history_compacted_text(rows[0][2]))
    return {position: beads for position, beads, _ in rows}


def box_history(box: AnyBox) -> QuerySet[Change]:
    """Return every change of a box, newest first, with its lesson and cause. A shared box has no changes."""
    return Change.objects.filter(box_id=box.pk).select_related("lesson__match__room").order_by("-lesson__number", "-pk")


def latest_draw(machine: Machine) -> dict[str, Any] | None:
    """Return the position and slot of the bead drawn last in a live match; ``None`` if no bead was drawn."""
    draw = Draw.objects.filter(machine=machine, slot__isnull=False).order_by("-pk").first()
    return None if draw is None else {"position": draw.position, "slot": draw.slot}
