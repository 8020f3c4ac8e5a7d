"""Counts, values and exact strengths of small games, against those of an independent program (``tests/data/games``)."""

import json
from pathlib import Path

import numpy as np
import pytest
from pypdf import PdfReader

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.printing.sheets import sheets_pdf
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import OPPONENTS, UNIFORM
from beadbox.policies.table import opponent_policy
from beadbox.printing.options import PrintOptions
from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.outcome import Side
from beadbox.rules.perft import perft
from beadbox.rules.registry import game_get
from beadbox.strength.exact import at_worst, expected, unfinished
from beadbox.strength.graph import graph_compile
from tests.beadbox.rules.walks import error_of, reachable

DATA = Path(__file__).parents[2] / "data" / "games"
DATA_NAMES = {  # the name of each game in the files of the independent program
    "ladder": "ladder-9",
    "21-matches": "21-matches-misere",
    "nim-3-3-3": "nim-3-3-3",
    "notakto": "notakto-3x3",
    "misere-noughts-and-crosses": "misere-noughts-and-crosses",
    "wild-noughts-and-crosses": "wild-noughts-and-crosses",
    "pong-hau-ki": "pong-hau-ki",
    "mu-torere": "mu-torere",
}
COUNTS = {one["name"]: one for one in json.loads((DATA / "counts.json").read_text())["games"]}
STRENGTH = {one["name"]: one for one in json.loads((DATA / "strength.json").read_text())["games"]}
STRENGTH_ROWS = [(slug, row) for slug, name in DATA_NAMES.items() for row in STRENGTH[name]["rows"]]
BEST_RESPONSES = [(slug, row) for slug, name in DATA_NAMES.items() for row in STRENGTH[name].get("best_responses", ())]
each_game = pytest.mark.parametrize("slug", DATA_NAMES)


def policy_named(graph, name):
    """Return the chance of each edge when both sides play a policy of ``strength.json``, given by its name."""
    if name == "first":
        chances = np.zeros(len(graph.successor))
        chances[graph.indptr[:-1]] = 1
        return chances
    return opponent_policy(graph.game, OPPONENTS[name], reduced=False)


@each_game
def test_numbers_of_positions_and_classes(slug):
    game, counts = game_get(slug), COUNTS[DATA_NAMES[slug]]
    positions = reachable(game)
    classes = {game.canonical(position) for position in positions}
    found = [[len(those), sum(not game.is_terminal(one) for one in those)] for those in (positions, classes)]
    assert found == [counts["states"], counts.get("classes", counts["states"])]


@each_game
def test_numbers_of_boxes_of_both_sides(slug):
    game = game_get(slug)
    rule = PRESETS["michie-refill"].rule
    assert [boxes_compile(game, side, rule).n_boxes for side in Side] == COUNTS[DATA_NAMES[slug]]["boxes"]


@each_game
def test_each_box_is_on_a_sheet_of_the_usual_size(slug):
    cabinet = Cabinet(game_get(slug), Side.FIRST, PRESETS["michie-refill"].rule)
    keys = boxes_compile(cabinet.game, Side.FIRST, cabinet.rule).keys
    boxes = [(key, cabinet.initial_beads(cabinet.game.decode(key))) for key in keys]
    reader = PdfReader(sheets_pdf(cabinet, "Small", boxes, PrintOptions(many_beads=True)))
    lines = [line.strip() for page in reader.pages for line in page.extract_text().splitlines()]
    assert [line for line in lines if line.startswith("No. ")] == [f"No. {n + 1}" for n in range(len(keys))]


@each_game
def test_value_of_the_start(slug):
    graph = graph_compile(game_get(slug), reduced=True)
    perfect = opponent_policy(graph.game, OPPONENTS["perfect"], reduced=True)
    worst = [at_worst(graph, side, perfect) for side in Side]
    value = {"first": [(1, 0, 0), (0, 0, 1)], "second": [(0, 0, 1), (1, 0, 0)], "draw": [(0, 1, 0)] * 2}
    found = np.array([one.counted for one in worst])
    assert found == pytest.approx(np.array(value[COUNTS[DATA_NAMES[slug]]["value"]]), abs=1e-12)


@pytest.mark.parametrize(("depth", "n"), list(enumerate(COUNTS["notakto-3x3"]["perft"], 1)))
def test_perft_of_notakto(depth, n):
    game = game_get("notakto")
    assert perft(game, game.initial_position(), depth) == n


@pytest.mark.parametrize(
    ("slug", "row"), STRENGTH_ROWS, ids=lambda one: one if isinstance(one, str) else f"{one['first']}-{one['second']}"
)
def test_exact_strength(slug, row):
    graph = graph_compile(game_get(slug), reduced=False)
    first, second = (policy_named(graph, row[side]) for side in ("first", "second"))
    found = expected(graph, Side.FIRST, first, second)
    results = [row[result] for result in ("win", "draw", "loss", "endless")]
    assert (found.win, found.draw, found.loss, found.endless) == pytest.approx(results, abs=1e-12)
    both = np.where(graph.edge_side == Side.FIRST, first, second)
    assert unfinished(graph, both) == pytest.approx(row["not_over_after_200"], rel=1e-11)


@pytest.mark.parametrize(
    ("slug", "row"), BEST_RESPONSES, ids=lambda one: one if isinstance(one, str) else f"{one['side']}-{one['against']}"
)
def test_best_response(slug, row):
    graph = graph_compile(game_get(slug), reduced=False)
    side = Side[row["side"].upper()].other
    worst = at_worst(graph, side, policy_named(graph, row["against"]))
    assert 1 - worst.score == pytest.approx(row["points"], abs=1e-12)


@pytest.mark.parametrize(
    ("slug", "text"),
    [
        ("ladder", "C.........2"),
        ("ladder", ".C........1"),
        ("ladder", "CC........1"),
        ("ladder", "C.........3"),
        ("21-matches", f"{'I' * 20}.1"),
        ("21-matches", f".{'I' * 20}2"),
        ("21-matches", f"{'I' * 22}1"),
        ("nim-3-3-3", "CCCCCCCCC2"),
        ("nim-3-3-3", "C.CCCCCCC2"),
        ("nim-3-3-3", "CCCCCCCC.1"),
        ("nim-3-3-3", "CCCCCCCCCC1"),
        ("notakto", "XO......."),
        ("notakto", "XXXXXXXX"),
        ("notakto", "XXX...XXX"),
        ("misere-noughts-and-crosses", "XX......."),
        ("misere-noughts-and-crosses", "XXXOO.O.."),
        ("misere-noughts-and-crosses", "XXXOOO..."),
        ("misere-noughts-and-crosses", "?........"),
        ("wild-noughts-and-crosses", "XXXOOO..."),
        ("wild-noughts-and-crosses", "XXX"),
    ],
)
def test_impossible_positions_are_refused(slug, text):
    error = error_of(game_get(slug).decode, text)
    assert isinstance(error, InvalidPositionError)
    assert repr(text) in str(error)


@each_game
@pytest.mark.parametrize("text", ["", "0", "22", "a", "٣", "1Y", "0X"])
def test_invalid_moves_are_refused(slug, text):
    error = error_of(game_get(slug).parse_move, text)
    assert isinstance(error, InvalidMoveError)
    assert repr(text) in str(error)


@pytest.mark.parametrize("slug", ["nim-3-3-3", "wild-noughts-and-crosses", "pong-hau-ki", "mu-torere"])
def test_boxes_with_several_kinds_of_move(slug):
    game, counts = game_get(slug), COUNTS[slug]
    classes = {game.canonical(position) for position in reachable(game)}
    boxes = [one for one in classes if len(game.distinct_moves(one)) > 1]
    found = [sum(game.side_to_move(one) is side for one in boxes) for side in Side]
    assert found == counts.get("boxes_with_several_kinds_of_move", counts["boxes"])


def test_nim_positions_with_a_nim_sum_of_zero_are_lost():
    """Bouton's theorem: the side to move loses exactly where the binary sum of the heaps is 0."""
    game = game_get("nim-3-3-3")

    def wins(position):
        return any(not wins(game.apply(position, move)) for move in game.legal_moves(position))

    for position in reachable(game):
        heaps = [position.board[at : at + 3].count("C") for at in (0, 3, 6)]
        assert wins(position) == bool(heaps[0] ^ heaps[1] ^ heaps[2])


def test_a_full_board_of_notakto_is_never_a_draw():
    game = game_get("notakto")
    assert all(game.outcome(one).winner is not None for one in reachable(game) if game.is_terminal(one))


@pytest.mark.parametrize("text", ["XX.......", "X...X....", ".X.....X."])
def test_win_block_avoids_an_immediate_loss(text):
    game = game_get("notakto")
    board = game.decode(text)
    replies = UNIFORM["win-block"].replies(game, board)
    assert replies
    assert not any(game.is_terminal(game.apply(board, move)) for move in replies)


@pytest.mark.parametrize(("slug", "lost"), [("ladder", {1, 5, 9}), ("21-matches", {0, 4, 8, 12, 16, 20})])
def test_lost_numbers_of_objects(slug, lost):
    game = game_get(slug)

    def wins(position):
        outcome = game.outcome(position)
        if outcome is not None:
            return outcome.winner is position.side
        return any(not wins(game.apply(position, move)) for move in game.legal_moves(position))

    assert {one.done for one in reachable(game) if not wins(one)} == lost
