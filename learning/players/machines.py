"""Learners and fixed opponents as players of live matches: the other side of the port ``games.live.players``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q

from beadbox.engines.compiled import ready_require
from beadbox.engines.registry import engine_of
from beadbox.learners.built_in import house_machine
from beadbox.learners.presets import ALL_PRESETS
from beadbox.policies.opponent import Opponent
from beadbox.policies.registry import ENGINES, LEVELS, OPPONENTS, opponent_at, opponents_offered
from beadbox.rules.game import Game
from beadbox.rules.outcome import Side
from games.accounts.principal import SEES_ALL, Viewer, Visitor
from games.exceptions import MalformedError
from games.live.players import BESIDE, CLAIMS, MACHINE, Beside, Choice, Insert, Memo, Offer, SeatPlayer, player_register
from games.live.selectors import plies_read, seats_read
from games.live.states import Insight, MachineBrief, RatingShape, SeatMachine
from games.models import Match, Seat
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
from learning.models import Audience, Machine
from learning.selectors.machines import machine_brief, machine_in, machine_of_house
from learning.selectors.matches import insight_told, insights_joined
from learning.services import lessons
from learning.services.lessons import ply_random
from learning.services.machines import guests_values_require
from learning.services.pupils import machines_claim
from learning.storage import sitting


def _account(seat: Seat) -> Any:
    """The account that asks for the player in this seat, if it has one: of who sits in the match, else of the host."""
    person = next((one for one in seats_read(seat.match) if one.user_id is not None), None)
    return seat.match.room.host if person is None else person.user


def _guest(seat: Seat) -> UUID | None:
    """The guest who asks for the player in this seat, where no account does: who sits in the match, else the host."""
    person = next((one for one in seats_read(seat.match) if one.guest is not None), None)
    return seat.match.room.host_guest if person is None else person.guest


def _sat_before(seat: Seat, ref: str) -> Machine | None:
    """The machine of this id or slug, if it sat in the match before and was read with it; not where it is copied."""
    match = seat.match
    if match.before is None or match.room.fresh:
        return None
    sat = [machine_in(one) for one in seats_read(match.before) if one.automaton]
    by_id = row_id(ref) is not None
    return next((one for one in sat if one is not None and ref == (str(one.pk) if by_id else one.slug)), None)


def _asks(seat: Seat) -> Any:
    """The account or the visitor that asks for the player in this seat, with the links that opened the room."""
    account = _account(seat)
    asks = Visitor(_guest(seat)) if account is None else account
    asks.links = frozenset(seat.match.room.links)
    return asks


def _is_of(seat: Seat, kind: Kind) -> bool:
    """Whether a machine of this kind sits there, or one that may have been of it and is gone."""
    if not seat.automaton:  # a person alone: nothing is to be read for that
        return False
    machine = machine_in(seat)
    return seat.automaton == kind.live.player if machine is None else kind_of(machine) is kind


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
        if opponent is None or opponent.slug != self.slug:
            return None
        offered = next((one for one in opponents_offered(game) if one.opponent is opponent), None)
        if offered is None:
            return None
        elo: RatingShape | None = None
        if offered.rating is not None:
            elo = {"elo": offered.rating.elo, "low": offered.rating.low, "high": offered.rating.high}
        return Offer(opponent.name, opponent.summary, offered.whom, elo)

    def advises(self, game: Game[Any, Any]) -> bool:
        return engine_of(game) is not None

    def sit(self, seat: Seat, machine: str) -> None:
        opponent = self._of(seat)
        _ready_require(opponent, seat.match.room.game_rules)
        seat.player, seat.name = opponent.slug, opponent.name

    def is_slow(self, seat: Seat) -> bool:
        opponent = self._of(seat)
        if opponent.is_slow:  # it is asked later, by when whoever moved could not be refused
            _ready_require(opponent, seat.match.room.game_rules)
        return opponent.is_slow

    def choose(self, seat: Seat, position: Any) -> Choice:
        match = seat.match
        return Choice(self._of(seat).choose(match.room.game_rules, position, ply_random(match, match.n_plies)))

    def insight(self, match: Match, seats: list[Seat]) -> Insight | None:
        """What every level at the board saw that plays by something learnt, be it this one or who sits opposite."""
        engine, moved = engine_of(match.room.game_rules), list[LevelMove]()
        levels = {} if engine is None else engine.levels
        for seat in seats_read(match):
            level = levels.get(seat.automaton)
            last = next((ply.number for ply in reversed(plies_read(match)) if ply.side == seat.side), None)
            if level is not None and level.learnt and last is not None:
                moved.append(LevelMove(seat, last, level, level.plays_anything(ply_random(match, last))))
        told = (kind.live.level_insight(match, moved) for kind in KINDS.values() if moved)
        return next((insight for insight in told if insight is not None), None)


def _ready_require(opponent: Opponent, game: Game[Any, Any]) -> None:
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

    def plays(self, game: Game[Any, Any]) -> bool:
        return self.slug == MACHINE or any(kind.rule.fits(game) for kind in self.kinds)

    def only_side(self, machine: str) -> Side | None:
        side = machine_find(machine).side
        return None if side is None else Side(side)

    def wanted(self, seat: Seat, ref: str, *, hold: bool = False) -> Machine:
        """The machine of this id or slug, for the side of this seat; with ``hold`` kept as by ``machine_hold``.

        To take its seat over is to train it, unless it is copied for the room first. A shared link allows copies alone.

        Raises:
            MalformedError, MachineNotFoundError, NotYourMachineError, MachineWrongSideError.
        """
        room = seat.match.room
        if not ref:
            raise MalformedError("machine: say which machine, by its id or its name in the address.")
        to: To = "copy" if room.fresh else "train" if seat.is_human else "play"
        machine = machine_for(_asks(seat), ref, to=to, hold=hold, known=_sat_before(seat, ref))
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
        wanted = self.wanted(seat, machine, hold=True)
        lent = is_lent(_asks(seat), wanted)
        lessons.seat_take(seat=seat, machine=wanted, owner=_account(seat), guest=_guest(seat), lent=lent)

    def seated(self, seats: Sequence[Seat]) -> Insert:
        return lessons.seats_insert(seats)

    def opened(self, seat: Seat) -> None:
        copy = machine_in(seat)
        if copy is not None and kind_of(copy).memory.copies_rows and copy.room_id is not None and copy.owner_id is None:
            guests_values_require(_guest(seat), seat.match.room.opened_from)

    def can_sit(self, seat: Seat, side: Side) -> bool:
        machine = machine_in(seat)
        if machine is not None and kind_of(machine).live.either_side:
            return True
        room = seat.match.room
        asked = room.takes_over if seat.is_human else room.opponent
        return side == seat.side or (asked == HousePlayer.slug and house_machine(room.game, side) is not None)

    def choose(self, seat: Seat, position: Any) -> Choice:
        return lessons.machine_choose(seat=seat, position=position)

    def follow(self, seat: Seat, position: Any, move: Any) -> Any:
        return lessons.machine_follow(seat=seat, position=position, move=move)

    def remember(self, seat: Seat, memos: Sequence[Memo]) -> Insert | None:
        return lessons.memos_store(seat=seat, memos=memos)

    def pupil(self, seat: Seat) -> int | None:
        machine = machine_in(seat)
        if machine is None or not machine.learns or machine.room_id is not None:  # a room's own learns there alone
            return None
        return machine.pk

    def finish(self, matches: Sequence[Match]) -> None:
        lessons.matches_teach(matches=matches, player=self.slug)

    def describe(self, seat: Seat) -> SeatMachine | None:
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

    def audience(self, seat: Seat) -> Audience:
        machine = machine_in(seat)
        return None if machine is None else machine.audience

    def may_see(self, viewer: Viewer, audience: Audience) -> bool:
        return may_see(viewer, audience)

    def unseen(self, viewer: Viewer) -> Q:
        return unseen(viewer, "machine_seat__machine__")

    def insight_told(self, insight: Insight, machines: Mapping[str, MachineBrief]) -> Insight | None:
        return insight_told(insight, machines)

    def manages(self, seat: Seat, user: Any) -> bool:
        machine = machine_in(seat)
        return machine is not None and is_master(user, machine)

    def insight(self, match: Match, seats: list[Seat]) -> Insight | None:
        """What every machine at the board has to say, be it this player's or of another kind, opposite."""
        found = list[Insight]()
        for kind in KINDS.values():
            own = [seat for seat in seats_read(match) if _is_of(seat, kind)]
            insight = kind.live.insight(match, own) if own else None
            if insight is not None:
                found.append(insight)
        return insights_joined(match, found) if found else None


class HousePlayer(MachinePlayer):
    """The house's machine for whichever side is free, so a rematch can swap sides."""

    slug = "menace"
    name = "MENACE"

    def __init__(self) -> None:
        super().__init__(self.slug)

    def plays(self, game: Game[Any, Any]) -> bool:
        return any(house_machine(game.slug, side) for side in Side)

    def offer(self, game: Game[Any, Any]) -> Offer | None:
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

    def wanted(self, seat: Seat, ref: str, *, hold: bool = False) -> Machine:
        game, side = seat.match.room.game, Side(seat.side)
        house = house_machine(game, side)
        machine = None if house is None else _sat_before(seat, house.slug)
        machine = machine or machine_of_house(game, side, hold=hold)
        if machine is None:
            raise MachineNotFoundError("No built-in machine plays this side yet. Run manage.py pretrain.")
        machine_require(_asks(seat), machine, to="train" if seat.is_human and not seat.match.room.fresh else "play")
        return machine


def players_register() -> None:
    """Make every learner and opponent known to live matches; called when the app is ready."""
    SEES_ALL.extend(f"learning.{one}" for one in SEE_MACHINES)
    BESIDE.append(Beside(sitting.BESIDE, lambda match, found: sitting.sitting_take(seats_read(match), found)))
    CLAIMS.append(machines_claim)
    player_register(HousePlayer())
    for slug in {kind.live.player: kind for kind in KINDS.values()}:
        player_register(MachinePlayer(slug))
    for slug in {**OPPONENTS, **LEVELS}:
        player_register(OpponentPlayer(slug))
