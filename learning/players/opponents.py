"""Fixed opponents as players of live matches."""

from __future__ import annotations

from beadbox.engines.compiled import ready_require
from beadbox.engines.registry import engine_of
from beadbox.kernels.random_source import RandomSource
from beadbox.policies.opponent import Opponent
from beadbox.policies.registry import ENGINES, OPPONENTS, opponent_at, opponents_offered
from beadbox.rules.game import AnyGame, AnyPosition
from games.live.players import PLAYERS, Automaton, Choice, LiveMatch, LiveSeat, Offer, SeatPlayer
from games.live.states import Insight, RatingShape
from learning.kinds.live import LevelMove
from learning.kinds.registry import KINDS


class OpponentPlayer(Automaton):
    """A fixed opponent, under its own slug or under a level of difficulty such as ``easy``.

    Each game has its own opponent for a level (:func:`opponent_at`).
    """

    def __init__(self, slug: str) -> None:
        self.slug = self.name = slug
        self.seat_player = SeatedOpponent(slug)

    def plays(self, game: AnyGame) -> bool:
        return _opponent(self.slug, game) is not None

    def offer(self, game: AnyGame) -> Offer | None:
        opponent = _opponent(self.slug, game)
        if opponent is None or opponent.slug != self.slug:
            return None
        offered = next((one for one in opponents_offered(game) if one.opponent is opponent), None)
        if offered is None:
            return None
        elo: RatingShape | None = None
        if offered.rating is not None:
            elo = {"elo": offered.rating.elo, "low": offered.rating.low, "high": offered.rating.high}
        return Offer(opponent.name, opponent.summary, suitable_for=offered.suitable_for, elo=elo)

    def advises(self, game: AnyGame) -> bool:
        return engine_of(game) is not None

    def sit(self, live: LiveMatch, seat: LiveSeat, machine: str) -> None:
        opponent = _opponent_seated(self.slug, live.game)
        _engine_ready_require(opponent, live.game)
        # A level gives the seat to its opponent in this game.
        seat.give(PLAYERS[opponent.slug].seat_player, opponent.name)


class SeatedOpponent(SeatPlayer):
    """A fixed opponent in a seat. It has no data of its own, so one object serves all seats."""

    def __init__(self, slug: str) -> None:
        self.slug = slug

    def is_slow(self, live: LiveMatch) -> bool:
        opponent = _opponent_seated(self.slug, live.game)
        if opponent.is_slow:  # checked now, while the person's move can still be refused
            _engine_ready_require(opponent, live.game)
        return opponent.is_slow

    def choose(self, live: LiveMatch, position: AnyPosition) -> Choice:
        rng = RandomSource(live.match.seed, live.match.n_plies)
        return Choice(_opponent_seated(self.slug, live.game).choose(live.game, position, rng))

    def insight(self, live: LiveMatch) -> Insight | None:
        """Return the thoughts of all levels in the match that play by a learnt value, on their last moves."""
        engine, last_moves = engine_of(live.game), list[LevelMove]()
        levels = {} if engine is None else engine.levels
        for seat, player in live.automated_seats:
            level = levels.get(player.slug)
            ply = next((ply.number for ply in reversed(live.plies) if ply.side == seat.row.side), None)
            if level is not None and level.uses_learnt_value and ply is not None:
                is_random = level.draws_random_move(RandomSource(live.match.seed, ply))
                last_moves.append(LevelMove(seat.row, ply, level, is_random))
        insights = (kind.occupant_class.level_insight(live, last_moves) for kind in KINDS.values() if last_moves)
        return next((insight for insight in insights if insight is not None), None)


def _opponent(slug: str, game: AnyGame) -> Opponent | None:
    """Return the opponent with this slug or level in a game; ``None`` if there is none."""
    named = OPPONENTS.get(slug)
    return named if named is not None and named.plays(game) else opponent_at(slug, game)


def _opponent_seated(slug: str, game: AnyGame) -> Opponent:
    """Return the opponent with this slug or level, which has a seat in the game."""
    opponent = _opponent(slug, game)
    assert opponent is not None, "only an opponent that plays the game gets a seat"
    return opponent


def _engine_ready_require(opponent: Opponent, game: AnyGame) -> None:
    """Check that the opponent's engine is ready, if it is a level of an engine.

    Raises:
        EngineCompilingError, EngineMissingError.
    """
    engine = engine_of(game)
    if engine is not None and opponent.slug in ENGINES:
        ready_require(engine.readiness())
