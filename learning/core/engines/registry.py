"""Every engine, by the family of games that it knows. A new one is a folder beside this file and a line here."""

from typing import Any

from games.rules.base import Game
from learning.core.engines.base import Engine
from learning.core.engines.romgon.engine import RomgonEngine

ENGINES: dict[str, Engine[Any]] = {"romgon": RomgonEngine()}

LEVELS = {slug: level for engine in ENGINES.values() for slug, level in engine.levels.items()}
"""Every level that an engine plays at, the weakest first."""


def engine_of(game: Game[Any, Any]) -> Engine[Any] | None:
    """The engine that knows a game; ``None`` where none does."""
    return ENGINES.get(game.family)
