"""Frozen machines that keep values, for games without learning."""

from __future__ import annotations

from dataclasses import dataclass

from beadbox.learners.q_learning.learner import Fetch, QLearner, Values
from beadbox.learners.q_learning.rule import QRule
from beadbox.rules.game import AnyGame
from beadbox.rules.play import Mover


@dataclass(frozen=True, slots=True)
class FrozenValues:
    """A machine that keeps values, as it was at some moment; ``fetch`` reads its values of that moment."""

    rule: QRule
    epsilon: float
    fetch: Fetch

    def mover(self, game: AnyGame) -> Mover:
        """Return a function that chooses the moves of one game.

        The values read for a game are dropped after it: few boards recur in the next game, and all of them would fill
        the memory.
        """
        learner = QLearner(game, self.rule, Values(self.fetch), self.epsilon, learns=False)
        return lambda position, rng: learner.choose(position, rng).move
