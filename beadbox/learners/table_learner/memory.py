"""The memory of a table learner as arrays, for training by a compiled loop, and its exact strength."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.kernels.random_source import RandomSource
from beadbox.kernels.table_learning import (
    FIXED_OPPONENT,
    FROZEN_MACHINE,
    LEARNING_MACHINE,
    SELF_PLAY,
    ReplyArrays,
    TableArrays,
    TableRuleNumbers,
    train_tables,
)
from beadbox.learners.choice import Decision
from beadbox.learners.memory import TouchedValue
from beadbox.learners.table_learner.learner import TableLearner, entry_key
from beadbox.learners.table_learner.rule import Method, TableRule
from beadbox.policies.opponent import Opponent, UniformOpponent
from beadbox.policies.table import opponent_policy
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Result, Side, Tally
from beadbox.strength.exact import Floats, Strength, at_worst, expected
from beadbox.strength.graph import DRAWN, MAX_CACHED_TABLES, Graph, Int32s, graph_compile

_NO_REPLIES = ReplyArrays(np.zeros(0, np.int32), np.zeros(0, np.int32))


@dataclass(frozen=True, eq=False)
class EntryTable:
    """The entries that a rule can ever have, as arrays.

    Attributes:
        keys: keys in the order of their entries.
        edge_entry: ``(n_edges,) int32``, the entry of each move, −1 for a move without an entry.
    """

    graph: Graph
    keys: tuple[str, ...]
    edge_entry: Int32s

    @cached_property
    def entry_of(self) -> dict[str, int]:
        """The index of each key's entry."""
        return {key: entry for entry, key in enumerate(self.keys)}


def entries_compile(game: AnyGame, rule: TableRule) -> EntryTable:
    """Return the entries of a machine with this rule; rules with the same entries share a table.

    Raises:
        NotListedError: the game has too many positions.
    """
    return _entries_compile(game, TableRule() if rule.of_boards else TableRule(method=Method.SARSA))


@lru_cache(maxsize=MAX_CACHED_TABLES)
def _entries_compile(game: AnyGame, rule: TableRule) -> EntryTable:
    graph = graph_compile(game, reduced=True)
    entry_of: dict[str, int] = {}
    edge_entry: list[int] = []
    for position in graph.positions:
        for move in game.legal_moves(position):
            key = entry_key(game, rule, position, move)
            edge_entry.append(-1 if key is None else entry_of.setdefault(key, len(entry_of)))
    return EntryTable(graph, tuple(entry_of), np.array(edge_entry, np.int32))


@lru_cache(maxsize=MAX_CACHED_TABLES)
def replies_compile(game: AnyGame, opponent: UniformOpponent) -> ReplyArrays:
    """Return the replies of an opponent at every node, as if it moved there. Cached."""
    graph = graph_compile(game, reduced=True)
    indptr, edges = [0], list[int]()
    for node, position in enumerate(graph.positions):
        legal = game.legal_moves(position)
        edges += [int(graph.indptr[node]) + legal.index(move) for move in opponent.replies(game, position)]
        indptr.append(len(edges))
    return ReplyArrays(np.array(indptr, np.int32), np.array(edges, np.int32))


def rule_numbers(rule: TableRule) -> TableRuleNumbers:
    """Return the rule as numbers for a kernel."""
    return TableRuleNumbers(
        off_policy=int(rule.method is Method.Q_LEARNING),
        by_visits=int(rule.step_by_visits),
        reach=float(rule.reach),
        discount=float(rule.later_discount),
        outlook=float(rule.later_discount) if rule.of_boards else 1.0,
        step=float(rule.step_size),
        decay=float(rule.exploring_decay),
        floor=float(rule.exploring_floor),
        win=float(rule.win_reward),
        draw=float(rule.draw_reward),
        loss=float(rule.loss_reward),
    )


@dataclass(eq=False)
class TableMemory:
    """The values of a machine as arrays, and its exploration rate.

    Attributes:
        values: ``(n_entries,) float64``.
        visits: ``(n_entries,) int64``, how often each value was learnt.
        epsilon: the exploration rate, after the games learnt from.
        is_stored: ``(n_entries,) bool``, whether the machine had the entry when it was loaded.
        steps: the changes that matches taught, in order of learning.
    """

    n_left_out: ClassVar[int] = 0

    game: AnyGame
    rule: TableRule
    table: EntryTable
    values: Floats
    visits: NDArray[np.int64]
    epsilon: float
    is_stored: NDArray[np.bool_]
    steps: list[TouchedValue] = field(default_factory=list)
    loaded: tuple[Floats, NDArray[np.int64]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.loaded = self.values.copy(), self.visits.copy()

    @classmethod
    def fresh(cls, game: AnyGame, rule: TableRule) -> Self:
        """Return the memory of a machine that has learnt nothing."""
        return cls.load(game, rule, rule.exploring, ())

    @classmethod
    def load(cls, game: AnyGame, rule: TableRule, epsilon: float, rows: Iterable[tuple[str, float, int]]) -> Self:
        """Return the memory from rows of (key, value, visits); entries without a row have the rule's start value.

        Raises:
            KeyError: a row's key is not an entry of this machine.
        """
        table = entries_compile(game, rule)
        n = len(table.keys)
        values, visits, is_stored = np.full(n, rule.start_value), np.zeros(n, np.int64), np.zeros(n, np.bool_)
        for key, value, n_visits in rows:
            entry = table.entry_of[key]
            values[entry], visits[entry], is_stored[entry] = value, n_visits, True
        return cls(game, rule, table, values, visits, epsilon, is_stored)

    def readable(self) -> TableLearner:
        """Return an independent, readable copy of the machine; it has only the entries that were stored or visited."""
        met = np.flatnonzero(self.is_stored | (self.visits > 0)).tolist()
        values = {self.table.keys[entry]: float(self.values[entry]) for entry in met}
        visits = {self.table.keys[entry]: int(self.visits[entry]) for entry in met}
        return TableLearner(self.game, self.rule, values, visits, self.epsilon)

    @property
    def n_new(self) -> int:
        """The number of entries added since the memory was loaded."""
        return int(np.count_nonzero((self.visits > self.loaded[1]) & ~self.is_stored))

    def touched(self) -> list[TouchedValue]:
        """Return the entries changed since loading: after training each once, by key; after a match every step."""
        if self.steps:
            return self.steps
        before, n_before = self.loaded
        numbers = before.tolist(), self.values.tolist(), (self.visits - n_before).tolist()
        learnt = [entry for entry, n in enumerate(numbers[2]) if n]
        touched = (TouchedValue(self.table.keys[entry], *(column[entry] for column in numbers)) for entry in learnt)
        return sorted(touched, key=lambda one: one.key)

    def teach(self, decisions: Sequence[tuple[int, Decision]], result: Result) -> None:
        """Learn from one seat of a match: (ply, decision) in order of play."""
        learner = self.readable()
        learnt = learner.learn([decision for _, decision in decisions], result)
        for (ply, _), step in zip(decisions, learnt, strict=True):
            entry = self.table.entry_of[step.key]
            self.values[entry] = step.after
            self.visits[entry] += 1
            self.steps.append(TouchedValue(step.key, step.before, step.after, 1, ply))
        self.epsilon = learner.epsilon

    def train(self, opponent: Opponent, n_games: int, rng: RandomSource, side: Side | None = None) -> Tally:
        """Play and learn ``n_games`` against a fixed opponent, on ``side`` or either; return our tally.

        The memory and ``rng`` are updated in place.
        """
        assert isinstance(opponent, UniformOpponent), "an engine plays no game that is small enough for a table"
        return self._train(None, FIXED_OPPONENT, replies_compile(self.game, opponent), n_games, rng, side)

    def train_against(
        self, opponent: TableMemory, n_games: int, rng: RandomSource, side: Side | None = None, *, opponent_learns: bool
    ) -> Tally:
        """Play ``n_games`` against another memory, or this one; return our tally. Everything is updated in place.

        Raises:
            ValueError: the other memory is of another game.
        """
        if opponent.table.graph is not self.table.graph:
            raise ValueError(f"a machine that plays {opponent.game.name} cannot play {self.game.name}")
        opponent_kind = (SELF_PLAY if opponent is self else LEARNING_MACHINE) if opponent_learns else FROZEN_MACHINE
        return self._train(opponent, opponent_kind, _NO_REPLIES, n_games, rng, side)

    def _train(
        self,
        other: TableMemory | None,
        opponent_kind: int,
        replies: ReplyArrays,
        n_games: int,
        rng: RandomSource,
        side: Side | None,
    ) -> Tally:
        graph, words, tally = self.table.graph, rng.to_array(), np.zeros(3, np.int64)
        seat, n_own = -1 if side is None else int(side), len(self.values)
        opponent = self if other is None else other
        values, visits, opponent_entry = self.values, self.visits, opponent.table.edge_entry
        if opponent is not self:
            values, visits = np.concatenate((values, opponent.values)), np.concatenate((visits, opponent.visits))
            opponent_entry = np.where(opponent_entry < 0, opponent_entry, opponent_entry + np.int32(n_own))
        epsilon = np.array([self.epsilon, opponent.epsilon if opponent_kind == LEARNING_MACHINE else 0.0])
        edge_entry = np.concatenate((self.table.edge_entry, opponent_entry))
        rules = rule_numbers(self.rule), rule_numbers(opponent.rule)
        limit = 0 if self.game.always_ends else graph.limit
        players = TableArrays(limit, graph.endless, *rules, opponent_kind, edge_entry, values, visits, epsilon)
        arrays = GraphArrays(graph.indptr, graph.successor, graph.side)
        train_tables(n_games, seat, arrays, players, replies, words, tally)
        rng.set_array(words)
        self.epsilon = float(epsilon[0])
        if opponent is not self:
            self.values[:], self.visits[:] = values[:n_own], visits[:n_own]
        if opponent_kind == LEARNING_MACHINE:
            opponent.values[:], opponent.visits[:], opponent.epsilon = values[n_own:], visits[n_own:], float(epsilon[1])
        return Tally(*map(int, tally))


def table_policy(memory: TableMemory) -> Floats:
    """Return ``(n_edges,)``: the machine's policy at nodes of either side, without exploration."""
    table, rule, graph = memory.table, memory.rule, memory.table.graph
    ended = np.where(-1 - graph.successor == graph.edge_side, rule.win_reward, rule.loss_reward)
    ended = np.where(graph.successor == DRAWN, rule.draw_reward, ended)
    returns = np.where(table.edge_entry < 0, ended, memory.values[table.edge_entry] * rule_numbers(rule).outlook)
    first = graph.indptr[:-1]
    best = returns == np.repeat(np.maximum.reduceat(returns, first), np.diff(graph.indptr))
    share: Floats = best / np.repeat(np.add.reduceat(best, first, dtype=np.float64), np.diff(graph.indptr))
    return share


def table_against_opponent(memory: TableMemory, side: Side, opponent: Opponent) -> Strength:
    """Return the exact results of a machine on ``side`` against a fixed opponent."""
    policy = opponent_policy(memory.game, opponent, reduced=True)
    return expected(memory.table.graph, side, table_policy(memory), policy)


def table_against_table(memory: TableMemory, side: Side, other: TableMemory) -> Strength:
    """Return the exact results of a machine on ``side`` against another of the same game, or itself."""
    return expected(memory.table.graph, side, table_policy(memory), table_policy(other))


def table_worst_case(memory: TableMemory, side: Side) -> Strength:
    """Return the exact results of a machine on ``side`` against a best response, which knows its values."""
    return at_worst(memory.table.graph, side, table_policy(memory))
