"""The complete state of a value learner: its weights, for programs that use the library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.state import LearnerState
from beadbox.learners.value_learner.document import WeightsData, weights_document, weights_text
from beadbox.learners.value_learner.learner import ValueLearner, zero_weights
from beadbox.learners.value_learner.memory import ValueMemory, ValuePlayer
from beadbox.policies.opponent import Opponent
from beadbox.policies.table import ContestPlayer
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Side, Tally
from beadbox.rules.play import PlayedGame


@dataclass
class WeightState(LearnerState):
    """The weights of a value learner, their mean, and its snapshots."""

    file_read: ClassVar[Any] = staticmethod(weights_document)
    file_text: ClassVar[Any] = staticmethod(weights_text)

    memory: ValueMemory
    side: ClassVar[None] = None

    @classmethod
    def fresh(cls, game: AnyGame, side: Side, rule: Any) -> Self:
        return cls(ValueMemory(ValueLearner(game, rule, zero_weights(game, rule))))

    @classmethod
    def read(cls, document: WeightsData) -> Self:
        weights, average = document.weights, document.average
        return cls(ValueMemory.load(document.game, document.rule, weights, document.n_learnt, average=average))

    def document(self, head: Mapping[str, Any]) -> WeightsData:
        one = self.memory.machine
        return WeightsData(weights=one.weights, average=one.average, n_learnt=one.n_learnt, **head)

    def copy(self) -> WeightState:
        one = self.memory.machine
        return WeightState(
            ValueMemory.load(one.game, one.rule, one.weights, one.n_learnt, self.memory.snapshots, one.average)
        )

    def train(self, opponent: Opponent, n_games: int, rng: RandomSource) -> Tally:
        return self.memory.train(opponent, n_games, rng)

    def train_against(self, other: WeightState, n_games: int, rng: RandomSource, *, other_learns: bool) -> Tally:
        return self.memory.train_against(other.memory, n_games, rng, opponent_learns=other_learns)

    def learn(self, played: PlayedGame, side: Side) -> None:
        """Learn from the moves of both sides."""
        self.memory.learn_match(list(played.turns), played.outcome)

    def policy(self, position: AnyPosition) -> Mapping[AnyMove, float]:
        one = self.memory.machine
        chosen = one.choose(position)
        return {move: float(move == chosen) for move in one.game.legal_moves(position)}

    def player(self) -> ContestPlayer:
        return ContestPlayer(None, ValuePlayer(self.memory.machine))
