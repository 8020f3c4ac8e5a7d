"""The registry of engines by family of games. A new engine is a folder beside this file and a line here."""

from typing import cast

from beadbox.engines.engine import AnyEngine
from beadbox.engines.level import Level
from beadbox.engines.romgon.engine import RomgonEngine
from beadbox.rules.game import AnyGame

ENGINES = {"romgon": cast("AnyEngine", RomgonEngine())}

LEVELS = tuple(dict.fromkeys(slug for engine in ENGINES.values() for slug in engine.levels))
"""Slugs of the levels of all engines, weakest first. Engines may define a level of the same slug differently."""


def levels_named(slug: str) -> list[Level]:
    """Return the levels with this slug of all engines that have one."""
    return [engine.levels[slug] for engine in ENGINES.values() if slug in engine.levels]


def engine_of(game: AnyGame) -> AnyEngine | None:
    """Return the engine for a game; ``None`` if its family has none."""
    return ENGINES.get(game.family)
