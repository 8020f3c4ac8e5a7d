"""Draws and lessons of machines with boxes in a match, for the state of the room."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from django.urls import reverse

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.rule import BoxRule
from beadbox.rules.outcome import Result
from games.live.players import LiveSeat
from games.live.states import (
    BeadChange,
    DrawnBox,
    DrawState,
    LessonState,
    Placement,
    SlotOpened,
)
from games.models import Match
from learning.kinds.boxes.look import moves_view, placement_view, slots_view
from learning.models import Draw, Lesson, LessonKind, Machine
from learning.selectors.machines import machine_brief
from learning.selectors.matches import lesson_summary, nothing_learnt


class Entry(NamedTuple):
    """A lesson of a match with one of its changes of a box; the last four fields are ``None`` without a change."""

    machine_id: int
    kind: str
    ply: int | None
    position: str | None
    deltas: list[int] | None
    after: list[int] | None


def learnt_now(seats: Sequence[LiveSeat], draws: Sequence[Draw]) -> list[Entry]:
    """Return the entries that the match has just stored, from memory; an empty list if the ledger may hold more.

    A refill has a lesson of its own, so a match with refills is read from the ledger.
    """
    machine_changes = [(seat.occupant.machine, seat.occupant.learnt) for seat in seats if seat.occupant is not None]
    if any(touched is None for _, touched in machine_changes) or any(draw.refilled for draw in draws):
        return []
    lessons = [Entry(machine.pk, LessonKind.MATCH, None, None, None, None) for machine, _ in machine_changes]
    changes = [
        Entry(machine.pk, LessonKind.MATCH, box.ply, box.position, list(box.deltas), list(box.beads))
        for machine, touched in machine_changes
        for box in touched
        if any(box.deltas)
    ]
    return [*lessons, *sorted(changes, key=lambda entry: entry.ply or 0)]


def ledger_of(match: Match, machines: Collection[int]) -> list[Entry]:
    """Return the entries of all lessons of these machines in the match, refills included, in order of play."""
    change_fields = ("ply", "box__position", "deltas", "after")
    lessons = Lesson.objects.filter(match=match, machine__in=machines).order_by("changes__ply", "number", "changes__pk")
    return [
        Entry(*row)
        for row in lessons.values_list("machine_id", "kind", *(f"changes__{name}" for name in change_fields))
    ]


def lessons_view(
    match: Match,
    machines: dict[int, Machine],
    sides: dict[int, int],
    ledger: list[Entry],
    changes: list[BeadChange],
) -> list[LessonState]:
    """Return the lesson of the match for each machine, in order of side."""
    roles = match.room.game_rules.look.layout.roles
    learner_ids = {entry.machine_id for entry in ledger if entry.kind == LessonKind.MATCH}
    view: list[LessonState] = []
    for pk in sorted(sides, key=lambda pk: sides[pk]):
        machine, role, result = machines[pk], roles[sides[pk]], _result(match, sides[pk])
        deltas = [change["delta"] for change in changes if change["role"] == role and not change["refill"]]
        effect = _effect(deltas) if pk in learner_ids else nothing_learnt(match, machine, "beads")
        summary = lesson_summary(machine.name, result.name.lower(), effect, changed=pk in learner_ids and bool(deltas))
        view.append({"role": role, "machine": machine_brief(machine), **summary})
    return view


@lru_cache(maxsize=2000)
def _opened_box(
    cabinet: Cabinet, position_text: str, box: str
) -> tuple[Sequence[Sequence[Any]], list[SlotOpened], Placement]:
    """Return the moves of each slot of a box opened in a position, the slots in JSON, and the box's orientation.

    Cached: callers share the result and must not change it.
    """
    game, position = cabinet.game, cabinet.game.decode(position_text)
    (_, placement), moves_of_slots = cabinet.placed(position), cabinet.slot_moves(position)
    slots: list[SlotOpened] = [
        {**view, "slot": slot, **moves_view(game, moves)}
        for slot, (view, moves) in enumerate(zip(slots_view(cabinet, game.decode(box)), moves_of_slots, strict=True))
    ]
    return moves_of_slots, slots, placement_view(placement)


@lru_cache(maxsize=4096)
def _drawn_box(cabinet: Cabinet, machine_id: int, position: str) -> DrawnBox:
    """Return a machine's box in its printed orientation. Cached: callers share the result and must not change it."""
    printed = cabinet.game.decode(position)
    return {
        "position": position,
        "board": list(cabinet.game.pieces(printed)),
        "move_number": cabinet.move_number(printed) + 1,
        "url": reverse("box", args=[machine_id, position]),
    }


def draw_view(cabinet: Cabinet, draw: Draw, seat: LiveSeat, position_text: str, move: str | None) -> DrawState:
    """Return a draw that was made in a seat; ``position_text`` is the position before the move."""
    moves_of_slots, slots, orientation = _opened_box(cabinet, position_text, draw.position)
    total = sum(draw.beads)
    by_hand = seat.row.is_human
    # A machine that moves although the box is empty chooses among all legal moves at random.
    is_uniform = total == 0 and draw.slot is not None and not by_hand
    n_ways = sum(map(len, moves_of_slots)) if cabinet.rule.merge_symmetric_moves else len(moves_of_slots)
    chances = (
        _chance(beads, total, moves, n_ways, cabinet.rule, anything=is_uniform)
        for beads, moves in zip(draw.beads, moves_of_slots, strict=True)
    )
    return {
        "ply": draw.ply,
        "role": cabinet.game.look.layout.roles[seat.row.side],
        "box": _drawn_box(cabinet, draw.machine_id, draw.position),
        "symmetry": orientation,
        "slots": [
            {**slot, "beads": beads, "probability": chance}
            for slot, beads, chance in zip(slots, draw.beads, chances, strict=True)
        ],
        "slot": draw.slot,
        "move": move,
        "resigned": draw.slot is None,
        "refilled": draw.refilled,
        "anything": is_uniform,
        "by_hand": by_hand,
    }


def _chance(beads: int, total: int, moves: Sequence[Any], n_ways: int, rule: BoxRule, *, anything: bool) -> float:
    """Return the probability of drawing a slot with this number of beads and these moves.

    ``anything`` means that the box was empty, so one of ``n_ways`` equal choices was drawn at random.
    """
    if anything:
        return (len(moves) if rule.merge_symmetric_moves else 1) / n_ways
    return beads / total if total else 0.0


def changes_view(
    match: Match, machines: dict[int, Machine], sides: dict[int, int], ledger: list[Entry]
) -> list[BeadChange]:
    """Return the changes of slots that the match caused, refills included, in order of play."""
    roles = match.room.game_rules.look.layout.roles
    view: list[BeadChange] = []
    for entry in ledger:
        if entry.position is None or entry.deltas is None or entry.after is None:
            continue  # a lesson that changed nothing
        cabinet = machines[entry.machine_id].cabinet
        slots = slots_view(cabinet, cabinet.game.decode(entry.position))
        for slot, (delta, after) in enumerate(zip(entry.deltas, entry.after, strict=True)):
            if delta:
                view.append(
                    {
                        "ply": entry.ply,
                        "role": roles[sides[entry.machine_id]],
                        "box": entry.position,
                        "slot": slot,
                        "delta": delta,
                        "before": after - delta,
                        "after": after,
                        "colour": slots[slot]["colour"],
                        "mark": slots[slot]["mark"],
                        "name": slots[slot]["name"],
                        "refill": entry.kind == LessonKind.REFILL,
                    }
                )
    return view


def _result(match: Match, side: int) -> Result:
    if match.winner is None:
        return Result.DRAW
    return Result.WIN if match.winner == side else Result.LOSS


def _effect(deltas: Sequence[int]) -> str:
    """Return a sentence on a game's effect on a machine's beads; ``deltas`` are the changes of single slots."""
    if not deltas:
        return "Its beads do not change."
    if len(set(deltas)) > 1:
        return "The list shows how many beads each box gains or loses."
    subject = "The box that it used" if len(deltas) == 1 else "Each box that it used"
    (delta,) = set(deltas)
    beads = f"{abs(delta)} {'bead' if abs(delta) == 1 else 'beads'}"
    return f"{subject} {'gains' if delta > 0 else 'loses'} {beads} of the colour played."
