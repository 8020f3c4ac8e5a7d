"""The rule of a machine that learns a table of values by a textbook method.

Source: R. Sutton and A. Barto, "Reinforcement Learning: An Introduction", second edition (2018). Sections and
equations named here and in :mod:`beadbox.learners.table_learner.learner` are from that book.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from beadbox import field_text
from beadbox.learners.plain_rule import PlainRule
from beadbox.learners.rule import RuleError, UnsuitedRuleError
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Result


class Method(StrEnum):
    """The learning method: the kind of values, and the target of their updates."""

    TD_LAMBDA = "td-lambda"
    """Values of boards after the move (6.8), towards the λ-return (12.1)."""
    Q_LEARNING = "q-learning"
    """Values of moves, towards the greatest value at the next choice (6.5)."""
    SARSA = "sarsa"
    """Values of moves, towards the value of the next move played (6.4)."""
    MONTE_CARLO = "monte-carlo"
    """Values of moves, towards the return of the whole game, at every visit (5.1, 5.4)."""


METHOD_NAMES = {
    Method.TD_LAMBDA: "TD(λ)",
    Method.Q_LEARNING: "Q-learning",
    Method.SARSA: "Sarsa",
    Method.MONTE_CARLO: "Monte Carlo",
}


@dataclass(frozen=True, slots=True)
class TableRule(PlainRule):
    """How values in a table follow the results of games, and how often the machine explores.

    A value is corrected by ``step_size`` of its error. With ``step_by_visits`` it is corrected by 1/n of the error at
    its n-th visit, so that it is the mean of all its targets (2.4). ``later_discount`` is γ, ``trace_decay`` is λ, and
    ``start_value`` is every value before its first visit (2.6). While the machine learns, a move is random with chance
    ``exploring`` (ε). After every game ε is multiplied by ``exploring_decay``, but never falls below
    ``exploring_floor``. The rewards come at the end of a game; all others are 0.

    Raises:
        RuleError: a field is out of range or contradicts another; the field is named.
    """

    kind: ClassVar[str] = "table-learner"
    keeps: ClassVar[str] = "a value for every board or move it can come to"
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = {
        "step_size": (1e-6, 1),
        "trace_decay": (0, 1),
        "later_discount": (0, 1),
        "exploring": (0, 1),
        "exploring_decay": (0, 1),
        "exploring_floor": (0, 1),
        "win_reward": (-1, 1),
        "draw_reward": (-1, 1),
        "loss_reward": (-1, 1),
        "start_value": (-10, 10),
    }

    method: Method = Method.TD_LAMBDA
    step_size: float = 0.1
    step_by_visits: bool = False
    trace_decay: float = 0.0
    later_discount: float = 1.0
    exploring: float = 0.1
    exploring_decay: float = 1.0
    exploring_floor: float = 0.0
    win_reward: float = 1.0
    draw_reward: float = 0.0
    loss_reward: float = -1.0
    start_value: float = 0.0

    def agree(self) -> None:
        if self.trace_decay > 0 and self.method is not Method.TD_LAMBDA:
            raise RuleError(
                "trace_decay", f"Only the method {Method.TD_LAMBDA} uses this. Please give 0 with {self.method}."
            )
        if self.exploring_floor > self.exploring:
            raise RuleError(
                "exploring_floor", field_text.rather(field_text.at_most(self.exploring), self.exploring_floor)
            )
        if not self.loss_reward <= self.draw_reward <= self.win_reward:
            raise RuleError("draw_reward", "A draw is worth less than a loss, or more than a win.")
        if self.loss_reward == self.win_reward:
            raise RuleError("win_reward", "A win is worth as much as a loss, so there is nothing to learn.")

    @classmethod
    def fits(cls, game: AnyGame) -> bool:
        """Whether a machine with some such rule can play the game: all boards of it can be listed."""
        return game.listable

    def require_suited(self, game: AnyGame) -> None:
        """Check that the method can learn the game: move by move where a board can return within a game.

        Raises:
            UnsuitedRuleError: the method learns after the game, and a board can return.
        """
        if not game.always_ends and not self.learns_each_move:
            raise UnsuitedRuleError(
                "method",
                f"In {game.name} a board can return within a game. {METHOD_NAMES[self.method]} learns after the game,"
                " so it cannot learn this game. Q-learning and Sarsa can, because they learn after every move.",
            )

    @property
    def learns_each_move(self) -> bool:
        """Whether a value changes as soon as the next choice is known; otherwise all change after the game."""
        return self.method in (Method.Q_LEARNING, Method.SARSA)

    @property
    def of_boards(self) -> bool:
        """Whether values belong to boards after a move; otherwise they belong to moves."""
        return self.method is Method.TD_LAMBDA

    @property
    def reach(self) -> float:
        """The share of the later return in a target, against the value at the next choice: λ, or 1 for Monte Carlo."""
        return 1.0 if self.method is Method.MONTE_CARLO else self.trace_decay

    @property
    def is_mean(self) -> bool:
        """Whether a value is the mean of returns; then no target depends on another value."""
        return self.step_by_visits and self.reach == 1.0

    def reward(self, result: Result) -> float:
        """Return the reward at the end of a game with this result."""
        return {Result.WIN: self.win_reward, Result.DRAW: self.draw_reward, Result.LOSS: self.loss_reward}[result]

    def explored(self, epsilon: float) -> float:
        """Return the exploration rate after learning from one more game."""
        return max(self.exploring_floor, self.exploring_decay * epsilon)
