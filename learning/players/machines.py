"""Machines as players of live matches: they move, and learn when a match ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q

from beadbox.learners.built_in import HOUSE_OF
from beadbox.learners.presets import ALL_PRESETS
from beadbox.rules.game import AnyGame, AnyPosition
from beadbox.rules.outcome import Side
from games.accounts.principal import AnyUser, Principal, Visitor
from games.exceptions import MalformedError
from games.live.players import MACHINE, Automaton, Choice, LiveMatch, LiveSeat, Offer, SeatPlayer, Statement
from learning.access import (
    MachineUse,
    can_edit,
    hidden_from,
    is_lent,
    machine_find,
    machine_for,
    machine_require,
    may_see,
    row_id,
)
from learning.exceptions import ClassPausedError, MachineNotFoundError, MachineWrongSideError
from learning.kinds.insights import redact_joined_insight
from learning.kinds.kind import Kind
from learning.kinds.live import occupants
from learning.kinds.registry import KINDS, kind_of
from learning.models import Machine, MachineSeat
from learning.selectors.machines import machine_of_house
from learning.services import lessons
from learning.services.machine_quotas import guests_values_require


def _requester_account(live: LiveMatch) -> Any:
    """The account that asks for the player in a seat, if any: of the person in the match, else of the host."""
    person = next((seat.row for seat in live.seats if seat.row.user_id is not None), None)
    return live.room.host if person is None else person.user


def _requester_guest(live: LiveMatch) -> UUID | None:
    """The guest that asks for the player in a seat, if no account does: the person in the match, else the host."""
    person = next((seat.row for seat in live.seats if seat.row.guest is not None), None)
    return live.room.host_guest if person is None else person.guest


def _machine_seated_before(live: LiveMatch, ref: str) -> Machine | None:
    """The machine of this id or slug, if it sat in the match before and was read with it; not if it is copied."""
    if live.previous_match is None or live.room.fresh:
        return None
    sat = [player.machine for player in occupants(live.previous_match)]
    by_id = row_id(ref) is not None
    return next((one for one in sat if ref == (str(one.pk) if by_id else one.slug)), None)


def _requester(live: LiveMatch) -> Any:
    """The account or the visitor that asks for the player in this seat, with the links that opened the room."""
    account = _requester_account(live)
    requester = Visitor(_requester_guest(live)) if account is None else account
    requester.links = frozenset(live.room.links)
    return requester


class DeletedMachine(SeatPlayer):
    """The seat of a machine that was deleted during the match: it resigns."""

    learns = True
    either_side = False

    def __init__(self, slug: str) -> None:
        self.slug = slug

    def choose(self, live: LiveMatch, position: AnyPosition) -> Choice:
        return Choice(None)


class MachinePlayer(Automaton):
    """Any machine of the kinds with this slug: it moves, and learns in the transaction that ends the match.

    In a seat taken over by a person it chooses nothing, but still learns from the person's moves. The machine in a seat
    is an object of its kind's class (``learning.kinds.live``).
    """

    name = "A machine"
    learns = True
    may_see = staticmethod(may_see)
    redact_insight = staticmethod(redact_joined_insight)

    def __init__(self, slug: str) -> None:
        self.slug = slug
        self.seat_player = DeletedMachine(slug)

    @property
    def kinds(self) -> list[Kind]:
        """The kinds of machine for which this player moves."""
        return [kind for kind in KINDS.values() if kind.occupant_class.slug == self.slug]

    def plays(self, game: AnyGame) -> bool:
        return self.slug == MACHINE or any(kind.rule.fits(game) for kind in self.kinds)

    def only_side(self, machine: str) -> Side | None:
        side = machine_find(machine).side
        return None if side is None else Side(side)

    def machine_requested(self, live: LiveMatch, seat: LiveSeat, ref: str, *, hold: bool = False) -> Machine:
        """The machine of this id or slug, for the side of this seat; with ``hold`` kept as by ``machine_hold``.

        A person who takes over its seat trains it, unless it is copied for the room first. A shared link allows copies
        alone.

        Raises:
            MalformedError, MachineNotFoundError, NotYourMachineError, MachineWrongSideError.
        """
        room = live.room
        if not ref:
            raise MalformedError("machine: say which machine, by its id or its name in the address.")
        to: MachineUse = "copy" if room.fresh else "train" if seat.row.is_human else "play"
        machine = machine_for(_requester(live), ref, to=to, hold=hold, known=_machine_seated_before(live, ref))
        if machine.room_id not in (None, room.pk):
            raise MachineNotFoundError(f"{machine.name} plays in its own room only.")
        if machine.is_paused:
            raise ClassPausedError
        if machine.game != room.game:
            raise MalformedError(f"machine: {machine.name} plays another game.")
        if machine.side not in (None, seat.row.side):
            raise MachineWrongSideError(f"{machine.name} {machine.get_side_display()}, so take the other side.")
        return machine

    def precedence(self, live: LiveMatch, seat: LiveSeat, machine: str) -> int:
        return self.machine_requested(live, seat, machine).pk

    def sit(self, live: LiveMatch, seat: LiveSeat, machine: str) -> None:
        requested = self.machine_requested(live, seat, machine, hold=True)
        through_link = is_lent(_requester(live), requested)
        lessons.seat_take(
            room=live.room,
            seat=seat,
            machine=requested,
            owner=_requester_account(live),
            guest=_requester_guest(live),
            through_link=through_link,
        )

    def seat_rows_insert(self, live: LiveMatch) -> Statement:
        rows = [[player.row.pk, player.machine.pk] for player in occupants(live, self.slug)]
        return Statement.insert(MachineSeat, ("seat_id", "machine_id"), rows)

    def quotas_require(self, live: LiveMatch) -> None:
        machines = [player.machine for player in occupants(live, self.slug)]
        copies = [one for one in machines if one.room_id is not None and one.owner_id is None]
        if any(kind_of(machine).memory.copy_duplicates_rows for machine in copies):
            guests_values_require(_requester_guest(live), live.room.opened_from)

    def finish(self, matches: Sequence[LiveMatch]) -> None:
        lessons.matches_teach(matches=matches, player=self.slug)

    def hidden_from(self, viewer: Principal) -> Q:
        return hidden_from(viewer, "machine_seat__machine__")

    def manageable_machine_ids(self, live: LiveMatch, user: AnyUser) -> list[int]:
        return [player.machine.pk for player in occupants(live, self.slug) if can_edit(user, player.machine)]


class HousePlayer(MachinePlayer):
    """The house's machine for the side that is free, so a rematch can swap sides."""

    name = "MENACE"
    swappable_games = frozenset(game for game, side in HOUSE_OF if (game, side.other) in HOUSE_OF)

    def __init__(self) -> None:
        super().__init__("menace")

    def plays(self, game: AnyGame) -> bool:
        return any((game.slug, side) in HOUSE_OF for side in Side)

    def offer(self, game: AnyGame) -> Offer | None:
        """An offer named after its machines: their common name if they have one, else both names."""
        houses = [HOUSE_OF[game.slug, side] for side in Side if (game.slug, side) in HOUSE_OF]
        if not houses:
            return None
        names = [house.name for house in houses]
        shared = min(names, key=len)
        name = shared if all(one.startswith(shared) for one in names) else " or ".join(names)
        if all(ALL_PRESETS[house.preset].rule.has_boxes for house in houses):
            return Offer(name, "Built-in matchboxes. They learn from every game.")
        return Offer(name, "A built-in machine. It remembers how good each move was, and learns from every game.")

    def only_side(self, machine: str) -> Side | None:
        return None

    def machine_requested(self, live: LiveMatch, seat: LiveSeat, ref: str, *, hold: bool = False) -> Machine:
        game, side = live.room.game, Side(seat.row.side)
        house = HOUSE_OF.get((game, side))
        machine = None if house is None else _machine_seated_before(live, house.slug)
        machine = machine or machine_of_house(game, side, hold=hold)
        if machine is None:
            raise MachineNotFoundError("No built-in machine plays this side yet. Run manage.py pretrain.")
        machine_require(_requester(live), machine, to="train" if seat.row.is_human and not live.room.fresh else "play")
        return machine
