"""A frozen machine with boxes, which plays by a table of probabilities or chooses its moves one by one."""

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
    """A machine with boxes in the state of a certain moment. It plays but never learns."""

    memory: Memory

    @property
    def side(self) -> Side:
        """The side that the machine always plays."""
        return self.memory.table.cabinet.side

    @property
    def is_reduced(self) -> bool:
        """Whether the machine merges symmetric boards; the rules of some machines do not."""
        return self.memory.table.graph.reduced

    def policy(self, graph: Graph) -> Floats:
        """Return ``(n_edges,)``: the probability of each edge for a move of the machine, 0 for all other edges."""
        if self.memory.table.graph is graph:
            return machine_policy(self.memory)
        return readable_policy(graph, readable_machine(self.memory))

    def mover(self, game: AnyGame) -> Mover:
        """Return a function that chooses the moves of a game, without learning."""
        machine = readable_machine(self.memory)
        machine.learns = False
        return machine.mover(game)
