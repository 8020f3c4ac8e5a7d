"""Exact strength of drawn policies equals a second solution and agrees with played games."""

from collections.abc import Iterator
from itertools import chain, product

import numpy as np
import pytest

from beadbox.kernels.contest import play_policies
from beadbox.kernels.loops import play_plies, visit_chances_within
from beadbox.kernels.random_source import RandomSource
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.strength.exact import at_worst, chances, unfinished
from beadbox.strength.graph import graph_compile
from beadbox.strength.loops import endless_points
from tests.beadbox.drawn_policies import N_POLICIES_BY_KIND, Floats, drawn_policy, joint_policy, policies_by_kind
from tests.beadbox.perfect_graph import best_response, points_of
from tests.beadbox.second_solver import chain_of, solve_with_fractions, solve_with_scipy

LISTABLE_GAMES = [game for game in GAMES.values() if game.listable]
USUAL_GAMES = [game for game in LISTABLE_GAMES if game.slug == game.family]
LOOP_GAMES = [game for game in LISTABLE_GAMES if not game.always_ends]
SMALL_LOOP_GAMES = [GAMES["pong-hau-ki"], GAMES["mu-torere"]]
SEED = 37
N_GAMES, N_STANDARD_ERRORS = 200_000, 4
N_WALKS, N_WALK_STANDARD_ERRORS = 5_000, 5


def each_game_of(games: list[AnyGame]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("game", games, ids=lambda game: game.slug)


each_kind = pytest.mark.parametrize("kind", N_POLICIES_BY_KIND)


def policies_of_pairs(game: AnyGame, kind: str) -> Iterator[Floats]:
    """Yield the joint policies of each policy of a kind as the first side with each policy of the game."""
    graph = graph_compile(game, reduced=True)
    for ours, theirs in product(policies_by_kind(game)[kind], chain.from_iterable(policies_by_kind(game).values())):
        yield joint_policy(graph, ours, theirs)


@each_game_of(USUAL_GAMES)
@each_kind
@pytest.mark.sampled(6)
def test_exact_strength_is_the_solution_of_a_sparse_system(game: AnyGame, kind: str) -> None:
    graph = graph_compile(game, reduced=True)
    for both in policies_of_pairs(game, kind):
        value, plies = solve_with_scipy(chain_of(graph.arrays, both))
        tolerance = np.maximum(1e-9, 1e-15 * plies)
        assert (abs(chances(graph, both) - value) <= tolerance[:, None]).all()


@each_game_of([game for game in LOOP_GAMES if game.slug == game.family])
@each_kind
@pytest.mark.parametrize("opponent", ["mixed", "perfect"])
@pytest.mark.sampled(3)
def test_exact_strength_without_symmetry(game: AnyGame, kind: str, opponent: str) -> None:
    """Here are large components: one of three men's morris has 2,744 positions, one of Mu Torere 1,100."""
    graph = graph_compile(game, reduced=False)
    ours, theirs = (drawn_policy(game, one, SEED, reduced=False) for one in (kind, opponent))
    for both in (joint_policy(graph, ours, theirs), joint_policy(graph, theirs, ours)):
        value, plies = solve_with_scipy(chain_of(graph.arrays, both))
        tolerance = np.maximum(1e-9, 1e-15 * plies)
        assert (abs(chances(graph, both) - value) <= tolerance[:, None]).all()


@each_game_of(SMALL_LOOP_GAMES)
@each_kind
@pytest.mark.sampled(3)
def test_exact_strength_is_a_fraction(game: AnyGame, kind: str) -> None:
    graph = graph_compile(game, reduced=True)
    for both in policies_of_pairs(game, kind):
        value = solve_with_fractions(chain_of(graph.arrays, both))
        assert all(sum(row) == 1 for row in value)
        assert chances(graph, both) == pytest.approx(np.array(value, float), abs=1e-12)


@each_game_of([game for game in USUAL_GAMES if not game.always_ends])
def test_deterministic_policies_meet_the_singular_system(game: AnyGame) -> None:
    """Some pairs of policies play games that never end; their positions have to be removed from the system."""
    arrays = graph_compile(game, reduced=True).arrays
    assert any(not chain_of(arrays, both).can_end[0] for both in policies_of_pairs(game, "deterministic"))


@each_game_of(USUAL_GAMES)
@each_kind
@pytest.mark.sampled(10)
def test_played_games_agree_with_exact_strength(game: AnyGame, kind: str) -> None:
    graph = graph_compile(game, reduced=True)
    both = joint_policy(graph, drawn_policy(game, kind, 0), drawn_policy(game, "mixed", SEED))
    value = chances(graph, both)
    results = value[0, :3].copy()
    if not game.always_ends:  # a game that the ply limit stops counts as endless play, whatever its end would be
        limit_chances = play_plies(graph.indptr, graph.successor, both, game.ply_limit)[:, 1]
        assert unfinished(graph, both) == pytest.approx(limit_chances.sum())
        results -= limit_chances @ value[:, :3]
        results[-1 - graph.endless] += limit_chances.sum()
    words, tally = RandomSource(SEED).to_array(), np.zeros(3, np.int64)
    play_policies(N_GAMES, graph.arrays, both, graph.limit, graph.endless, words, tally)
    results = np.clip(results, 0, 1)  # the difference of two equal chances is a rounding error
    error = np.sqrt(results * (1 - results) / N_GAMES)
    # One game more is allowed, since a normal distribution does not fit results expected less than once.
    assert (abs(tally / N_GAMES - results) <= N_STANDARD_ERRORS * error + 1 / N_GAMES).all(), (tally, results)


@each_game_of(LOOP_GAMES)
@each_kind
@pytest.mark.sampled(20)
def test_the_best_response_earns_its_points(game: AnyGame, kind: str) -> None:
    """By the second solution the best response leaves exactly the points that it promises, at every position."""
    graph = graph_compile(game, reduced=True)
    for theirs, side in product(policies_by_kind(game)[kind], Side):
        points, response = best_response(graph.arrays, side, theirs, game.endless_winner)
        both = np.where(graph.edge_side == side, theirs, response)
        value, plies = solve_with_scipy(chain_of(graph.arrays, both))
        tolerance = np.maximum(1e-9, 1e-15 * plies)
        assert (abs(points - points_of(value, side, game.endless_winner)) <= tolerance).all()
        assert at_worst(graph, side, theirs).score == pytest.approx(points[0], abs=1e-12)


@each_game_of(LOOP_GAMES)
@each_kind
@pytest.mark.sampled(10)
def test_no_drawn_policy_is_better_than_the_best_response(game: AnyGame, kind: str) -> None:
    graph = graph_compile(game, reduced=True)
    for theirs, side in product(policies_by_kind(game)[kind], Side):
        points, _ = best_response(graph.arrays, side, theirs, game.endless_winner)
        for response in chain.from_iterable(policies_by_kind(game).values()):
            both = np.where(graph.edge_side == side, theirs, response)
            assert (points_of(chances(graph, both), side, game.endless_winner) >= points - 1e-12).all()


@each_kind
@pytest.mark.parametrize("side", Side)
@pytest.mark.sampled(2)
def test_the_best_of_all_pure_strategies_of_pong_hau_ki(kind: str, side: Side) -> None:
    game = GAMES["pong-hau-ki"]
    graph = graph_compile(game, reduced=True)
    theirs = drawn_policy(game, kind, SEED)
    ours = [range(graph.indptr[node], graph.indptr[node + 1]) for node in np.flatnonzero(graph.side != side).tolist()]
    endless = endless_points(side)
    best = [2.0] * len(graph.side)
    for strategy in product(*ours):
        both = np.where(graph.edge_side == side, theirs, 0.0)
        both[list(strategy)] = 1
        value = solve_with_fractions(chain_of(graph.arrays, both))
        found = [row[side] + row[2] / 2 + row[3] * endless for row in value]
        best = [min(pair) for pair in zip(best, map(float, found), strict=True)]
    points, _ = best_response(graph.arrays, side, theirs)
    assert points == pytest.approx(np.array(best), abs=1e-12)


@each_game_of(LOOP_GAMES)
@each_kind
@pytest.mark.sampled(8)
def test_visits_are_those_of_played_games(game: AnyGame, kind: str) -> None:
    """The chance of a visit within the ply limit and the expected number of visits agree with played games."""
    graph = graph_compile(game, reduced=True)
    both = joint_policy(graph, drawn_policy(game, kind, 0), drawn_policy(game, "mixed", SEED))
    found = visits_of_walks(graph.indptr, graph.successor, both, game.ply_limit)
    expected = play_plies(graph.indptr, graph.successor, both, game.ply_limit)[:, 0]
    visit_chances = visit_chances_within(graph.indptr, graph.successor, both, game.ply_limit)
    assert (visit_chances <= expected + 1e-12).all()
    for figure, counts in ((visit_chances, np.minimum(found, 1)), (expected, found)):
        error = counts.std(axis=0) / N_WALKS**0.5
        assert (abs(counts.mean(axis=0) - figure) <= N_WALK_STANDARD_ERRORS * error + 10 / N_WALKS).all()


def visits_of_walks(indptr: np.ndarray, successor: np.ndarray, both: Floats, limit: int) -> np.ndarray:
    """Play :data:`N_WALKS` games at once; return how often each comes to each node, ``(N_WALKS, n_nodes)``."""
    rng, below = np.random.default_rng(SEED), np.concatenate([[0], np.cumsum(both)])
    found = np.zeros((N_WALKS, len(indptr) - 1), np.int16)
    games, nodes = np.arange(N_WALKS), np.zeros(N_WALKS, np.int64)
    for _ in range(limit):
        found[games, nodes] += 1
        begin, end = below[indptr[nodes]], below[indptr[nodes + 1]]
        plays = end > begin
        games, nodes, begin, end = games[plays], nodes[plays], begin[plays], end[plays]
        tickets = begin + rng.random(len(games)) * (end - begin)
        after = successor[np.searchsorted(below, tickets, side="right") - 1]
        games, nodes = games[after >= 0], after[after >= 0]
    return found
