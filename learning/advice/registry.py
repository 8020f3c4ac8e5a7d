"""The advisers: one for each family listed here, and a default for all other games. A new one is a line here."""

from typing import cast

from beadbox.rules.game import AnyGame
from learning.advice.adviser import AnyAdviser
from learning.advice.any_game import AnyGameAdviser
from learning.advice.romgon import RomgonAdviser

ADVISERS = {"romgon": cast("AnyAdviser", RomgonAdviser())}
"""Advisers of particular families, by the family's slug."""

UNNAMED = "romgon"
"""Slug of the game of questions that name no game."""

_ANY_GAME = cast("AnyAdviser", AnyGameAdviser())


def adviser_of(game: AnyGame) -> AnyAdviser:
    """Return the adviser for a game: that of its family, else the default."""
    return ADVISERS.get(game.family, _ANY_GAME)
