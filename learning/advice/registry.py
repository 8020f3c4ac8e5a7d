"""The registry of advisers: one for each listed family of games, and a default for all other games."""

from typing import cast

from beadbox.rules.game import AnyGame
from learning.advice.adviser import AnyAdviser
from learning.advice.any_game import AnyGameAdviser
from learning.advice.romgon import RomgonAdviser

ADVISERS = {"romgon": cast("AnyAdviser", RomgonAdviser())}
"""Advisers of particular families, by the family's slug."""

DEFAULT_GAME = "romgon"
"""Slug of the default game, for questions that name no game."""

_ANY_GAME = cast("AnyAdviser", AnyGameAdviser())


def adviser_of(game: AnyGame) -> AnyAdviser:
    """Return the adviser for a game: that of its family, else the default."""
    return ADVISERS.get(game.family, _ANY_GAME)
