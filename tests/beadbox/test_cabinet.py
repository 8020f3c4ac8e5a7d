"""The boxes of a machine and their slots do not depend on the orientation of the board."""

import random
from collections import Counter
from functools import cache

import pytest

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.episodes import play_episode
from beadbox.learners.boxes.machine import BoxMachine
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxRule, BoxSet
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.noughts_and_crosses.rules import NoughtsAndCrosses
from beadbox.rules.outcome import Outcome, Result, Side
from beadbox.rules.play import game_played
from beadbox.rules.registry import GAMES
from beadbox.strength.graph import FIRST_WINS, SECOND_WINS, graph_compile
from tests.beadbox.cached_games import NOUGHTS_AND_CROSSES as GAME
from tests.beadbox.cached_games import with_cached_rules
from tests.beadbox.rules.walks import reachable
from tests.toys.tug import Tug

REDUCING_PRESETS = [slug for slug, preset in PRESETS.items() if preset.rule.reduce_symmetry]
BEADS_BY_MOVE = {"4/3/2/1": (4, 3, 2, 1), "8/4/2/1": (8, 4, 2, 1)}


HEXAPAWN, WIDE_HEXAPAWN = with_cached_rules(GAMES["hexapawn"]), with_cached_rules(GAMES["hexapawn-4x4"])
each_reducing_rule = pytest.mark.parametrize(
    ("game", "slug"),
    [
        *((game, slug) for game in (GAME, HEXAPAWN) for slug in REDUCING_PRESETS),
        *((WIDE_HEXAPAWN, slug) for slug in ("gardner-her", "hexapawn-rl")),
    ],
    ids=lambda value: getattr(value, "slug", value),
)
"""Small games with every rule that merges symmetric boards, and a larger game with both kinds of rules."""


@cache
def playable_positions(game=GAME):
    return [position for position in reachable(game) if not game.is_terminal(position)]


def fill_with_random_beads(machine, seed=0):
    """Fill the boxes that the machine can open with random beads: some slots and some boxes are empty."""
    rng = random.Random(seed)
    for position in playable_positions(machine.game):
        if machine.cabinet.has_box(position):
            beads = machine.open_box(position)
            empty = rng.random() < 0.05
            beads[:] = [0 if empty or rng.random() < 0.25 else rng.randrange(40) for _ in beads]
    return machine


def copy_machine(machine):
    boxes = {key: list(beads) for key, beads in machine.boxes.items()}
    return BoxMachine(machine.game, machine.side, machine.rule, boxes, machine.n_removed, learns=machine.learns)


@pytest.mark.parametrize(
    ("side", "merges", "n_boxes", "n_boxes_by_move", "n_slots", "beads"),
    [
        (Side.FIRST, True, 304, [1, 12, 108, 183], 1_087, {"4/3/2/1": 1_720, "8/4/2/1": 1_798}),
        (Side.FIRST, False, 304, [1, 12, 108, 183], 1_182, {"4/3/2/1": 1_917, "8/4/2/1": 2_037}),
        (Side.SECOND, True, 289, [3, 38, 153, 95], 975, {"4/3/2/1": 1_991, "8/4/2/1": 2_237}),
        (Side.SECOND, False, 289, [3, 38, 153, 95], 1_054, {"4/3/2/1": 2_194, "8/4/2/1": 2_518}),
    ],
)
def test_boxes_slots_and_beads(side, merges, n_boxes, n_boxes_by_move, n_slots, beads):
    for name, initial in BEADS_BY_MOVE.items():
        table = boxes_compile(GAMES["noughts-and-crosses"], side, BoxRule(initial, merge_symmetric_moves=merges))
        assert table.n_boxes == n_boxes
        assert [n for _, n in sorted(Counter(table.move_number.tolist()).items())] == n_boxes_by_move
        assert len(table.initial) == n_slots
        assert table.initial.sum() == beads[name]


def test_forced_positions_have_boxes_only_if_the_rule_says_so():
    for side, n_boxes in ((Side.FIRST, 338), (Side.SECOND, 289)):
        assert boxes_compile(GAME, side, BoxRule(box_set=BoxSet.ALL)).n_boxes == n_boxes
    assert boxes_compile(GAME, Side.FIRST, PRESETS["apl-notebook"].rule).n_boxes == sum(
        GAME.side_to_move(position) is Side.FIRST for position in playable_positions()
    )


def test_56_of_304_boxes_have_symmetric_moves():
    cabinet = Cabinet(GAME, Side.FIRST, BoxRule())
    boxes = {cabinet.box_position(p) for p in playable_positions() if cabinet.has_box(p)}
    assert len(boxes) == 304
    assert sum(len(cabinet.slot_classes(box)) < len(GAME.legal_moves(box)) for box in boxes) == 56


def test_the_apl_table_of_boards_has_6046_rows():
    # All boards with equally many crosses and noughts, or with one cross more, whether reachable or not.
    rows = [
        (n - k) for n in range(3**9) for k in (ternary_digits(n).count(2),) if ternary_digits(n).count(1) - k in (0, 1)
    ]
    assert len(rows) == 6_046
    # A machine of either side can reach 4,520 of these boards before the game is over.
    rule = PRESETS["apl-notebook"].rule
    assert sum(boxes_compile(GAME, side, rule).n_boxes for side in Side) == 4_520


def ternary_digits(n):
    return [n // 3**place % 3 for place in range(9)]


def test_box_exists_where_the_machine_has_a_choice_of_moves():
    first = Cabinet(GAME, Side.FIRST, BoxRule())
    all_positions = Cabinet(GAME, Side.FIRST, BoxRule(box_set=BoxSet.ALL))
    assert first.has_box(GAME.decode("........."))
    assert not first.has_box(GAME.decode("X........"))
    assert not first.has_box(GAME.decode("XXXOO...."))
    forced = GAME.decode("XOXXOOOX.")
    assert not first.has_box(forced)
    assert all_positions.has_box(forced)


def test_box_of_the_empty_board_has_corner_edge_and_centre():
    cabinet = Cabinet(GAME, Side.FIRST, BoxRule())
    empty = GAME.initial_position()
    assert cabinet.slot_classes(empty) == ((0, 2, 6, 8), (1, 3, 5, 7), (4,))
    assert cabinet.slot_labels(empty) == (0, 1, 4)
    unmerged = Cabinet(GAME, Side.FIRST, BoxRule(merge_symmetric_moves=False))
    assert unmerged.slot_classes(empty)[2] == (0, 2, 6, 8)
    assert unmerged.slot_labels(empty) == tuple(range(9))
    raw = Cabinet(GAME, Side.FIRST, PRESETS["apl-notebook"].rule)
    assert raw.slot_classes(empty) == tuple((move,) for move in range(9))


def test_the_printed_box_is_turned_like_the_board():
    for slug in PRESETS:
        for position in playable_positions():
            cabinet = Cabinet(GAME, GAME.side_to_move(position), PRESETS[slug].rule)
            assert GAME.transform(*cabinet.box_and_placement(position)) == position


def test_slots_partition_the_legal_moves():
    for slug in PRESETS:
        for position in playable_positions():
            cabinet = Cabinet(GAME, GAME.side_to_move(position), PRESETS[slug].rule)
            slot_moves = cabinet.slot_moves(position)
            assert {move for moves in slot_moves for move in moves} == set(GAME.legal_moves(position))
            if PRESETS[slug].rule.merge_symmetric_moves:
                assert sum(map(len, slot_moves)) == len(GAME.legal_moves(position))


@each_reducing_rule
@pytest.mark.sampled(6)
def test_policy_is_equivariant(game, slug):
    machines = {side: fill_with_random_beads(BoxMachine(game, side, PRESETS[slug].rule)) for side in Side}
    n_pairs = 0
    for greedy in (False, True):
        policies = {p: machines[game.side_to_move(p)].policy(p, greedy=greedy) for p in playable_positions(game)}
        for position, policy in policies.items():
            assert sum(policy.values()) == pytest.approx(1, abs=1e-12) or not any(policy.values())
            for symmetry in game.symmetries:
                image = policies[game.transform(position, symmetry)]
                for move, chance in policy.items():
                    assert abs(image[game.transform_move(move, symmetry)] - chance) < 1e-15
                assert len(image) == len(policy)
                n_pairs += 1
    n_positions = {GAME: 4_520, HEXAPAWN: 70, WIDE_HEXAPAWN: 11_420}[game]
    assert n_pairs == 2 * n_positions * len(game.symmetries)


@each_reducing_rule
def test_slots_are_equivariant(game, slug):
    cabinets = {side: Cabinet(game, side, PRESETS[slug].rule) for side in Side}
    slot_moves = {p: cabinets[game.side_to_move(p)].slot_moves(p) for p in playable_positions(game)}
    for position, slots in slot_moves.items():
        for symmetry in game.symmetries:
            image = slot_moves[game.transform(position, symmetry)]
            assert [{game.transform_move(move, symmetry) for move in moves} for moves in slots] == list(map(set, image))


@each_reducing_rule
def test_images_of_a_position_draw_and_learn_alike(game, slug):
    """Every image of a position draws the same bead and causes the same changes."""
    machines = {side: fill_with_random_beads(BoxMachine(game, side, PRESETS[slug].rule)) for side in Side}
    positions = [p for p in playable_positions(game) if machines[game.side_to_move(p)].cabinet.has_box(p)]
    drawn = {}
    for position in positions:
        machine = machines[game.side_to_move(position)]
        # Use one random stream per orbit, and copy the box, since a draw may refill it.
        key = game.encode(game.canonical(position))
        learner = BoxMachine(game, machine.side, machine.rule, {key: list(machine.boxes[key])})
        draw = learner.draw(position, RandomSource(9, stream=stable_hash(key)))
        changes = learner.restock([draw], Result.WIN) if draw.slot is not None else []
        drawn[position] = (draw, changes, learner.boxes)
    for position in positions:
        for symmetry in game.symmetries:
            assert drawn[position] == drawn[game.transform(position, symmetry)]


def stable_hash(text):
    """A hash of a text that is the same in every process, unlike ``hash``."""
    return int.from_bytes(text.encode())


@each_reducing_rule
@pytest.mark.parametrize("side", Side)
def test_a_game_and_its_image_teach_the_same_beads(game, slug, side):
    start = fill_with_random_beads(BoxMachine(game, side, PRESETS[slug].rule), seed=5)
    rng = random.Random(1)
    for game_number in range(40):
        learner, record = copy_machine(start), []
        position, draws, result, resigned = game.initial_position(), [], None, False
        while not game.is_terminal(position):
            move, draw = None, None
            if game.side_to_move(position) is side:
                move, draw = learner.choose(position, RandomSource(game_number, stream=len(record)))
                if move is None:
                    resigned, result = True, Result.LOSS
                    break
                draws += [draw] if draw else []
            else:
                move = rng.choice(game.legal_moves(position))
            record.append((position, move, draw))
            position = game.apply(position, move)
        result = result or Result.of(game.outcome(position), side)
        changes = learner.restock(draws, result, resigned=resigned)

        for symmetry in game.symmetries:
            image, image_draws = copy_machine(start), []
            for number, (board, move, draw) in enumerate(record):
                if draw is None:
                    continue
                turned = game.transform(board, symmetry)
                image_draw = image.draw(turned, RandomSource(game_number, stream=number))
                assert image_draw == draw
                assert game.transform_move(move, symmetry) in image.cabinet.slot_moves(turned)[image_draw.slot]
                image_draws.append(image_draw)
            assert image.restock(image_draws, result, resigned=resigned) == changes
            # A resignation may have opened a further box, but it changes no beads.
            assert image.boxes == learner.boxes


def test_compiled_boxes_equal_the_boxes_of_the_cabinet():
    for slug, preset in PRESETS.items():
        for side in Side:
            table = boxes_compile(GAME, side, preset.rule)
            cabinet = Cabinet(GAME, side, preset.rule)
            expected = {GAME.encode(cabinet.box_position(p)) for p in playable_positions() if cabinet.has_box(p)}
            assert set(table.keys) == expected, slug
            assert [table.box_id[key] for key in table.keys] == list(range(table.n_boxes))
            for box, key in enumerate(table.keys):
                slots = slice(table.slot_indptr[box], table.slot_indptr[box + 1])
                assert table.initial[slots].tolist() == cabinet.initial_beads(GAME.decode(key))
                assert set(table.slot_box[slots]) == {box}


class EndlessNoughts(NoughtsAndCrosses):
    """Noughts and crosses in which the third move clears the board."""

    def apply(self, position, move):
        return self.initial_position() if self.ply(position) == 2 else super().apply(position, move)


def test_graph_of_a_game_that_falsely_always_ends_is_refused():
    with pytest.raises(ValueError, match=f"{GAME.name} says that it always ends, and its positions can return"):
        graph_compile(EndlessNoughts(), reduced=True)


def test_graph_with_loops_lists_positions_by_distance():
    graph = graph_compile(Tug(), reduced=True)
    assert [Tug().encode(position) for position in graph.positions] == ["--S--:1", "---S-:2", "-S---:2"]
    assert graph.successor.tolist() == [2, 1, 0, SECOND_WINS, FIRST_WINS, 0]


def test_an_endless_game_is_a_draw_at_the_ply_limit():
    def player(position, rng):
        positions.append(position)
        return EndlessNoughts().legal_moves(position)[0]

    positions = []
    assert game_played(EndlessNoughts(), dict.fromkeys(Side, player), RandomSource(1)) == dict.fromkeys(
        Side, Result.DRAW
    )
    assert len(positions) == GAME.ply_limit


class EndlessNoughtsWithAWin(EndlessNoughts):
    """``EndlessNoughts`` with a win for the first player after a fixed number of plies."""

    def __init__(self, n_plies):
        self.n_left = n_plies

    def apply(self, position, move):
        self.n_left -= 1
        return super().apply(position, move)

    def outcome(self, position):
        return None if self.n_left else Outcome(Side.FIRST, "line")


@pytest.mark.parametrize(("n_plies", "result"), [(GAME.ply_limit, Result.WIN), (GAME.ply_limit + 1, Result.DRAW)])
def test_a_win_with_the_last_allowed_ply_counts(n_plies, result):
    opponent = OPPONENTS["random"]
    game = EndlessNoughtsWithAWin(n_plies)
    movers = {side: opponent.mover(game) for side in Side}
    assert game_played(game, movers, RandomSource(1))[Side.FIRST] is result
    machine = BoxMachine(EndlessNoughtsWithAWin(n_plies), Side.FIRST, BoxRule())
    episode, other = play_episode(machine, opponent, RandomSource(1))
    assert (episode.result, other.result) == (result, Result.LOSS if result is Result.WIN else Result.DRAW)
    assert len(episode.turns) == GAME.ply_limit


@pytest.mark.parametrize(("reduced", "n_nodes"), [(True, 627), (False, 4_520)])
def test_graph_lists_each_position_before_its_successors(reduced, n_nodes):
    graph = graph_compile(GAME, reduced=reduced)
    assert len(graph.positions) == n_nodes
    for node, position in enumerate(graph.positions):
        assert graph.node_id[position] == node
        assert graph.side[node] == GAME.side_to_move(position)
        edges = graph.successor[graph.indptr[node] : graph.indptr[node + 1]].tolist()
        after = [GAME.apply(position, move) for move in GAME.legal_moves(position)]
        for successor, position_after in zip(edges, after, strict=True):
            outcome = GAME.outcome(position_after)
            if outcome is None:
                assert graph.positions[successor] == (GAME.canonical(position_after) if reduced else position_after)
                assert successor > node
            else:
                assert successor == {Side.FIRST: -1, Side.SECOND: -2, None: -3}[outcome.winner]
