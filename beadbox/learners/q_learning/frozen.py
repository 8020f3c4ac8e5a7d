"""Machines that keep values in games in which nobody learns: as they were at some moment."""

from __future__ import annotations

from dataclasses import dataclass

from beadbox.learners.q_learning.learner import Fetch, QLearner, Values
from beadbox.learners.q_learning.rule import QRule
from beadbox.rules.game import AnyGame
from beadbox.rules.play import Mover


@dataclass(frozen=True, slots=True)
class FrozenValues:
    """A machine that keeps values, as it was at some moment; ``fetch`` reads its values of then."""

    rule: QRule
    epsilon: float
    fetch: Fetch

    def mover(self, game: AnyGame) -> Mover:
        """How it plays a game.

        What it has read is not needed in the next one: few boards come again, and the many would fill the memory.
        """
        learner = QLearner(game, self.rule, Values(self.fetch), self.epsilon, learns=False)
        return lambda position, rng: learner.choose(position, rng).move
