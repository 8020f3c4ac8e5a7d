"""A machine with a table of values that does not learn, as a table of chances and move by move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from beadbox.learners.table_learner.memory import TableMemory, table_policy
from beadbox.rules.game import AnyGame
from beadbox.rules.play import Mover
from beadbox.strength.exact import Floats, readable_policy
from beadbox.strength.graph import Graph


@dataclass(frozen=True, slots=True)
class FrozenTable:
    """A machine with a table of values, as it was at some moment."""

    memory: TableMemory
    side: ClassVar[None] = None
    is_reduced: ClassVar[bool] = True

    def policy(self, graph: Graph) -> Floats:
        """``(n_edges,)``: the chance of each of its moves on a graph of its game, whichever side moves."""
        same = self.memory.table.graph is graph
        return table_policy(self.memory) if same else readable_policy(graph, self.memory.readable())

    def mover(self, game: AnyGame) -> Mover:
        """How it plays a game."""
        machine = self.memory.readable()
        machine.learns = False
        return lambda position, rng: game.legal_moves(position)[machine.choose(position, rng).index]
