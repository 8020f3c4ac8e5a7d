"""The training loop of table learners over the canonical graph, against a fixed opponent, another learner or itself.

The readable twin is ``learner.py`` with ``episodes.py`` in ``beadbox/learners/table_learner``; it has the formulas. The
kernel and the twin take the same random words and end with bit-identical values. The kernel therefore computes sums
and products in the order of the twin.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.kernels.jit import inlined, kernel
from beadbox.kernels.random_source import below, next_word

U = np.uint64
ZERO, ONE = U(0), U(1)
PROBABILITY_UNITS = (1 << 32) - 1
"""Random numbers below this one decide about exploration: one below ``p * PROBABILITY_UNITS`` has the probability p."""
UNITS = 1e8
"""``RETURN_UNITS`` of the readable twin."""
WIN, DRAW, LOSS = 0, 1, 2
DRAWN = -3
FIXED_OPPONENT, FROZEN_MACHINE, LEARNING_MACHINE, SELF_PLAY = 0, 1, 2, 3
"""Kinds of the other player in a training game."""


class TableRuleNumbers(NamedTuple):
    """A rule as numbers; flags are 0 or 1.

    ``reach`` is λ, and ``discount`` is γ. A player that chooses a move multiplies values by ``outlook``: γ for values
    of boards, 1 for values of moves.
    """

    off_policy: int
    by_visits: int
    reach: float
    discount: float
    outlook: float
    step: float
    decay: float
    floor: float
    win: float
    draw: float
    loss: float


class TableArrays(NamedTuple):
    """The learner and the other player. Each array has the numbers of the learner first, then the other player's."""

    limit: int
    """Plies after which a game stops; 0 for a game that always ends."""
    endless: int
    """The terminal code of a game that stopped."""

    own_rule: TableRuleNumbers
    other_rule: TableRuleNumbers
    """The rule of the other player, if it is a machine."""
    other: int
    """The kind of the other player: :data:`FIXED_OPPONENT`, :data:`FROZEN_MACHINE`, :data:`LEARNING_MACHINE` or
    :data:`SELF_PLAY`."""
    edge_entry: NDArray[np.int32]
    """``(2 * n_edges,)``: the index of each move's entry in ``values`` and ``visits``, −1 for a move without one."""
    values: NDArray[np.float64]
    """``(n_entries,)``: the learnt values; updated in place."""
    visits: NDArray[np.int64]
    """``(n_entries,)``: the number of corrections of each value; updated in place."""
    epsilon: NDArray[np.float64]
    """``(2,)``: the exploration rate of each player, 0 for a frozen one; updated in place."""


class ReplyArrays(NamedTuple):
    """The replies of a fixed opponent, equally likely at each node."""

    indptr: NDArray[np.int32]
    """``(n_nodes + 1,)``: where the replies of each node begin."""
    edge: NDArray[np.int32]
    """``(n_replies,)``: the edge of each reply."""


@inlined
def correct(
    entry: np.uint64, target: float, rule: TableRuleNumbers, values: NDArray[np.float64], visits: NDArray[np.int64]
) -> None:
    """Move the value of an entry towards ``target``, and count the visit."""
    n = visits[entry] + 1
    visits[entry] = n
    if rule.by_visits != 0 and rule.reach == 1.0:  # the mean of returns, from their sum in whole units
        total = 0.0 + np.rint(values[entry] * (np.float64(n - 1) * UNITS)) + np.rint(target * UNITS)
        values[entry] = total / (np.float64(n) * UNITS)
    else:
        step = 1.0 / np.float64(n) if rule.by_visits != 0 else rule.step
        values[entry] += step * (target - values[entry])


@kernel
def train_tables(
    n_games: int,
    seat: int,
    graph: GraphArrays,
    players: TableArrays,
    replies: ReplyArrays,
    words: NDArray[np.uint64],
    tally: NDArray[np.int64],
) -> None:
    """Play ``n_games`` and learn. The learner plays side ``seat``; for −1 it plays a random side in each game.

    In a game with a ply limit, a board can recur. In such games the players learn after every move, by Q-learning or
    Sarsa. In other games they learn after the end of the game, with the same result.

    Both players share the arrays. If each player had arrays of its own, numba would update reference counts at every
    move, which takes as long as the move.

    ``words``: ``(2,) uint64``, the random source; ``tally``: ``(3,) int64``, games that the learner won, drew and lost.
    Both are updated in place.
    """
    indptr, successor, side = graph
    limit, endless, own_rule, other_rule, other, edge_entry, values, visits, epsilon = players
    reply_indptr, reply_edge = replies
    n_edges, other_begin = U(len(successor)), U(len(side))
    entries_chosen, later_values = np.empty(2 * len(side), dtype=np.uint64), np.empty(2 * len(side))
    returns = np.empty(np.max(np.diff(indptr)))
    other_index = ZERO if other == SELF_PLAY else ONE  # a machine that plays against itself has only one ε
    n_learners = 2 if other >= LEARNING_MACHINE else 1
    a, b = words[0], words[1]
    for _ in range(n_games):
        own_side = np.int64(seat)
        if own_side < 0:
            word, a, b = next_word(a, b)
            own_side = np.int64(below(word, U(2)))
        n_own_choices, n_other_choices = ZERO, ZERO
        last_own, last_other = np.int64(-1), np.int64(-1)
        next_node, n_plies = np.int64(0), 0
        while next_node >= 0 and (limit == 0 or n_plies < limit):
            n_plies += 1
            node = U(next_node)
            mover = np.int64(side[node])
            if mover != own_side and other == FIXED_OPPONENT:
                word, a, b = next_word(a, b)
                reply = U(reply_indptr[node])
                reply += below(word, U(reply_indptr[node + ONE]) - reply)
                next_node = np.int64(successor[U(reply_edge[reply])])
                continue
            first, end = U(indptr[node]), U(indptr[node + ONE])
            rule, entries, learner_index = own_rule, ZERO, ZERO
            if mover != own_side:
                rule, entries, learner_index = other_rule, n_edges, other_index
            last = np.int64(-1)
            if limit > 0 and (mover == own_side or other >= LEARNING_MACHINE):
                last = last_own if mover == own_side else last_other
                if last >= 0 and rule.off_policy != 0:
                    best = -np.inf
                    for edge in range(first, end):
                        best = max(best, values[U(edge_entry[entries + edge])])
                    correct(U(last), rule.discount * best, rule, values, visits)
            best_return, n_best = -np.inf, ZERO
            for edge in range(first, end):
                entry = edge_entry[entries + edge]
                if entry >= 0:
                    expected = rule.outlook * values[U(entry)]
                elif successor[edge] == DRAWN:
                    expected = rule.draw
                else:
                    expected = rule.win if -1 - successor[edge] == mover else rule.loss
                returns[edge - first] = expected
                if expected > best_return:
                    best_return, n_best = expected, ONE
                elif expected == best_return:
                    n_best += ONE
            word, a, b = next_word(a, b)
            threshold = epsilon[learner_index] * np.float64(PROBABILITY_UNITS)
            explores = np.float64(below(word, U(PROBABILITY_UNITS))) < threshold
            word, a, b = next_word(a, b)
            n_skipped = below(word, end - first if explores else n_best)
            chosen = first
            if explores:
                chosen += n_skipped
            else:
                while returns[chosen - first] != best_return or n_skipped > ZERO:
                    if returns[chosen - first] == best_return:
                        n_skipped -= ONE
                    chosen += ONE
            entry = edge_entry[entries + chosen]
            if limit > 0:
                if last >= 0 and rule.off_policy == 0:
                    correct(U(last), rule.discount * values[U(entry)], rule, values, visits)
                if mover == own_side:
                    last_own = np.int64(entry)
                else:
                    last_other = np.int64(entry)
            elif entry >= 0:
                index = n_own_choices if mover == own_side else other_begin + n_other_choices
                entries_chosen[index] = U(entry)
                later_values[index] = best_return if rule.off_policy != 0 else values[U(entry)]
                n_own_choices += ONE if mover == own_side else ZERO
                n_other_choices += ZERO if mover == own_side else ONE
            next_node = np.int64(successor[chosen])
        if next_node >= 0:
            next_node = np.int64(endless)
        # Terminal codes of the graph: −1 the first side wins, −2 the second side wins, −3 a draw.
        result = DRAW if next_node == DRAWN else (WIN if -1 - next_node == own_side else LOSS)
        tally[U(result)] += 1
        for learner in range(n_learners):
            rule, begin, n_choices, learner_index = own_rule, ZERO, n_own_choices, ZERO
            if learner == 1:
                rule, begin, n_choices, learner_index = other_rule, other_begin, n_other_choices, other_index
                result = LOSS - result
            target = rule.win if result == WIN else (rule.draw if result == DRAW else rule.loss)
            for n_back in range(n_choices):
                index = begin + n_choices - ONE - n_back
                if n_back > ZERO:
                    target = rule.discount * ((1.0 - rule.reach) * later_values[index + ONE] + rule.reach * target)
                correct(entries_chosen[index], target, rule, values, visits)
            last = last_own if learner == 0 else last_other
            if last >= 0:
                correct(U(last), target, rule, values, visits)
            epsilon[learner_index] = max(rule.floor, rule.decay * epsilon[learner_index])
    words[0], words[1] = a, b
