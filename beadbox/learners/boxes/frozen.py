"""A machine with boxes that does not learn, as a table of chances and move by move."""

from __future__ import annotations

from dataclasses import dataclass

from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.strength import machine_policy, readable_machine
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.play import Mover
from beadbox.strength.exact import Floats, readable_policy
from beadbox.strength.graph import Graph


@dataclass(frozen=True, slots=True)
class FrozenBoxes:
    """A machine with boxes, as it was at some moment."""

    memory: Memory

    @property
    def side(self) -> Side:
        """The side that it plays for good."""
        return self.memory.table.cabinet.side

    @property
    def is_reduced(self) -> bool:
        """Whether it sees boards up to symmetry: some see them as they lie."""
        return self.memory.table.graph.reduced

    def policy(self, graph: Graph) -> Floats:
        """``(n_edges,)``: the chance of each of its moves on a graph of its game."""
        if self.memory.table.graph is graph:
            return machine_policy(self.memory)
        return readable_policy(graph, readable_machine(self.memory))

    def mover(self, game: AnyGame) -> Mover:
        """How it plays a game."""
        machine = readable_machine(self.memory)
        machine.learns = False
        return lambda position, rng: machine.choose(position, rng)[0]
