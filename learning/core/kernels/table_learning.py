"""The training loop of table learners over the canonical graph, against a fixed opponent, another learner or itself.

The readable twin is ``learning.core.machines.table_learner`` in ``learning.core.training.table_episodes``, which takes
the same random words and leaves the same values to the last bit: sums and products stand here in the same order. The
formulas are there.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learning.core.kernels.jit import inlined, kernel
from learning.core.kernels.random_source import below, next_word

U = np.uint64
ZERO, ONE = U(0), U(1)
TICKETS = (1 << 32) - 1
WIN, DRAW, LOSS = 0, 1, 2
DRAWN = -3


class TableWords(NamedTuple):
    """A rule as numbers; flags are 0 or 1. ``outlook``: what a value counts in a choice, γ of a board, 1 of a move."""

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


class PlayerArrays(NamedTuple):
    """One of two players on a graph. A fixed opponent has ``replies`` 1 and its replies, a learner the rest.

    ``edge_entry``: ``(n_edges,) int32``, −1 for a move without an entry; ``values``: ``(n_entries,) float64``;
    ``visits``: ``(n_entries,) int64``; ``epsilon``: ``(1,) float64``, 0 for one that does not learn; the last three are
    updated in place if the player ``learns``. ``reply_indptr``: ``(n_nodes + 1,) int32``; ``reply_edge``:
    ``(n_replies,) int32``.
    """

    replies: int
    learns: int
    rule: TableWords
    edge_entry: NDArray[np.int32]
    values: NDArray[np.float64]
    visits: NDArray[np.int64]
    epsilon: NDArray[np.float64]
    reply_indptr: NDArray[np.int32]
    reply_edge: NDArray[np.int32]


@inlined
def choose_edge(
    rule: TableWords,
    epsilon: float,
    edge_entry: NDArray[np.int32],
    values: NDArray[np.float64],
    first: np.uint64,
    end: np.uint64,
    successor: NDArray[np.int32],
    mover: np.int64,
    worths: NDArray[np.float64],
    path: NDArray[np.uint64],
    ahead: NDArray[np.float64],
    n_path: np.uint64,
    a: np.uint64,
    b: np.uint64,
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """The move that a learner plays, how long its path is with it, and the random source after two words."""
    most, n_best = -np.inf, ZERO
    for edge in range(first, end):
        entry = edge_entry[edge]
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
    explores = np.float64(below(word, U(TICKETS))) < epsilon * np.float64(TICKETS)
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
    if edge_entry[chosen] >= 0:
        path[n_path] = U(edge_entry[chosen])
        ahead[n_path] = most if rule.off_policy != 0 else values[path[n_path]]
        n_path += ONE
    return chosen, n_path, a, b


@inlined
def learn_table(
    rule: TableWords,
    path: NDArray[np.uint64],
    ahead: NDArray[np.float64],
    n_path: np.uint64,
    result: int,
    values: NDArray[np.float64],
    visits: NDArray[np.int64],
) -> None:
    """Correct the values on the path of a game, the last first."""
    target = rule.win if result == WIN else (rule.draw if result == DRAW else rule.loss)
    for back in range(n_path):
        index = n_path - ONE - back
        if back > ZERO:
            target = rule.discount * ((1.0 - rule.reach) * ahead[index + ONE] + rule.reach * target)
        entry = path[index]
        n = visits[entry] + 1
        step = 1.0 / np.float64(n) if rule.by_visits != 0 else rule.step
        visits[entry] = n
        values[entry] += step * (target - values[entry])


@kernel
def train_tables(
    n_games: int,
    seat: int,
    indptr: NDArray[np.int32],
    successor: NDArray[np.int32],
    side: NDArray[np.int8],
    own: Any,
    other: Any,
    words: NDArray[np.uint64],
    tally: NDArray[np.int64],
) -> None:
    """Play ``n_games``; ``own`` learns, and plays side ``seat``, or either at random if that is −1.

    ``words``: ``(2,) uint64``, the random source; ``tally``: ``(3,) int64``, games won, drawn and lost by ``own``. Both
    are updated in place, as the arrays of those are that learn. The two players may share their arrays.
    """
    own_path, other_path = np.empty(len(side), dtype=np.uint64), np.empty(len(side), dtype=np.uint64)
    own_ahead, other_ahead = np.empty(len(side)), np.empty(len(side))
    worths = np.empty(np.max(np.diff(indptr)))
    # Each array is taken out of its tuple once: to take it out costs a count of references, which are atomic.
    own_entry, own_values, own_visits, own_epsilon = own.edge_entry, own.values, own.visits, own.epsilon
    other_entry, other_values, other_visits, other_epsilon = other.edge_entry, other.values, other.visits, other.epsilon
    reply_indptr, reply_edge = other.reply_indptr, other.reply_edge
    own_rule, other_rule, other_learns = own.rule, other.rule, other.learns != 0
    a, b = words[0], words[1]
    for _ in range(n_games):
        mine = np.int64(seat)
        if mine < 0:
            word, a, b = next_word(a, b)
            mine = np.int64(below(word, U(2)))
        n_own, n_other = ZERO, ZERO
        after = np.int64(0)
        while after >= 0:
            node = U(after)
            first, end = U(indptr[node]), U(indptr[node + ONE])
            mover = np.int64(side[node])
            if mover == mine:
                edge, n_own, a, b = choose_edge(
                    own_rule, own_epsilon[0], own_entry, own_values, first, end, successor, mover,
                    worths, own_path, own_ahead, n_own, a, b,
                )  # fmt: skip
            elif other.replies != 0:
                word, a, b = next_word(a, b)
                reply = U(reply_indptr[node])
                edge = U(reply_edge[reply + below(word, U(reply_indptr[node + ONE]) - reply)])
            else:
                edge, n_other, a, b = choose_edge(
                    other_rule, other_epsilon[0], other_entry, other_values, first, end, successor, mover,
                    worths, other_path, other_ahead, n_other, a, b,
                )  # fmt: skip
            after = np.int64(successor[edge])
        # Terminal codes of the graph: -1 first wins, -2 second wins, -3 drawn.
        result = DRAW if after == DRAWN else (WIN if -1 - after == mine else LOSS)
        tally[U(result)] += 1
        learn_table(own_rule, own_path, own_ahead, n_own, result, own_values, own_visits)
        own_epsilon[0] = max(own_rule.floor, own_rule.decay * own_epsilon[0])
        if other_learns:
            learn_table(other_rule, other_path, other_ahead, n_other, LOSS - result, other_values, other_visits)
            other_epsilon[0] = max(other_rule.floor, other_rule.decay * other_epsilon[0])
    words[0], words[1] = a, b
