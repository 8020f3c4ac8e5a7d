"""What the engine thinks of a position of a match: its best moves, and who stands better by how much."""

from __future__ import annotations

import math
from typing import TypedDict

from beadbox.engines.engine import AnyEngine
from beadbox.rules.game import AnyGame, AnyPosition
from beadbox.rules.outcome import Side

WIN = 1_000_000
"""A win is worth this less the number of moves until then, by every engine."""
LEAST_WIN = WIN - 1000
SCALE = 40
"""So much better fills about three quarters of the bar."""


class MoveAdvice(TypedDict):
    """A move that the engine likes, what it is worth to who is to move, and in words whom that favours."""

    move: str
    name: str
    path: list[str]
    value: float
    words: str


class Advice(TypedDict):
    """What the engine thinks of a position, so many moves ahead; ``share`` of a bar is the first side's."""

    ply: int
    role: str
    depth: int
    value: float
    words: str
    share: float
    candidates: list[MoveAdvice]


def advice(engine: AnyEngine, game: AnyGame, position: AnyPosition) -> Advice:
    """The best moves for the side to move, best first; the position is not terminal."""
    side, roles = game.side_to_move(position), game.look.layout.roles
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
                "name": game.look.tell_move(position, candidate.move),
                "path": game.look.path_ids(candidate.move),
                "value": candidate.value,
                "words": value_words(candidate.value, side, roles),
            }
            for candidate in best
        ],
    }


def value_words(value: float, side: Side, roles: tuple[str, str]) -> str:
    """What a value for a side means."""
    if abs(value) >= LEAST_WIN:
        winner, n_moves = roles[side if value > 0 else side.other], WIN - round(abs(value))
        return f"{winner} wins with this move" if n_moves == 1 else f"{winner} wins in {n_moves} moves"
    if value == 0:
        return "even"
    return f"{roles[side if value > 0 else side.other]} is better by {abs(value):g}"


def share(value: float, side: Side) -> float:
    """How much of a bar is the first side's, from 0 to 1: half where nobody is better."""
    first = value if side is Side.FIRST else -value
    return 1 / (1 + math.exp(-max(-20.0, min(20.0, first / SCALE))))
