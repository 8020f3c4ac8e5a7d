"""Exact values of games with loops, against an independent program, by hand, and by all pure strategies."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.kernels.loops import MIN_ITERATED_NODES, components, evaluate_loops
from beadbox.rules.outcome import Side
from beadbox.strength.graph import DRAWN, FIRST_WINS, SECOND_WINS
from beadbox.strength.loops import ENDLESS, NO_PLIES, solve
from tests.beadbox.loop_games import mu_torere, pong_hau_ki, ring
from tests.beadbox.perfect_graph import best_response, perfect_policy, points_of

DATA = Path(__file__).parents[1] / "data" / "games"
GAMES = {"pong-hau-ki": pong_hau_ki(), "mu-torere": mu_torere()}
COUNTS = {one["name"]: one for one in json.loads((DATA / "counts.json").read_text())["games"]}
STRENGTH_ROWS = [
    (one["name"], row)
    for one in json.loads((DATA / "strength.json").read_text())["games"]
    if one["name"] in GAMES
    for row in one["rows"]
]
each_game = pytest.mark.parametrize("name", GAMES)


def graph_with(*nodes: tuple[int, tuple[int, ...]]) -> GraphArrays:
    """Return a graph of nodes. Each node is the side to move and the ends of its edges."""
    indptr = np.cumsum([0, *(len(edges) for _, edges in nodes)]).astype(np.int32)
    successor = np.array([after for _, edges in nodes for after in edges], np.int32)
    return GraphArrays(indptr, successor, np.array([side for side, _ in nodes], np.int8))


def uniform_policy(graph: GraphArrays) -> np.ndarray:
    n_moves = np.diff(graph.indptr)
    return np.repeat(1 / n_moves, n_moves)


def policy_named(graph: GraphArrays, name: str) -> np.ndarray:
    if name == "random":
        return uniform_policy(graph)
    if name == "first":
        chances = np.zeros(len(graph.successor))
        chances[graph.indptr[:-1]] = 1
        return chances
    return perfect_policy(graph, solve(graph))


def joint_policy(graph: GraphArrays, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.where(np.repeat(graph.side, np.diff(graph.indptr)) == 0, first, second)


@each_game
def test_number_of_positions_with_moves(name):
    assert len(GAMES[name].side) == COUNTS[name]["states"][1]


@each_game
def test_perfect_play_is_endless(name):
    solution = solve(GAMES[name])
    assert (solution.result[0], solution.plies[0]) == (ENDLESS, NO_PLIES)
    assert set(solution.result.tolist()) == {ENDLESS, FIRST_WINS, SECOND_WINS}


@pytest.mark.parametrize(("name", "row"), STRENGTH_ROWS)
def test_exact_strength_of_simple_policies(name, row):
    graph = GAMES[name]
    chances = joint_policy(graph, policy_named(graph, row["first"]), policy_named(graph, row["second"]))
    found = evaluate_loops(*graph, chances)[0]
    expected = [row[result] for result in ("win", "loss", "draw", "endless")]
    assert found == pytest.approx(np.array(expected), abs=1e-12)
    assert found.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("exit_chance", [2e-6, 1e-12])
def test_a_rarely_left_position_keeps_full_precision(exit_chance):
    graph = graph_with((0, (0, FIRST_WINS, SECOND_WINS)))
    chances = np.array([1 - exit_chance, exit_chance / 4, exit_chance * 3 / 4])
    assert evaluate_loops(*graph, chances)[0] == pytest.approx(np.array([0.25, 0.75, 0, 0]), abs=1e-12)


@pytest.mark.parametrize("n_nodes", [50, 2 * MIN_ITERATED_NODES])
@pytest.mark.parametrize("exit_chance", [0.9, 1e-6])
def test_a_long_loop_with_one_way_out_is_exact(n_nodes, exit_chance):
    graph = ring(n_nodes)
    chances = np.tile([1.0, 0.0], n_nodes)
    chances[:2] = 1 - exit_chance, exit_chance
    assert evaluate_loops(*graph, chances)[:, 0] == pytest.approx(np.ones(n_nodes), abs=1e-12)


def test_loops_without_a_way_out_are_endless():
    graph = graph_with((0, (1, FIRST_WINS)), (1, (2,)), (0, (1,)))
    values = evaluate_loops(*graph, np.array([0.5, 0.5, 1, 1]))
    assert values.tolist() == [[0.5, 0, 0, 0.5], [0, 0, 0, 1], [0, 0, 0, 1]]


def test_a_policy_without_moves_loses():
    graph = graph_with((0, (1,)), (1, (0,)))
    assert evaluate_loops(*graph, np.array([1.0, 0.0])).tolist() == [[1, 0, 0, 0], [1, 0, 0, 0]]


def test_components_are_in_reverse_topological_order():
    graph = graph_with((0, (1,)), (0, (2, 0)), (0, (3,)), (0, (2, FIRST_WINS)))
    found = components(graph.indptr, graph.successor, np.ones(6, np.uint8))
    assert found.tolist() == [1, 1, 0, 0]


class TestSolution:
    def test_winners_shorten_the_game_and_losers_prolong_it(self):
        graph = graph_with((0, (1, 2)), (1, (FIRST_WINS,)), (1, (3, FIRST_WINS)), (0, (FIRST_WINS,)))
        solution = solve(graph)
        assert solution.plies.tolist() == [2, 1, 2, 1]
        assert perfect_policy(graph, solution).tolist() == [1, 0, 1, 0.5, 0.5, 1]

    def test_endless_play_belongs_to_its_winner(self):
        graph = graph_with((0, (1, SECOND_WINS)), (1, (0,)))
        assert solve(graph).result.tolist() == [ENDLESS, ENDLESS]
        assert solve(graph, Side.SECOND).result.tolist() == [SECOND_WINS, SECOND_WINS]

    def test_a_draw_by_the_rules_differs_from_endless_play(self):
        graph = graph_with((0, (1, DRAWN)), (1, (0,)), (0, (3,)), (1, (2,)))
        assert solve(graph).result.tolist() == [DRAWN, DRAWN, ENDLESS, ENDLESS]


class TestBestResponse:
    """The first side responds to a policy of the second; points are those of the second side."""

    def points_after_response(self, graph: GraphArrays, chances: np.ndarray | None = None) -> np.ndarray:
        """Return the points at every node against a best response, and check that the response earns them."""
        theirs = uniform_policy(graph) if chances is None else chances
        points, response = best_response(graph, Side.SECOND, theirs)
        both = np.where(np.repeat(graph.side, np.diff(graph.indptr)) == 1, theirs, response)
        points_earned = points_of(evaluate_loops(*graph, both), Side.SECOND)
        assert points_earned == pytest.approx(points, abs=1e-12), "the response earns its points"
        return points

    def test_staying_beats_a_losing_gamble(self):
        # The first side stays or gambles. A gamble leads to a win or to a lost position, with equal chances.
        graph = graph_with((0, (0, 1)), (1, (FIRST_WINS, 2)), (0, (SECOND_WINS,)))
        assert self.points_after_response(graph).tolist() == [0.5, 0.5, 1]

    def test_endless_play_avoids_a_loss(self):
        graph = graph_with((0, (SECOND_WINS, 1)), (0, (0,)))
        assert self.points_after_response(graph).tolist() == [0.5, 0.5]

    def test_a_loop_of_two_positions_takes_the_winning_exit(self):
        graph = graph_with((0, (1,)), (0, (0, FIRST_WINS)))
        assert self.points_after_response(graph).tolist() == [0, 0]

    @pytest.mark.parametrize("seed", range(5))
    def test_no_pure_strategy_beats_the_best_response(self, seed):
        graph = GAMES["pong-hau-ki"]
        chances = random_policy(graph, seed)
        points = self.points_after_response(graph, chances)
        rng = np.random.default_rng(seed)
        nodes = np.flatnonzero((graph.side == 0) & (np.diff(graph.indptr) > 1))
        for _ in range(300):
            response = policy_named(graph, "first")
            for node in nodes:
                edges = np.arange(graph.indptr[node], graph.indptr[node + 1])
                response[edges] = 0
                response[rng.choice(edges)] = 1
            points_earned = points_of(evaluate_loops(*graph, joint_policy(graph, response, chances)), Side.SECOND)
            assert (points_earned >= points - 1e-12).all()

    def test_all_pure_strategies_of_a_small_graph(self):
        graph = graph_with((0, (1, 2)), (1, (0, 2, FIRST_WINS)), (0, (1, 0, 3)), (1, (2, SECOND_WINS, FIRST_WINS)))
        chances = uniform_policy(graph)
        points = self.points_after_response(graph, chances)
        ours = [range(graph.indptr[node], graph.indptr[node + 1]) for node in (0, 2)]
        best = np.full(4, 2.0)
        for choice in product(*ours):
            response = np.zeros(len(graph.successor))
            response[list(choice)] = 1
            points_earned = points_of(evaluate_loops(*graph, joint_policy(graph, response, chances)), Side.SECOND)
            best = np.minimum(best, points_earned)
        assert points == pytest.approx(best, abs=1e-12)

    @each_game
    def test_perfect_play_earns_the_value_of_every_position(self, name):
        graph = GAMES[name]
        solution = solve(graph)
        points, _ = best_response(graph, Side.SECOND, perfect_policy(graph, solution))
        points_of_result = {FIRST_WINS: 0.0, SECOND_WINS: 1.0, DRAWN: 0.5, ENDLESS: 0.5}
        assert points == pytest.approx(
            np.array([points_of_result[result] for result in solution.result.tolist()]), abs=1e-12
        )


def random_policy(graph: GraphArrays, seed: int) -> np.ndarray:
    """Return a policy with random chances, some of them 0."""
    rng = np.random.default_rng(seed)
    chances = rng.random(len(graph.successor)) * (rng.random(len(graph.successor)) > 0.3)
    for node in range(len(graph.side)):
        edges = slice(graph.indptr[node], graph.indptr[node + 1])
        if not chances[edges].any():
            chances[edges] = 1
        chances[edges] /= chances[edges].sum()
    return chances
