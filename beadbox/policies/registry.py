"""Every fixed opponent. A new one is a class and a line here."""

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
"""Those that know the rules interface alone."""

ENGINES: dict[str, EngineOpponent] = {slug: EngineOpponent(slug) for slug in ENGINE_LEVELS}
"""Those that search, each for games of one family; named by how well they play."""

OPPONENTS: dict[str, Opponent] = {**UNIFORM, **ENGINES}

LEVELS: dict[str, UniformOpponent] = {
    "easy": UNIFORM["random"],
    "medium": UNIFORM["win-block"],
    "hard": UNIFORM["perfect"],
}
"""By level of difficulty, the weakest first, in games that no engine plays."""


def opponent_at(level: str, game: AnyGame) -> Opponent | None:
    """Who plays a game at a level of difficulty; ``None`` if nobody does."""
    candidates = (ENGINES.get(level), LEVELS.get(level))
    return next((one for one in candidates if one is not None and one.plays(game)), None)


def opponent_usual(game: AnyGame) -> Opponent:
    """Who plays a game with somebody who just wants to play: on a ladder whom a beginner can beat, else a middling one.

    Where there is no middling one it is the weakest.
    """
    engine = engine_of(game)
    newcomers = () if engine is None else engine.newcomers
    on_ladder = (rung.opponent for rung in opponents_offered(game) if rung.opponent.slug in newcomers)
    return next(on_ladder, None) or opponent_at("medium", game) or LEVELS["easy"]


class Offered(NamedTuple):
    """An opponent that somebody is offered, and how strong it is, where that has been measured."""

    opponent: Opponent
    whom: str = ""
    rating: Elo | None = None


def opponents_offered(game: AnyGame) -> list[Offered]:
    """The opponents that somebody who wants to play is offered, the weakest first: the ladder of an engine, if any."""
    engine = engine_of(game)
    if engine is None:
        return [Offered(opponent) for opponent in UNIFORM.values() if opponent.plays(game)]
    return [Offered(ENGINES[level.slug], level.whom, rating) for level, rating in engine.ladder(game)]
