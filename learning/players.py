"""Learners and fixed opponents as players of live matches: the other side of the port ``games.players``."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from games.exceptions import MalformedError
from games.models import Match, Seat
from games.players import Choice, SeatPlayer, player_register
from games.rules.base import Outcome, Side
from learning import events
from learning.access import machine_for
from learning.exceptions import MachineNotFoundError, MachineWrongSideError
from learning.kernels.random_source import RandomSource
from learning.machines import menace
from learning.machines.menace import Menace, Result
from learning.machines.registry import house_machine
from learning.models import Box, Draw, LessonKind, Machine, MachineSeat
from learning.opponents.base import Opponent
from learning.opponents.registry import LEVELS, OPPONENTS
from learning.selectors import (
    machine_brief,
    machine_in,
    machine_of_house,
    match_insight,
)
from learning.services import machine_clone
from learning.storage import changes_record, lesson_open, machine_lock


def ply_random(seat: Seat) -> RandomSource:
    """The random source of the ply that is about to be played: the match's seed and the ply decide."""
    return RandomSource(seat.match.seed, seat.match.n_plies)


def _opponent_account(seat: Seat) -> Any:
    """The account that the machine in this seat plays against, if it has one."""
    person = Seat.objects.filter(match=seat.match, user__isnull=False).select_related("user").first()
    return None if person is None else person.user


class OpponentPlayer(SeatPlayer):
    """A fixed opponent, under its own name or as a level of difficulty."""

    def __init__(self, opponent: Opponent, slug: str | None = None) -> None:
        self.opponent = opponent
        self.slug = slug or opponent.slug  # type: ignore[misc]  # one instance a slug
        self.name = opponent.name
        self.summary = opponent.summary
        self.listed = slug is None

    def sit(self, seat: Seat) -> None:
        seat.player = self.opponent.slug
        seat.save(update_fields=["player"])

    def choose(self, seat: Seat, position: Any) -> Choice:
        return Choice(self.opponent.choose(seat.match.room.rules, position, ply_random(seat)))


class MachinePlayer(SeatPlayer):
    """A machine with boxes: draws a bead, and learns from the match in the transaction that ends it."""

    slug = "machine"
    name = "A machine"
    summary = "One of the machines of this site."
    listed = False

    def wanted(self, seat: Seat) -> Machine:
        """The machine that the room asked for, for the side of this seat.

        Raises:
            MalformedError, MachineNotFoundError, MachineWrongSideError.
        """
        room = seat.match.room
        if not room.machine:
            raise MalformedError("machine: say which machine, by its id or its name in the address.")
        machine = machine_for(_opponent_account(seat), room.machine, to="play")
        if machine.room_id not in (None, room.pk):
            raise MachineNotFoundError(f"{machine.name} plays in its own room only.")
        if machine.game != room.game:
            raise MalformedError(f"machine: {machine.name} plays another game.")
        if machine.side != seat.side:
            raise MachineWrongSideError(f"{machine.name} {machine.get_side_display()}, so take the other side.")
        return machine

    def sit(self, seat: Seat) -> None:
        room = seat.match.room
        machine = self.wanted(seat)
        if room.fresh:
            copies = Machine.objects.filter(room=room, copied_from=machine)
            machine = copies.first() or machine_clone(
                machine_id=machine.pk, name=f"{machine.name} (copy)", room=room, owner=_opponent_account(seat)
            )
        seat.player, seat.name = MachinePlayer.slug, machine.name
        seat.save(update_fields=["player", "name"])
        MachineSeat.objects.create(seat=seat, machine=machine)

    def can_sit(self, seat: Seat, side: Side) -> bool:
        room = seat.match.room
        return side == seat.side or (room.opponent == HousePlayer.slug and house_machine(room.game, side) is not None)

    def choose(self, seat: Seat, position: Any) -> Choice:
        """Draw a bead. Only a refill or a box met for the first time needs the machine's lock here."""
        machine = machine_in(seat)
        if machine is None:  # deleted in the middle of the match: there is nobody left to move
            return Choice(None)
        player = Menace(machine.rules, Side(machine.side), machine.learning_rule, learns=machine.learns)
        if not player.cabinet.has_box(position):
            return Choice(player.choose(position, ply_random(seat))[0])
        key = machine.rules.encode(player.cabinet.box_position(position))
        box = Box.objects.filter(machine=machine, position=key).first()
        if box is None or (machine.learns and not any(box.beads)):
            (machine,) = machine_lock(machine.pk)
            player.learns = machine.learns
            box = self._box_met(machine, player, position, key)
        player.boxes[key] = list(box.beads)
        move, draw = player.choose(position, ply_random(seat))
        assert draw is not None, "a position with a box is never forced"
        if draw.refilled and machine.learns:
            self._refill(seat.match, machine, box, draw)
        return Choice(move, memo=(box, draw))

    def remember(self, seat: Seat, choice: Choice) -> None:
        if choice.memo is None:
            return
        box, draw = choice.memo
        Draw.objects.create(
            machine_id=box.machine_id,
            seat=seat,
            ply=seat.match.n_plies,
            box=box,
            slot=draw.slot,
            beads=list(draw.beads),
            refilled=draw.refilled,
        )
        if draw.slot is not None:
            drawn = {"position": box.position, "slot": draw.slot}
            transaction.on_commit(lambda: events.bead_drawn(box.machine_id, drawn))

    def finish(self, match: Match, outcome: Outcome) -> None:
        seats = MachineSeat.objects.filter(seat__match=match).select_related("seat").order_by("machine_id")
        by_machine = {machine_seat.machine_id: machine_seat.seat for machine_seat in seats}
        for machine in machine_lock(*sorted(by_machine)):
            self._learn(match, machine, by_machine[machine.pk], outcome)

    def describe(self, seat: Seat) -> dict[str, Any] | None:
        machine = machine_in(seat)
        return None if machine is None else machine_brief(machine)

    def insight(self, match: Match, seats: list[Seat]) -> dict[str, Any] | None:
        return match_insight(match, seats)

    def _box_met(self, machine: Machine, player: Menace, position: Any, key: str) -> Box:
        """The box, under the machine's lock: read again, or opened with its initial beads when first met."""
        beads = list(player.open_box(position))
        box, _ = Box.objects.get_or_create(
            machine=machine,
            position=key,
            defaults={
                "ply": machine.rules.ply(machine.rules.decode(key)),
                "move_number": player.cabinet.move_number(machine.rules.decode(key)) + 1,
                "start": beads,
                "beads": beads,
                "draws": [0] * len(beads),
            },
        )
        return box

    def _refill(self, match: Match, machine: Machine, box: Box, draw: menace.Draw) -> None:
        """Store what the draw did to an empty box. The machine is locked: an empty box took us there."""
        deltas = list(draw.beads)
        box.beads = deltas
        box.save(update_fields=["beads"])
        lesson = lesson_open(machine, LessonKind.REFILL, match=match)
        changes_record(lesson, [(box, deltas, match.n_plies)])
        transaction.on_commit(lambda: events.box_changed(machine, [box]))

    def _learn(self, match: Match, machine: Machine, seat: Seat, outcome: Outcome) -> None:
        if not machine.learns:
            return
        drawn = list(Draw.objects.filter(seat=seat).order_by("ply"))
        resigned = bool(drawn) and drawn[-1].slot is None
        taught = [draw for draw in drawn if draw.slot is not None]
        boxes = {box.pk: box for box in Box.objects.filter(pk__in={draw.box_id for draw in taught})}
        memory = {box.position: list(box.beads) for box in boxes.values()}
        player = Menace(machine.rules, Side(machine.side), machine.learning_rule, memory, machine.n_removed)
        result = Result.of(outcome, Side(machine.side))
        draws = [menace.Draw(boxes[draw.box_id].position, tuple(draw.beads), draw.slot) for draw in taught]
        changes = player.restock(draws, result, resigned=resigned)
        machine.n_removed = player.n_removed
        tally = (int(result is Result.WIN), int(result is Result.DRAW), int(result is Result.LOSS))
        lesson = lesson_open(machine, LessonKind.MATCH, match=match, tally=tally)
        for draw in taught:
            assert draw.slot is not None
            boxes[draw.box_id].draws[draw.slot] += 1
        # Box by box as play went, so that each entry of the ledger shows the beads as they stood after it.
        first = len(taught) - len(changes)
        entries = []
        for draw, change in zip(taught[first:], changes, strict=True):
            box = boxes[draw.box_id]
            box.beads = [count + delta for count, delta in zip(box.beads, change.deltas, strict=True)]
            entries.append((box, change.deltas, draw.ply))
        changes_record(lesson, entries)
        if boxes:
            Box.objects.bulk_update(boxes.values(), ["beads", "draws"])
        touched = list(boxes.values())
        transaction.on_commit(lambda: events.box_changed(machine, touched))


class HousePlayer(MachinePlayer):
    """The house's machine for whichever side is free, so a rematch can swap sides."""

    slug = "menace"
    name = "MENACE"
    summary = "Michie's matchboxes. They learn from every game."
    listed = True

    def wanted(self, seat: Seat) -> Machine:
        machine = machine_of_house(seat.match.room.game, Side(seat.side))
        if machine is None:
            raise MachineNotFoundError("No machine of the house plays this side yet. Run: manage.py pretrain")
        return machine


def players_register() -> None:
    """Make every learner and opponent known to live matches; called when the app is ready."""
    player_register(HousePlayer())
    player_register(MachinePlayer())
    for opponent in OPPONENTS.values():
        player_register(OpponentPlayer(opponent))
    for level, opponent in LEVELS.items():
        player_register(OpponentPlayer(opponent, slug=level))
