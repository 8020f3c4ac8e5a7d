"""The rule of a machine that learns a value of positions: every constant of its learning and its play.

The defaults are the constants that worked in a trial with Romgon: docs/learning.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from beadbox import field_text
from beadbox.engines.position_values import SelfPlayParameters
from beadbox.engines.registry import engine_of
from beadbox.learners.plain_rule import PlainRule
from beadbox.learners.rule import RuleError
from beadbox.rules.game import AnyGame

MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class ValueRule(PlainRule):
    """The constants by which a machine learns the value of the position after a move, and chooses its moves.

    The value is linear in a named set of ``features``. In the first game, a step towards a target corrects the share
    ``value_rate`` of the error. This share falls towards ``value_rate_floor``, half the way in ``value_half_life``
    games.

    A training game begins with up to ``random_opening`` random plies. Of the later moves, the share ``random_share`` is
    random. The share ``soft_share`` is drawn by the scores of a search of depth 1: better moves are more likely, and a
    lower ``temperature`` prefers them more. All other moves are the best move of a search of ``search_depth``. Outside
    training the machine plays the best move of a search of ``play_depth``.

    With ``trace_cut``, results are not passed back beyond a move that is not the search's best. With ``average_games``
    the machine plays by the mean of its weights over about that many games; with 0 it plays by the weights themselves.
    ``restlessness`` is a repetition penalty in play. A move loses this much score for each time that a piece of the
    same kind has already moved to the target of the move, or flipped there.

    Raises:
        RuleError: a field is out of range or contradicts another; the field is named.
    """

    kind: ClassVar[str] = "value-learner"
    keeps: ClassVar[str] = "a weight for everything it sees on a board"
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = {
        "value_rate": (1e-6, 1),
        "value_rate_floor": (0, 1),
        "value_half_life": (1, 1e9),
        "trace": (0, 1),
        "value_discount": (0.5, 1),
        "random_share": (0, 1),
        "soft_share": (0, 1),
        "temperature": (0.001, 1000),
        "random_opening": (0, 100),
        "search_depth": (1, MAX_DEPTH),
        "play_depth": (1, MAX_DEPTH),
        "average_games": (0, 1e9),
        "restlessness": (0, 1),
    }

    value_rate: float = 0.1
    value_rate_floor: float = 0.005
    value_half_life: float = 5000.0
    trace: float = 0.7
    value_discount: float = 0.99
    random_share: float = 0.03
    soft_share: float = 0.3
    temperature: float = 0.3
    random_opening: int = 6
    search_depth: int = 2
    play_depth: int = 2
    trace_cut: bool = True
    average_games: float = 0.0
    restlessness: float = 0.0
    features: str = "full-1"

    def agree(self) -> None:
        if self.value_rate_floor > self.value_rate:
            raise RuleError(
                "value_rate_floor", field_text.rather(field_text.at_most(self.value_rate), self.value_rate_floor)
            )
        if self.random_share + self.soft_share > 1:
            raise RuleError("soft_share", "The shares of random and soft moves add up to more than 1.")
        if 0 < self.average_games < 1:
            raise RuleError("average_games", f"Please give 0 for no mean, or at least 1, not {self.average_games}.")

    @classmethod
    def fits(cls, game: AnyGame) -> bool:
        """Whether a machine with such a rule can play the game; :meth:`refusal` says why not."""
        return not cls.refusal(game)

    @classmethod
    def refusal(cls, game: AnyGame) -> str:
        """Return why no machine with such a rule can play the game; empty if it can."""
        engine = engine_of(game)
        if engine is None or engine.valuer is None:
            return "nothing says what a value of its positions would be made of"
        return engine.valuer.refusal(game)

    @property
    def lessons(self) -> SelfPlayParameters:
        """The fields about learning, in the form that kernels take."""
        return SelfPlayParameters(
            search_depth=self.search_depth,
            rate=self.value_rate,
            rate_floor=self.value_rate_floor,
            half_life=self.value_half_life,
            trace=self.trace,
            discount=self.value_discount,
            random_share=self.random_share,
            soft_share=self.soft_share,
            temperature=self.temperature,
            random_opening=self.random_opening,
            trace_cut=self.trace_cut,
            average_games=self.average_games,
        )

    def rate(self, n_learnt: int) -> float:
        """Return the share of the error, 0 to 1, that the game after ``n_learnt`` others corrects."""
        return self.value_rate_floor + (self.value_rate - self.value_rate_floor) / (
            1.0 + n_learnt / self.value_half_life
        )
