"""The canonical graph of a game, compiled from its rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from beadbox.rules.game import POSITIONS_RETURN, AnyGame, AnyPosition
from beadbox.rules.outcome import Outcome, Side

Int32s = NDArray[np.int32]

TABLES_KEPT = 256
"""Tables in each cache. Users can create any number of rules, so the least recently used tables are dropped."""

FIRST_WINS, SECOND_WINS, DRAWN = -1, -2, -3
"""Terminal codes of the graph, in place of a node id."""


class NotListedError(ValueError):
    """The operation needs a list of all positions in order of play, and the game has none."""


def terminal_code(outcome: Outcome) -> int:
    """Return the graph's terminal code for an outcome."""
    if outcome.winner is None:
        return DRAWN
    return FIRST_WINS if outcome.winner is Side.FIRST else SECOND_WINS


@dataclass(frozen=True, eq=False)
class Graph:
    """All reachable non-terminal positions, with symmetric positions merged (``reduced=True``) or kept apart.

    Nodes are in topological order: every successor of a node has a greater id.

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
    def node_id(self) -> dict[AnyPosition, int]:
        """The id of each position's node, the inverse of ``positions``."""
        return {position: node for node, position in enumerate(self.positions)}

    @cached_property
    def side(self) -> NDArray[np.int8]:
        """``(n_nodes,) int8``: the side to move."""
        return np.array([self.game.side_to_move(p) for p in self.positions], dtype=np.int8)

    @cached_property
    def edge_side(self) -> NDArray[np.int8]:
        """``(n_edges,) int8``: the side that plays the move of each edge."""
        return np.repeat(self.side, np.diff(self.indptr))


@lru_cache(maxsize=TABLES_KEPT)
def graph_compile(game: AnyGame, *, reduced: bool) -> Graph:
    """Compile the graph of a game by breadth-first search from the start; results are cached.

    Raises:
        NotListedError: the game has too many positions, or positions that can recur.
    """
    if not game.listable:
        raise _not_listed(game, game.why_unlisted)
    canonicalise = game.canonical if reduced else _as_it_lies
    start = canonicalise(game.initial_position())
    replies: dict[AnyPosition, list[AnyPosition]] = {}
    frontier = [start]
    while frontier:
        found: dict[AnyPosition, None] = {}
        for position in frontier:
            after = [canonicalise(game.apply(position, move)) for move in game.legal_moves(position)]
            replies[position] = after
            found.update(dict.fromkeys(p for p in after if not game.is_terminal(p)))
        frontier = [position for position in found if position not in replies]

    order = _topological_order(replies, start, game)
    node_id = {position: node for node, position in enumerate(order)}
    indptr, successor = [0], []
    for position in order:
        for after_move in replies[position]:
            outcome = game.outcome(after_move)
            successor.append(node_id[after_move] if outcome is None else terminal_code(outcome))
        indptr.append(len(successor))
    return Graph(game, reduced, tuple(order), np.array(indptr, np.int32), np.array(successor, np.int32))


def _as_it_lies(position: AnyPosition) -> AnyPosition:
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
        raise _not_listed(game, POSITIONS_RETURN)
    return order


def _not_listed(game: AnyGame, reason: str) -> NotListedError:
    return NotListedError(
        f"{game.name} {reason}, so there is no list of them. Its boxes open only when they are met, "
        "its strength is measured in games, and no player is perfect."
    )
