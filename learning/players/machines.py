"""Learners and fixed opponents as players of live matches: the other side of the port ``games.players``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from games.exceptions import MalformedError
from games.models import Match, Seat
from games.players import MACHINE, Choice, Offer, SeatPlayer, Viewer, player_register
from games.rules.base import Game, Outcome, Side
from games.selectors import RESIGNATION
from learning import events
from learning.access import is_master, machine_find, machine_for, machine_require, may_see, unseen
from learning.core.engines.registry import engine_of
from learning.core.kernels.random_source import RandomSource
from learning.core.machines import box_machine
from learning.core.machines.box_machine import BoxMachine, Result
from learning.core.machines.registry import house_machine
from learning.core.opponents.base import Opponent
from learning.core.opponents.registry import LEVELS, OPPONENTS, opponent_at, opponents_offered
from learning.exceptions import MachineNotFoundError, MachineWrongSideError
from learning.models import Box, Draw, LessonKind, Machine, MachineSeat
from learning.selectors.machines import machine_brief, machine_in, machine_of_house
from learning.selectors.matches import insight_told, match_insight
from learning.services.machines import guests_values_require, room_copy
from learning.storage.boxes import changes_record, lesson_open
from learning.storage.locks import machine_hold, machines_locked


def ply_random(seat: Seat) -> RandomSource:
    """The random source of the ply that is about to be played: the match's seed and the ply decide."""
    return RandomSource(seat.match.seed, seat.match.n_plies)


def machines_reread(match: Match) -> None:
    """Forget what has been read of a match's machines: they have learnt since."""
    for seat in match.seats.all():
        seat._state.fields_cache.pop("machine_seat", None)


def _account(seat: Seat) -> Any:
    """The account that asks for the player in this seat, if it has one: of who sits in the match, else of the host."""
    person = Seat.objects.filter(match=seat.match, user__isnull=False).select_related("user").first()
    return seat.match.room.host if person is None else person.user


def _guest(seat: Seat) -> UUID | None:
    """The guest who asks for the player in this seat, where no account does: who sits in the match, else the host."""
    person = Seat.objects.filter(match=seat.match, guest__isnull=False).first()
    return seat.match.room.host_guest if person is None else person.guest


VALUES = "machine-q"
"""The player that moves for machines that keep values (``players.values``). It is not asked for by this name."""


def _player_of(machine: Machine) -> str:
    """The player that moves for a machine."""
    return VALUES if machine.keeps_values else MACHINE


class OpponentPlayer(SeatPlayer):
    """A fixed opponent, by its own name or by a level of difficulty: who that is, the game decides."""

    def __init__(self, slug: str) -> None:
        self.slug = slug  # type: ignore[misc]  # one instance a slug
        self.name = slug

    def _in(self, game: Game[Any, Any]) -> Opponent | None:
        """Who goes by this name in a game."""
        named = OPPONENTS.get(self.slug)
        return named if named is not None and named.plays(game) else opponent_at(self.slug, game)

    def _of(self, seat: Seat) -> Opponent:
        opponent = self._in(seat.match.room.game_rules)
        assert opponent is not None, "who does not play a game has no seat in it"
        return opponent

    def plays(self, game: Game[Any, Any]) -> bool:
        return self._in(game) is not None

    def offer(self, game: Game[Any, Any]) -> Offer | None:
        opponent = self._in(game)
        if opponent is None or opponent.slug != self.slug or opponent not in opponents_offered(game):
            return None
        return Offer(opponent.name, opponent.summary)

    def advises(self, game: Game[Any, Any]) -> bool:
        return engine_of(game) is not None

    def sit(self, seat: Seat, machine: str) -> None:
        opponent = self._of(seat)
        seat.player, seat.name = opponent.slug, opponent.name
        seat.save(update_fields=["player", "name"])

    def is_slow(self, seat: Seat) -> bool:
        return self._of(seat).is_slow

    def choose(self, seat: Seat, position: Any) -> Choice:
        return Choice(self._of(seat).choose(seat.match.room.game_rules, position, ply_random(seat)))


class MachinePlayer(SeatPlayer):
    """A machine with boxes: draws a bead, and learns from the match in the transaction that ends it.

    In the seat of a person who has taken it over it draws nothing, and learns from their moves all the same.
    """

    slug = MACHINE
    name = "A machine"
    learns = True

    def only_side(self, machine: str) -> Side | None:
        side = machine_find(machine).side
        return None if side is None else Side(side)

    def wanted(self, seat: Seat, ref: str) -> Machine:
        """The machine of this id or slug, for the side of this seat.

        To take its seat over is to train it, unless it is copied for the room first.

        Raises:
            MalformedError, MachineNotFoundError, NotYourMachineError, MachineWrongSideError.
        """
        room = seat.match.room
        if not ref:
            raise MalformedError("machine: say which machine, by its id or its name in the address.")
        machine = machine_for(_account(seat), ref, to="train" if seat.is_human and not room.fresh else "play")
        if machine.room_id not in (None, room.pk):
            raise MachineNotFoundError(f"{machine.name} plays in its own room only.")
        if machine.game != room.game:
            raise MalformedError(f"machine: {machine.name} plays another game.")
        if machine.side not in (None, seat.side):
            raise MachineWrongSideError(f"{machine.name} {machine.get_side_display()}, so take the other side.")
        return machine

    def precedence(self, seat: Seat, machine: str) -> int:
        return self.wanted(seat, machine).pk

    def sit(self, seat: Seat, machine: str) -> None:
        room, sits = seat.match.room, self.wanted(seat, machine)
        if not machine_hold(sits):
            raise MachineNotFoundError(f"{sits.name} has just been deleted.")
        if room.fresh:
            copies = Machine.objects.filter(room=room, copied_from=sits)
            sits = copies.first() or room_copy(machine_id=sits.pk, room=room, owner=_account(seat), guest=_guest(seat))
        if seat.is_human:
            seat.takes_over = _player_of(sits)
        else:
            seat.player, seat.name = _player_of(sits), sits.name
        seat.save(update_fields=["player", "takes_over", "name"])
        MachineSeat.objects.create(seat=seat, machine=sits)

    def opened(self, seat: Seat) -> None:
        copy = machine_in(seat)
        if copy is not None and copy.keeps_values and copy.room_id is not None and copy.owner_id is None:
            guests_values_require(_guest(seat), seat.match.room.opened_from)

    def can_sit(self, seat: Seat, side: Side) -> bool:
        room = seat.match.room
        asked = room.takes_over if seat.is_human else room.opponent
        return side == seat.side or (asked == HousePlayer.slug and house_machine(room.game, side) is not None)

    def choose(self, seat: Seat, position: Any) -> Choice:
        """Draw a bead. Only a refill or a box met for the first time needs the machine's lock here."""
        opened = self._open(seat, position)
        if opened is None:  # deleted in the middle of the match: there is nobody left to move
            return Choice(None)
        machine, player, box = opened
        move, draw = player.choose(position, ply_random(seat))
        if draw is None or box is None:
            return Choice(move)
        if draw.refilled and machine.learns:
            self._refill(seat.match, machine, box, draw)
        return Choice(move, memo=(box, draw))

    def follow(self, seat: Seat, position: Any, move: Any) -> None:
        opened = self._open(seat, position)
        if opened is None:
            return
        machine, player, box = opened
        draw = player.follow(position, move)
        if draw is None or box is None:
            return
        if draw.refilled and machine.learns:
            self._refill(seat.match, machine, box, draw)
        self.remember(seat, Choice(move, memo=(box, draw)))

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
        machine = machine_in(seat)
        if draw.slot is not None and machine is not None:
            drawn = {"position": box.position, "slot": draw.slot}
            transaction.on_commit(lambda: events.bead_drawn(machine, drawn))

    def finish(self, match: Match, outcome: Outcome) -> None:
        seats = MachineSeat.objects.filter(seat__match=match).select_related("seat").order_by("machine_id")
        by_machine = {machine_seat.machine_id: machine_seat.seat for machine_seat in seats}
        for machine in machines_locked(by_machine).values():
            self._learn(match, machine, by_machine[machine.pk], outcome)
        machines_reread(match)

    def describe(self, seat: Seat) -> dict[str, Any] | None:
        machine = machine_in(seat)
        return None if machine is None else machine_brief(machine)

    def audience(self, seat: Seat) -> list[int] | None:
        machine = machine_in(seat)
        return None if machine is None else machine.audience

    def may_see(self, viewer: Viewer, audience: list[int] | None) -> bool:
        return may_see(viewer, audience)

    def unseen(self, viewer: Viewer) -> Q:
        return unseen(viewer, "machine_seat__machine__")

    def insight_told(self, insight: dict[str, Any], machines: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
        return insight_told(insight, machines)

    def manages(self, seat: Seat, user: Any) -> bool:
        machine = machine_in(seat)
        return machine is not None and is_master(user, machine)

    def insight(self, match: Match, seats: list[Seat]) -> dict[str, Any] | None:
        return match_insight(match, seats)

    def sitting(self, seat: Seat) -> Machine | None:
        """The machine in this seat, which nobody deletes before its move is stored; ``None`` if it is gone."""
        machine = machine_in(seat)
        return machine if machine is not None and machine_hold(machine) else None

    def _open(self, seat: Seat, position: Any) -> tuple[Machine, BoxMachine, Box | None] | None:
        """The machine in this seat, ready to look at the position, and the box that it opens there (``None``: none).

        ``None`` if the machine is gone.
        """
        machine = self.sitting(seat)
        if machine is None:
            return None
        player = BoxMachine(machine.game_rules, machine.cabinet.side, machine.box_rule, learns=machine.learns)
        if not player.cabinet.has_box(position):
            return machine, player, None
        key = machine.game_rules.encode(player.cabinet.box_position(position))
        box = Box.objects.filter(machine=machine, position=key).first()
        if box is None or (machine.learns and not any(box.beads)):
            locked = self._locked(seat)
            if locked is None:
                return None
            machine = locked
            player.learns = machine.learns
            box = self._box_met(machine, player, position, key)
        player.boxes[key] = list(box.beads)
        return machine, player, box

    def _locked(self, seat: Seat) -> Machine | None:
        """The seat's machine, locked; ``None`` if it has been deleted since it was read.

        The other one of the match is locked with it, as the end of the match locks both. Locked one after the other
        they would not be in ascending order, and two matches could wait for each other.
        """
        sitting = dict(MachineSeat.objects.filter(seat__match=seat.match_id).values_list("seat_id", "machine_id"))
        return machines_locked(sitting.values()).get(sitting.get(seat.pk, 0))

    def _box_met(self, machine: Machine, player: BoxMachine, position: Any, key: str) -> Box:
        """The box, under the machine's lock: read again, or opened with its initial beads when first met."""
        beads = list(player.open_box(position))
        box, _ = Box.objects.get_or_create(
            machine=machine,
            position=key,
            defaults={
                "ply": machine.game_rules.ply(machine.game_rules.decode(key)),
                "move_number": player.cabinet.move_number(machine.game_rules.decode(key)) + 1,
                "start": beads,
                "beads": beads,
                "visits": [0] * len(beads),
            },
        )
        return box

    def _refill(self, match: Match, machine: Machine, box: Box, draw: box_machine.BeadDraw) -> None:
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
        taught = [draw for draw in drawn if draw.slot is not None]
        boxes = {box.pk: box for box in Box.objects.filter(pk__in={draw.box_id for draw in taught})}
        memory = {box.position: list(box.beads) for box in boxes.values()}
        result = Result.of(outcome, machine.cabinet.side)
        rule, resigned = machine.box_rule, bool(drawn) and drawn[-1].slot is None
        if seat.is_human and result is Result.LOSS and outcome.termination == RESIGNATION:
            # A game lost. But no empty box drove the person to it, so no rule makes the last move answer for that.
            rule, resigned = replace(rule, punish_previous_on_resign=False), True
        player = BoxMachine(machine.game_rules, machine.cabinet.side, rule, memory, machine.n_removed)
        draws = [box_machine.BeadDraw(boxes[draw.box_id].position, tuple(draw.beads), draw.slot) for draw in taught]
        changes = player.restock(draws, result, resigned=resigned)
        machine.n_removed = player.n_removed
        tally = (int(result is Result.WIN), int(result is Result.DRAW), int(result is Result.LOSS))
        lesson = lesson_open(machine, LessonKind.MATCH, match=match, tally=tally)
        for draw in taught:
            assert draw.slot is not None
            boxes[draw.box_id].visits[draw.slot] += 1
        # Box by box as play went, so that each entry of the ledger shows the beads as they stood after it.
        first = len(taught) - len(changes)
        entries = []
        for draw, change in zip(taught[first:], changes, strict=True):
            box = boxes[draw.box_id]
            box.beads = [count + delta for count, delta in zip(box.beads, change.deltas, strict=True)]
            entries.append((box, change.deltas, draw.ply))
        changes_record(lesson, entries)
        if boxes:
            Box.objects.bulk_update(boxes.values(), ["beads", "visits"])
        touched = list(boxes.values())
        transaction.on_commit(lambda: events.box_changed(machine, touched))


class HousePlayer(MachinePlayer):
    """The house's machine for whichever side is free, so a rematch can swap sides."""

    slug = "menace"
    name = "MENACE"

    def plays(self, game: Game[Any, Any]) -> bool:
        return any(house_machine(game.slug, side) for side in Side)

    def offer(self, game: Game[Any, Any]) -> Offer | None:
        """By what is printed on its machines' boxes: one name for both if they share it, else either."""
        names = [house.name for side in Side if (house := house_machine(game.slug, side)) is not None]
        if not names:
            return None
        shared = min(names, key=len)
        name = shared if all(one.startswith(shared) for one in names) else " or ".join(names)
        if game.takes_boxes:
            return Offer(name, "Matchboxes of the house. They learn from every game.")
        return Offer(name, "The house's own. It remembers what moves were worth, and learns from every game.")

    def only_side(self, machine: str) -> Side | None:
        return None

    def wanted(self, seat: Seat, ref: str) -> Machine:
        machine = machine_of_house(seat.match.room.game, Side(seat.side))
        if machine is None:
            raise MachineNotFoundError("No machine of the house plays this side yet. Run: manage.py pretrain")
        machine_require(_account(seat), machine, to="train" if seat.is_human and not seat.match.room.fresh else "play")
        return machine


def players_register() -> None:
    """Make every learner and opponent known to live matches; called when the app is ready."""
    player_register(HousePlayer())
    player_register(MachinePlayer())
    for slug in {**OPPONENTS, **LEVELS}:
        player_register(OpponentPlayer(slug))
