"""A frozen machine with a table of values, as a table of probabilities and move by move."""

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
        """Return ``(n_edges,)``: the probability of each move on a graph of its game, at nodes of either side."""
        same = self.memory.table.graph is graph
        return table_policy(self.memory) if same else readable_policy(graph, self.memory.readable())

    def mover(self, game: AnyGame) -> Mover:
        """Return a function that chooses the moves of a game, without learning and exploring."""
        machine = self.memory.readable()
        machine.learns = False
        return lambda position, rng: game.legal_moves(position)[machine.choose(position, rng).index]
