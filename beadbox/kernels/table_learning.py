"""The training loop of table learners over the canonical graph, against a fixed opponent, another learner or itself.

The readable twin is ``learner`` in ``episodes`` of ``beadbox/learners/table_learner``, which has the formulas. It takes
the same random words and leaves the same values to the last bit, so sums and products stand here in the same order.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.kernels.jit import inlined, kernel
from beadbox.kernels.random_source import below, next_word

U = np.uint64
ZERO, ONE = U(0), U(1)
TICKETS = (1 << 32) - 1
UNITS = 1e8
"""``RETURN_UNITS`` of the readable twin."""
WIN, DRAW, LOSS = 0, 1, 2
DRAWN = -3
REPLIES, FROZEN, LEARNS, ITSELF = 0, 1, 2, 3
"""Kinds of the other player: a fixed opponent, a frozen machine, a machine that learns, or the learner itself."""


class TableWords(NamedTuple):
    """A rule as numbers; flags are 0 or 1. A choice multiplies values by ``outlook``: γ for boards, 1 for moves."""

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
    """The learner and the other player. In each array the learner's part comes first, then the other player's."""

    limit: int
    """Plies after which a game stops; 0 for a game that always ends."""
    endless: int
    """The terminal code of a game that stopped."""

    own_rule: TableWords
    other_rule: TableWords
    """The rule of the other player, if it is a machine."""
    other: int
    """The kind of the other player: :data:`REPLIES`, :data:`FROZEN`, :data:`LEARNS` or :data:`ITSELF`."""
    edge_entry: NDArray[np.int32]
    """``(2 * n_edges,)``: the entry of each move, −1 for a move without an entry."""
    values: NDArray[np.float64]
    """``(n_entries,)``; updated in place."""
    visits: NDArray[np.int64]
    """``(n_entries,)``; updated in place."""
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
    met: np.uint64, target: float, rule: TableWords, values: NDArray[np.float64], visits: NDArray[np.int64]
) -> None:
    """Move the value of an entry towards ``target``, and count the visit."""
    n = visits[met] + 1
    visits[met] = n
    if rule.by_visits != 0 and rule.reach == 1.0:  # a mean of returns, from their sum in whole units
        total = 0.0 + np.rint(values[met] * (np.float64(n - 1) * UNITS)) + np.rint(target * UNITS)
        values[met] = total / (np.float64(n) * UNITS)
    else:
        step = 1.0 / np.float64(n) if rule.by_visits != 0 else rule.step
        values[met] += step * (target - values[met])


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
    """Play ``n_games`` and learn. The learner plays side ``seat``, or either at random in each game for −1.

    With a ply limit a board can return, so the players learn after every move; their rules are Q-learning or Sarsa.
    Without one they learn after the game, which has the same result.

    One loop serves both players over one set of arrays. Selecting an array, or passing it to a part of a kernel, can
    cost a reference count at every move, which takes as long as the move.

    ``words``: ``(2,) uint64``, the random source; ``tally``: ``(3,) int64``, games that the learner won, drew and lost.
    Both are updated in place.
    """
    indptr, successor, side = graph
    limit, endless, own_rule, other_rule, other, edge_entry, values, visits, epsilon = players
    reply_indptr, reply_edge = replies
    n_edges, most_plies = U(len(successor)), U(len(side))
    path, ahead = np.empty(2 * len(side), dtype=np.uint64), np.empty(2 * len(side))
    worths = np.empty(np.max(np.diff(indptr)))
    second = ZERO if other == ITSELF else ONE  # a machine that plays itself has one ε
    n_learners = 2 if other >= LEARNS else 1
    a, b = words[0], words[1]
    for _ in range(n_games):
        mine = np.int64(seat)
        if mine < 0:
            word, a, b = next_word(a, b)
            mine = np.int64(below(word, U(2)))
        n_own, n_other = ZERO, ZERO
        last_own, last_other = np.int64(-1), np.int64(-1)
        after, n_plies = np.int64(0), 0
        while after >= 0 and (limit == 0 or n_plies < limit):
            n_plies += 1
            node = U(after)
            mover = np.int64(side[node])
            if mover != mine and other == REPLIES:
                word, a, b = next_word(a, b)
                reply = U(reply_indptr[node])
                reply += below(word, U(reply_indptr[node + ONE]) - reply)
                after = np.int64(successor[U(reply_edge[reply])])
                continue
            first, end = U(indptr[node]), U(indptr[node + ONE])
            rule, entries, whose = own_rule, ZERO, ZERO
            if mover != mine:
                rule, entries, whose = other_rule, n_edges, second
            last = np.int64(-1)
            if limit > 0 and (mover == mine or other >= LEARNS):
                last = last_own if mover == mine else last_other
                if last >= 0 and rule.off_policy != 0:
                    best = -np.inf
                    for edge in range(first, end):
                        best = max(best, values[U(edge_entry[entries + edge])])
                    correct(U(last), rule.discount * best, rule, values, visits)
            most, n_best = -np.inf, ZERO
            for edge in range(first, end):
                entry = edge_entry[entries + edge]
                if entry >= 0:
                    worth = rule.outlook * values[U(entry)]
                elif successor[edge] == DRAWN:
                    worth = rule.draw
                else:
                    worth = rule.win if -1 - successor[edge] == mover else rule.loss
                worths[edge - first] = worth
                if worth > most:
                    most, n_best = worth, ONE
                elif worth == most:
                    n_best += ONE
            word, a, b = next_word(a, b)
            explores = np.float64(below(word, U(TICKETS))) < epsilon[whose] * np.float64(TICKETS)
            word, a, b = next_word(a, b)
            left = below(word, end - first if explores else n_best)
            chosen = first
            if explores:
                chosen += left
            else:
                while worths[chosen - first] != most or left > ZERO:
                    if worths[chosen - first] == most:
                        left -= ONE
                    chosen += ONE
            entry = edge_entry[entries + chosen]
            if limit > 0:
                if last >= 0 and rule.off_policy == 0:
                    correct(U(last), rule.discount * values[U(entry)], rule, values, visits)
                if mover == mine:
                    last_own = np.int64(entry)
                else:
                    last_other = np.int64(entry)
            elif entry >= 0:
                place = n_own if mover == mine else most_plies + n_other
                path[place] = U(entry)
                ahead[place] = most if rule.off_policy != 0 else values[U(entry)]
                n_own += ONE if mover == mine else ZERO
                n_other += ZERO if mover == mine else ONE
            after = np.int64(successor[chosen])
        if after >= 0:
            after = np.int64(endless)
        # Terminal codes of the graph: -1 first wins, -2 second wins, -3 drawn.
        result = DRAW if after == DRAWN else (WIN if -1 - after == mine else LOSS)
        tally[U(result)] += 1
        for learner in range(n_learners):
            rule, begin, n_path, whose = own_rule, ZERO, n_own, ZERO
            if learner == 1:
                rule, begin, n_path, whose, result = other_rule, most_plies, n_other, second, LOSS - result
            target = rule.win if result == WIN else (rule.draw if result == DRAW else rule.loss)
            for back in range(n_path):
                place = begin + n_path - ONE - back
                if back > ZERO:
                    target = rule.discount * ((1.0 - rule.reach) * ahead[place + ONE] + rule.reach * target)
                correct(path[place], target, rule, values, visits)
            last = last_own if learner == 0 else last_other
            if last >= 0:
                correct(U(last), target, rule, values, visits)
            epsilon[whose] = max(rule.floor, rule.decay * epsilon[whose])
    words[0], words[1] = a, b
