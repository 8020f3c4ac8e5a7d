"""Games between two fixed policies."""

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.kernels.jit import kernel
from beadbox.kernels.random_source import next_word


@kernel
def play_policies(
    n_games: int,
    graph: GraphArrays,
    probability: NDArray[np.float64],
    limit: int,
    endless: int,
    words: NDArray[np.uint64],
    tally: NDArray[np.int64],
) -> None:
    """Play ``n_games`` from node 0; ``tally``: ``(3,)``, games won by the first side, by the second, and drawn.

    A game stops after ``limit`` plies, with the terminal code ``endless``.

    ``probability``: ``(n_edges,)``, the policy of the side to move; all zero at a node where this side resigns.
    ``words`` and ``tally`` are updated in place.

    At a node with more than one possible move, a game takes one random word. The upper 53 bits of the word become a
    number from 0 to 1. The chosen move is the first one at which the running sum of the probabilities exceeds this
    number. Rounding can make the total smaller than the number; then the last possible move is chosen.
    """
    indptr, successor, side = graph
    a, b = words[0], words[1]
    for _ in range(n_games):
        after, n_plies = np.int64(0), 0
        while after >= 0 and n_plies < limit:
            first, end = indptr[after], indptr[after + 1]
            chosen, n_possible = -1, 0
            for edge in range(first, end):
                if probability[edge] > 0.0:
                    chosen = edge
                    n_possible += 1
            if n_possible == 0:
                after = np.int64(side[after]) - 2  # if the first side (0) resigns, the code is −2: the second has won
                break
            if n_possible > 1:
                word, a, b = next_word(a, b)
                ticket = np.float64(word >> np.uint64(11)) * (1.0 / 9007199254740992.0)
                total = 0.0
                for edge in range(first, end):
                    total += probability[edge]
                    if probability[edge] > 0.0 and ticket < total:
                        chosen = edge
                        break
            after = np.int64(successor[chosen])
            n_plies += 1
        tally[-1 - (after if after < 0 else endless)] += 1
    words[0], words[1] = a, b
