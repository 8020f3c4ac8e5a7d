"""Who answers questions about a game: a family's own adviser, else the one of any game. A new one is a line here."""

from typing import cast

from beadbox.rules.game import AnyGame
from learning.advice.adviser import AnyAdviser
from learning.advice.any_game import AnyGameAdviser
from learning.advice.romgon import RomgonAdviser

ADVISERS = {"romgon": cast("AnyAdviser", RomgonAdviser())}
"""By family."""

UNNAMED = "romgon"
"""The game that is meant where a question names none."""

_ANY_GAME = cast("AnyAdviser", AnyGameAdviser())


def adviser_of(game: AnyGame) -> AnyAdviser:
    """Who answers questions about a game."""
    return ADVISERS.get(game.family, _ANY_GAME)
