"""The Romgon engine at one of its levels, as an opponent."""

from typing import Any

from games.rules.base import Game
from games.rules.player import Random
from games.rules.romgon.rules import Romgon
from learning.core.engines.romgon.answers import Level, answer_in
from learning.core.opponents.base import Opponent


class EngineOpponent(Opponent):
    """Plays every game of the Romgon family, with whatever options it has.

    A level with a time limit answers with the last depth that it has finished by then, so what it plays may differ on
    a machine that is slower or busier.
    """

    def __init__(self, level: Level) -> None:
        self.level = level
        self.slug = level.slug  # type: ignore[misc]  # one instance a level
        self.name = f"{level.name} engine"  # type: ignore[misc]
        self.summary = level.summary  # type: ignore[misc]
        self.is_slow = level.time_limit_s is not None  # type: ignore[misc]

    def plays(self, game: Game[Any, Any]) -> bool:
        return isinstance(game, Romgon)

    def choose(self, game: Game[Any, Any], position: Any, rng: Random) -> Any:
        assert isinstance(game, Romgon)
        found = answer_in(game, position, level=self.level, rng=rng)
        assert found.chosen is not None, "the game goes on"
        return found.chosen.move
