"""An engine's evaluation of a position in a match: the best moves, and which side is better by how much."""

from __future__ import annotations

import math
from typing import TypedDict

from beadbox.engines.engine import AnyEngine
from beadbox.rules.game import AnyGame, AnyPosition
from beadbox.rules.outcome import Side

WIN = 1_000_000
"""Value of a win in every engine, less the number of moves until the win."""
LEAST_WIN = WIN - 1000
"""Smallest value that is a win: every win takes at most 1000 moves."""
SCALE = 40
"""Scale of the logistic evaluation bar: an advantage of this many points fills 73 % of the bar."""


class MoveAdvice(TypedDict):
    """One of the engine's best moves: its value for the side to move, and the same value in words."""

    move: str
    name: str
    path: list[str]
    value: float
    words: str


class Advice(TypedDict):
    """The engine's evaluation of a position.

    ``depth`` is the search depth in moves. ``share`` is the first side's part of the evaluation bar.
    """

    ply: int
    role: str
    depth: int
    value: float
    words: str
    share: float
    candidates: list[MoveAdvice]


def advice(engine: AnyEngine, game: AnyGame, position: AnyPosition) -> Advice:
    """Return the engine's evaluation with the best moves, best first. The position must not be terminal."""
    side, roles = game.side_to_move(position), game.presentation.layout.roles
    best, depth = engine.best(game, position)
    return {
        "ply": game.ply(position),
        "role": roles[side],
        "depth": depth,
        "value": best[0].value,
        "words": value_words(best[0].value, side, roles),
        "share": share(best[0].value, side),
        "candidates": [
            {
                "move": game.format_move(candidate.move),
                "name": game.presentation.tell_move(position, candidate.move),
                "path": game.presentation.path_ids(candidate.move),
                "value": candidate.value,
                "words": value_words(candidate.value, side, roles),
            }
            for candidate in best
        ],
    }


def value_words(value: float, side: Side, roles: tuple[str, str]) -> str:
    """Describe a value for ``side`` in words; ``roles`` are the names of the sides in the game."""
    if abs(value) >= LEAST_WIN:
        winner, n_moves = roles[side if value > 0 else side.other], WIN - round(abs(value))
        return f"{winner} wins with this move" if n_moves == 1 else f"{winner} wins in {n_moves} moves"
    if value == 0:
        return "even"
    return f"{roles[side if value > 0 else side.other]} is better by {abs(value):g}"


def share(value: float, side: Side) -> float:
    """Return the first side's part of the evaluation bar, from 0 to 1; ``value`` is the value for ``side``."""
    first = value if side is Side.FIRST else -value
    return 1 / (1 + math.exp(-max(-20.0, min(20.0, first / SCALE))))
