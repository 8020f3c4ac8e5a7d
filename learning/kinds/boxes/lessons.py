"""Lessons of machines with boxes: how the machines learn from a match, and how a room's state shows the lesson."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from beadbox.learners.boxes.machine import BeadDraw
from beadbox.learners.boxes.open_memory import OpenMemory
from beadbox.learners.memory import TouchedBox
from beadbox.rules.outcome import RESIGNATION, UNFINISHED, Outcome, Result, Tally
from games.live.states import BeadChange, LessonState
from games.models import Match
from learning.kinds.boxes.look import slots_view
from learning.kinds.boxes.memory import BoxRows, boxes_fetch
from learning.kinds.live import EndedMatch, KindLive
from learning.models import Draw, Lesson, LessonKind, Machine
from learning.selectors.matches import lesson_summary, nothing_learnt


class MatchLesson(NamedTuple):
    """The effect of a match on a machine, not yet stored."""

    touched: list[TouchedBox]
    """The boxes of the match with their changes, in order of play."""
    n_removed: int
    """The number of slots that lost their last bead for good, since the machine was made."""
    tally: Tally


def teach_matches(machine: Machine, ended: Sequence[EndedMatch]) -> list[MatchLesson]:
    """Return the effects of these matches on a machine. Each match begins with the boxes after the match before it."""
    boxes = boxes_fetch(machine, {draw.position for match in ended for one in match.players for draw in one.draws})
    lessons: list[MatchLesson] = []
    for match in ended:
        (player,) = match.players  # a machine with boxes plays one side
        memory, result = _teach(player, match.outcome, boxes, lessons[-1].n_removed if lessons else None)
        tally = Tally()
        tally.add(result)
        touched = memory.touched()
        boxes |= {box.position: (box.beads, box.visits) for box in touched}
        lessons.append(MatchLesson(touched, memory.n_removed, tally))
    return lessons


def _teach(player: KindLive, outcome: Outcome, boxes: BoxRows, n_removed: int | None) -> tuple[OpenMemory, Result]:
    """Return the boxes that a machine opened in its seat, after it has learnt from the result, and that result."""
    machine = player.machine
    # A box without a row was deleted by a reset since the draw.
    opened = [draw for draw in player.draws if draw.position in boxes]
    with_bead = [draw for draw in opened if draw.slot is not None]
    result = Result.of(outcome, machine.cabinet.side)
    rule, resigned = machine.box_rule, bool(opened) and opened[-1].slot is None
    if player.row.is_human and result is Result.LOSS and outcome.termination == RESIGNATION:
        # A person resigned in the machine's seat. No empty box forced them, so the move before is not punished.
        rule, resigned = replace(rule, punish_previous_on_resign=False), True
    n_removed_before = machine.n_removed if n_removed is None else n_removed
    memory = OpenMemory.load(machine.game_rules, machine.cabinet.side, rule, boxes.get, n_removed_before)
    draws = [(draw.ply, BeadDraw(draw.position, tuple(draw.beads), draw.slot)) for draw in with_bead]
    memory.teach(draws, result, resigned=resigned, unfinished=outcome.termination in UNFINISHED)
    return memory, result


class Entry(NamedTuple):
    """A lesson of a match with one of its changes of a box; the last four fields are ``None`` without a change."""

    machine_id: int
    kind: str
    ply: int | None
    position: str | None
    deltas: list[int] | None
    after: list[int] | None


def entries_in_memory(
    learnt: Sequence[tuple[Machine, Sequence[TouchedBox] | None]], draws: Sequence[Draw]
) -> list[Entry]:
    """Return the entries that the match has just stored, without reading the ledger.

    The list is empty if the ledger may have more entries of the match. For example, a refill has a lesson of its own.
    """
    machine_changes = [(machine, touched) for machine, touched in learnt if touched is not None]
    if len(machine_changes) < len(learnt) or any(draw.refilled for draw in draws):
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
    roles = match.room.game_rules.presentation.layout.roles
    learner_ids = {entry.machine_id for entry in ledger if entry.kind == LessonKind.MATCH}
    view: list[LessonState] = []
    for pk in sorted(sides, key=lambda pk: sides[pk]):
        machine, role, result = machines[pk], roles[sides[pk]], _result(match, sides[pk])
        deltas = [change["delta"] for change in changes if change["role"] == role and not change["refill"]]
        effect = _effect(deltas) if pk in learner_ids else nothing_learnt(match, machine, "beads")
        summary = lesson_summary(machine.name, result.name.lower(), effect, changed=pk in learner_ids and bool(deltas))
        view.append({"role": role, "machine": machine.brief, **summary})
    return view


def changes_view(
    match: Match, machines: dict[int, Machine], sides: dict[int, int], ledger: list[Entry]
) -> list[BeadChange]:
    """Return the changes of slots that the match caused, refills included, in order of play."""
    roles = match.room.game_rules.presentation.layout.roles
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
