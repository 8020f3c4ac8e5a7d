"""A machine with a table of values that does not learn, as a player move by move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from beadbox.learners.table_learner.memory import TableMemory
from beadbox.rules.game import Game
from beadbox.rules.play import Mover


@dataclass(frozen=True, slots=True)
class FrozenTable:
    """A machine with a table of values, as it was at some moment, the same."""

    memory: TableMemory

    def mover(self, game: Game[Any, Any]) -> Mover:
        """How it plays a game."""
        machine = self.memory.readable()
        machine.learns = False
        return lambda position, rng: game.legal_moves(position)[machine.choose(position, rng).index]
