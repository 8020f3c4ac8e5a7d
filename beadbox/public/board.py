"""Boards as text, for terminals."""

from __future__ import annotations

from beadbox.public.games import Game, position_decode

COLUMNS_PER_CELL, ROWS_PER_CELL = 4, 2


def board_text(game: Game, position: str) -> str:
    """Return the board of a position as lines of text: the first letter of each piece, and a dot for an empty cell.

    Raises:
        InvalidPositionError: the game cannot reach the position.
    """
    rules = game.rules
    lines: dict[int, dict[int, str]] = {}
    for cell, piece in zip(rules.presentation.layout.cells, rules.pieces(position_decode(game, position)), strict=True):
        line = lines.setdefault(round(cell.y * ROWS_PER_CELL), {})
        line[round(cell.x * COLUMNS_PER_CELL)] = "." if piece is None else piece[0]
    first_column = min(min(line) for line in lines.values())
    return "\n".join(
        "".join(line.get(column, " ") for column in range(first_column, max(line) + 1))
        for _, line in sorted(lines.items())
    )
