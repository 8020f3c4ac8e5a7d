"""Facts about a game that follow from its rules: its positions, perfect play, and the length of random play."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

import numpy as np

from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.kernels.loops import play_plies
from beadbox.kernels.random_source import RandomSource
from beadbox.rules.game import AnyGame, AnyPosition
from beadbox.rules.outcome import Outcome, Side
from beadbox.strength.graph import FIRST_WINS, SECOND_WINS, Graph, graph_compile, terminal_code
from beadbox.strength.loops import ENDLESS, NO_PLIES, Solution, solution_of

SIDE_NAMES = ("first", "second")
N_SAMPLED_GAMES = 30
"""Random games that are played where the positions cannot be listed."""
SAMPLE_SEED = 1


class Count(TypedDict):
    """A number of positions or classes."""

    all: int
    not_over: int


class PerfectResult(TypedDict):
    """The end of a game from a position on, if neither side makes a mistake."""

    winner: Literal["first", "second"] | None
    endless: bool
    """Whether the game ends by going on for ever."""
    plies: int | None
    """Plies until the win: the winner shortens the game, and the loser prolongs it. ``None`` if no number is known."""


class FirstMoves(PerfectResult):
    """First moves that are alike under the symmetries, and the result after them; ``plies`` counts the move."""

    moves: list[str]
    best: bool


class RandomPlay(TypedDict):
    """The length of games in which every legal move has the same chance."""

    plies: float
    """Mean number of plies, in games that stop at the ply limit."""
    at_limit: float
    """Share of the games that the ply limit stops."""
    sampled_games: int | None
    """Games played to measure this; ``None`` if the numbers are exact."""


class GameFacts(TypedDict):
    """All facts; those about positions are ``None`` if the positions cannot be listed."""

    why_unlisted: str | None
    positions: Count | None
    classes: Count | None
    perfect_play: PerfectResult | None
    first_moves: list[FirstMoves]
    random_play: RandomPlay


def game_facts(game: AnyGame) -> GameFacts:
    """Compute the facts of a game from its rules."""
    if not game.listable:
        return {
            "why_unlisted": game.why_unlisted,
            "positions": None,
            "classes": None,
            "perfect_play": None,
            "first_moves": [],
            "random_play": random_play_sampled(game),
        }
    raw, (graph, solution) = graph_compile(game, reduced=False), solution_of(game)
    over = {
        after
        for position in raw.positions
        for move in game.legal_moves(position)
        if game.is_terminal(after := game.apply(position, move))
    }
    n_classes_over = len({game.canonical(position) for position in over})
    return {
        "why_unlisted": None,
        "positions": {"all": len(raw.positions) + len(over), "not_over": len(raw.positions)},
        "classes": {"all": len(graph.positions) + n_classes_over, "not_over": len(graph.positions)},
        "perfect_play": result_of(int(solution.result[0]), int(solution.plies[0])),
        "first_moves": _first_moves(graph, solution),
        "random_play": random_play(graph.arrays, game.ply_limit),
    }


def result_of(code: int, plies: int) -> PerfectResult:
    """Return the result for a code of a solution and its plies (``strength/loops.py``)."""
    won = code in (FIRST_WINS, SECOND_WINS)
    return {
        "winner": ("first", "second")[-1 - code] if won else None,
        "endless": code == ENDLESS or (won and plies == NO_PLIES),
        "plies": plies if won and plies != NO_PLIES else None,
    }


def _first_moves(graph: Graph, solution: Solution) -> list[FirstMoves]:
    game = graph.game
    start: Any = game.initial_position()
    alike = game.distinct_moves(start)
    results = [_after(graph, solution, game.apply(start, members[0])) for members in alike]
    best = max(_rank(one, game.side_to_move(start)) for one in results)
    return [
        {
            **result,
            "moves": [game.format_move(move) for move in members],
            "best": _rank(result, game.side_to_move(start)) == best,
        }
        for members, result in zip(alike, results, strict=True)
    ]


def _after(graph: Graph, solution: Solution, position: AnyPosition) -> PerfectResult:
    """Return the result after a first move, with its plies counted from the start of the game."""
    outcome: Outcome | None = graph.game.outcome(position)
    if outcome is not None:
        return result_of(terminal_code(outcome.winner), 1 if outcome.winner is not None else NO_PLIES)
    node = graph.node_id[graph.game.canonical(position)]
    plies = int(solution.plies[node])
    return result_of(int(solution.result[node]), plies if plies == NO_PLIES else plies + 1)


def _rank(result: PerfectResult, side: Side) -> tuple[int, float]:
    """Return a key that is greatest for the best result of a side: of wins the shortest with a known length."""
    if result["winner"] is None:
        return 0, 0.0
    if result["winner"] != SIDE_NAMES[side]:
        return -1, 0.0
    return 1, -float("inf") if result["plies"] is None else -result["plies"]


def random_play(graph: GraphArrays, limit: int) -> RandomPlay:
    """Return the exact mean length of random play from the first node, with games that stop after ``limit`` plies."""
    n_moves = np.diff(graph.indptr)
    visits, left = play_plies(graph.indptr, graph.successor, np.repeat(1.0 / n_moves, n_moves), limit).sum(axis=0)
    return {"plies": round(float(visits), 6), "at_limit": round(float(left), 12), "sampled_games": None}


def random_play_sampled(game: AnyGame) -> RandomPlay:
    """Return the mean length of :data:`N_SAMPLED_GAMES` random games, the same at every call."""
    lengths = [_random_length(game, RandomSource(SAMPLE_SEED, number)) for number in range(N_SAMPLED_GAMES)]
    n_stopped = sum(length is None for length in lengths)
    plies = sum(game.ply_limit if length is None else length for length in lengths)
    return {
        "plies": round(plies / N_SAMPLED_GAMES, 6),
        "at_limit": round(n_stopped / N_SAMPLED_GAMES, 6),
        "sampled_games": N_SAMPLED_GAMES,
    }


def _random_length(game: AnyGame, rng: RandomSource) -> int | None:
    """Return the plies of one random game; ``None`` if the ply limit stops it."""
    position = game.initial_position()
    for ply in range(game.ply_limit):
        moves = game.legal_moves(position)
        position = game.apply(position, moves[rng.below(len(moves))])
        if game.is_terminal(position):
            return ply + 1
    return None
