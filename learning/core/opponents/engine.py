"""An engine at one of its levels, as an opponent."""

from typing import Any

from games.rules.base import Game
from games.rules.player import Random
from learning.core.engines.base import Level
from learning.core.engines.registry import engine_of
from learning.core.opponents.base import Opponent


class EngineOpponent(Opponent):
    """Plays every game whose engine has this level."""

    def __init__(self, level: Level) -> None:
        self.level = level
        self.slug = level.slug  # type: ignore[misc]  # one instance a level
        self.name = f"{level.name} engine"  # type: ignore[misc]
        self.summary = level.summary  # type: ignore[misc]
        self.is_slow = level.time_limit_s is not None  # type: ignore[misc]

    def plays(self, game: Game[Any, Any]) -> bool:
        engine = engine_of(game)
        return engine is not None and self.level in engine.levels.values()

    def choose(self, game: Game[Any, Any], position: Any, rng: Random) -> Any:
        engine = engine_of(game)
        assert engine is not None, "it is asked about games that it plays"
        return engine.choose(game, position, level=self.level, rng=rng)
