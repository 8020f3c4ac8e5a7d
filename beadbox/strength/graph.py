"""The canonical graph of a game, compiled from its rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from beadbox.errors import UnsupportedError
from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.rules.game import AnyGame, AnyPosition
from beadbox.rules.outcome import Side

Int32s = NDArray[np.int32]

MAX_CACHED_TABLES = 256
"""Maximum number of tables in each cache. Users can create any number of rules, so unused tables are dropped."""

FIRST_WINS, SECOND_WINS, DRAWN = -1, -2, -3
"""Terminal codes of the graph, in place of a node id."""


class NotListedError(UnsupportedError):
    """The operation needs a list of all positions, and the game has none."""


def terminal_code(winner: Side | None) -> int:
    """Return the graph's terminal code for a game that this side won; ``None`` for a draw."""
    return DRAWN if winner is None else -1 - winner


@dataclass(frozen=True, eq=False)
class Graph:
    """All reachable non-terminal positions, with symmetric positions merged (``reduced=True``) or kept apart.

    If the game always ends, nodes are in topological order: every successor of a node has a greater id. Else they are
    in the order of their distance from the start, and then of their text.

    Attributes:
        positions: the position of each node.
        indptr: ``(n_nodes + 1,) int32``, where the edges of each node begin.
        successor: ``(n_edges,) int32``, the node a move leads to, or a terminal code.
    """

    game: AnyGame
    reduced: bool
    positions: tuple[AnyPosition, ...]
    indptr: Int32s
    successor: Int32s

    @cached_property
    def arrays(self) -> GraphArrays:
        """The graph as arrays for kernels."""
        side = np.array([self.game.side_to_move(position) for position in self.positions], np.int8)
        return GraphArrays(self.indptr, self.successor, side)

    @property
    def limit(self) -> int:
        """Plies after which a game stops; in a game that always ends, more than any game has."""
        return len(self.positions) + 1 if self.game.always_ends else self.game.ply_limit

    @property
    def endless(self) -> int:
        """The terminal code of a game that never ends."""
        return terminal_code(self.game.endless_winner)

    @cached_property
    def node_id(self) -> dict[AnyPosition, int]:
        """The id of each position's node, the inverse of ``positions``."""
        return {position: node for node, position in enumerate(self.positions)}

    @property
    def side(self) -> NDArray[np.int8]:
        """``(n_nodes,) int8``: the side to move."""
        return self.arrays.side

    @cached_property
    def edge_side(self) -> NDArray[np.int8]:
        """``(n_edges,) int8``: the side that plays the move of each edge."""
        return np.repeat(self.side, np.diff(self.indptr))


@lru_cache(maxsize=MAX_CACHED_TABLES)
def graph_compile(game: AnyGame, *, reduced: bool) -> Graph:
    """Compile the graph of a game by breadth-first search from the start; results are cached.

    Raises:
        NotListedError: the game has too many positions.
        ValueError: the game says that it always ends, and its positions can return.
    """
    if not game.listable:
        raise NotListedError(
            f"{game.name} {game.why_unlisted}, so there is no list of them. Its boxes open only when they are met, "
            "its strength is measured in games, and no player is perfect."
        )
    canonicalise = game.canonical if reduced else unchanged
    start = canonicalise(game.initial_position())
    replies: dict[AnyPosition, list[AnyPosition]] = {}
    frontier = [start]
    while frontier:
        found: dict[AnyPosition, None] = {}
        for position in frontier:
            after = [canonicalise(game.apply(position, move)) for move in game.legal_moves(position)]
            replies[position] = after
            found.update(dict.fromkeys(p for p in after if not game.is_terminal(p)))
        frontier = sorted((position for position in found if position not in replies), key=game.encode)

    order = _topological_order(replies, start, game) if game.always_ends else list(replies)
    node_id = {position: node for node, position in enumerate(order)}
    indptr, successor = [0], []
    for position in order:
        for after_move in replies[position]:
            outcome = game.outcome(after_move)
            successor.append(node_id[after_move] if outcome is None else terminal_code(outcome.winner))
        indptr.append(len(successor))
    return Graph(game, reduced, tuple(order), np.array(indptr, np.int32), np.array(successor, np.int32))


def unchanged(position: AnyPosition) -> AnyPosition:
    """Return the position itself, where other callers use the canonical position."""
    return position


def _topological_order(
    replies: dict[AnyPosition, list[AnyPosition]], start: AnyPosition, game: AnyGame
) -> list[AnyPosition]:
    """Sort positions by the *longest* path from the start, then by text, so that successors always come later."""
    n_ways_in = dict.fromkeys(replies, 0)
    for after in replies.values():
        for position in after:
            if position in replies:
                n_ways_in[position] += 1
    order: list[AnyPosition] = []
    layer = [start] if n_ways_in[start] == 0 else []
    while layer:
        layer.sort(key=game.encode)
        order += layer
        ready = []
        for position in layer:
            for after_move in replies[position]:
                if after_move in replies:
                    n_ways_in[after_move] -= 1
                    if n_ways_in[after_move] == 0:
                        ready.append(after_move)
        layer = ready
    if len(order) != len(replies):
        raise ValueError(f"{game.name} says that it always ends, and its positions can return")
    return order
