"""A machine with boxes in a live match: opens a box, draws a bead, and learns from the draws when it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.machine import BeadDraw, BoxMachine
from beadbox.learners.boxes.memory import TouchedBox
from beadbox.learners.boxes.open_memory import OpenMemory
from beadbox.rules.outcome import Outcome, Result, Tally
from games.live.players import Choice, LiveMatch, LiveSeat, NotHeldError
from games.live.room_state import RESIGNATION
from learning.kinds.base import Ended
from learning.models import Machine
from learning.storage.boxes import BoxRows, box_open, boxes_fetch
from learning.storage.occupants import draws_of, machine_in, occupants_read

Refill = Callable[[Machine, OpenMemory], None]
"""Stores what a refill did, under the machine's lock."""


def choose(
    live: LiveMatch, seat: LiveSeat, machine: Machine, position: Any, rng: RandomSource, refill: Refill
) -> Choice:
    """Draw a bead. Only a refill or a box met for the first time needs the machine's lock here."""
    opened = _open(live, seat, machine, position)
    if opened is None:  # deleted in the middle of the match: there is nobody left to move
        return Choice(None)
    machine, player, boxes = opened
    move, draw = player.choose(position, rng)
    return Choice(move, memo=_drawn(live, machine, boxes, draw, refill))


def follow(
    live: LiveMatch, seat: LiveSeat, machine: Machine, position: Any, move: Any, refill: Refill
) -> BeadDraw | None:
    """The draw that a person's move stands for."""
    opened = _open(live, seat, machine, position)
    if opened is None:
        return None
    machine, player, boxes = opened
    return _drawn(live, machine, boxes, player.follow(position, move), refill)


class Taught(NamedTuple):
    """What a match taught: changes of boxes in order of play, the slots removed by then, how the match ended."""

    touched: list[TouchedBox]
    n_removed: int
    tally: Tally


def taught(machine: Machine, ended: Sequence[Ended]) -> list[Taught]:
    """What matches teach a machine, each from where the one before left it. Nothing is stored."""
    seats = [seat for one in ended for seat in one.seats]
    boxes = boxes_fetch(machine, {draw.position for draw in draws_of(*seats)})
    lessons: list[Taught] = []
    for one in ended:
        (seat,) = one.seats  # it plays one side
        memory, result = _teach(machine, seat, one.outcome, boxes, lessons[-1].n_removed if lessons else None)
        tally = Tally()
        tally.add(result)
        touched = memory.touched()
        boxes |= {box.position: (box.beads, box.visits) for box in touched}
        lessons.append(Taught(touched, memory.n_removed, tally))
    return lessons


def _teach(
    machine: Machine, seat: LiveSeat, outcome: Outcome, boxes: BoxRows, n_removed: int | None
) -> tuple[OpenMemory, Result]:
    """The boxes that a machine opened in its seat, after it has learnt from how the match ended for it."""
    # A machine that opens its boxes when it meets them may have been reset since: then they are gone.
    drawn = [draw for draw in draws_of(seat) if draw.position in boxes]
    led = [draw for draw in drawn if draw.slot is not None]
    result = Result.of(outcome, machine.cabinet.side)
    rule, resigned = machine.box_rule, bool(drawn) and drawn[-1].slot is None
    if seat.row.is_human and result is Result.LOSS and outcome.termination == RESIGNATION:
        # A game lost. But no empty box drove the person to it, so no rule makes the last move answer for that.
        rule, resigned = replace(rule, punish_previous_on_resign=False), True
    removed = machine.n_removed if n_removed is None else n_removed
    memory = OpenMemory.load(machine.game_rules, machine.cabinet.side, rule, boxes.get, removed)
    draws = [(draw.ply, BeadDraw(draw.position, tuple(draw.beads), draw.slot)) for draw in led]
    memory.teach(draws, result, resigned=resigned)
    return memory, result


def mind(machine: Machine, position: Any) -> BoxMachine:
    """The machine with the one box that this position opens, frozen: it can be asked, and forgets what it was asked."""
    asked = BoxMachine(
        machine.game_rules, machine.cabinet.side, machine.box_rule, n_removed=machine.n_removed, learns=False
    )
    if asked.cabinet.has_box(position):
        key = machine.game_rules.encode(asked.cabinet.box_position(position))
        box = boxes_fetch(machine, [key]).get(key)
        if box is not None:
            asked.boxes[key] = list(box[0])
    return asked


def _open(
    live: LiveMatch, seat: LiveSeat, machine: Machine, position: Any
) -> tuple[Machine, BoxMachine, BoxRows] | None:
    """The machine, ready to look at the position, and the box that it opens there, if it opens one.

    ``None`` if the machine is gone.
    """
    player = BoxMachine(machine.game_rules, machine.cabinet.side, machine.box_rule, learns=machine.learns)
    if not player.cabinet.has_box(position):
        return machine, player, {}
    key = machine.game_rules.encode(player.cabinet.box_position(position))
    boxes = boxes_fetch(machine, [key])
    if not boxes or (machine.learns and not any(boxes[key][0])):
        locked = _locked(live, seat)
        if locked is None:
            return None
        machine = locked
        player.learns = machine.learns
        boxes = boxes_fetch(machine, [key]) or box_open(machine, player.cabinet, key, list(player.open_box(position)))
    player.boxes[key] = list(boxes[key][0])
    return machine, player, boxes


def _locked(live: LiveMatch, seat: LiveSeat) -> Machine | None:
    """The seat's machine, locked after the room; ``None`` if it has been deleted since it was read.

    The other one of the match is locked with it, as the end of the match locks both. Locked one after the other
    they would not be in ascending order, and two matches could wait for each other.
    """
    if not live.is_held:
        raise NotHeldError
    occupants_read([one for one, _ in live.automata], lock=True)
    return machine_in(seat)


def _drawn(live: LiveMatch, machine: Machine, boxes: BoxRows, draw: BeadDraw | None, refill: Refill) -> BeadDraw | None:
    """The draw, to be remembered. What it did to an empty box is stored: that took us to the machine's lock."""
    if draw is not None and boxes and draw.refilled and machine.learns:
        memory = OpenMemory.load(
            machine.game_rules, machine.cabinet.side, machine.box_rule, boxes.get, machine.n_removed
        )
        memory.refilled(draw, live.match.n_plies)
        refill(machine, memory)
    return draw
