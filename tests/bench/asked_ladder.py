"""Matches between the levels of Romgon with flips, played by the answers of the API: the table of docs/ai.md.

The levels play as they answer ``POST /api/ai/move``. A request to this endpoint does not contain the history of the
match, so a level cannot avoid repetitions. This is the only difference from the ladder (``docs/ladder.md``). Openings,
sides and random sources are the first ones of the ladder.

For speed, the benchmark calls the endpoint's adviser without HTTP. ``tests/learning/api/test_asked_ladder.py`` checks
that the endpoint gives the same answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beadbox.engines.ladder import Pair
from beadbox.engines.registry import engine_of
from beadbox.rules.chance import Random
from beadbox.rules.game import Game
from beadbox.rules.outcome import Side
from beadbox.rules.play import Mover
from beadbox.rules.registry import game_get
from beadbox.rules.romgon.geometry import IDS
from beadbox.rules.romgon.moves import Move
from beadbox.rules.romgon.pieces import FLIPPED_BIT, TYPE_NAMES, kind_of, side_of
from beadbox.rules.romgon.rules import Position, Romgon
from beadbox.strength.sampled import wilson
from beadbox.strength.snapshots import Points, measure_openings, meeting, openings
from beadbox.tournaments import ladder
from learning.advice.registry import DEFAULT_GAME, adviser_of
from learning.advice.romgon import SIDES
from tests.bench.figures import Figure
from tests.sizes import sized

GAME = "romgon-flip"
PAGE = Path(__file__).parents[2] / "docs" / "ai.md"
N_OPENINGS = sized(100, 1)
TIME_LIMIT_S = 600.0
"""A limit that is never reached, since the levels need some hundredths of a second. So the figures are reproducible."""
_COLOURS = {side: colour for colour, side in SIDES.items()}


def request_body(position: Position, level: str) -> dict[str, Any]:
    """Return the request body for a position with flips."""
    board = {
        IDS[cell]: {
            "color": _COLOURS[side_of(code)],
            "type": TYPE_NAMES[kind_of(code)],
            "flipped": bool(code & FLIPPED_BIT),
        }
        for cell, code in enumerate(position.board)
        if code
    }
    colour = _COLOURS[position.side]
    return {"board": board, "playerColor": colour, "flipModeEnabled": True, "difficulty": level}


def adviser_answer(position: Position, level: str, rng: Random) -> dict[str, Any]:
    """Return the answer of the endpoint's adviser. The request names no game, so the adviser assumes plain Romgon."""
    game = game_get(DEFAULT_GAME)
    adviser = adviser_of(game)
    return adviser.move(adviser.read(game, request_body(position, level)), rng, time_limit_s=TIME_LIMIT_S)


def answered_move(game: Romgon, position: Position, answer: Mapping[str, Any]) -> Move:
    """Return the move of an answer, even if this move loses at once."""
    return _moves_by_cells(game, position)[_origin_and_target(answer["move"])]


def move_without_repetition(game: Romgon, position: Position, answer: Mapping[str, Any]) -> Move:
    """Return the first move of an answer that does not lose at once by repetition; without such a move, the first."""
    moves = _moves_by_cells(game, position)
    candidates = [moves[_origin_and_target(view)] for view in (answer["move"], *answer["candidateMoves"])]
    return next((move for move in candidates if not _loses(game, position, move)), candidates[0])


Choice = Callable[[Romgon, Position, Mapping[str, Any]], Move]
CHOICES: dict[str, Choice] = {"move": answered_move, "candidates": move_without_repetition}
"""Ways in which a client may choose a move from an answer."""


@dataclass(frozen=True)
class EndpointPlayer:
    """A client that plays the answers of one level."""

    level: str
    choice: Choice

    def mover(self, game: Game[Any, Any]) -> Mover:
        assert isinstance(game, Romgon)
        return lambda position, rng: self.choice(game, position, adviser_answer(position, self.level, rng))


def measure_pair(strong: str, weak: str, choice: Choice, n_openings: int) -> Pair:
    """Play the games of a pair, each opening from both sides, as ``ladder.measure_pairs`` does."""
    game = game_get(GAME)
    engine = engine_of(game)
    assert engine is not None
    slugs = list(engine.levels)
    seed = ladder.SEED + len(slugs) * slugs.index(strong) + slugs.index(weak)
    meet = meeting(game, EndpointPlayer(strong, choice), EndpointPlayer(weak, choice))
    points = Points.of(measure_openings(meet, openings(game, n_openings, seed=seed), seed=seed))
    return Pair(strong, weak, points.wins, points.draws, points.losses)


def row_start(strong: str, weak: str) -> str:
    """Return the beginning of a pair's row on the page."""
    return f"| `{strong}` against `{weak}` |"


def row_cell(pair: Pair) -> str:
    """Return a pair's cell on the page: the share of points with its 95 % interval."""
    share, low, high = (
        f"{one:.2f}".removeprefix("0") for one in (pair.points / pair.games, *wilson(pair.points, pair.games))
    )
    return f"{share} ({low} to {high})"


def compare_with_page() -> Iterator[Figure]:
    """Let each level play the next lower level, for each way to use an answer, and compare the result with the page."""
    game, lines = game_get(GAME), PAGE.read_text().splitlines()
    engine = engine_of(game)
    assert engine is not None
    for strong, weak in ladder.neighbours(engine, game):
        cells = [row_cell(measure_pair(strong, weak, choice, N_OPENINGS)) for choice in CHOICES.values()]
        end = f"| {' | '.join(cells)} |"
        is_documented = any(line.startswith(row_start(strong, weak)) and line.endswith(end) for line in lines)
        yield Figure(f"{strong} against {weak}, by the API", "; ".join(cells), "docs/ai.md", is_documented)


def _moves_by_cells(game: Romgon, position: Position) -> dict[tuple[str, str], Move]:
    return {(IDS[move.origin], IDS[move.target]): move for move in game.legal_moves(position)}


def _origin_and_target(view: Mapping[str, Any]) -> tuple[str, str]:
    return view["from"], view["to"]


def _loses(game: Romgon, position: Position, move: Move) -> bool:
    outcome = game.outcome(game.apply(position, move))
    return outcome is not None and outcome.winner is Side(position.side).other
