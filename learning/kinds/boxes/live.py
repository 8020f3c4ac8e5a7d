"""A machine with boxes in a live match: opens a box, draws a bead, and learns from the draws when it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from games.models import Seat
from games.players import Choice
from games.rules.base import Outcome
from games.selectors import RESIGNATION
from learning.core.kernels.random_source import RandomSource
from learning.core.machines.box_machine import BeadDraw, BoxMachine, Result
from learning.core.training.open_memory import OpenMemory
from learning.models import AnyBox, Draw, Machine
from learning.selectors.machines import draws_of
from learning.storage.boxes import box_open
from learning.storage.locks import machines_locked_in

Refill = Callable[[Machine, OpenMemory], None]
"""Stores what a refill did, under the machine's lock."""


def choose(seat: Seat, machine: Machine, position: Any, rng: RandomSource, refill: Refill) -> Choice:
    """Draw a bead. Only a refill or a box met for the first time needs the machine's lock here."""
    opened = _open(seat, machine, position)
    if opened is None:  # deleted in the middle of the match: there is nobody left to move
        return Choice(None)
    machine, player, box = opened
    move, draw = player.choose(position, rng)
    return Choice(move, memo=_drawn(seat, machine, box, draw, refill))


def follow(seat: Seat, machine: Machine, position: Any, move: Any, refill: Refill) -> BeadDraw | None:
    """The draw that a person's move stands for."""
    opened = _open(seat, machine, position)
    if opened is None:
        return None
    machine, player, box = opened
    return _drawn(seat, machine, box, player.follow(position, move), refill)


def remember(seat: Seat, machine: Machine, draw: BeadDraw) -> None:
    """Store the draw."""
    drawn = Draw.objects.create(
        machine=machine,
        seat=seat,
        ply=seat.match.n_plies,
        position=draw.box,
        slot=draw.slot,
        beads=list(draw.beads),
        refilled=draw.refilled,
    )
    if seat.occupant is not None and seat.occupant.draws is not None:
        seat.occupant.draws.append(drawn)


def taught(machine: Machine, seat: Seat, outcome: Outcome) -> tuple[OpenMemory, Result]:
    """The boxes that a machine opened in its seat, after it has learnt from how the match ended for it."""
    drawn = draws_of(seat)
    opened = machine.boxes.filter(position__in={draw.position for draw in drawn})
    boxes = {key: (beads, visits) for key, beads, visits in opened.values_list("position", "beads", "visits")}
    # A machine that opens its boxes when it meets them may have been reset since: then they are gone.
    drawn = [draw for draw in drawn if draw.position in boxes]
    led = [draw for draw in drawn if draw.slot is not None]
    result = Result.of(outcome, machine.cabinet.side)
    rule, resigned = machine.box_rule, bool(drawn) and drawn[-1].slot is None
    if seat.is_human and result is Result.LOSS and outcome.termination == RESIGNATION:
        # A game lost. But no empty box drove the person to it, so no rule makes the last move answer for that.
        rule, resigned = replace(rule, punish_previous_on_resign=False), True
    memory = OpenMemory.load(machine.game_rules, machine.cabinet.side, rule, boxes.get, machine.n_removed)
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
        beads = machine.boxes.filter(position=key).values_list("beads", flat=True).first()
        if beads is not None:
            asked.boxes[key] = list(beads)
    return asked


def _open(seat: Seat, machine: Machine, position: Any) -> tuple[Machine, BoxMachine, AnyBox | None] | None:
    """The machine, ready to look at the position, and the box that it opens there (``None``: none).

    ``None`` if the machine is gone.
    """
    player = BoxMachine(machine.game_rules, machine.cabinet.side, machine.box_rule, learns=machine.learns)
    if not player.cabinet.has_box(position):
        return machine, player, None
    key = machine.game_rules.encode(player.cabinet.box_position(position))
    box = machine.boxes.filter(position=key).first()
    if box is None or (machine.learns and not any(box.beads)):
        locked = _locked(seat)
        if locked is None:
            return None
        machine = locked
        player.learns = machine.learns
        box = box_open(machine, player.cabinet, key, list(player.open_box(position)))
    player.boxes[key] = list(box.beads)
    return machine, player, box


def _locked(seat: Seat) -> Machine | None:
    """The seat's machine, locked; ``None`` if it has been deleted since it was read.

    The other one of the match is locked with it, as the end of the match locks both. Locked one after the other
    they would not be in ascending order, and two matches could wait for each other.
    """
    return machines_locked_in(seat.match).get(seat.pk)


def _drawn(seat: Seat, machine: Machine, box: AnyBox | None, draw: BeadDraw | None, refill: Refill) -> BeadDraw | None:
    """The draw, to be remembered. What it did to an empty box is stored: that took us to the machine's lock."""
    if draw is not None and box is not None and draw.refilled and machine.learns:
        boxes = {box.position: (box.beads, box.visits)}
        memory = OpenMemory.load(
            machine.game_rules, machine.cabinet.side, machine.box_rule, boxes.get, machine.n_removed
        )
        memory.refilled(draw, seat.match.n_plies)
        refill(machine, memory)
    return draw
