"""Fixed opponents as players of live matches."""

from __future__ import annotations

from beadbox.engines.compiled import ready_require
from beadbox.engines.registry import engine_of
from beadbox.kernels.random_source import RandomSource
from beadbox.policies.opponent import Opponent
from beadbox.policies.registry import ENGINES, OPPONENTS, opponent_at, opponents_offered
from beadbox.rules.game import AnyGame, AnyPosition
from games.live.players import PLAYERS, Choice, LiveMatch, LiveSeat, Offer, SeatPlayer
from games.live.states import Insight, RatingShape
from learning.kinds.live import LevelMove
from learning.kinds.registry import KINDS


class OpponentPlayer(SeatPlayer):
    """A fixed opponent, by its own name or by a level of difficulty, for which the game chooses the opponent."""

    def __init__(self, slug: str) -> None:
        self.slug = slug  # type: ignore[misc]  # one instance a slug
        self.name = slug

    def _in(self, game: AnyGame) -> Opponent | None:
        """The opponent with this name or level in a game."""
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
        if opponent.is_slow:  # checked now: later, when it is asked for its move, the move before could not be refused
            _ready_require(opponent, live.game)
        return opponent.is_slow

    def choose(self, live: LiveMatch, seat: LiveSeat, position: AnyPosition) -> Choice:
        rng = RandomSource(live.match.seed, live.match.n_plies)
        return Choice(self._of(live).choose(live.game, position, rng))

    def insight(self, live: LiveMatch) -> Insight | None:
        """The thoughts of every level in the match that plays by something learnt, on either side."""
        engine, moved = engine_of(live.game), list[LevelMove]()
        levels = {} if engine is None else engine.levels
        for seat, player in live.automata:
            level = levels.get(player.slug)
            last = next((ply.number for ply in reversed(live.plies) if ply.side == seat.row.side), None)
            if level is not None and level.learnt and last is not None:
                moved.append(LevelMove(seat, last, level, level.plays_anything(RandomSource(live.match.seed, last))))
        insights = (kind.live.level_insight(live, moved) for kind in KINDS.values() if moved)
        return next((insight for insight in insights if insight is not None), None)


def _ready_require(opponent: Opponent, game: AnyGame) -> None:
    """Refuse an opponent that is an engine which is not compiled yet."""
    engine = engine_of(game)
    if engine is not None and opponent.slug in ENGINES:
        ready_require(engine.readiness())
