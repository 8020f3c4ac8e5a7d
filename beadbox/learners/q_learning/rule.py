"""The rule of a tabular Q-learner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from beadbox import field_text
from beadbox.engines.registry import engine_of
from beadbox.learners.plain_rule import PlainRule
from beadbox.learners.rule import RuleError
from beadbox.rules.game import AnyGame


@dataclass(frozen=True, slots=True)
class QRule(PlainRule):
    """How fast values follow the results of games, and how often the machine explores.

    Raises:
        RuleError: a field is out of range or contradicts another; the field is named.
    """

    kind: ClassVar[str] = "q-learning"
    keeps: ClassVar[str] = "a value for every move it has tried"
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = {
        "learning_rate": (0, 1),
        "discount": (0, 1),
        "epsilon": (0, 1),
        "epsilon_decay": (0, 1),
        "epsilon_floor": (0, 1),
        "step_reward": (-1, 1),
    }

    learning_rate: float = 0.1
    discount: float = 0.9
    epsilon: float = 0.2
    epsilon_decay: float = 0.995
    epsilon_floor: float = 0.05
    step_reward: float = 0.01
    take_wins: bool = False
    """Whether the machine always plays a move that wins at once, if there is one, whatever it has learnt."""
    avoid_repetition: bool = False
    """Whether the machine avoids moves that lose at once, by third occurrence or shuttling, if there is another."""

    def agree(self) -> None:
        if self.learning_rate == 0:
            raise RuleError("learning_rate", "A machine with the rate 0 learns nothing.")
        if self.epsilon_floor > self.epsilon:
            raise RuleError("epsilon_floor", field_text.rather(field_text.at_most(self.epsilon), self.epsilon_floor))

    @classmethod
    def fits(cls, game: AnyGame) -> bool:
        """Whether a machine with such a rule can play the game."""
        return engine_of(game) is not None

    def decayed(self, epsilon: float) -> float:
        """Return the exploration rate after learning from one more game."""
        return max(self.epsilon_floor, self.epsilon_decay * epsilon)

    def to_json(self) -> dict[str, object]:
        """Return the rule as JSON types, without checks that are off; :meth:`from_json` gives the same rule back.

        A rule without checks therefore has the same JSON as before the checks were added.
        """
        return {name: value for name, value in PlainRule.to_json(self).items() if value is not False}
