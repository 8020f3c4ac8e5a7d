"""Learners and fixed opponents as players of live matches: the other side of the port ``games.live.players``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q
from psycopg.sql import Composable

from beadbox.engines.compiled import ready_require
from beadbox.engines.registry import engine_of
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.built_in import house_machine
from beadbox.learners.presets import ALL_PRESETS
from beadbox.policies.opponent import Opponent
from beadbox.policies.registry import ENGINES, LEVELS, OPPONENTS, opponent_at, opponents_offered
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Side
from games.accounts.claims import Claimed
from games.accounts.principal import AnyUser, Principal, Visitor
from games.exceptions import MalformedError
from games.live.players import MACHINE, PLAYERS, Choice, LiveMatch, LiveSeat, Memo, Offer, SeatPlayer, Statement
from games.live.states import Insight, MachineBrief, RatingShape, SeatMachine
from learning.access import (
    SEE_MACHINES,
    To,
    is_lent,
    is_master,
    machine_find,
    machine_for,
    machine_require,
    may_see,
    row_id,
    unseen,
)
from learning.exceptions import MachineNotFoundError, MachineWrongSideError
from learning.kinds.kind import Kind
from learning.kinds.live import LevelMove
from learning.kinds.registry import KINDS, kind_of
from learning.models import AccessList, Machine, MachineSeat
from learning.selectors.machines import machine_brief, machine_of_house
from learning.selectors.matches import insight_told, insights_joined
from learning.services import lessons
from learning.services.machines import guests_values_require
from learning.services.pupils import machines_claim
from learning.storage import occupants
from learning.storage.occupants import machine_in


def _account(live: LiveMatch) -> Any:
    """The account that asks for the player in a seat, if it has one: of who sits in the match, else of the host."""
    person = next((seat.row for seat in live.seats if seat.row.user_id is not None), None)
    return live.room.host if person is None else person.user


def _guest(live: LiveMatch) -> UUID | None:
    """The guest who asks for the player in a seat, where no account does: who sits in the match, else the host."""
    person = next((seat.row for seat in live.seats if seat.row.guest is not None), None)
    return live.room.host_guest if person is None else person.guest


def _sat_before(live: LiveMatch, ref: str) -> Machine | None:
    """The machine of this id or slug, if it sat in the match before and was read with it; not where it is copied."""
    if live.before is None or live.room.fresh:
        return None
    sat = [machine_in(seat) for seat, _ in live.before.automata]
    by_id = row_id(ref) is not None
    return next((one for one in sat if one is not None and ref == (str(one.pk) if by_id else one.slug)), None)


def _asks(live: LiveMatch) -> Any:
    """The account or the visitor that asks for the player in this seat, with the links that opened the room."""
    account = _account(live)
    asks = Visitor(_guest(live)) if account is None else account
    asks.links = frozenset(live.room.links)
    return asks


def _is_of(seat: LiveSeat, kind: Kind) -> bool:
    """Whether a machine of this kind sits there, or one that may have been of it and is gone."""
    machine = machine_in(seat)
    return seat.row.automaton == kind.live.player if machine is None else kind_of(machine) is kind


class OpponentPlayer(SeatPlayer):
    """A fixed opponent, by its own name or by a level of difficulty: who that is, the game decides."""

    def __init__(self, slug: str) -> None:
        self.slug = slug  # type: ignore[misc]  # one instance a slug
        self.name = slug

    def _in(self, game: AnyGame) -> Opponent | None:
        """Who goes by this name in a game."""
        named = OPPONENTS.get(self.slug)
        return named if named is not None and named.plays(game) else opponent_at(self.slug, game)

    def _of(self, live: LiveMatch) -> Opponent:
        opponent = self._in(live.game)
        assert opponent is not None, "who does not play a game has no seat in it"
        return opponent

    def plays(self, game: AnyGame) -> bool:
        return self._in(game) is not None

    def offer(self, game: AnyGame) -> Offer | None:
        opponent = self._in(game)
        if opponent is None or opponent.slug != self.slug:
            return None
        offered = next((one for one in opponents_offered(game) if one.opponent is opponent), None)
        if offered is None:
            return None
        elo: RatingShape | None = None
        if offered.rating is not None:
            elo = {"elo": offered.rating.elo, "low": offered.rating.low, "high": offered.rating.high}
        return Offer(opponent.name, opponent.summary, offered.whom, elo)

    def advises(self, game: AnyGame) -> bool:
        return engine_of(game) is not None

    def sit(self, live: LiveMatch, seat: LiveSeat, machine: str) -> None:
        opponent = self._of(live)
        _ready_require(opponent, live.game)
        seat.give(PLAYERS[opponent.slug], opponent.name)

    def is_slow(self, live: LiveMatch, seat: LiveSeat) -> bool:
        opponent = self._of(live)
        if opponent.is_slow:  # it is asked later, by when whoever moved could not be refused
            _ready_require(opponent, live.game)
        return opponent.is_slow

    def choose(self, live: LiveMatch, seat: LiveSeat, position: AnyPosition) -> Choice:
        rng = RandomSource(live.match.seed, live.match.n_plies)
        return Choice(self._of(live).choose(live.game, position, rng))

    def insight(self, live: LiveMatch) -> Insight | None:
        """What every level at the board saw that plays by something learnt, be it this one or who sits opposite."""
        engine, moved = engine_of(live.game), list[LevelMove]()
        levels = {} if engine is None else engine.levels
        for seat, player in live.automata:
            level = levels.get(player.slug)
            last = next((ply.number for ply in reversed(live.plies) if ply.side == seat.row.side), None)
            if level is not None and level.learnt and last is not None:
                moved.append(LevelMove(seat, last, level, level.plays_anything(RandomSource(live.match.seed, last))))
        told = (kind.live.level_insight(live, moved) for kind in KINDS.values() if moved)
        return next((insight for insight in told if insight is not None), None)


def _ready_require(opponent: Opponent, game: AnyGame) -> None:
    """Refuse an opponent that is an engine which is not compiled yet."""
    engine = engine_of(game)
    if engine is not None and opponent.slug in ENGINES:
        ready_require(engine.readiness())


class MachinePlayer(SeatPlayer):
    """A machine: it moves, and learns from the match in the transaction that ends it.

    In the seat of a person who has taken it over it chooses nothing, and learns from their moves all the same.
    """

    name = "A machine"
    learns = True

    def __init__(self, slug: str) -> None:
        self.slug = slug  # type: ignore[misc]  # one instance a slug

    @property
    def kinds(self) -> list[Kind]:
        """The kinds of machine that it moves for."""
        return [kind for kind in KINDS.values() if kind.live.player == self.slug]

    def plays(self, game: AnyGame) -> bool:
        return self.slug == MACHINE or any(kind.rule.fits(game) for kind in self.kinds)

    def only_side(self, machine: str) -> Side | None:
        side = machine_find(machine).side
        return None if side is None else Side(side)

    def wanted(self, live: LiveMatch, seat: LiveSeat, ref: str, *, hold: bool = False) -> Machine:
        """The machine of this id or slug, for the side of this seat; with ``hold`` kept as by ``machine_hold``.

        To take its seat over is to train it, unless it is copied for the room first. A shared link allows copies alone.

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
        copy = machine_in(seat)
        if copy is not None and kind_of(copy).memory.copies_rows and copy.room_id is not None and copy.owner_id is None:
            guests_values_require(_guest(live), live.room.opened_from)

    def can_sit(self, live: LiveMatch, seat: LiveSeat, side: Side) -> bool:
        machine = machine_in(seat)
        if machine is not None and kind_of(machine).live.either_side:
            return True
        room = live.room
        asked = room.takes_over if seat.row.is_human else room.opponent
        return side == seat.row.side or (asked == HousePlayer.slug and house_machine(room.game, side) is not None)

    def choose(self, live: LiveMatch, seat: LiveSeat, position: AnyPosition) -> Choice:
        machine = machine_in(seat)
        if machine is None:  # deleted in the middle of the match: there is nobody left to move
            return Choice(None)
        rng = RandomSource(live.match.seed, live.match.n_plies)
        return kind_of(machine).live.choose(live, seat, machine, position, rng)

    def follow(self, live: LiveMatch, seat: LiveSeat, position: AnyPosition, move: AnyMove) -> object:
        machine = machine_in(seat)
        return None if machine is None else kind_of(machine).live.follow(live, seat, machine, position, move)

    def remember(self, seat: LiveSeat, memos: Sequence[Memo]) -> Statement | None:
        machine = machine_in(seat)
        return None if machine is None else kind_of(machine).live.remember(seat, machine, memos)

    def pupil(self, seat: LiveSeat) -> int | None:
        machine = machine_in(seat)
        if machine is None or not machine.learns or machine.room_id is not None:  # a room's own learns there alone
            return None
        return machine.pk

    def finish(self, matches: Sequence[LiveMatch]) -> None:
        lessons.matches_teach(matches=matches, player=self.slug)

    def describe(self, seat: LiveSeat) -> SeatMachine | None:
        machine = machine_in(seat)
        if machine is None:
            return None
        page = kind_of(machine).page
        see_named = page.text.see_named.format(name=machine.name)
        return {
            **machine_brief(machine),
            "counts_level": page.counts_level(machine.rule),
            "tells": page.text.tells,
            "see": page.text.see_all,
            "see_named": see_named,
        }

    def audience(self, seat: LiveSeat) -> AccessList:
        machine = machine_in(seat)
        return None if machine is None else machine.audience

    def may_see(self, viewer: Principal, audience: AccessList) -> bool:
        return may_see(viewer, audience)

    def unseen(self, viewer: Principal) -> Q:
        return unseen(viewer, "machine_seat__machine__")

    def insight_told(self, insight: Insight, machines: Mapping[str, MachineBrief]) -> Insight | None:
        return insight_told(insight, machines)

    def manages(self, seat: LiveSeat, user: AnyUser) -> bool:
        machine = machine_in(seat)
        return machine is not None and is_master(user, machine)

    def insight(self, live: LiveMatch) -> Insight | None:
        """What every machine at the board has to say, be it this player's or of another kind, opposite."""
        found = list[Insight]()
        for kind in KINDS.values():
            own = [seat for seat, _ in live.automata if _is_of(seat, kind)]
            insight = kind.live.insight(live, own) if own else None
            if insight is not None:
                found.append(insight)
        return insights_joined(live, found) if found else None


class HousePlayer(MachinePlayer):
    """The house's machine for whichever side is free, so a rematch can swap sides."""

    slug = "menace"
    name = "MENACE"

    def __init__(self) -> None:
        super().__init__(self.slug)

    def plays(self, game: AnyGame) -> bool:
        return any(house_machine(game.slug, side) for side in Side)

    def offer(self, game: AnyGame) -> Offer | None:
        """By what is printed on its machines' boxes: one name for both if they share it, else either."""
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


class Machines:
    """The app that keeps machines, as live play asks it (:class:`games.live.players.MachinePort`)."""

    sees_all = tuple(f"learning.{one}" for one in SEE_MACHINES)

    def __init__(self) -> None:
        """Make every player; the kinds of machine have to be known."""
        self.players: list[SeatPlayer] = [
            HousePlayer(),
            *map(MachinePlayer, {kind.live.player: kind for kind in KINDS.values()}),
            *map(OpponentPlayer, {**OPPONENTS, **LEVELS}),
        ]

    def occupants_query(self) -> Composable:
        return occupants.occupants_query()

    def occupants_keep(self, live: LiveMatch, found: Sequence[Sequence[object]] | None) -> None:
        occupants.occupants_keep(live.seats, found)

    def occupants_fetch(self, live: LiveMatch) -> None:
        occupants.occupants_fetch(live.seats)

    def guest_claim(self, user_id: int, guest: UUID) -> Claimed:
        return machines_claim(user_id, guest)
