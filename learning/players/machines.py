"""Machines as players of live matches: they move, and learn when a match ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.built_in import house_machine
from beadbox.learners.presets import ALL_PRESETS
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Side
from games.accounts.principal import AnyUser, Principal, Visitor
from games.exceptions import MalformedError
from games.live.players import MACHINE, Choice, DecisionRecord, LiveMatch, LiveSeat, Offer, SeatPlayer, Statement
from games.live.states import Insight, SeatMachine
from learning.access import (
    To,
    can_edit,
    is_lent,
    machine_find,
    machine_for,
    machine_require,
    may_see,
    row_id,
    unseen,
)
from learning.exceptions import MachineNotFoundError, MachineWrongSideError
from learning.kinds.kind import Kind
from learning.kinds.occupants import Occupant
from learning.kinds.registry import KINDS
from learning.models import AccessList, Machine, MachineSeat
from learning.players.insights import insight_redacted, insights_joined
from learning.selectors.machines import machine_brief, machine_of_house
from learning.services import lessons
from learning.services.machine_quotas import guests_values_require


def _account(live: LiveMatch) -> Any:
    """The account that asks for the player in a seat, if any: of the person in the match, else of the host."""
    person = next((seat.row for seat in live.seats if seat.row.user_id is not None), None)
    return live.room.host if person is None else person.user


def _guest(live: LiveMatch) -> UUID | None:
    """The guest that asks for the player in a seat, if no account does: the person in the match, else the host."""
    person = next((seat.row for seat in live.seats if seat.row.guest is not None), None)
    return live.room.host_guest if person is None else person.guest


def _sat_before(live: LiveMatch, ref: str) -> Machine | None:
    """The machine of this id or slug, if it sat in the match before and was read with it; not if it is copied."""
    if live.before is None or live.room.fresh:
        return None
    sat: list[Machine] = [seat.occupant.machine for seat, _ in live.before.automata if seat.occupant is not None]
    by_id = row_id(ref) is not None
    return next((one for one in sat if ref == (str(one.pk) if by_id else one.slug)), None)


def _asks(live: LiveMatch) -> Any:
    """The account or the visitor that asks for the player in this seat, with the links that opened the room."""
    account = _account(live)
    asks = Visitor(_guest(live)) if account is None else account
    asks.links = frozenset(live.room.links)
    return asks


def _is_of(seat: LiveSeat, kind: Kind) -> bool:
    """Whether the seat has a machine of this kind, or a deleted machine that may have been of it."""
    occupant: Occupant | None = seat.occupant
    return seat.row.automaton == kind.live.player if occupant is None else occupant.kind is kind


class MachinePlayer(SeatPlayer):
    """A machine: it moves, and learns from the match in the transaction that ends it.

    In a seat taken over by a person it chooses nothing, but still learns from the person's moves.
    """

    name = "A machine"
    learns = True
    may_see = staticmethod(may_see)
    redact_insight = staticmethod(insight_redacted)

    def __init__(self, slug: str) -> None:
        self.slug = slug  # type: ignore[misc]  # one instance a slug

    @property
    def kinds(self) -> list[Kind]:
        """The kinds of machine for which this player moves."""
        return [kind for kind in KINDS.values() if kind.live.player == self.slug]

    def plays(self, game: AnyGame) -> bool:
        return self.slug == MACHINE or any(kind.rule.fits(game) for kind in self.kinds)

    def only_side(self, machine: str) -> Side | None:
        side = machine_find(machine).side
        return None if side is None else Side(side)

    def wanted(self, live: LiveMatch, seat: LiveSeat, ref: str, *, hold: bool = False) -> Machine:
        """The machine of this id or slug, for the side of this seat; with ``hold`` kept as by ``machine_hold``.

        A person who takes over its seat trains it, unless it is copied for the room first. A shared link allows copies
        alone.

        Raises:
            MalformedError, MachineNotFoundError, NotYourMachineError, MachineWrongSideError.
        """
        room = live.room
        if not ref:
            raise MalformedError("machine: say which machine, by its id or its name in the address.")
        to: To = "copy" if room.fresh else "train" if seat.row.is_human else "play"
        machine = machine_for(_asks(live), ref, to=to, hold=hold, known=_sat_before(live, ref))
        if machine.room_id not in (None, room.pk):
            raise MachineNotFoundError(f"{machine.name} plays in its own room only.")
        if machine.game != room.game:
            raise MalformedError(f"machine: {machine.name} plays another game.")
        if machine.side not in (None, seat.row.side):
            raise MachineWrongSideError(f"{machine.name} {machine.get_side_display()}, so take the other side.")
        return machine

    def precedence(self, live: LiveMatch, seat: LiveSeat, machine: str) -> int:
        return self.wanted(live, seat, machine).pk

    def sit(self, live: LiveMatch, seat: LiveSeat, machine: str) -> None:
        wanted = self.wanted(live, seat, machine, hold=True)
        lent = is_lent(_asks(live), wanted)
        lessons.seat_take(
            room=live.room, seat=seat, machine=wanted, owner=_account(live), guest=_guest(live), lent=lent
        )

    def seated(self, seats: Sequence[LiveSeat]) -> Statement:
        rows = [[seat.row.pk, seat.occupant.machine.pk] for seat in seats]
        return Statement.insert(MachineSeat, ("seat_id", "machine_id"), rows)

    def opened(self, live: LiveMatch, seat: LiveSeat) -> None:
        occupant: Occupant | None = seat.occupant
        if occupant is None or not occupant.kind.memory.copies_rows:
            return
        if occupant.machine.room_id is not None and occupant.machine.owner_id is None:
            guests_values_require(_guest(live), live.room.opened_from)

    def can_sit(self, live: LiveMatch, seat: LiveSeat, side: Side) -> bool:
        occupant: Occupant | None = seat.occupant
        if occupant is not None and occupant.kind.live.either_side:
            return True
        room = live.room
        asked = room.takes_over if seat.row.is_human else room.opponent
        return side == seat.row.side or (asked == HousePlayer.slug and house_machine(room.game, side) is not None)

    def choose(self, live: LiveMatch, seat: LiveSeat, position: AnyPosition) -> Choice:
        occupant: Occupant | None = seat.occupant
        if occupant is None:  # the machine was deleted during the match: it resigns
            return Choice(None)
        rng = RandomSource(live.match.seed, live.match.n_plies)
        return occupant.kind.live.choose(live, seat, occupant.machine, position, rng)

    def follow(self, live: LiveMatch, seat: LiveSeat, position: AnyPosition, move: AnyMove) -> object:
        occupant: Occupant | None = seat.occupant
        return None if occupant is None else occupant.kind.live.follow(live, seat, occupant.machine, position, move)

    def remember(self, seat: LiveSeat, records: Sequence[DecisionRecord]) -> Statement | None:
        occupant: Occupant | None = seat.occupant
        return None if occupant is None else occupant.kind.live.remember(seat, occupant.machine, records)

    def learner_id(self, seat: LiveSeat) -> int | None:
        occupant: Occupant | None = seat.occupant
        # A room's own copy learns in its room alone.
        if occupant is None or not occupant.machine.learns or occupant.machine.room_id is not None:
            return None
        return occupant.machine.pk

    def finish(self, matches: Sequence[LiveMatch]) -> None:
        lessons.matches_teach(matches=matches, player=self.slug)

    def describe(self, seat: LiveSeat) -> SeatMachine | None:
        occupant: Occupant | None = seat.occupant
        if occupant is None:
            return None
        machine, text = occupant.machine, occupant.kind.page.text
        see_named = text.see_named.format(name=machine.name)
        return {
            **machine_brief(machine),
            "counts_level": machine.rule.has_boxes and machine.box_rule.counts_level,
            "tells": text.tells,
            "see": text.see_all,
            "see_named": see_named,
        }

    def audience(self, seat: LiveSeat) -> AccessList:
        occupant: Occupant | None = seat.occupant
        return None if occupant is None else occupant.machine.audience

    def unseen(self, viewer: Principal) -> Q:
        return unseen(viewer, "machine_seat__machine__")

    def manages(self, seat: LiveSeat, user: AnyUser) -> bool:
        occupant: Occupant | None = seat.occupant
        return occupant is not None and can_edit(user, occupant.machine)

    def insight(self, live: LiveMatch) -> Insight | None:
        """The insights of all machines in the match, joined: of this player and of other kinds."""
        found, seats = list[Insight](), [seat for seat, _ in live.automata]
        for kind in KINDS.values():
            own = [seat for seat in seats if _is_of(seat, kind)]
            insight = kind.live.insight(live, own) if own else None
            if insight is not None:
                found.append(insight)
        return insights_joined(live, found) if len(found) > 1 else next(iter(found), None)


class HousePlayer(MachinePlayer):
    """The house's machine for the side that is free, so a rematch can swap sides."""

    slug = "menace"
    name = "MENACE"

    def __init__(self) -> None:
        super().__init__(self.slug)

    def plays(self, game: AnyGame) -> bool:
        return any(house_machine(game.slug, side) for side in Side)

    def offer(self, game: AnyGame) -> Offer | None:
        """An offer named after its machines: their common name if they have one, else both names."""
        houses = [house for side in Side if (house := house_machine(game.slug, side)) is not None]
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

    def wanted(self, live: LiveMatch, seat: LiveSeat, ref: str, *, hold: bool = False) -> Machine:
        game, side = live.room.game, Side(seat.row.side)
        house = house_machine(game, side)
        machine = None if house is None else _sat_before(live, house.slug)
        machine = machine or machine_of_house(game, side, hold=hold)
        if machine is None:
            raise MachineNotFoundError("No built-in machine plays this side yet. Run manage.py pretrain.")
        machine_require(_asks(live), machine, to="train" if seat.row.is_human and not live.room.fresh else "play")
        return machine
