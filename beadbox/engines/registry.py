"""Every engine, by the family of games that it knows. A new one is a folder beside this file and a line here."""

from typing import cast

from beadbox.engines.engine import AnyEngine
from beadbox.engines.level import Level
from beadbox.engines.romgon.engine import RomgonEngine
from beadbox.rules.game import AnyGame

ENGINES = {"romgon": cast("AnyEngine", RomgonEngine())}

LEVELS = tuple(dict.fromkeys(slug for engine in ENGINES.values() for slug in engine.levels))
"""Every level that an engine plays at, the weakest first. What a level is, each engine says of its own."""


def levels_named(slug: str) -> list[Level]:
    """What the engines that have such a level make of it."""
    return [engine.levels[slug] for engine in ENGINES.values() if slug in engine.levels]


def engine_of(game: AnyGame) -> AnyEngine | None:
    """The engine that knows a game; ``None`` where none does."""
    return ENGINES.get(game.family)
