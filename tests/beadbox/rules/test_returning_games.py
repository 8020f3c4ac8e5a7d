"""Counts, values and exact strengths of games with loops, against those of an independent program."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.kernels.loops import evaluate_loops
from beadbox.policies.registry import UNIFORM
from beadbox.policies.table import opponent_policy
from beadbox.rules.achi.rules import ACHIS
from beadbox.rules.dodgem.rules import Dodgem
from beadbox.rules.errors import IllegalMoveError, InvalidMoveError, InvalidPositionError
from beadbox.rules.hare_and_hounds.rules import HareAndHounds
from beadbox.rules.outcome import Side
from beadbox.rules.perft import perft
from beadbox.rules.three_mens_morris.rules import MORRISES
from beadbox.strength.graph import FIRST_WINS, SECOND_WINS, graph_compile
from beadbox.strength.loops import ENDLESS, NO_PLIES, solve
from tests.beadbox.perfect_graph import best_response
from tests.beadbox.rules.walks import error_of, reachable

DATA = Path(__file__).parents[2] / "data" / "games"
COUNTS = {one["name"]: one for one in json.loads((DATA / "counts.json").read_text())["games"]}
STRENGTH = {one["name"]: one for one in json.loads((DATA / "strength.json").read_text())["games"]}
GAMES = {game.slug: game for game in (*MORRISES, *ACHIS, Dodgem(), HareAndHounds())}
COUNTS_NAMES = {  # the names of the games in the counts of the independent program
    "three-mens-morris": "three-mens-morris-8-lines",
    "three-mens-morris-rows": "three-mens-morris-rows-and-columns",
    "three-mens-morris-any-point": "three-mens-morris-any-point",
    "three-mens-morris-king-steps": "three-mens-morris-king-steps",
    "achi": "achi-4-each-8-lines",
    "dodgem": "dodgem-3x3",
    "hare-and-hounds": "hare-and-hounds",
}
STRENGTH_NAMES = COUNTS_NAMES | {
    "three-mens-morris-barred": "three-mens-morris-8-lines-centre-barred",
    "three-mens-morris-rows-barred": "three-mens-morris-rows-and-columns-centre-barred",
    "three-mens-morris-any-point-barred": "three-mens-morris-any-point-centre-barred",
    "three-mens-morris-king-steps-barred": "three-mens-morris-king-steps-centre-barred",
    "achi-pass": "achi-4-each-8-lines-stuck-passes",
}
STRENGTH_ROWS = [(slug, row) for slug, name in STRENGTH_NAMES.items() for row in STRENGTH[name]["rows"]]


def graph_of(slug: str) -> GraphArrays:
    """Return the graph of all positions of a game that have a move, the start first."""
    return graph_compile(GAMES[slug], reduced=False).arrays


@cache
def solution_of(slug: str):
    return solve(graph_of(slug), GAMES[slug].endless_winner)


def counts_of(slug: str) -> tuple[list[int], list[int]]:
    """Return the numbers of positions and of classes: in each list of all of them, then of those that are not over."""
    game = GAMES[slug]
    classes = {game.canonical(position) for position in game.least_plies_by_position}
    return tuple(
        [len(those), sum(not game.is_terminal(p) for p in those)] for those in (game.least_plies_by_position, classes)
    )


def n_boxes_of(slug: str, n_ways) -> list[int]:
    """Return for each side the number of its classes of positions with more than one way to move, by ``n_ways``."""
    game = GAMES[slug]
    boxes = {game.canonical(position) for position in game.least_plies_by_position if n_ways(game, position) > 1}
    return [sum(position.side is side for position in boxes) for side in Side]


@pytest.mark.parametrize("slug", COUNTS_NAMES)
class TestCounts:
    def test_positions_and_classes(self, slug):
        expected = COUNTS[COUNTS_NAMES[slug]]
        assert list(counts_of(slug)) == [expected["states"], expected.get("classes", expected["states"])]

    def test_boxes_of_both_sides(self, slug):
        expected = COUNTS[COUNTS_NAMES[slug]]
        assert n_boxes_of(slug, lambda game, position: len(game.legal_moves(position))) == expected["boxes"]
        kinds = n_boxes_of(slug, lambda game, position: len(game.distinct_moves(position)))
        assert kinds == expected.get("boxes_with_several_kinds_of_move", expected["boxes"])

    def test_value_of_the_start(self, slug):
        expected = COUNTS[COUNTS_NAMES[slug]]
        result = {"first": FIRST_WINS, "hounds": FIRST_WINS, "second": SECOND_WINS, "draw": ENDLESS}[expected["value"]]
        found = solution_of(slug)
        assert (found.result[0], found.plies[0]) == (result, expected.get("plies", NO_PLIES))


@pytest.mark.parametrize("slug", [game.slug for game in MORRISES if game.is_barred])
def test_with_a_barred_centre_play_is_endless(slug):
    assert list(counts_of(slug)) == [[5381, 4965], [741, 678]]
    assert solution_of(slug).result[0] == ENDLESS


def test_counts_and_value_of_achi_with_passing():
    assert list(counts_of("achi-pass")) == [[5724, 4720], [795, 655]]
    assert (solution_of("achi-pass").result[0], solution_of("achi-pass").plies[0]) == (FIRST_WINS, 11)


def test_values_of_the_first_moves_of_three_mens_morris():
    found = solution_of("three-mens-morris")
    after = graph_of("three-mens-morris").successor[:9]
    first, second = FIRST_WINS, SECOND_WINS
    assert found.result[after].tolist() == [ENDLESS, second, ENDLESS, second, first, second, ENDLESS, second, ENDLESS]


def test_won_and_lost_positions_of_dodgem():
    found, side = solution_of("dodgem"), graph_of("dodgem").side
    won = int((found.result == -1 - side).sum())
    game = GAMES["dodgem"]
    over = [
        (game.outcome(position).winner, position.side)
        for position in game.least_plies_by_position
        if game.is_terminal(position)
    ]
    won += sum(winner is mover for winner, mover in over)
    assert [won, len(game.least_plies_by_position) - won] == [1123, 840]


@pytest.mark.parametrize(("depth", "n"), list(enumerate(COUNTS["three-mens-morris-8-lines"]["perft"], 1)))
def test_perft_of_three_mens_morris(depth, n):
    game = GAMES["three-mens-morris"]
    assert perft(game, game.initial_position(), depth) == n


def policy_named(slug: str, name: str) -> np.ndarray:
    one = graph_of(slug)
    n_moves = np.diff(one.indptr)
    if name == "random":
        return np.repeat(1 / n_moves, n_moves)
    if name == "first":
        chances = np.zeros(len(one.successor))
        chances[one.indptr[:-1]] = 1
        return chances
    return opponent_policy(GAMES[slug], UNIFORM["perfect"], reduced=False)


@pytest.mark.parametrize(
    ("slug", "row"), STRENGTH_ROWS, ids=lambda one: one if isinstance(one, str) else f"{one['first']}-{one['second']}"
)
def test_exact_strength(slug, row):
    one = graph_of(slug)
    first_moves = np.repeat(one.side, np.diff(one.indptr)) == 0
    chances = np.where(first_moves, policy_named(slug, row["first"]), policy_named(slug, row["second"]))
    expected = [row[result] for result in ("win", "loss", "draw", "endless")]
    assert evaluate_loops(*one, chances)[0] == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize("best", STRENGTH["three-mens-morris-8-lines"]["best_responses"], ids=str)
def test_best_responses(best):
    slug = "three-mens-morris"
    responder = Side[best["side"].upper()]
    points, _ = best_response(graph_of(slug), responder.other, policy_named(slug, best["against"]))
    assert 1 - points[0] == pytest.approx(best["points"], abs=1e-12)


@pytest.mark.parametrize("slug", GAMES)
def test_plies_are_the_least_numbers_of_moves(slug):
    assert GAMES[slug].least_plies_by_position == reachable(GAMES[slug])


IMPOSSIBLE_POSITIONS = [
    ("three-mens-morris", "B.........1", "is not 9 characters from 'B', 'W' and '.'"),
    ("three-mens-morris", "B........", "is not 9 characters"),
    ("three-mens-morris", "X........2", "is not 9 characters"),
    ("three-mens-morris", "B........3", "and the side to move, '1' or '2'"),
    ("three-mens-morris", "B........1", "placed in turn"),
    ("three-mens-morris", "BB.......1", "placed in turn"),
    ("three-mens-morris", "BBWBBWW..2", "has 4 black and 3 white stones; each side has 3"),
    ("three-mens-morris", "BBB...WWW1", "goes on after a side has won"),
    ("three-mens-morris", "BBBWW....1", "placed in turn"),
    ("three-mens-morris-barred", "....B....2", "has the first stone of the game in the centre, which is barred"),
    ("achi", "BBWWBBWWB2", "each side has 4"),
    ("achi", "BWBWB....1", "placed in turn"),
    ("dodgem", "RRR....UU1", "has 3 black cars; each side has 2"),
    ("dodgem", "..UU..U.R1", "has 3 white cars; each side has 2"),
    ("dodgem", ".........1", "is a position that no game can reach"),
    ("dodgem", "R..R...UU2", "is a position that no game can reach"),
    ("hare-and-hounds", "DD.D.....HH1", "does not have 3 hounds (D) and one hare (H)"),
    ("hare-and-hounds", "DD........H1", "does not have 3 hounds (D) and one hare (H)"),
    ("hare-and-hounds", "H......DD.D2", "is a position that no game can reach"),
]


@pytest.mark.parametrize(("slug", "text", "reason"), IMPOSSIBLE_POSITIONS)
def test_refusal_of_an_impossible_position_gives_the_reason(slug, text, reason):
    error = error_of(GAMES[slug].decode, text)
    assert isinstance(error, InvalidPositionError)
    assert repr(text) in str(error)
    assert reason in str(error)


@pytest.mark.parametrize("slug", GAMES)
@pytest.mark.parametrize("text", ["", "0", "12", "5-5-5", "1-0", "a", "٣"])
def test_invalid_moves_are_refused(slug, text):
    error = error_of(GAMES[slug].parse_move, text)
    assert isinstance(error, InvalidMoveError)
    assert repr(text) in str(error)


@pytest.mark.parametrize(
    ("slug", "text", "move"),
    [
        ("three-mens-morris", "BW.BW..BW1", "3"),
        ("three-mens-morris", "B...W....1", "1-2"),
        ("three-mens-morris", "BW.BW..BW1", "1-5"),
        ("achi-pass", "BWBW.BWBW1", "6-6"),
        ("achi-pass", "B...W....1", "6-6"),
        ("dodgem", "R..R...UU1", "3"),
        ("hare-and-hounds", "DD.D......H1", "2-1"),
    ],
)
def test_moves_of_another_phase_or_piece_are_illegal(slug, text, move):
    game = GAMES[slug]
    with pytest.raises(IllegalMoveError, match=repr(move)):
        game.play(game.decode(text), game.parse_move(move))


def test_a_stuck_side_of_achi_loses_or_passes():
    text = "BBWWW.BBW1"
    losing, passing = (GAMES[slug] for slug in ("achi", "achi-pass"))
    assert losing.outcome(losing.decode(text)).winner is Side.SECOND
    position = passing.decode(text)
    (move,) = passing.legal_moves(position)
    assert (passing.presentation.kind(move), passing.presentation.describe_action(position, move)) == ("pass", "Pass")
    assert passing.apply(position, move) == (position.board, Side.SECOND)
