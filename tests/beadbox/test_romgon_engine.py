"""The Romgon engine: golden values, and compiled code that equals the readable code."""

import random
import threading
import time

import numpy as np
import pytest

from beadbox.engines.romgon import boards, search
from beadbox.engines.romgon.answers import (
    LEVELS,
    N_CANDIDATES,
    Level,
    answer,
    answer_in_game,
    legal_actions,
    perft,
    ranking,
    terms,
)
from beadbox.engines.romgon.boards import MAX_ACTIONS, N_SETS, do_action
from beadbox.engines.romgon.boards import evaluate as evaluate_compiled
from beadbox.engines.romgon.evaluation import evaluate
from beadbox.engines.romgon.minimax import WIN, full_value, plain_value
from beadbox.engines.romgon.minimax import ranking as readable_ranking
from beadbox.kernels.jit import kernel
from beadbox.kernels.random_source import RandomSource
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from beadbox.rules.romgon.moves import CORE, Options, after, legal_moves
from beadbox.rules.romgon.pieces import BLACK, START, WHITE, Board
from beadbox.rules.romgon.rules import ROMGONS, board_outcome
from beadbox.strength.sampled import wilson
from tests.beadbox.romgon_contest import level_contest
from tests.beadbox.rules.romgon_data import (
    SIDES,
    VECTORS,
    action_json,
    entry_parameters,
    half_turned_board,
    random_board,
    read_board,
    read_options,
)

FLIPS = Options(flip=True)
FLIP_TURN_SHAPE = Options(flip=True, turn=True, shape=True)
ALL_OPTIONS = list(dict.fromkeys(Options(o.flip, o.turn, o.shape) for o in (game.options for game in ROMGONS)))
SEARCHES = {"medium": (1, True), "hard": (2, False), "depth3": (3, False)}
"""For each search of the golden positions its depth, and whether it uses the plain evaluation."""
each_golden_position = pytest.mark.parametrize("entry", **entry_parameters(VECTORS["positions"]))


@kernel
def _minimax(cells, sets, side, root, remaining, ply, options, actions):
    """Return the value of the board for the root side, by plain search: no pruning, no move order, no memory."""
    other, n_legal, extreme = 1 - side, 0, 0
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    for index in range(boards.generate(cells, sets, side, options, actions[ply])):
        action = actions[ply, index]
        if not boards.is_legal(cells, sets, side, options, action):
            continue
        code = cells[action & 63]
        if boards.wins_at_once(cells, side, action):
            value = search.WIN - 2 * ply if side == root else 2 * ply - search.WIN
        else:
            taken = do_action(cells, sets, side, action)
            if remaining == 1 and boards.has_legal(cells, sets, other, options):
                value = evaluate_compiled(cells, sets, root, options)
            elif remaining == 1:
                value = search.WIN - 2 * ply if side == root else 2 * ply - search.WIN
            else:
                value = _minimax(cells, sets, other, root, remaining - 1, ply + 1, options, actions)
            boards.undo_action(cells, sets, action, code, taken, before)
        n_legal += 1
        if n_legal == 1 or (value > extreme if side == root else value < extreme):
            extreme = value
    if n_legal:
        return extreme
    return 2 * (ply - 1) - search.WIN if side == root else search.WIN - 2 * (ply - 1)


@kernel
def minimax_values(board, side, actions, depth, options):
    """Return the minimax value of each action, ``(n,) int64``, in half points."""
    cells, sets = np.empty(len(board), np.uint8), np.empty(N_SETS, np.uint64)
    boards.load_board(board, cells, sets)
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    values = np.empty(len(actions), np.int64)
    scratch = np.empty((depth + 1, MAX_ACTIONS), np.int32)
    for index in range(len(actions)):
        code = cells[actions[index] & 63]
        is_won = boards.wins_at_once(cells, side, actions[index])
        taken = do_action(cells, sets, side, actions[index])
        if is_won or not boards.has_legal(cells, sets, 1 - side, options):
            values[index] = search.WIN - 2
        elif depth == 1:
            values[index] = evaluate_compiled(cells, sets, side, options)
        else:
            values[index] = _minimax(cells, sets, 1 - side, side, depth - 1, np.int64(2), options, scratch)
        boards.undo_action(cells, sets, actions[index], code, taken, before)
    return values


def minimax_ranking(board, side, options, depth):
    """Return all legal actions with their plain minimax values, best first, ties in canonical order."""
    array, flags = np.frombuffer(board, np.uint8), boards.FLIP * options.flip | boards.TURN * options.turn
    flags |= boards.SHAPE * options.shape
    values = minimax_values(array, int(side), boards.legal_actions(array, int(side), flags), depth, flags)
    pairs = zip(legal_actions(board, side, options), (values / 2).tolist(), strict=True)
    return sorted(pairs, key=lambda valued: -valued[1])


def random_play_boards(options: Options, n: int, seed: int):
    """Yield ``n`` boards with the side to move, from games of random play."""
    rng, n_yielded = random.Random(seed), 0
    while True:
        board, side = START, BLACK
        for _ in range(200):
            yield board, side
            n_yielded += 1
            actions = legal_moves(board, side, options)
            if n_yielded == n:
                return
            if not actions or board_outcome(board, side, options):
                break
            board, side = after(board, rng.choice(actions)), side.other


def sampled_positions(options: Options, n: int, seed: int) -> list[tuple[Board, Side]]:
    """Return boards from different stages of random play, in games that are not over."""
    unfinished_boards = [
        found for found in random_play_boards(options, 12 * n, seed) if not board_outcome(*found, options)
    ]
    return random.Random(seed).sample(unfinished_boards, n)


class TestGoldenPositions:
    @each_golden_position
    @pytest.mark.parametrize("evaluation", [evaluate, terms], ids=["readable", "compiled"])
    def test_evaluation(self, entry, evaluation):
        board, options = read_board(entry), read_options(entry)
        for name, side in (("white", WHITE), ("black", BLACK)):
            found = evaluation(board, side, options)
            assert found._asdict() == entry["evaluation"][f"{name}Terms"]
            assert sum(found) == entry["evaluation"][name]

    @each_golden_position
    def test_search(self, entry):
        board, side, options = read_board(entry), SIDES[entry["toMove"]], read_options(entry)
        assert set(entry["search"]) <= set(SEARCHES)
        for level, expected in entry["search"].items():
            depth, is_plain = SEARCHES[level]
            best, finished = ranking(board, side, options, depth=depth, plain=is_plain)
            assert finished == depth
            actions = [action_json(board, found.move) | {"evaluation": found.value} for found in best]
            assert actions == [{key: v for key, v in action.items() if key != "notation"} for action in expected]

    @each_golden_position
    def test_the_readable_search_agrees(self, entry):
        board, side, options = read_board(entry), SIDES[entry["toMove"]], read_options(entry)
        for level in ("medium", "hard"):
            depth, is_plain = SEARCHES[level]
            leaf = plain_value if is_plain else full_value
            best = readable_ranking(board, side, options, depth=depth, leaf=leaf)[:N_CANDIDATES]
            actions = [action_json(board, move) | {"evaluation": value} for move, value in best]
            assert actions == [{key: v for key, v in a.items() if key != "notation"} for a in entry["search"][level]]

    @pytest.mark.parametrize("entry", **entry_parameters(VECTORS["perft"]))
    def test_perft(self, entry):
        n_nodes = perft(read_board(entry), SIDES[entry["toMove"]], read_options(entry), depth=entry["depth"])
        assert n_nodes == entry["nodes"]

    @each_golden_position
    def test_legal_actions(self, entry):
        board = read_board(entry)
        found = legal_actions(board, SIDES[entry["toMove"]], read_options(entry))
        assert [action_json(board, move) for move in found] == entry["legalMoves"]


class TestCompiledEqualsReadable:
    def assert_equal(self, board: Board, side: Side, options: Options) -> None:
        assert legal_actions(board, side, options) == legal_moves(board, side, options)
        for me in Side:
            assert terms(board, me, options) == evaluate(board, me, options)

    @pytest.mark.parametrize("options", [CORE, FLIPS], ids=["flip off", "flip on"])
    @pytest.mark.soak
    def test_over_100000_random_plies(self, options):
        for board, side in random_play_boards(options, 50_000, seed=1):
            self.assert_equal(board, side, options)

    @pytest.mark.parametrize("options", ALL_OPTIONS, ids=str)
    def test_over_random_plies_with_every_option(self, options):
        for board, side in random_play_boards(options, 500, seed=2):
            self.assert_equal(board, side, options)

    @pytest.mark.parametrize("options", ALL_OPTIONS, ids=str)
    def test_on_impossible_boards(self, options):
        rng = random.Random(3)
        for n_pieces in [*range(52), *range(2, 30)]:
            board = random_board(rng, flips=options.flip, n_pieces=n_pieces)
            for side in Side:
                self.assert_equal(board, side, options)

    def test_four_terms_are_equal_from_the_other_side(self):
        # Two terms differ: the centre, 3-3 to 3-6, is not symmetric, and rows have different numbers of columns.
        rng = random.Random(8)
        for n_pieces in range(2, 40):
            board = random_board(rng, flips=True, n_pieces=n_pieces)
            for me in Side:
                own_terms, turned_terms = terms(board, me, FLIPS), terms(half_turned_board(board), me.other, FLIPS)
                assert turned_terms._replace(center=0, advancement=0) == own_terms._replace(center=0, advancement=0)


class TestAlphaBetaEqualsMinimax:
    @pytest.mark.parametrize("depth", [1, 2, 3])
    @pytest.mark.parametrize("options", [CORE, FLIPS], ids=["flip off", "flip on"])
    @pytest.mark.sampled(2)
    def test_on_500_random_positions(self, options, depth):
        for board, side in sampled_positions(options, 500, seed=depth):
            expected = minimax_ranking(board, side, options, depth)
            assert list(ranking(board, side, options, depth=depth)[0]) == expected[:N_CANDIDATES]

    @pytest.mark.parametrize("depth", [1, 2, 3])
    def test_with_every_option_and_impossible_boards(self, depth):
        rng = random.Random(depth)
        for options in ALL_OPTIONS:
            found = sampled_positions(options, 1, seed=depth)
            found += [(random_board(rng, flips=options.flip, n_pieces=n), rng.choice(list(Side))) for n in (2, 5, 9)]
            for board, side in found:
                expected = minimax_ranking(board, side, options, depth)
                assert list(ranking(board, side, options, depth=depth, n_best=MAX_ACTIONS)[0]) == expected
                assert list(ranking(board, side, options, depth=depth, n_best=2)[0]) == expected[:2]

    def test_at_the_greatest_depth(self):
        for options in (CORE, FLIPS):
            for board, side in sampled_positions(options, 6, seed=9):
                sparse_board = Board(
                    bytes(code if code & 7 == 3 or cell % 3 == 0 else 0 for cell, code in enumerate(board))
                )
                assert (
                    list(ranking(sparse_board, side, options, depth=5)[0])
                    == minimax_ranking(sparse_board, side, options, 5)[:5]
                )

    def test_compiled_minimax_equals_the_readable_one(self):
        rng = random.Random(4)
        for options in ALL_OPTIONS:
            for n_pieces, depth in ((12, 1), (5, 2), *(() if options.turn else ((4, 3),))):
                board, side = random_board(rng, flips=options.flip, n_pieces=n_pieces), rng.choice(list(Side))
                assert minimax_ranking(board, side, options, depth) == readable_ranking(
                    board, side, options, depth=depth
                )


class TestTime:
    def test_a_search_without_time_finishes_depth_1(self):
        array = np.frombuffer(START, np.uint8)
        hurried = search.search(array, int(BLACK), boards.FLIP, 9, 5, np.ones(1, np.uint8))
        complete = search.search(array, int(BLACK), boards.FLIP, 1, 5, np.zeros(1, np.uint8))
        assert hurried[2] == 1
        assert [array.tolist() for array in hurried[:2]] == [array.tolist() for array in complete[:2]]

    def test_a_limit_gives_the_ranking_of_the_last_depth_finished(self):
        best, depth = ranking(START, BLACK, FLIP_TURN_SHAPE, depth=30, time_limit_s=0.3)
        assert 1 <= depth < 30
        assert best == ranking(START, BLACK, FLIP_TURN_SHAPE, depth=depth)[0]

    def test_other_threads_run_during_a_search(self):
        ranking(START, BLACK, depth=1)
        ended = threading.Event()
        threading.Thread(
            target=lambda: (ranking(START, BLACK, FLIP_TURN_SHAPE, depth=30, time_limit_s=0.2), ended.set())
        ).start()
        n_turns = 0
        while not ended.is_set():
            n_turns += 1
            time.monotonic()
        assert n_turns > 100


class TestLevels:
    def answer_of_level(
        self, slug: str, seed: int = 1, board: Board = START, side: Side = BLACK, options: Options = CORE
    ):
        return answer(board, side, options, level=LEVELS[slug], rng=RandomSource(seed))

    def test_easy_plays_randomly_and_shows_the_one_ply_ranking(self):
        found = [self.answer_of_level("easy", seed) for seed in range(300)]
        best = ranking(START, BLACK, depth=1, n_best=MAX_ACTIONS)[0]
        assert {reply.candidates for reply in found} == {best[:N_CANDIDATES]}
        assert {reply.chosen for reply in found} == set(best)

    def test_beginner_plays_the_best_seven_times_in_ten(self):
        found = [self.answer_of_level("beginner", seed) for seed in range(600)]
        best = found[0].candidates[0]
        n_legal = len(legal_actions(START, BLACK))
        share = sum(reply.chosen == best for reply in found) / len(found)
        assert share == pytest.approx(0.7 + 0.3 / n_legal, abs=0.06)

    @pytest.mark.parametrize("slug", ["medium", "hard", "expert", "master"])
    def test_other_levels_play_a_best_move(self, slug):
        reply = self.answer_of_level(slug)
        level = LEVELS[slug]
        assert reply.candidates == ranking(START, BLACK, depth=level.depth, plain=level.plain)[0]
        assert (reply.chosen, reply.depth) == (reply.candidates[0], level.depth)

    def test_the_seed_determines_the_move(self):
        assert [self.answer_of_level("easy", seed) for seed in range(20)] == [
            self.answer_of_level("easy", seed) for seed in range(20)
        ]

    @pytest.mark.parametrize("slug", LEVELS)
    def test_a_winning_move_is_found_and_no_action_gives_none(self, slug):
        board = read_board({"board": {"3-6": {"color": "white", "type": "rhombus"}}, "flipModeEnabled": False})
        assert self.answer_of_level(slug, board=board, side=BLACK).chosen is None
        level = LEVELS[slug]
        reply = self.answer_of_level(slug, board=board, side=WHITE)
        if not level.plain:
            assert reply.candidates[0].value == WIN - 1

    def test_the_shorter_time_limit_counts(self):
        level = Level("deep", "Deep", "Thinks long.", 30, time_limit_s=60)
        reply = answer(START, BLACK, FLIP_TURN_SHAPE, level=level, rng=RandomSource(1), time_limit_s=0.2)
        assert 1 <= reply.depth < 30

    def test_an_action_that_loses_by_repetition_is_avoided(self):
        game, shuffle = ROMGONS[0], ("6-5>5-5", "0-0>1-1", "5-5>6-5", "1-1>0-0")
        position = game.initial_position()
        for text in (*shuffle, *shuffle)[:7]:
            position = game.apply(position, game.parse_move(text))
        losing = game.parse_move("1-1>0-0")
        answers = {
            depth: answer(position.board, WHITE, level=Level("", "", "", depth), rng=RandomSource(1))
            for depth in (1, 2, 3)
        }
        for depth, found in answers.items():
            played = answer_in_game(game, position, level=Level("", "", "", depth), rng=RandomSource(1))
            assert played.candidates == found.candidates
            assert played.chosen == next(other for other in found.candidates if other.move != losing)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("slug", "strong", "weak"),
    [
        ("romgon", "hard", "medium"),
        ("romgon", "medium", "easy"),
        ("romgon-flip", "medium", "easy"),
        ("romgon", "beginner", "easy"),
        ("romgon", "expert", "hard"),
    ],
)
def test_a_level_beats_the_one_below(slug, strong, weak):
    wins, _, _ = level_contest(game_get(slug), strong, weak, 200)
    assert wilson(wins, 200)[0] > 0.5
