"""The boxes of a machine on the canonical graph, and the replies of its opponent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.box_learning import DRAW, LOSS, WIN, OpponentArrays
from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.rule import BoxRule, EmptyOpening, WhenEmpty
from beadbox.policies.opponent import Opponent, UniformOpponent
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.strength.graph import DRAWN, MAX_CACHED_TABLES, Graph, Int32s, graph_compile


@dataclass(frozen=True, eq=False)
class BoxTable:
    """All boxes of one machine as arrays.

    The slots of a box have the indices ``slot_indptr[box] … slot_indptr[box + 1] - 1``.

    Attributes:
        keys: the text of each box's position, in the order of the boxes.
        node_box: ``(n_nodes,) int32``, the box that the machine opens at a node, −1 for a node without a box.
        slot_indptr: ``(n_boxes + 1,) int32``, where the slots of each box begin.
        edge_slot: ``(n_edges,) int32``, the slot that stands for a move, −1 for a move without a box.
        slot_edge: ``(n_slots,) int32``, the edge of one of the slot's moves, which all lead to the same node.
        slot_size: ``(n_slots,) int32``, the number of legal moves that a slot stands for.
        initial: ``(n_slots,) int32``, the initial beads of each slot.
        refills: ``(n_boxes,) bool``, whether an empty box gets its initial beads back.
        move_number: ``(n_boxes,) int32``, the number of moves that the machine has made before it opens the box.
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
        """The number of boxes in the table."""
        return len(self.keys)

    @cached_property
    def box_id(self) -> dict[str, int]:
        """The number of each box, by the text of its position."""
        return {key: box for box, key in enumerate(self.keys)}

    @cached_property
    def when_empty(self) -> Int32s:
        """``(n_slots,) int32``: the weights with which an empty box plays, 0 if the machine then resigns."""
        plays_anything = self.cabinet.rule.when_empty is WhenEmpty.UNIFORM
        return np.where(self.refills[self.slot_box], self.initial, self.slot_size if plays_anything else np.int32(0))

    @cached_property
    def slot_box(self) -> Int32s:
        """``(n_slots,) int32``: the box of each slot."""
        return np.repeat(np.arange(self.n_boxes, dtype=np.int32), np.diff(self.slot_indptr))


@lru_cache(maxsize=MAX_CACHED_TABLES)
def boxes_compile(game: AnyGame, side: Side, rule: BoxRule) -> BoxTable:
    """Return the boxes that a machine of this side and rule can ever open; results are cached.

    Raises:
        NotListedError: the positions of the game cannot be listed.
    """
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
        classes = cabinet.slot_classes(position)
        is_merged = len(classes) < len(legal)
        first_slot = len(slot_edge)
        for slot, members in enumerate(classes):
            label = members[0] if is_merged else legal[slot]
            slot_edge.append(int(graph.indptr[node]) + legal.index(label))
            slot_size.append(len(members) if is_merged else 1)
        for index, move in enumerate(legal):
            own_slot = next(slot for slot, members in enumerate(classes) if move in members) if is_merged else index
            edge_slot[graph.indptr[node] + index] = first_slot + own_slot
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


@lru_cache(maxsize=MAX_CACHED_TABLES)
def opponent_compile(game: AnyGame, side: Side, rule: BoxRule, opponent: Opponent) -> OpponentArrays:
    """Compile an opponent for the games of a machine with this side and rule; results are cached.

    The *target* of a move is the next choice after it. ``0 … n_boxes-1`` is the box that the machine opens.
    ``n_boxes + node`` is a node at which the opponent moves. −1, −2 and −3 mean that the game ends with a win, a draw
    or a loss of the machine. Forced moves without a box lie on the way to a target, so they cost no time.

    Raises:
        NotListedError: the positions of the game cannot be listed.
    """
    boxes = boxes_compile(game, side, rule)
    assert isinstance(opponent, UniformOpponent), "an engine plays no game that is small enough for a table"
    graph = boxes.graph
    result = {DRAWN: DRAW, -1 - side: WIN, -1 - side.other: LOSS}

    def target(successor: int) -> tuple[int, int]:
        """Return the target of an edge after the forced moves of the machine that need no box, and their number."""
        n_forced = 0
        while successor >= 0 and graph.side[successor] == side and boxes.node_box[successor] < 0:
            successor = int(graph.successor[graph.indptr[successor]])
            n_forced += 1
        if successor < 0:
            return -1 - result[successor], n_forced
        if graph.side[successor] == side:
            return int(boxes.node_box[successor]), n_forced
        return boxes.n_boxes + successor, n_forced

    reply_indptr, replies = [0], list[tuple[int, int]]()
    for node, position in enumerate(graph.positions):
        if graph.side[node] != side:
            legal = game.legal_moves(position)
            for move in opponent.replies(game, position):
                edge = graph.indptr[node] + legal.index(move)
                replies.append(target(int(graph.successor[edge])))
        reply_indptr.append(len(replies))
    start, start_plies = target(0)
    after_slot = np.array([target(int(graph.successor[edge])) for edge in boxes.slot_edge], np.int32)
    after_reply = np.array(replies, np.int32).reshape(-1, 2)
    return OpponentArrays(
        start=start,
        slot_target=after_slot[:, 0].copy(),
        reply_indptr=np.array(reply_indptr, np.int32),
        reply_target=after_reply[:, 0].copy(),
        start_plies=start_plies,
        slot_plies=after_slot[:, 1] + np.int32(1),
        reply_plies=after_reply[:, 1] + np.int32(1),
        limit=graph.limit,
        endless=result[graph.endless],
    )
