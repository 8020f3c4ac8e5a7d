"""A machine with boxes in a live match: it opens a box, draws a bead, and learns from its draws after the match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import NamedTuple, cast

from django.db import transaction

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.machine import BeadDraw, BoxMachine
from beadbox.learners.boxes.open_memory import OpenMemory
from beadbox.learners.memory import TouchedBox
from beadbox.rules.game import AnyMove, AnyPosition
from beadbox.rules.outcome import RESIGNATION, UNFINISHED, Outcome, Result, Tally
from games.live.players import Choice, LiveMatch, LiveSeat, NotHeldError, Statement
from games.live.states import Insight
from learning import events
from learning.kinds.boxes.insight import changes_view, draw_view, learnt_now, ledger_of, lessons_view
from learning.kinds.boxes.memory import MEMORY, BoxRows, box_open, boxes_fetch, boxes_store
from learning.kinds.live import Ended, KindLive
from learning.kinds.occupants import DRAWN, draws_of, occupants_fetch
from learning.models import Draw, LessonKind, Machine
from learning.selectors.machines import machine_brief
from learning.states import box_news
from learning.storage.lessons import Cause, lessons_open


class BoxesLive(KindLive[BeadDraw]):
    """Live play in which each move opens a box and draws a bead; the machine learns from the draws after the match."""

    def choose(
        self, live: LiveMatch, seat: LiveSeat, machine: Machine, position: AnyPosition, rng: RandomSource
    ) -> Choice:
        """Draw a bead. Only a refill or a new box needs the machine's lock here."""
        opened = _open(live, seat, machine, position)
        if opened is None:  # the machine was deleted during the match, so nothing is played
            return Choice(None)
        machine, player, boxes = opened
        move, draw = player.choose(position, rng)
        return Choice(move, record=_refill_store(live, machine, boxes, draw))

    def follow(
        self, live: LiveMatch, seat: LiveSeat, machine: Machine, position: AnyPosition, move: AnyMove
    ) -> BeadDraw | None:
        """Return the draw that corresponds to a person's move in the machine's seat."""
        opened = _open(live, seat, machine, position)
        if opened is None:
            return None
        machine, player, boxes = opened
        return _refill_store(live, machine, boxes, player.follow(position, move))

    def remember(self, seat: LiveSeat, machine: Machine, records: Sequence[tuple[int, BeadDraw]]) -> Statement:
        """Return the statement that stores a machine's draws, and add the draws to the seat's occupant in memory."""
        rows = [
            [machine.pk, seat.row.pk, ply, draw.box, draw.slot, list(draw.beads), draw.refilled]
            for ply, draw in records
        ]
        if seat.occupant is not None:
            seat.occupant.draws += [Draw(**dict(zip(DRAWN, row, strict=True))) for row in rows]
        statement = Statement.insert(Draw, DRAWN, rows)
        _, last_draw = records[-1]
        if last_draw.slot is None:
            return statement
        return statement._replace(
            on_commit=partial(events.bead_drawn, machine, {"position": last_draw.box, "slot": last_draw.slot})
        )

    def learn(self, machine: Machine, ended: Sequence[Ended]) -> Sequence[TouchedBox]:
        """Learn from all matches together: one query reads the boxes, and two statements store the lessons."""
        results = taught_by(machine, ended)
        machine.n_removed = results[-1].n_removed
        causes = [
            Cause(result.tally, match_id=match.live.match.pk) for result, match in zip(results, ended, strict=True)
        ]
        lessons = lessons_open(machine, LessonKind.MATCH, causes)
        touched = [result.touched for result in results]
        boxes_store(machine, dict(zip(lessons, touched, strict=True)))
        for result, match in zip(results, ended, strict=True):
            for seat in match.seats:
                seat.occupant.learnt = result.touched
        return list(chain.from_iterable(touched))

    def insight(self, live: LiveMatch, seats: list[LiveSeat]) -> Insight | None:
        """Return ``learning`` of a room's state: draws and lessons of the machines in these seats.

        docs/protocol.md describes its fields.
        """
        seated = [(seat, seat.occupant.machine) for seat in seats if seat.occupant is not None]
        machines: dict[int, Machine] = {machine.pk: machine for _, machine in seated}
        draws = draws_of(*seats)
        if not machines or not (draws or live.match.is_over):
            return None
        game = live.game
        plies = {ply.number: ply for ply in live.plies}
        position_before = {ply.number + 1: ply.position for ply in plies.values()}
        position_before[0] = game.encode(game.initial_position())
        by_id = {seat.row.pk: seat for seat in seats}
        views = []
        for draw in draws:
            ply = plies.get(draw.ply) if draw.slot is not None else None
            cabinet = machines[draw.machine_id].cabinet
            views.append(
                draw_view(cabinet, draw, by_id[draw.seat_id], position_before[draw.ply], ply.move if ply else None)
            )
        last_draw = draws[-1] if draws else None
        # Without a draw, the match ended before the machine's first move.
        seat = by_id[last_draw.seat_id] if last_draw else seated[0][0]
        machine = machines[last_draw.machine_id] if last_draw else next(iter(machines.values()))
        insight: Insight = {
            "role": game.look.layout.roles[seat.row.side],
            "machine": machine_brief(machine),
            "box": last_draw.position if last_draw else None,
            "beads_before": last_draw.beads if last_draw else None,
            "slot": last_draw.slot if last_draw else None,
            "draws": views,
            "lesson": None,
            "lessons": [],
            "changes": [],
        }
        if live.match.is_over:
            sides = {machine.pk: seat.row.side for seat, machine in seated}
            entries = learnt_now(seats, draws) or ledger_of(live.match, machines)
            insight["changes"] = changes_view(live.match, machines, sides, entries)
            insight["lessons"] = lessons_view(live.match, machines, sides, entries, insight["changes"])
            lesson = next(lesson for lesson in insight["lessons"] if lesson["role"] == insight["role"])
            insight["lesson"] = {"result": lesson["result"], "sentence": lesson["sentence"]}
        return insight

    def frozen_policy(self, machine: Machine, position: AnyPosition) -> BoxMachine:
        """Return a machine that does not learn, with only the box that this position opens."""
        cabinet = machine.cabinet
        player = BoxMachine(cabinet.game, cabinet.side, cabinet.rule, n_removed=machine.n_removed, learns=False)
        if cabinet.has_box(position):
            key = cabinet.game.encode(cabinet.box_position(position))
            box = boxes_fetch(machine, [key]).get(key)
            if box is not None:
                player.boxes[key] = list(box[0])
        return player


class Taught(NamedTuple):
    """The result of learning from a match: changed boxes in order of play, removed slots so far, and the tally."""

    touched: list[TouchedBox]
    n_removed: int
    tally: Tally


def taught_by(machine: Machine, ended: Sequence[Ended]) -> list[Taught]:
    """Teach a machine these matches in order, each with the boxes as the match before left them. Nothing is stored."""
    seats = [seat for match in ended for seat in match.seats]
    boxes = boxes_fetch(machine, {draw.position for draw in draws_of(*seats)})
    lessons: list[Taught] = []
    for match in ended:
        (seat,) = match.seats  # a machine with boxes plays one side
        memory, result = _teach(machine, seat, match.outcome, boxes, lessons[-1].n_removed if lessons else None)
        tally = Tally()
        tally.add(result)
        touched = memory.touched()
        boxes |= {box.position: (box.beads, box.visits) for box in touched}
        lessons.append(Taught(touched, memory.n_removed, tally))
    return lessons


def _teach(
    machine: Machine, seat: LiveSeat, outcome: Outcome, boxes: BoxRows, n_removed: int | None
) -> tuple[OpenMemory, Result]:
    """Return the boxes that a machine opened in its seat, after it has learnt from the result, and that result."""
    # A box without a row was deleted by a reset since the draw.
    opened = [draw for draw in draws_of(seat) if draw.position in boxes]
    with_bead = [draw for draw in opened if draw.slot is not None]
    result = Result.of(outcome, machine.cabinet.side)
    rule, resigned = machine.box_rule, bool(opened) and opened[-1].slot is None
    if seat.row.is_human and result is Result.LOSS and outcome.termination == RESIGNATION:
        # A person resigned in the machine's seat. No empty box forced them, so the move before is not punished.
        rule, resigned = replace(rule, punish_previous_on_resign=False), True
    n_removed_before = machine.n_removed if n_removed is None else n_removed
    memory = OpenMemory.load(machine.game_rules, machine.cabinet.side, rule, boxes.get, n_removed_before)
    draws = [(draw.ply, BeadDraw(draw.position, tuple(draw.beads), draw.slot)) for draw in with_bead]
    memory.teach(draws, result, resigned=resigned, unfinished=outcome.termination in UNFINISHED)
    return memory, result


def _open(
    live: LiveMatch, seat: LiveSeat, machine: Machine, position: AnyPosition
) -> tuple[Machine, BoxMachine, BoxRows] | None:
    """Return the machine's row, its player for this position, and the box that it opens there, if any.

    ``None`` if the machine has been deleted.
    """
    cabinet = machine.cabinet
    player = BoxMachine(cabinet.game, cabinet.side, cabinet.rule, learns=machine.learns)
    if not cabinet.has_box(position):
        return machine, player, {}
    key = cabinet.game.encode(cabinet.box_position(position))
    boxes = boxes_fetch(machine, [key])
    if not boxes or (machine.learns and not any(boxes[key][0])):
        locked = _machine_lock(live, seat)
        if locked is None:
            return None
        machine = locked
        player.learns = machine.learns
        boxes = boxes_fetch(machine, [key]) or box_open(machine, cabinet, key, list(player.open_box(position)))
    player.boxes[key] = list(boxes[key][0])
    return machine, player, boxes


def _machine_lock(live: LiveMatch, seat: LiveSeat) -> Machine | None:
    """Return the seat's machine, locked after the room; ``None`` if it has been deleted since it was read.

    The same statement locks the other machine of the match, in ascending order of ids, as at the end of the match.
    Separate locks might break that order, so two matches could wait for each other.
    """
    if not live.is_held:
        raise NotHeldError
    occupants_fetch([automaton for automaton, _ in live.automata], lock=True)
    return None if seat.occupant is None else cast("Machine", seat.occupant.machine)


def _refill_store(live: LiveMatch, machine: Machine, boxes: BoxRows, draw: BeadDraw | None) -> BeadDraw | None:
    """Store the refill, if the draw came from an empty box that was refilled; return the draw.

    The machine's lock is held if there is a refill.
    """
    if draw is not None and boxes and draw.refilled and machine.learns:
        memory = OpenMemory.load(
            machine.game_rules, machine.cabinet.side, machine.box_rule, boxes.get, machine.n_removed
        )
        memory.refilled(draw, live.match.n_plies)
        touched = MEMORY.lesson_give(machine, memory, LessonKind.REFILL, Cause(match_id=live.match.pk))
        news = box_news(touched, machine.n_lessons)
        transaction.on_commit(partial(events.boxes_changed, machine, news, [machine.n_lessons]))
    return draw
