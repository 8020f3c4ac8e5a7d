"""An engine at one of its levels, as a fixed opponent."""

from beadbox.engines.level import Level
from beadbox.engines.registry import engine_of, levels_named
from beadbox.policies.opponent import Opponent
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition


class EngineOpponent(Opponent):
    """An engine level as an opponent, in every game with an engine that has a level of this slug."""

    def __init__(self, slug: str) -> None:
        levels = levels_named(slug)
        self.slug = slug
        self.name: str = f"{levels[0].name} engine"
        self.summary: str = levels[0].summary
        self.is_slow: bool = any(level.time_limit_s is not None for level in levels)

    def plays(self, game: AnyGame) -> bool:
        engine = engine_of(game)
        return (
            engine is not None and self.slug in engine.levels and engine.supports_level(game, engine.levels[self.slug])
        )

    def level(self, game: AnyGame) -> Level:
        """The engine's level in a game; the opponent must play that game (:meth:`plays`)."""
        engine = engine_of(game)
        assert engine is not None, "callers pass only games that the engine plays"
        return engine.levels[self.slug]

    def choose(self, game: AnyGame, position: AnyPosition, rng: Random) -> AnyMove:
        engine = engine_of(game)
        assert engine is not None, "callers pass only games that the engine plays"
        return engine.choose(game, position, level=self.level(game), rng=rng)
