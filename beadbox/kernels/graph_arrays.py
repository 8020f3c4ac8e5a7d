"""The canonical graph of a game, as arrays for kernels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class GraphArrays(NamedTuple):
    """A compiled graph. The edges of a node are its moves, in the order of the rules."""

    indptr: NDArray[np.int32]
    """``(n_nodes + 1,)``: where the edges of each node begin."""
    successor: NDArray[np.int32]
    """``(n_edges,)``: the node that a move leads to; −1: the first side has won, −2: the second, −3: a draw."""
    side: NDArray[np.int8]
    """``(n_nodes,)``: the side to move."""
