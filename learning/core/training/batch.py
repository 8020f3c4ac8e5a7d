"""Bulk training: the compiled loop where there is one, else the readable one; from one seeded source, in place."""

from __future__ import annotations

import numpy as np

from learning.core.kernels.learning import LearnerArrays, RuleWords, train_on_course, train_pair
from learning.core.kernels.random_source import RandomSource
from learning.core.machines.rule import BoxRule, FinalLoss, FinalWin, WhenEmpty
from learning.core.opponents.base import Opponent
from learning.core.training.episodes import Tally
from learning.core.training.memory import Memory
from learning.core.training.open_memory import OpenMemory, train_open
from learning.core.training.q_episodes import QMemory, train_values
from learning.core.training.tables import course_compile

AnyMemory = Memory | OpenMemory | QMemory


def rule_words(rule: BoxRule) -> RuleWords:
    """The rule as a kernel reads it."""
    return RuleWords(
        win=rule.win,
        draw=rule.draw,
        loss=rule.loss,
        final_sole=int(rule.final_win is FinalWin.SOLE),
        final_remove=int(rule.final_loss is FinalLoss.REMOVE),
        only_last=int(rule.only_last),
        floor=rule.floor,
        cap=rule.highest,
        uniform_when_empty=int(rule.when_empty is WhenEmpty.UNIFORM),
        punish_previous=int(rule.punish_previous_on_resign),
        removes=int(rule.removes),
    )


def train(memory: AnyMemory, opponent: Opponent, n_games: int, rng: RandomSource) -> Tally:
    """Play and learn ``n_games`` against a fixed opponent; ``memory`` and ``rng`` are updated in place."""
    if isinstance(memory, QMemory):
        return train_values(memory, opponent, n_games, rng)
    if isinstance(memory, OpenMemory):
        return train_open(memory, opponent, n_games, rng)
    table = memory.table
    cabinet = table.cabinet
    course = course_compile(cabinet.game, cabinet.side, cabinet.rule, opponent)
    words, tally = rng.to_array(), np.zeros(4, np.int64)
    train_on_course(
        n_games,
        rule_words(cabinet.rule),
        course.start,
        table.slot_indptr,
        table.slot_box,
        course.slot_target,
        table.slot_size,
        table.refills,
        table.initial,
        course.reply_indptr,
        course.reply_target,
        memory.beads,
        memory.visits,
        memory.totals,
        words,
        tally,
    )
    rng.set_array(words)
    memory.n_removed += int(tally[3])
    return Tally(*map(int, tally[:3]))


def train_against_machine(
    learner: AnyMemory, opponent: AnyMemory, n_games: int, rng: RandomSource, *, opponent_learns: bool
) -> Tally:
    """Play ``n_games`` between two machines of opposite sides; the learner's tally. Everything is updated in place.

    Machines that keep values have no side: a coin decides in every game, and one may play itself.

    Raises:
        ValueError: both play the same side, or they do not see boards alike.
    """
    if isinstance(learner, QMemory):
        assert isinstance(opponent, QMemory), "both play the same game"
        return train_values(learner, opponent, n_games, rng, opponent_learns=opponent_learns)
    if isinstance(learner, OpenMemory):
        assert isinstance(opponent, OpenMemory), "both play the same game"
        opponent.machine.learns = opponent_learns
        return train_open(learner, opponent, n_games, rng)
    assert isinstance(learner, Memory)
    assert isinstance(opponent, Memory), "both play the same game"
    graph = learner.table.graph
    if opponent.table.graph is not graph:
        raise ValueError("two machines must both see boards as they lie, or both up to symmetry")
    sides = learner.table.cabinet.side, opponent.table.cabinet.side
    if sides[0] is sides[1]:
        raise ValueError("two machines of the same side cannot play each other")
    words = rng.to_array()
    players = (_arrays(learner, learns=True), _arrays(opponent, learns=opponent_learns))
    first, second = players if sides[0] == 0 else players[::-1]
    train_pair(n_games, graph.indptr, graph.successor, graph.side, first, second, words)
    rng.set_array(words)
    learner.n_removed += int(players[0].tally[3])
    opponent.n_removed += int(players[1].tally[3])
    return Tally(*map(int, players[0].tally[:3]))


def _arrays(memory: Memory, *, learns: bool) -> LearnerArrays:
    table = memory.table
    return LearnerArrays(
        learns=int(learns),
        rule=rule_words(table.cabinet.rule),
        node_box=table.node_box,
        slot_indptr=table.slot_indptr,
        slot_box=table.slot_box,
        slot_edge=table.slot_edge,
        slot_size=table.slot_size,
        refills=table.refills,
        initial=table.initial,
        beads=memory.beads,
        visits=memory.visits,
        totals=memory.totals,
        tally=np.zeros(4, np.int64),
    )
