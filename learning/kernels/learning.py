"""Training loops over tables. The readable twin of every one is ``learning.machines.menace`` in
``learning.training.episodes``, which takes the same random words and leaves the same beads.

Common arrays: ``beads``, ``initial``: ``(n_slots,) int32``; ``draws``: ``(n_slots,) int64``, how often each slot was played;
``totals``: ``(n_boxes,) int64``, the sum of each box; ``words``: ``(2,) uint64``, the random source;
``tally``: ``(4,) int64``, games won, drawn, lost and slots removed. ``beads``, ``draws``, ``totals``, ``words``, ``tally`` are
updated in place. Targets are those of ``learning.training.tables.Course``.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learning.kernels.jit import kernel
from learning.kernels.random_source import below, next_word

WIN, DRAW, LOSS, REMOVED = 0, 1, 2, 3
MAX_VISITS = 64
"""No game of the registry lets one side open more boxes than this in one game."""


class RuleWords(NamedTuple):
    """A learning rule as whole numbers; flags are 0 or 1."""

    win: int
    draw: int
    loss: int
    final_sole: int
    final_remove: int
    only_last: int
    floor: int
    cap: int
    uniform_when_empty: int
    punish_previous: int
    removes: int


@kernel
def draw_slot(
    beads: NDArray[np.int32], first: int, ticket: int
) -> int:
    """The slot that a ticket in ``0 … total-1`` stands for, from slot ``first`` on."""
    slot = first
    ticket -= beads[slot]
    while ticket >= 0:
        slot += 1
        ticket -= beads[slot]
    return slot


@kernel
def restock(
    path: NDArray[np.int32],
    n_visits: int,
    result: int,
    resigned: bool,
    rule: RuleWords,
    slot_box: NDArray[np.int32],
    slot_indptr: NDArray[np.int32],
    beads: NDArray[np.int32],
    draws: NDArray[np.int64],
    totals: NDArray[np.int64],
) -> int:
    """Learn from the slots played, in order; returns how many slots were removed. The formula: ``Menace.restock``."""
    for visit in range(n_visits):
        draws[path[visit]] += 1
    delta = rule.win if result == WIN else (rule.draw if result == DRAW else rule.loss)
    final_counts = rule.punish_previous != 0 or not resigned
    begin = 0
    if rule.only_last:
        begin = max(n_visits - 1, 0) if final_counts else n_visits
    end = n_visits
    special = final_counts and (
        (result == WIN and rule.final_sole != 0) or (result == LOSS and rule.final_remove != 0)
    )
    if special and n_visits > 0:
        end = n_visits - 1
    for visit in range(begin, end):
        slot = path[visit]
        count = beads[slot]
        if count > 0 or rule.removes == 0:
            changed = min(max(count + delta, rule.floor), rule.cap)
            beads[slot] = changed
            totals[slot_box[slot]] += changed - count
    if end == n_visits:
        return 0
    slot = path[end]
    box = slot_box[slot]
    if result == LOSS:
        removed = 1 if beads[slot] > 0 else 0
        totals[box] -= beads[slot]
        beads[slot] = 0
        return removed
    removed = 0
    for other in range(slot_indptr[box], slot_indptr[box + 1]):
        if other != slot:
            removed += 1 if beads[other] > 0 else 0
            beads[other] = 0
    beads[slot] = rule.cap
    totals[box] = rule.cap
    return removed


@kernel
def refill(
    box: int,
    slot_indptr: NDArray[np.int32],
    initial: NDArray[np.int32],
    beads: NDArray[np.int32],
    totals: NDArray[np.int64],
) -> int:
    """Give a box its initial beads back; returns its new total."""
    total = 0
    for slot in range(slot_indptr[box], slot_indptr[box + 1]):
        beads[slot] = initial[slot]
        total += initial[slot]
    totals[box] = total
    return total


@kernel
def train_on_course(
    n_games: int,
    rule: RuleWords,
    start: int,
    slot_indptr: NDArray[np.int32],
    slot_box: NDArray[np.int32],
    slot_target: NDArray[np.int32],
    slot_size: NDArray[np.int32],
    refills: NDArray[np.bool_],
    initial: NDArray[np.int32],
    reply_indptr: NDArray[np.int32],
    reply_target: NDArray[np.int32],
    beads: NDArray[np.int32],
    draws: NDArray[np.int64],
    totals: NDArray[np.int64],
    words: NDArray[np.uint64],
    tally: NDArray[np.int64],
) -> None:
    """Play ``n_games`` against an opponent whose replies are equally likely, learning after every game."""
    n_boxes = len(totals)
    path = np.empty(MAX_VISITS, dtype=np.int32)
    a, b = words[0], words[1]
    for _ in range(n_games):
        n_visits = 0
        resigned = False
        target = start
        while target >= 0:
            if target >= n_boxes:
                word, a, b = next_word(a, b)
                node = target - n_boxes
                first = reply_indptr[node]
                target = reply_target[first + below(word, reply_indptr[node + 1] - first)]
                continue
            total = totals[target]
            first = slot_indptr[target]
            if total == 0:
                if refills[target]:
                    total = refill(target, slot_indptr, initial, beads, totals)
                if total == 0 and rule.uniform_when_empty == 0:
                    resigned = True
                    break
            word, a, b = next_word(a, b)
            if total > 0:
                slot = draw_slot(beads, first, below(word, total))
            else:
                n_moves = 0
                for other in range(first, slot_indptr[target + 1]):
                    n_moves += slot_size[other]
                slot = draw_slot(slot_size, first, below(word, n_moves))
            path[n_visits] = slot
            n_visits += 1
            target = slot_target[slot]
        result = LOSS if resigned else -1 - target
        tally[result] += 1
        tally[REMOVED] += restock(
            path, n_visits, result, resigned, rule, slot_box, slot_indptr, beads, draws, totals
        )
    words[0], words[1] = a, b


class LearnerArrays(NamedTuple):
    """One of two machines on the same graph: its boxes, its rule, its memory; ``learns`` is 0 for a frozen one."""

    learns: int
    rule: RuleWords
    node_box: NDArray[np.int32]
    slot_indptr: NDArray[np.int32]
    slot_box: NDArray[np.int32]
    slot_edge: NDArray[np.int32]
    slot_size: NDArray[np.int32]
    refills: NDArray[np.bool_]
    initial: NDArray[np.int32]
    beads: NDArray[np.int32]
    draws: NDArray[np.int64]
    totals: NDArray[np.int64]
    tally: NDArray[np.int64]


@kernel
def _choose_edge(
    node: int, edge: int, learner: Any, path: NDArray[np.int32], n_visits: int, word: np.uint64
) -> tuple[int, int, int]:
    """The edge a machine plays at a node (−1: it resigns), its visits so far, and the random words it took."""
    box = learner.node_box[node]
    if box < 0:
        return edge, n_visits, 0
    first = learner.slot_indptr[box]
    total = learner.totals[box]
    weights = learner.beads
    if total == 0 and learner.refills[box]:
        # A frozen machine plays as if it had refilled, and stays as it is.
        if learner.learns:
            total = refill(box, learner.slot_indptr, learner.initial, learner.beads, learner.totals)
        else:
            weights = learner.initial
            for other in range(first, learner.slot_indptr[box + 1]):
                total += learner.initial[other]
    if total == 0:
        if learner.rule.uniform_when_empty == 0:
            return -1, n_visits, 0
        weights = learner.slot_size
        for other in range(first, learner.slot_indptr[box + 1]):
            total += learner.slot_size[other]
    slot = draw_slot(weights, first, below(word, total))
    path[n_visits] = slot
    return learner.slot_edge[slot], n_visits + 1, 1


@kernel
def _learn(learner: Any, path: NDArray[np.int32], n_visits: int, result: int, resigned: bool) -> None:
    learner.tally[result] += 1
    if learner.learns:
        learner.tally[REMOVED] += restock(
            path,
            n_visits,
            result,
            resigned,
            learner.rule,
            learner.slot_box,
            learner.slot_indptr,
            learner.beads,
            learner.draws,
            learner.totals,
        )


@kernel
def train_pair(
    n_games: int,
    indptr: NDArray[np.int32],
    successor: NDArray[np.int32],
    side: NDArray[np.int8],
    first_player: Any,
    second_player: Any,
    words: NDArray[np.uint64],
) -> None:
    """Play ``n_games`` between two machines on one graph; each learns unless it is frozen."""
    first_path = np.empty(MAX_VISITS, dtype=np.int32)
    second_path = np.empty(MAX_VISITS, dtype=np.int32)
    a, b = words[0], words[1]
    for _ in range(n_games):
        n_first, n_second, node = 0, 0, 0
        resigned = False
        while node >= 0 and not resigned:
            word, a_next, b_next = next_word(a, b)
            if side[node] == 0:
                edge, n_first, taken = _choose_edge(
                    node, indptr[node], first_player, first_path, n_first, word
                )
            else:
                edge, n_second, taken = _choose_edge(
                    node, indptr[node], second_player, second_path, n_second, word
                )
            if taken == 1:
                a, b = a_next, b_next
            if edge < 0:
                resigned = True
            else:
                node = successor[edge]
        # Terminal codes of the graph: -1 first wins, -2 second wins, -3 drawn.
        first_lost = node == -2 or (resigned and side[node] == 0)
        drawn = node == -3
        result = DRAW if drawn else (LOSS if first_lost else WIN)
        _learn(first_player, first_path, n_first, result, resigned and first_lost)
        _learn(second_player, second_path, n_second, 2 - result, resigned and not first_lost)
    words[0], words[1] = a, b
