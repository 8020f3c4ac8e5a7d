"""Every fixed opponent. A new one is a class and a line here."""

from learning.engines.romgon.answers import LEVELS as ENGINE_LEVELS
from learning.opponents.base import Opponent
from learning.opponents.engine import EngineOpponent
from learning.opponents.perfect import PerfectFastOpponent, PerfectOpponent
from learning.opponents.uniform import RandomOpponent, WinBlockOpponent

OPPONENTS: dict[str, Opponent] = {
    opponent.slug: opponent
    for opponent in (RandomOpponent(), WinBlockOpponent(), PerfectOpponent(), PerfectFastOpponent())
}

ENGINES: dict[str, EngineOpponent] = {level.slug: EngineOpponent(level) for level in ENGINE_LEVELS.values()}
"""Those that search, each for games of one family; named by how well they play."""

TRAINERS: dict[str, Opponent] = {**OPPONENTS, **ENGINES}
"""Everybody that a machine may be trained against."""

LEVELS: dict[str, Opponent] = {
    "easy": OPPONENTS["random"],
    "medium": OPPONENTS["win-block"],
    "hard": OPPONENTS["perfect"],
}
"""By level of difficulty, the weakest first."""
