"""The registry of engines by family of games. A new engine needs a folder beside this file and an entry here."""

from typing import cast

from beadbox.engines.engine import AnyEngine
from beadbox.engines.level import Level
from beadbox.engines.romgon.engine import RomgonEngine
from beadbox.rules.game import AnyGame

ENGINES = {"romgon": cast("AnyEngine", RomgonEngine())}

LEVELS = tuple(dict.fromkeys(slug for engine in ENGINES.values() for slug in engine.levels))
"""Slugs of the levels of all engines, weakest first. Levels of two engines may differ and have the same slug."""


def levels_named(slug: str) -> list[Level]:
    """Return all levels with this slug; several engines can have one."""
    return [engine.levels[slug] for engine in ENGINES.values() if slug in engine.levels]


def engine_of(game: AnyGame) -> AnyEngine | None:
    """Return the engine for a game; ``None`` if its family has none."""
    return ENGINES.get(game.family)
