"""Training loops over tables of boxes.

The readable twin of each loop is :func:`beadbox.learners.boxes.episodes.train_episodes`, with the machine of
``beadbox.learners.boxes.machine``. A loop and its twin take the same random words, and end with the same beads.

``words``: ``(2,) uint64``, the random source. It is updated in place, and so are a learner's ``beads``, ``visits``,
``totals`` and ``tally``.

Whenever a kernel takes an array out of a tuple, numba updates the array's reference count. One update at every move
would take three times as long as the move itself. numba omits these updates in two cases. In the first, a loop takes
its arrays before it begins. In the second, an inlined function has the tuple as its last parameter, and takes all the
arrays in its first lines.

Indices are unsigned (``U``), so that numba omits the code for negative indices, which would halve the speed. A cast to
``U`` therefore says "this is an index, or a number that is never negative".
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.kernels.jit import inlined, kernel
from beadbox.kernels.random_source import below, next_word

WIN, DRAW, LOSS, REMOVED = 0, 1, 2, 3
EVERY, FIRST, LAST = 0, 1, 2
"""The visits that are restocked, if a game visits a box several times."""

U = np.uint64
ZERO, ONE = U(0), U(1)


class BoxRuleNumbers(NamedTuple):
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
    repeated: int
    """:data:`EVERY`, :data:`FIRST` or :data:`LAST`."""
    skips_unfinished: int


class LearnerArrays(NamedTuple):
    """A machine on the graph: its rule, its boxes and its memory.

    The slots of a box have the indices ``slot_indptr[box] … slot_indptr[box + 1] - 1``. For a population, ``beads``,
    ``visits``, ``totals`` and ``tally`` have a row for each machine.
    """

    learns: int
    """1 for a machine that learns, 0 for a frozen one."""
    rule: BoxRuleNumbers
    node_box: NDArray[np.int32]
    """``(n_nodes,)``: the box that the machine opens at each node, −1 for a node without a box."""
    slot_indptr: NDArray[np.int32]
    """``(n_boxes + 1,)``: where the slots of each box begin."""
    slot_box: NDArray[np.int32]
    """``(n_slots,)``: the box of each slot."""
    slot_edge: NDArray[np.int32]
    """``(n_slots,)``: the edge that a slot's bead is played on."""
    slot_size: NDArray[np.int32]
    """``(n_slots,)``: the number of legal moves that each slot stands for, its weight in a uniformly random move."""
    refills: NDArray[np.bool_]
    """``(n_boxes,)``: whether an empty box gets its initial beads back."""
    initial: NDArray[np.int32]
    """``(n_slots,)``: the initial beads of each slot."""
    beads: NDArray[np.int32]
    """``(n_slots,)``: beads in each slot now."""
    visits: NDArray[np.int64]
    """``(n_slots,)``: how often each slot was played."""
    totals: NDArray[np.int64]
    """``(n_boxes,)``: the number of beads in each box."""
    tally: NDArray[np.int64]
    """``(4,)``: the numbers of games won, drawn and lost, and of slots removed."""


class OpponentArrays(NamedTuple):
    """An opponent, and the ways between choices of the machine and of the opponent, as arrays.

    A *target* is the next point at which somebody chooses: ``0 … n_boxes-1`` is a box of the machine, and
    ``n_boxes + node`` is a node at which the opponent replies. A negative target ends the game: ``-1 - result``.
    """

    start: int
    """The target that a game begins with."""
    slot_target: NDArray[np.int32]
    """``(n_slots,)``: the target that the move of each slot leads to."""
    reply_indptr: NDArray[np.int32]
    """``(n_nodes + 1,)``: where the replies of each node begin; nodes where the machine moves have no replies."""
    reply_target: NDArray[np.int32]
    """``(n_replies,)``: the target that each reply leads to; the replies of a node are equally likely."""
    start_plies: int
    """The number of forced plies before the first target."""
    slot_plies: NDArray[np.int32]
    """``(n_slots,)``: the number of plies from the move of each slot to its target, including forced moves."""
    reply_plies: NDArray[np.int32]
    """``(n_replies,)``: the number of plies from each reply to its target, including forced moves."""
    limit: int
    """Maximum number of plies, after which a game stops. Games that always end are shorter."""
    endless: int
    """The result of the machine in a game that stopped: :data:`WIN`, :data:`DRAW` or :data:`LOSS`."""


@inlined
def draw_slot(weights: NDArray[np.int32], first: np.uint64, ticket: np.uint64) -> np.uint64:
    """Return the slot of the ``ticket``-th bead, counted from 0 at slot ``first``."""
    slot = first
    while ticket >= U(weights[slot]):
        ticket -= U(weights[slot])
        slot += ONE
    return slot


@inlined
def sum_slots(weights: NDArray[np.int32], box: np.uint64, slot_indptr: NDArray[np.int32]) -> np.uint64:
    """Return the sum of the weights of a box's slots."""
    total = ZERO
    for slot in range(U(slot_indptr[box]), U(slot_indptr[box + ONE])):
        total += U(weights[slot])
    return total


@inlined
def refill(
    box: np.uint64,
    slot_indptr: NDArray[np.int32],
    initial: NDArray[np.int32],
    beads: NDArray[np.int32],
    totals: NDArray[np.int64],
) -> np.uint64:
    """Give a box its initial beads back and return its new total."""
    for slot in range(U(slot_indptr[box]), U(slot_indptr[box + ONE])):
        beads[slot] = initial[slot]
    total = sum_slots(beads, box, slot_indptr)
    totals[box] = total
    return total


@inlined
def restock(
    path: NDArray[np.uint64],
    n_visits: np.uint64,
    result: int | np.int64,
    resigned: bool | np.bool_,
    unfinished: bool | np.bool_,
    game: int,
    last_game: NDArray[np.int64],
    learner: LearnerArrays,
) -> int:
    """Learn from the slots that a machine played in a game; return the number of slots removed.

    The formula is that of ``BoxMachine.restock``. ``path`` has the slots in order of play. ``game`` is the number of
    this game. ``last_game``: ``(n_boxes,)``, the number of the last game that restocked each box.
    """
    rule, slot_box, slot_indptr = learner.rule, learner.slot_box, learner.slot_indptr
    beads, visits, totals = learner.beads, learner.visits, learner.totals
    delta = rule.win if result == WIN else (rule.draw if result == DRAW else rule.loss)
    final_counts = not resigned or rule.punish_previous != 0
    remove = result == LOSS and rule.final_remove != 0
    sole = result == WIN and rule.final_sole != 0
    begin, end = ZERO, n_visits
    if rule.only_last != 0:
        begin = n_visits - ONE if final_counts and n_visits > ZERO else n_visits
    if final_counts and (remove or sole) and n_visits > ZERO:
        end = n_visits - ONE
    if unfinished and rule.skips_unfinished != 0:
        begin = end = n_visits
    for visit in range(n_visits):
        at = n_visits - ONE - visit if rule.repeated == LAST else visit
        slot = path[at]
        visits[slot] += 1
        count, box = beads[slot], U(slot_box[slot])
        counts = begin <= at < end
        if counts and rule.repeated != EVERY:
            counts = last_game[box] != game
            last_game[box] = game
        if counts and (count > 0 or rule.removes == 0):
            changed = min(max(count + delta, rule.floor), rule.cap)
            beads[slot] = changed
            totals[box] += changed - count
    if end == n_visits:
        return 0
    return apply_final_rule(path[end], remove, rule.cap, slot_box, slot_indptr, beads, totals)


@inlined
def apply_final_rule(
    slot: np.uint64,
    remove: bool,
    cap: int,
    slot_box: NDArray[np.int32],
    slot_indptr: NDArray[np.int32],
    beads: NDArray[np.int32],
    totals: NDArray[np.int64],
) -> int:
    """Apply the special rule for a final move; return the number of slots removed.

    With ``remove`` the slot loses all its beads. Without, the slot gets ``cap`` beads and all others lose theirs.
    """
    box = U(slot_box[slot])
    removed = 0
    for other in range(U(slot_indptr[box]), U(slot_indptr[box + ONE])):
        if (other == slot) == remove:
            removed += beads[other] > 0
            beads[other] = 0
    if not remove:
        beads[slot] = cap
    totals[box] = sum_slots(beads, box, slot_indptr)
    return removed


@kernel
def train_against_opponent(
    n_games: int, learner: LearnerArrays, compiled: OpponentArrays, words: NDArray[np.uint64]
) -> None:
    """Play ``n_games`` against an opponent with equally likely replies, and learn after every game."""
    slot_indptr, slot_size, refills = learner.slot_indptr, learner.slot_size, learner.refills
    initial, beads, totals, tally = learner.initial, learner.beads, learner.totals, learner.tally
    start, slot_target, reply_indptr, reply_target, start_plies, slot_plies, reply_plies, limit, endless = compiled
    uniform_when_empty = learner.rule.uniform_when_empty
    n_boxes = len(totals)
    path, last_game = np.empty(limit, dtype=np.uint64), np.full(n_boxes, -1, dtype=np.int64)
    a, b = words[0], words[1]
    for game in range(n_games):
        n_visits = ZERO
        resigned = False
        target, n_plies = np.int64(start), start_plies
        while target >= 0 and n_plies < limit:
            if target >= n_boxes:
                node = U(target - n_boxes)
                first = U(reply_indptr[node])
                word, a, b = next_word(a, b)
                reply = first + below(word, U(reply_indptr[node + ONE]) - first)
                target = np.int64(reply_target[reply])
                n_plies += reply_plies[reply]
                continue
            box = U(target)
            first, total = U(slot_indptr[box]), U(totals[box])
            if total == ZERO and refills[box]:
                total = refill(box, slot_indptr, initial, beads, totals)
            if total > ZERO:
                word, a, b = next_word(a, b)
                slot = draw_slot(beads, first, below(word, total))
            elif uniform_when_empty != 0:
                word, a, b = next_word(a, b)
                slot = draw_slot(slot_size, first, below(word, sum_slots(slot_size, box, slot_indptr)))
            else:
                resigned = True
                break
            path[n_visits] = slot
            n_visits += ONE
            target = np.int64(slot_target[slot])
            n_plies += slot_plies[slot]
        unfinished = not resigned and (target >= 0 or n_plies > limit)
        result = LOSS if resigned else endless if unfinished else -1 - target
        tally[U(result)] += 1
        tally[REMOVED] += restock(path, n_visits, result, resigned, unfinished, game, last_game, learner)
    words[0], words[1] = a, b


@inlined
def choose_slot(box: np.uint64, word: np.uint64, learner: LearnerArrays) -> np.int64:
    """Return the slot that a machine draws from a box, or −1 if the machine resigns, which uses no random word."""
    slot_indptr, slot_size, refills = learner.slot_indptr, learner.slot_size, learner.refills
    initial, beads, totals = learner.initial, learner.beads, learner.totals
    learns, uniform_when_empty = learner.learns, learner.rule.uniform_when_empty
    first, total, slot = U(slot_indptr[box]), U(totals[box]), np.int64(-1)
    if total == ZERO and refills[box]:
        if learns == 0:
            # A frozen machine draws as from a refilled box, but the box stays empty.
            initial_total = sum_slots(initial, box, slot_indptr)
            if initial_total > ZERO:
                slot = np.int64(draw_slot(initial, first, below(word, initial_total)))
        else:
            total = refill(box, slot_indptr, initial, beads, totals)
    if total > ZERO:
        slot = np.int64(draw_slot(beads, first, below(word, total)))
    elif slot < 0 and uniform_when_empty != 0:
        slot = np.int64(draw_slot(slot_size, first, below(word, sum_slots(slot_size, box, slot_indptr))))
    return slot


@inlined
def pair_result(next_node: np.int64, loser: int) -> int:
    """Return the first side's result from a terminal code of the graph and the side that resigned (−1 for none)."""
    if next_node == -1 or loser == 1:
        return WIN
    return LOSS if next_node == -2 or loser == 0 else DRAW


@kernel
def train_pair(
    n_games: int,
    graph: GraphArrays,
    limit: int,
    endless: int,
    first_player: LearnerArrays,
    second_player: LearnerArrays,
    words: NDArray[np.uint64],
) -> None:
    """Play ``n_games`` between two machines on one graph; each learns unless it is frozen.

    A game stops after ``limit`` plies, with the terminal code ``endless``.
    """
    indptr, successor, side = graph
    node_box_a, edge_a, tally_a = first_player.node_box, first_player.slot_edge, first_player.tally
    node_box_b, edge_b, tally_b = second_player.node_box, second_player.slot_edge, second_player.tally
    learns_a, learns_b = first_player.learns, second_player.learns
    path_a, path_b = np.empty(limit, dtype=np.uint64), np.empty(limit, dtype=np.uint64)
    last_game_a, last_game_b = (
        np.full(len(first_player.totals), -1, np.int64),
        np.full(len(second_player.totals), -1, np.int64),
    )
    a, b = words[0], words[1]
    for game in range(n_games):
        n_a, n_b = ZERO, ZERO
        next_node, n_plies = np.int64(0), 0
        loser = -1
        while next_node >= 0 and n_plies < limit:
            node = U(next_node)
            edge = U(indptr[node])
            if side[node] == 0:
                box = np.int64(node_box_a[node])
                if box >= 0:
                    word, next_a, next_b = next_word(a, b)
                    slot = choose_slot(U(box), word, first_player)
                    if slot < 0:
                        loser = 0
                        break
                    a, b = next_a, next_b
                    path_a[n_a] = U(slot)
                    n_a += ONE
                    edge = U(edge_a[U(slot)])
            else:
                box = np.int64(node_box_b[node])
                if box >= 0:
                    word, next_a, next_b = next_word(a, b)
                    slot = choose_slot(U(box), word, second_player)
                    if slot < 0:
                        loser = 1
                        break
                    a, b = next_a, next_b
                    path_b[n_b] = U(slot)
                    n_b += ONE
                    edge = U(edge_b[U(slot)])
            next_node = np.int64(successor[edge])
            n_plies += 1
        unfinished = next_node >= 0 and loser < 0
        if unfinished:
            next_node = np.int64(endless)
        result = pair_result(next_node, loser)
        tally_a[U(result)] += 1
        tally_b[U(LOSS - result)] += 1
        if learns_a != 0:
            tally_a[REMOVED] += restock(path_a, n_a, result, loser == 0, unfinished, game, last_game_a, first_player)
        if learns_b != 0:
            tally_b[REMOVED] += restock(
                path_b, n_b, LOSS - result, loser == 1, unfinished, game, last_game_b, second_player
            )
    words[0], words[1] = a, b
