"""What the engine thinks of a position of a match: its five best actions, and who stands better by how much."""

from __future__ import annotations

import math
from typing import Any

from games.rules.base import Side
from games.rules.romgon.rules import Position, Romgon
from learning.core.engines.romgon.answers import LEVELS, ranking

DEPTH = LEVELS["hard"].depth
"""Deep enough to see an answer, and done in a few milliseconds on the fullest of boards."""
WIN = 1_000_000
"""A win is worth this less the number of actions until then."""
LEAST_WIN = WIN - 1000
SCALE = 40
"""So much better fills about three quarters of the bar."""


def advice(game: Romgon, position: Position) -> dict[str, Any]:
    """The five best actions for the side to move, best first; the position is not terminal."""
    side, roles, cells = position.side, game.layout.roles, game.layout.cells
    best, depth = ranking(position.board, side, game.options, depth=DEPTH)
    return {
        "ply": position.ply,
        "role": roles[side],
        "depth": depth,
        "value": best[0].value,
        "words": value_words(best[0].value, side, roles),
        "share": share(best[0].value, side),
        "candidates": [
            {
                "move": game.format_move(candidate.move),
                "name": game.tell_move(position, candidate.move),
                "path": [cells[cell].id for cell in game.path(candidate.move)],
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
