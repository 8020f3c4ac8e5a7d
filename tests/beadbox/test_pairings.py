"""Pairings, standings, ratings and games between frozen players, without a database."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.frozen import FrozenBoxes
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.strength import against_machine, against_opponent
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import OPPONENTS
from beadbox.policies.table import Player, opponent_policy
from beadbox.rules.game import Game
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.strength.exact import expected
from beadbox.strength.graph import graph_compile
from beadbox.tournaments.contest import contest
from beadbox.tournaments.pairings import (
    Entrant,
    Meeting,
    meetings_between,
    round_robin,
    swiss_round,
    swiss_rounds_usual,
)
from beadbox.tournaments.ratings import MAX_RATED_GAMES, ratings, spread_scores
from beadbox.tournaments.standings import Result, table

BOTH, FIRST, SECOND = frozenset((0, 1)), frozenset((0,)), frozenset((1,))
ANY_SIDES = st.lists(st.sampled_from([BOTH, FIRST, SECOND]), min_size=2, max_size=12)
LISTED_GAMES = [game for game in GAMES.values() if game.listable]


def entrants(*sides: frozenset[int]) -> list[Entrant]:
    return [Entrant(number, side) for number, side in enumerate(sides)]


def trained_memory(game: Game, side: Side, preset: str, games: int = 500) -> Memory:
    fresh = Memory.fresh(boxes_compile(game, side, PRESETS[preset].rule))
    fresh.train(OPPONENTS["random"], games, RandomSource(7))
    return fresh


# Pairings


def test_players_of_both_sides_meet_once_on_each_side() -> None:
    one, other = entrants(BOTH, BOTH)
    assert meetings_between(one, other) == [Meeting(0, 1), Meeting(1, 0)]


def test_two_machines_of_one_side_never_meet() -> None:
    assert meetings_between(*entrants(FIRST, FIRST)) == []
    assert round_robin(entrants(SECOND, SECOND, SECOND)) == []


def test_round_robin_pairs_all_players_that_can_meet() -> None:
    assert round_robin(entrants(FIRST, SECOND, BOTH)) == [Meeting(0, 1), Meeting(0, 2), Meeting(2, 1)]


@given(ANY_SIDES)
def test_every_meeting_respects_the_sides(sides: list[frozenset[int]]) -> None:
    for meeting in round_robin(entrants(*sides)):
        assert 0 in sides[meeting.first]
        assert 1 in sides[meeting.second]


def swiss_rounds(sides: list[frozenset[int]], seed: int) -> list[list[Meeting]]:
    """Return rounds until all pairs have met; of two players the one with the lower number wins."""
    players = entrants(*sides)
    met_pairs: set[frozenset[int]] = set()
    scores = dict.fromkeys(range(len(sides)), 0.0)
    rounds = []
    while True:
        n_met = Counter(number for pair in met_pairs for number in pair)
        rng = RandomSource(seed, len(rounds))
        meetings = swiss_round(players, scores, met_pairs, n_met, rng.below)
        if not meetings:
            return rounds
        rounds.append(meetings)
        for meeting in meetings:
            met_pairs.add(meeting.pair)
            scores[min(meeting.pair)] += 1 / len(sides)


@settings(max_examples=50)
@given(ANY_SIDES, st.integers(0, 2**32))
def test_swiss_pairs_meet_once_and_all_meet_in_the_end(sides: list[frozenset[int]], seed: int) -> None:
    """No pair meets in two rounds, no player has two pairings in a round, and the seed decides the rounds."""
    rounds = swiss_rounds(sides, seed)
    pairs = [pair for meetings in rounds for pair in {meeting.pair for meeting in meetings}]
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == {meeting.pair for meeting in round_robin(entrants(*sides))}
    for meetings in rounds:
        seats = Counter(number for pair in {meeting.pair for meeting in meetings} for number in pair)
        assert set(seats.values()) == {1}, "no player has two pairings in a round"
    assert rounds == swiss_rounds(sides, seed)


def test_swiss_pairs_players_with_equal_points() -> None:
    players = entrants(*[BOTH] * 4)
    scores = {0: 1.0, 1: 0.0, 2: 1.0, 3: 0.0}
    for seed in range(20):
        meetings = swiss_round(players, scores, set(), Counter(), RandomSource(seed).below)
        assert {meeting.pair for meeting in meetings} == {frozenset((0, 2)), frozenset((1, 3))}


def test_a_player_without_a_pairing_is_paired_in_the_next_round() -> None:
    players = entrants(*[BOTH] * 3)
    met_pairs = {frozenset((0, 1))}
    meetings = swiss_round(players, {0: 1.0, 1: 0.0, 2: 0.0}, met_pairs, Counter({0: 1, 1: 1}), RandomSource(1).below)
    assert 2 in meetings[0].pair


def test_the_first_round_is_random() -> None:
    players = entrants(*[BOTH] * 8)
    draws = {
        frozenset(m.pair for m in swiss_round(players, dict.fromkeys(range(8), 0.0), set(), Counter(), rng.below))
        for rng in (RandomSource(seed) for seed in range(10))
    }
    assert len(draws) > 5


def test_usual_number_of_rounds_leaves_one_player_undefeated() -> None:
    assert [swiss_rounds_usual(n) for n in (1, 2, 3, 4, 5, 8, 9, 32)] == [1, 1, 2, 2, 3, 3, 4, 5]


# Standings


def test_standings_count_points_per_game_and_each_opponent() -> None:
    """Rows of the table have the points per game and the results against each opponent."""
    rows = table(
        [0, 1, 2],
        [
            Result(0, 1, 10, 6, 2, 2, (0.5, 0.3, 0.2)),
            Result(1, 0, 10, 1, 0, 9, (0.2, 0.0, 0.8)),
            Result(0, 2, 4, 0, 4, 0, (0.0, 1.0, 0.0)),
        ],
    )
    first, third, last = rows
    assert (first.number, first.games, first.wins, first.draws, first.losses) == (0, 24, 15, 6, 3)
    assert first.points == 18
    assert first.expected == pytest.approx(6.5 + 8 + 2)
    assert first.against[1] == (20, pytest.approx(16), pytest.approx(14.5))
    assert (third.number, third.score, third.place) == (2, 0.5, 2)
    assert (last.number, last.points, last.place) == (1, 4.0, 3)
    assert last.against[0] == (20, pytest.approx(4), pytest.approx(5.5))


def test_expected_points_need_all_their_pairings() -> None:
    with_expected, without_expected = Result(0, 1, 10, 6, 2, 2, (0.5, 0.3, 0.2)), Result(0, 2, 4, 0, 4, 0)
    rows = {row.number: row for row in table([0, 1, 2, 3], [with_expected, without_expected, with_expected])}
    assert [rows[number].expected for number in range(4)] == [None, pytest.approx(7), None, 0]
    assert {number: against[2] for number, against in rows[0].against.items()} == {1: pytest.approx(13), 2: None}


def test_equal_points_share_a_place_and_no_games_rank_last() -> None:
    rows = table([0, 1, 2, 3], [Result(0, 2, 2, 0, 2, 0), Result(3, 2, 2, 0, 0, 2)])
    assert [(row.number, row.place) for row in rows] == [(2, 1), (0, 2), (3, 3), (1, 4)]
    rows = table([0, 1, 2], [Result(0, 2, 2, 1, 0, 1)])
    assert [(row.number, row.place) for row in rows] == [(0, 1), (2, 1), (1, 3)]


def test_entries_are_ranked_among_entries_of_their_side() -> None:
    results = [
        Result(0, 1, 10, 9, 0, 1),
        Result(2, 1, 10, 6, 0, 4),
        Result(0, 3, 10, 10, 0, 0),
        Result(4, 1, 2, 2, 0, 0),
    ]
    rows = table(range(5), results, {0: Side.FIRST, 1: Side.SECOND, 2: Side.FIRST, 3: Side.SECOND})
    assert [(row.number, row.place) for row in rows] == [(4, 1), (0, 1), (2, 2), (1, 1), (3, 2)]


# Ratings


def test_more_wins_rate_higher_and_more_games_are_more_certain() -> None:
    few = ratings([0, 1], [Result(0, 1, 10, 7, 2, 1)])
    many = ratings([0, 1], [Result(0, 1, 1000, 700, 200, 100)])
    for found in (few, many):
        assert found[0].mean > 25 > found[1].mean
    assert many[0].deviation < few[0].deviation < 25 / 3


def test_player_without_games_keeps_the_initial_rating() -> None:
    rating = ratings([0, 1, 2], [Result(0, 1, 10, 7, 2, 1)])[2]
    assert (rating.mean, rating.deviation) == (25, pytest.approx(25 / 3))


def test_ratings_of_a_large_tournament_use_a_sample() -> None:
    """The sample has wins, draws and losses in the proportion of all games."""
    large, sample = Result(0, 1, 10**6, 600_000, 200_000, 200_000), Result(0, 1, 4000, 2400, 800, 800)
    assert Counter(spread_scores(large, MAX_RATED_GAMES)) == {1.0: 2400, 0.5: 800, 0.0: 800}
    assert ratings([0, 1], [large]) == ratings([0, 1], [sample])


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_games_of_a_sample_keep_the_total_result(wins: int, draws: int, losses: int) -> None:
    n_games = wins + draws + losses
    games = list(spread_scores(Result(0, 1, n_games, wins, draws, losses), n_games))
    assert (games.count(1.0), games.count(0.5), games.count(0.0)) == (wins, draws, losses)


# Games between frozen players


def readable_contest(game: Game, players: list[np.ndarray], n_games: int, rng: RandomSource) -> list[int]:
    """Return how many games each side wins and how many are drawn: the readable twin of ``play_policies``."""
    graph = graph_compile(game, reduced=True)
    tally = [0, 0, 0]
    for _ in range(n_games):
        position = game.canonical(game.initial_position())
        n_plies = 0
        while (outcome := game.outcome(position)) is None and (game.always_ends or n_plies < game.ply_limit):
            node = graph.node_id[position]
            chances = players[game.side_to_move(position)][graph.indptr[node] : graph.indptr[node + 1]]
            possible = [(move, p) for move, p in zip(game.legal_moves(position), chances, strict=True) if p > 0]
            chosen = possible[-1][0]
            if len(possible) > 1:
                ticket = (rng.word() >> 11) / 2**53
                sums = itertools.accumulate(p for _, p in possible)
                chosen = next((move for (move, _), total in zip(possible, sums, strict=True) if ticket < total), chosen)
            position = game.canonical(game.apply(position, chosen))
            n_plies += 1
        winner = game.endless_winner if outcome is None else outcome.winner
        tally[2 if winner is None else int(winner)] += 1
    return tally


@pytest.mark.parametrize("game", LISTED_GAMES, ids=lambda game: game.slug)
def test_the_kernel_equals_its_readable_twin(game: Game) -> None:
    one, other = OPPONENTS["win-block"], OPPONENTS["random"]
    result = contest(game, one, other, 300, RandomSource(5, 2))
    policies = [opponent_policy(game, player, reduced=True) for player in (one, other)]
    twin = readable_contest(game, policies, 300, RandomSource(5, 2))
    assert [result.first_wins, result.second_wins, result.draws] == twin


@pytest.mark.parametrize("game", LISTED_GAMES, ids=lambda game: game.slug)
@pytest.mark.parametrize(
    ("first", "second"),
    [("michie-1961", "michie-refill"), ("michie-1961", "apl-notebook"), ("scroggs", "perfect"), ("random", "scroggs")],
)
def test_a_sample_agrees_with_the_exact_result(game: Game, first: str, second: str) -> None:
    players: list[Player] = [
        OPPONENTS[name] if name in OPPONENTS else FrozenBoxes(trained_memory(game, side, name))
        for side, name in ((Side.FIRST, first), (Side.SECOND, second))
    ]
    n_games = 40_000
    result = contest(game, *players, n_games, RandomSource(3))
    assert result.first_wins + result.draws + result.second_wins == n_games
    assert sum(result.expected) == pytest.approx(1, abs=1e-12)
    n_results = result.first_wins, result.draws, result.second_wins
    # A game that stops at the ply limit counts as endless play. The exact result is that of games without a limit.
    endless = 1 if game.endless_winner is None else 2 * game.endless_winner
    for result_index, (count, chance) in enumerate(zip(n_results, result.expected, strict=True)):
        difference, deviation = count / n_games - chance, (chance * (1 - chance) / n_games) ** 0.5
        assert difference <= 5 * deviation + 1e-12 or (result_index == endless and not game.always_ends)
        assert difference >= -5 * deviation - 1e-12 or (result_index != endless and not game.always_ends)


@pytest.mark.parametrize("game", LISTED_GAMES, ids=lambda game: game.slug)
def test_exact_contest_agrees_with_the_strength_page(game: Game) -> None:
    """Contests of frozen machines give the same expected result as the strength page and teach nothing."""
    first, second = trained_memory(game, Side.FIRST, "michie-1961"), trained_memory(game, Side.SECOND, "michie-refill")
    before = [player.beads.copy() for player in (first, second)]
    strength = against_machine(first, second)
    assert contest(game, FrozenBoxes(first), FrozenBoxes(second), 1000, RandomSource(1)).expected == (
        strength.win,
        strength.draw,
        strength.loss,
    )
    strength = against_opponent(second, OPPONENTS["perfect"])
    other = contest(game, OPPONENTS["perfect"], FrozenBoxes(second), 1000, RandomSource(1))
    assert other.expected == (strength.loss, strength.draw, strength.win)
    assert (first.beads == before[0]).all()
    assert (second.beads == before[1]).all()


def test_two_fixed_opponents_have_an_exact_result() -> None:
    game = LISTED_GAMES[0]
    graph = graph_compile(game, reduced=False)
    policies = [opponent_policy(game, OPPONENTS[name], reduced=False) for name in ("win-block", "random")]
    strength = expected(graph, Side.FIRST, *policies)
    found = contest(game, OPPONENTS["win-block"], OPPONENTS["random"], 10, RandomSource(0)).expected
    assert found == pytest.approx((strength.win, strength.draw, strength.loss), abs=1e-12)


def test_a_machine_cannot_play_the_other_side() -> None:
    game = LISTED_GAMES[0]
    second = trained_memory(game, Side.SECOND, "michie-refill")
    with pytest.raises(ValueError, match="cannot sit on side 0"):
        contest(game, FrozenBoxes(second), OPPONENTS["random"], 1, RandomSource(0))
