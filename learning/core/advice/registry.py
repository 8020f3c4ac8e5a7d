"""Who answers questions about a game: a family's own adviser, else the one of any game. A new one is a line here."""

from typing import Any

from games.rules.base import Game
from learning.core.advice.any_game import AnyGameAdviser
from learning.core.advice.base import Adviser
from learning.core.advice.romgon import RomgonAdviser

ADVISERS: dict[str, Adviser[Any]] = {"romgon": RomgonAdviser()}
"""By family."""

UNNAMED = "romgon"
"""The game that is meant where a question names none."""

_ANY_GAME = AnyGameAdviser()


def adviser_of(game: Game[Any, Any]) -> Adviser[Any]:
    """Who answers questions about a game."""
    return ADVISERS.get(game.family, _ANY_GAME)
