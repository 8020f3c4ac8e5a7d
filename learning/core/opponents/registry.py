"""Every fixed opponent. A new one is a class and a line here."""

from typing import Any

from games.rules.base import Game
from learning.core.engines.registry import LEVELS as ENGINE_LEVELS
from learning.core.opponents.base import Opponent, UniformOpponent
from learning.core.opponents.engine import EngineOpponent
from learning.core.opponents.perfect import PerfectFastOpponent, PerfectOpponent
from learning.core.opponents.uniform import RandomOpponent, WinBlockOpponent

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


def opponent_at(level: str, game: Game[Any, Any]) -> Opponent | None:
    """Who plays a game at a level of difficulty; ``None`` if nobody does."""
    candidates = (ENGINES.get(level), LEVELS.get(level))
    return next((one for one in candidates if one is not None and one.plays(game)), None)


def opponent_usual(game: Game[Any, Any]) -> Opponent:
    """Who plays a game with somebody who just wants to play: a middling opponent, or where none is, the weakest."""
    return opponent_at("medium", game) or LEVELS["easy"]


def opponents_offered(game: Game[Any, Any]) -> list[Opponent]:
    """The opponents that somebody who wants to play is offered, the weakest first: the levels of an engine, if any."""
    levels: list[Opponent] = [engine for engine in ENGINES.values() if engine.plays(game)]
    return levels or [opponent for opponent in UNIFORM.values() if opponent.plays(game)]
