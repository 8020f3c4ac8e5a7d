"""Positions compiled from the rules: the canonical graph, the boxes of a machine, the replies of an opponent.

Training on the graph needs no boards and no symmetry. A node is a canonical non-terminal position; its edges are
*all* the legal moves there, so replies that are the same up to symmetry stay as repeats and probabilities stay right.
Tables are cached: rules, opponents and compiled arrays never change while the program runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.rules.base import POSITIONS_RETURN, Game, Outcome, Side
from learning.core.machines.boxes import Cabinet
from learning.core.machines.rule import BoxRule, EmptyOpening, WhenEmpty
from learning.core.opponents.base import Opponent, UniformOpponent

Int32s = NDArray[np.int32]

TABLES_KEPT = 256
"""Rules are anybody's to make, so the tables of those used least are forgotten."""

FIRST_WINS, SECOND_WINS, DRAWN = -1, -2, -3
"""Terminal codes of the graph, in the place of a node id."""


class NotListedError(ValueError):
    """A list of all positions in the order of play is needed, and the game has none."""


def terminal_code(outcome: Outcome) -> int:
    """The graph's code for a game that ended like this."""
    if outcome.winner is None:
        return DRAWN
    return FIRST_WINS if outcome.winner is Side.FIRST else SECOND_WINS


@dataclass(frozen=True, eq=False)
class Graph:
    """Every non-terminal position that can be reached, up to symmetry or (``reduced=False``) each as it lies.

    Nodes are in topological order: every successor of a node has a greater id.

    Attributes:
        positions: the position of each node.
        indptr: ``(n_nodes + 1,) int32``, where the edges of each node begin.
        successor: ``(n_edges,) int32``, the node a move leads to, or a terminal code.
    """

    game: Game[Any, Any]
    reduced: bool
    positions: tuple[Any, ...]
    indptr: Int32s
    successor: Int32s

    @cached_property
    def node_id(self) -> dict[Any, int]:
        """The node of each position."""
        return {position: node for node, position in enumerate(self.positions)}

    @cached_property
    def side(self) -> NDArray[np.int8]:
        """``(n_nodes,) int8``: the side to move."""
        return np.array([self.game.side_to_move(p) for p in self.positions], dtype=np.int8)

    @cached_property
    def edge_side(self) -> NDArray[np.int8]:
        """``(n_edges,) int8``: the side whose move each edge is."""
        return np.repeat(self.side, np.diff(self.indptr))


@lru_cache(maxsize=TABLES_KEPT)
def graph_compile(game: Game[Any, Any], *, reduced: bool) -> Graph:
    """The graph of a game, by breadth-first search from the start.

    Raises:
        NotListedError: the game has too many positions, or positions that can come again.
    """
    if not game.enumerable:
        raise _not_listed(game, game.why_unlisted)
    fold = game.canonical if reduced else _as_it_lies
    start = fold(game.initial_position())
    replies: dict[Any, list[Any]] = {}
    frontier = [start]
    while frontier:
        found: dict[Any, None] = {}
        for position in frontier:
            after = [fold(game.apply(position, move)) for move in game.legal_moves(position)]
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


def _as_it_lies(position: Any) -> Any:
    return position


def _topological_order(replies: dict[Any, list[Any]], start: Any, game: Game[Any, Any]) -> list[Any]:
    """Positions by the *longest* way there from the start, then by text: successors always come later."""
    n_ways_in = dict.fromkeys(replies, 0)
    for after in replies.values():
        for position in after:
            if position in replies:
                n_ways_in[position] += 1
    order: list[Any] = []
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


def _not_listed(game: Game[Any, Any], reason: str) -> NotListedError:
    return NotListedError(
        f"{game.name} {reason}, so there is no list of them. Its boxes open only when they are met, "
        "its strength is measured in games, and no player is perfect."
    )


@dataclass(frozen=True, eq=False)
class BoxTable:
    """All boxes of one machine as arrays. A slot's beads lie at ``slot_indptr[box] … slot_indptr[box + 1]``.

    Attributes:
        keys: the text of each box's position, in the order of the boxes.
        node_box: ``(n_nodes,) int32``, the box opened at a node, −1 where none is.
        slot_indptr: ``(n_boxes + 1,) int32``.
        edge_slot: ``(n_edges,) int32``, the slot that stands for a move, −1 without a box.
        slot_edge: ``(n_slots,) int32``, the edge a slot's bead is played on (its members lead to the same node).
        slot_size: ``(n_slots,) int32``, how many legal moves make an empty box choose the slot when it plays anything.
        initial: ``(n_slots,) int32``, beads at the start.
        refills: ``(n_boxes,) bool``, whether an empty box gets its initial beads back.
        move_number: ``(n_boxes,) int32``, the machine's own move number, 0 for its first.
    """

    graph: Graph
    cabinet: Cabinet
    keys: tuple[str, ...]
    node_box: Int32s
    slot_indptr: Int32s
    edge_slot: Int32s
    slot_edge: Int32s
    slot_size: Int32s
    initial: Int32s
    refills: NDArray[np.bool_]
    move_number: Int32s

    @property
    def n_boxes(self) -> int:
        """How many boxes there are."""
        return len(self.keys)

    @cached_property
    def box_id(self) -> dict[str, int]:
        """The box of each text of a position."""
        return {key: box for box, key in enumerate(self.keys)}

    @cached_property
    def slot_box(self) -> Int32s:
        """``(n_slots,) int32``: the box of each slot."""
        return np.repeat(np.arange(self.n_boxes, dtype=np.int32), np.diff(self.slot_indptr))


@lru_cache(maxsize=TABLES_KEPT)
def boxes_compile(game: Game[Any, Any], side: Side, rule: BoxRule) -> BoxTable:
    """The boxes that a machine of this side and rule can ever open."""
    graph = graph_compile(game, reduced=rule.reduce_symmetry)
    cabinet = Cabinet(game, side, rule)
    n_nodes = len(graph.positions)
    node_box = np.full(n_nodes, -1, np.int32)
    edge_slot = np.full(len(graph.successor), -1, np.int32)
    keys: list[str] = []
    slot_indptr, slot_edge, slot_size = [0], list[int](), list[int]()
    initial, refills, move_number = list[int](), list[bool](), list[int]()
    for node, position in enumerate(graph.positions):
        if not cabinet.has_box(position):
            continue
        node_box[node] = len(keys)
        keys.append(game.encode(position))
        legal = game.legal_moves(position)
        slots = cabinet.slots(position)
        merged = len(slots) < len(legal)
        first_slot = len(slot_edge)
        for slot, members in enumerate(slots):
            printed = members[0] if merged else legal[slot]
            slot_edge.append(int(graph.indptr[node]) + legal.index(printed))
            slot_size.append(len(members) if merged else 1)
        for index, move in enumerate(legal):
            standing = next(slot for slot, members in enumerate(slots) if move in members) if merged else index
            edge_slot[graph.indptr[node] + index] = first_slot + standing
        slot_indptr.append(len(slot_edge))
        initial += cabinet.initial_beads(position)
        number = cabinet.move_number(position)
        move_number.append(number)
        refills.append(
            rule.when_empty is WhenEmpty.REFILL
            or (rule.when_empty is WhenEmpty.RESIGN and rule.empty_opening is EmptyOpening.REFILL and number == 0)
        )
    return BoxTable(
        graph=graph,
        cabinet=cabinet,
        keys=tuple(keys),
        node_box=node_box,
        slot_indptr=np.array(slot_indptr, np.int32),
        edge_slot=edge_slot,
        slot_edge=np.array(slot_edge, np.int32),
        slot_size=np.array(slot_size, np.int32),
        initial=np.array(initial, np.int32),
        refills=np.array(refills, np.bool_),
        move_number=np.array(move_number, np.int32),
    )


@dataclass(frozen=True, eq=False)
class Course:
    """One machine's training ground against one opponent, with everything that needs no bead compiled away.

    A *target* says where a move leads: ``0 … n_boxes-1`` opens that box; ``n_boxes + node`` is the opponent's turn at a
    node; −1, −2, −3 end the game with a win, draw or loss *for the machine*. Forced moves without a box are
    followed through, so they cost nothing.

    Attributes:
        start: the target a game begins with.
        slot_target: ``(n_slots,) int32``.
        reply_indptr: ``(n_nodes + 1,) int32``, empty for nodes where the machine moves.
        reply_target: ``(n_replies,) int32``, equally likely at each node.
    """

    boxes: BoxTable
    start: int
    slot_target: Int32s
    reply_indptr: Int32s
    reply_target: Int32s


@lru_cache(maxsize=TABLES_KEPT)
def course_compile(game: Game[Any, Any], side: Side, rule: BoxRule, opponent: Opponent) -> Course:
    """The training ground of a machine against an opponent."""
    boxes = boxes_compile(game, side, rule)
    assert isinstance(opponent, UniformOpponent), "an engine plays no game that is small enough for a table"
    graph = boxes.graph
    won = FIRST_WINS if side is Side.FIRST else SECOND_WINS

    def target(successor: int) -> int:
        while successor >= 0 and graph.side[successor] == side and boxes.node_box[successor] < 0:
            successor = int(graph.successor[graph.indptr[successor]])
        if successor < 0:
            return -2 if successor == DRAWN else (-1 if successor == won else -3)
        if graph.side[successor] == side:
            return int(boxes.node_box[successor])
        return boxes.n_boxes + successor

    reply_indptr, reply_target = [0], []
    for node, position in enumerate(graph.positions):
        if graph.side[node] != side:
            legal = game.legal_moves(position)
            for move in opponent.replies(game, position):
                edge = graph.indptr[node] + legal.index(move)
                reply_target.append(target(int(graph.successor[edge])))
        reply_indptr.append(len(reply_target))
    return Course(
        boxes=boxes,
        start=target(0),
        slot_target=np.array([target(int(graph.successor[e])) for e in boxes.slot_edge], np.int32),
        reply_indptr=np.array(reply_indptr, np.int32),
        reply_target=np.array(reply_target, np.int32),
    )
