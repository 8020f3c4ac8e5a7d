"""A machine with boxes that does not learn, as a player move by move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.strength import readable_machine
from beadbox.rules.game import Game
from beadbox.rules.play import Mover


@dataclass(frozen=True, slots=True)
class FrozenBoxes:
    """A machine with boxes, as it was at some moment, move by move: against those whose chances are no table."""

    memory: Memory

    def mover(self, game: Game[Any, Any]) -> Mover:
        """How it plays a game."""
        machine = readable_machine(self.memory)
        machine.learns = False
        return lambda position, rng: machine.choose(position, rng)[0]
