"""Exact strength of drawn policies equals a second solution, and games that are played agree with it."""

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

LISTABLE = [game for game in GAMES.values() if game.listable]
USUAL = [game for game in LISTABLE if game.slug == game.family]
RETURNING = [game for game in LISTABLE if not game.always_ends]
BY_FRACTIONS = [GAMES["pong-hau-ki"], GAMES["mu-torere"]]
SEED = 37
N_GAMES, N_ERRORS = 200_000, 4
N_WALKS, N_WALK_ERRORS = 5_000, 5


def each(games: list[AnyGame]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("game", games, ids=lambda game: game.slug)


each_kind = pytest.mark.parametrize("kind", N_POLICIES_BY_KIND)


def pairs(game: AnyGame, kind: str) -> Iterator[Floats]:
    """Policies of a kind as the first side, each against all policies of the game."""
    graph = graph_compile(game, reduced=True)
    for ours, theirs in product(policies_by_kind(game)[kind], chain.from_iterable(policies_by_kind(game).values())):
        yield joint_policy(graph, ours, theirs)


@each(USUAL)
@each_kind
@pytest.mark.sampled(6)
def test_exact_strength_is_the_solution_of_a_sparse_system(game: AnyGame, kind: str) -> None:
    graph = graph_compile(game, reduced=True)
    for played in pairs(game, kind):
        value, plies = solve_with_scipy(chain_of(graph.arrays, played))
        tolerance = np.maximum(1e-9, 1e-15 * plies)
        assert (abs(chances(graph, played) - value) <= tolerance[:, None]).all()


@each([game for game in RETURNING if game.slug == game.family])
@each_kind
@pytest.mark.parametrize("opponent", ["mixed", "perfect"])
@pytest.mark.sampled(3)
def test_exact_strength_on_boards_as_they_lie(game: AnyGame, kind: str, opponent: str) -> None:
    """Without symmetry a component of three men's morris has 2,744 positions, and one of Mu Torere 1,100."""
    graph = graph_compile(game, reduced=False)
    ours, theirs = (drawn_policy(game, one, SEED, reduced=False) for one in (kind, opponent))
    for played in (joint_policy(graph, ours, theirs), joint_policy(graph, theirs, ours)):
        value, plies = solve_with_scipy(chain_of(graph.arrays, played))
        tolerance = np.maximum(1e-9, 1e-15 * plies)
        assert (abs(chances(graph, played) - value) <= tolerance[:, None]).all()


@each(BY_FRACTIONS)
@each_kind
@pytest.mark.sampled(3)
def test_exact_strength_is_a_fraction(game: AnyGame, kind: str) -> None:
    graph = graph_compile(game, reduced=True)
    for played in pairs(game, kind):
        value = solve_with_fractions(chain_of(graph.arrays, played))
        assert all(sum(row) == 1 for row in value)
        assert chances(graph, played) == pytest.approx(np.array(value, float), abs=1e-12)


@each([game for game in USUAL if not game.always_ends])
def test_deterministic_policies_meet_the_singular_system(game: AnyGame) -> None:
    """Among the pairs of policies are games that never end, whose positions have to be removed from the system."""
    arrays = graph_compile(game, reduced=True).arrays
    assert any(not chain_of(arrays, played).can_end[0] for played in pairs(game, "deterministic"))


@each(USUAL)
@each_kind
@pytest.mark.sampled(10)
def test_played_games_agree_with_exact_strength(game: AnyGame, kind: str) -> None:
    graph = graph_compile(game, reduced=True)
    played = joint_policy(graph, drawn_policy(game, kind, 0), drawn_policy(game, "mixed", SEED))
    value = chances(graph, played)
    results = value[0, :3].copy()
    if not game.always_ends:  # a game that the ply limit stops counts as endless play, whatever its end would be
        stopped = play_plies(graph.indptr, graph.successor, played, game.ply_limit)[:, 1]
        assert unfinished(graph, played) == pytest.approx(stopped.sum())
        results -= stopped @ value[:, :3]
        results[-1 - graph.endless] += stopped.sum()
    words, tally = RandomSource(SEED).to_array(), np.zeros(3, np.int64)
    play_policies(N_GAMES, graph.arrays, played, graph.limit, graph.endless, words, tally)
    results = np.clip(results, 0, 1)  # the difference of two equal chances is a rounding error
    error = np.sqrt(results * (1 - results) / N_GAMES)
    # The normal distribution fits no result that is expected less than once, so one game more is allowed.
    assert (abs(tally / N_GAMES - results) <= N_ERRORS * error + 1 / N_GAMES).all(), (tally, results)


@each(RETURNING)
@each_kind
@pytest.mark.sampled(20)
def test_the_best_response_earns_its_points(game: AnyGame, kind: str) -> None:
    """The second solution gives the returned strategy the points that the response promises, at every position."""
    graph = graph_compile(game, reduced=True)
    for theirs, side in product(policies_by_kind(game)[kind], Side):
        points, response = best_response(graph.arrays, side, theirs, game.endless_winner)
        both = np.where(graph.edge_side == side, theirs, response)
        value, plies = solve_with_scipy(chain_of(graph.arrays, both))
        tolerance = np.maximum(1e-9, 1e-15 * plies)
        assert (abs(points - points_of(value, side, game.endless_winner)) <= tolerance).all()
        assert at_worst(graph, side, theirs).score == pytest.approx(points[0], abs=1e-12)


@each(RETURNING)
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


@each(RETURNING)
@each_kind
@pytest.mark.sampled(8)
def test_visits_are_those_of_played_games(game: AnyGame, kind: str) -> None:
    """Two figures: the chance that a position comes at all within the ply limit, and how often it is expected."""
    graph = graph_compile(game, reduced=True)
    played = joint_policy(graph, drawn_policy(game, kind, 0), drawn_policy(game, "mixed", SEED))
    found = walks(graph.indptr, graph.successor, played, game.ply_limit)
    expected = play_plies(graph.indptr, graph.successor, played, game.ply_limit)[:, 0]
    ever = visit_chances_within(graph.indptr, graph.successor, played, game.ply_limit)
    assert (ever <= expected + 1e-12).all()
    for figure, counts in ((ever, np.minimum(found, 1)), (expected, found)):
        error = counts.std(axis=0) / N_WALKS**0.5
        assert (abs(counts.mean(axis=0) - figure) <= N_WALK_ERRORS * error + 10 / N_WALKS).all()


def walks(indptr: np.ndarray, successor: np.ndarray, played: Floats, limit: int) -> np.ndarray:
    """Play :data:`N_WALKS` games at once; return how often each comes to each node, ``(N_WALKS, n_nodes)``."""
    rng, below = np.random.default_rng(SEED), np.concatenate([[0], np.cumsum(played)])
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
