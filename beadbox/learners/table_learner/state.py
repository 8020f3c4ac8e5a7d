"""The complete state of a table learner: all its values, for programs that use the library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.exchange.values import ValueData, ValuesData, dump_values
from beadbox.learners.state import LearnerState
from beadbox.learners.table_learner.document import table_document
from beadbox.learners.table_learner.episodes import train_table_episodes
from beadbox.learners.table_learner.frozen import FrozenTable
from beadbox.learners.table_learner.learner import TableLearner
from beadbox.learners.table_learner.memory import TableMemory
from beadbox.policies.opponent import Opponent, UniformOpponent
from beadbox.policies.table import ContestPlayer
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Side, Tally
from beadbox.rules.play import PlayedGame


@dataclass
class TableState(LearnerState):
    """A value for every board or move, in arrays."""

    file_read: ClassVar[Any] = staticmethod(table_document)
    file_text: ClassVar[Any] = staticmethod(dump_values)

    memory: TableMemory
    side: ClassVar[None] = None

    @classmethod
    def fresh(cls, game: AnyGame, side: Side, rule: Any) -> Self:
        return cls(TableMemory.fresh(game, rule))

    @classmethod
    def read(cls, document: ValuesData) -> Self:
        rows = ((one.key, one.value, one.visits) for one in document.values)
        rule: Any = document.rule
        return cls(TableMemory.load(document.game, rule, document.epsilon, rows))

    def document(self, head: Mapping[str, Any]) -> ValuesData:
        readable = self.memory.readable()
        values = (ValueData(key, value, readable.visits.get(key, 0)) for key, value in sorted(readable.values.items()))
        return ValuesData(epsilon=self.memory.epsilon, values=tuple(values), **head)

    def copy(self) -> TableState:
        memory = self.memory
        arrays = memory.values.copy(), memory.visits.copy()
        return TableState(
            TableMemory(memory.game, memory.rule, memory.table, *arrays, memory.epsilon, memory.is_stored.copy())
        )

    def train(self, opponent: Opponent, n_games: int, rng: RandomSource) -> Tally:
        if isinstance(opponent, UniformOpponent):
            return self.memory.train(opponent, n_games, rng)
        learner = self.memory.readable()
        tally = train_table_episodes(learner, opponent, n_games, rng)
        self._take(learner)
        return tally

    def train_against(self, other: TableState, n_games: int, rng: RandomSource, *, other_learns: bool) -> Tally:
        return self.memory.train_against(other.memory, n_games, rng, opponent_learns=other_learns)

    def learn(self, played: PlayedGame, side: Side) -> None:
        game, learner = self.memory.game, self.memory.readable()
        own_turns = (turn for turn in played.turns if game.side_to_move(turn[0]) is side)
        found = (learner.decision(position, game.legal_moves(position).index(move)) for position, move in own_turns)
        learner.learn([decision for decision in found if decision is not None], played.result(side))
        self._take(learner)

    def _take(self, learner: TableLearner) -> None:
        """Take over the values that a readable copy of the memory has learnt."""
        memory = self.memory
        for key, value in learner.values.items():
            entry = memory.table.entry_of[key]
            memory.values[entry], memory.visits[entry] = value, learner.visits.get(key, 0)
        memory.epsilon = learner.epsilon

    def policy(self, position: AnyPosition) -> Mapping[AnyMove, float]:
        return self.memory.readable().policy(position)

    def player(self) -> ContestPlayer:
        frozen = FrozenTable(self.memory)
        return ContestPlayer(frozen, frozen)

    def values(self, position: AnyPosition) -> dict[AnyMove, float]:
        returns = self.memory.readable().expected_returns(position)
        return dict(zip(self.memory.game.legal_moves(position), returns, strict=True))
