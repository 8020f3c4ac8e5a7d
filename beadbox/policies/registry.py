"""The registry of fixed opponents. A new opponent is a class and a line here."""

from typing import NamedTuple

from beadbox.engines.registry import LEVELS as ENGINE_LEVELS
from beadbox.engines.registry import engine_of
from beadbox.policies.engine import EngineOpponent
from beadbox.policies.opponent import Opponent, UniformOpponent
from beadbox.policies.perfect import PerfectFastOpponent, PerfectOpponent
from beadbox.policies.uniform import RandomOpponent, WinBlockOpponent
from beadbox.rules.game import AnyGame
from beadbox.strength.elo import Elo

UNIFORM: dict[str, UniformOpponent] = {
    opponent.slug: opponent
    for opponent in (RandomOpponent(), WinBlockOpponent(), PerfectOpponent(), PerfectFastOpponent())
}
"""Opponents by slug that use only the rules interface."""

ENGINES: dict[str, EngineOpponent] = {slug: EngineOpponent(slug) for slug in ENGINE_LEVELS}
"""Opponents that search, by the slug of their engine level. An engine plays the games of one family."""

OPPONENTS: dict[str, Opponent] = {**UNIFORM, **ENGINES}

LEVELS: dict[str, UniformOpponent] = {
    "easy": UNIFORM["random"],
    "medium": UNIFORM["win-block"],
    "hard": UNIFORM["perfect"],
}
"""Opponents by level of difficulty, weakest first, in games without an engine."""


def opponent_at(level: str, game: AnyGame) -> Opponent | None:
    """Return the opponent at a level of difficulty in a game; ``None`` if no opponent of that level plays it."""
    candidates = (ENGINES.get(level), LEVELS.get(level))
    return next((one for one in candidates if one is not None and one.plays(game)), None)


def opponent_usual(game: AnyGame) -> Opponent:
    """Return the default opponent of a game, for a player without a choice of their own.

    In a game with a ladder, it is the engine's weakest level for beginners.
    Otherwise it is the medium level, or the random opponent where no medium level plays the game.
    """
    engine = engine_of(game)
    beginner_slugs = () if engine is None else engine.beginner_levels
    on_ladder = (offered.opponent for offered in opponents_offered(game) if offered.opponent.slug in beginner_slugs)
    return next(on_ladder, None) or opponent_at("medium", game) or LEVELS["easy"]


class OfferedOpponent(NamedTuple):
    """An opponent on offer to players, and its rating if it has been measured."""

    opponent: Opponent
    suitable_for: str = ""
    """Intended players, as in ``engines.level.Level``; empty for an opponent that is no level of an engine."""
    rating: Elo | None = None


def opponents_offered(game: AnyGame) -> list[OfferedOpponent]:
    """Return the opponents on offer in a game, weakest first: the engine's ladder, or else all that play the game."""
    engine = engine_of(game)
    if engine is None:
        return [OfferedOpponent(opponent) for opponent in UNIFORM.values() if opponent.plays(game)]
    return [OfferedOpponent(ENGINES[level.slug], level.suitable_for, rating) for level, rating in engine.ladder(game)]
