"""The complete state of a Q-learner: its values by key, for programs that use the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, cast

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.exchange.values import ValueData, ValuesData, dump_values, values_machine
from beadbox.learners.q_learning.frozen import FrozenValues
from beadbox.learners.q_learning.memory import QMemory
from beadbox.learners.q_learning.rule import QRule
from beadbox.learners.state import LearnerState
from beadbox.policies.opponent import Opponent
from beadbox.policies.table import ContestPlayer
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Side, Tally
from beadbox.rules.play import PlayedGame


@dataclass
class QState(LearnerState):
    """A value, and its number of visits, for every move on a board that the machine has tried."""

    file_read: ClassVar[Any] = staticmethod(values_machine)
    file_text: ClassVar[Any] = staticmethod(dump_values)

    game: AnyGame
    rule: QRule
    epsilon: float
    entries: dict[str, tuple[float, int]] = field(default_factory=dict)
    side: ClassVar[None] = None

    @classmethod
    def fresh(cls, game: AnyGame, side: Side, rule: Any) -> Self:
        return cls(game, rule, rule.epsilon)

    @classmethod
    def read(cls, document: ValuesData) -> Self:
        entries = {one.key: (one.value, one.visits) for one in document.values}
        return cls(document.game, cast("QRule", document.rule), document.epsilon, entries)

    def document(self, head: Mapping[str, Any]) -> ValuesData:
        values = (ValueData(key, value, visits) for key, (value, visits) in sorted(self.entries.items()))
        return ValuesData(epsilon=self.epsilon, values=tuple(values), **head)

    def copy(self) -> QState:
        return QState(self.game, self.rule, self.epsilon, self.entries.copy())

    def train(self, opponent: Opponent, n_games: int, rng: RandomSource) -> Tally:
        memory = self._memory()
        tally = memory.train(opponent, n_games, rng)
        self._take(memory)
        return tally

    def train_against(self, other: QState, n_games: int, rng: RandomSource, *, other_learns: bool) -> Tally:
        memory = self._memory()
        other_memory = memory if other is self else other._memory()
        tally = memory.train_against(other_memory, n_games, rng, opponent_learns=other_learns)
        self._take(memory)
        if other_learns and other is not self:
            other._take(other_memory)
        return tally

    def learn(self, played: PlayedGame, side: Side) -> None:
        memory = self._memory()
        own_turns = [turn for turn in played.turns if self.game.side_to_move(turn[0]) is side]
        memory.machine.learn(
            [memory.machine.follow(position, move).decision for position, move in own_turns], played.result(side)
        )
        self._take(memory)

    def policy(self, position: AnyPosition) -> Mapping[AnyMove, float]:
        chosen = self._memory().machine.best(position)
        moves = self.game.legal_moves(position)
        return {move: float(chosen is not None and move == chosen.move) for move in moves}

    def player(self) -> ContestPlayer:
        """Return the machine as it is now; it does not learn, and explores as often as in training."""
        return ContestPlayer(None, FrozenValues(self.rule, self.epsilon, self._fetch))

    def values(self, position: AnyPosition) -> dict[AnyMove, float]:
        return {one.move: one.value for one in self._memory().machine.candidates(position)}

    def _fetch(self, keys: Sequence[str]) -> dict[str, float]:
        return {key: self.entries[key][0] for key in keys if key in self.entries}

    def _memory(self) -> QMemory:
        return QMemory.load(self.game, self.rule, self.epsilon, self._fetch)

    def _take(self, memory: QMemory) -> None:
        for one in memory.touched():
            self.entries[one.key] = one.after, self.entries.get(one.key, (0.0, 0))[1] + one.visits
        self.epsilon = memory.epsilon
