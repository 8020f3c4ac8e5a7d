"""The guide of Romgon for new players, in words that hold from either side of the board."""

from beadbox.rules.romgon.geometry import CELL
from beadbox.rules.romgon.moves import Move, legal_moves
from beadbox.rules.romgon.pieces import (
    BLACK,
    CIRCLE,
    HEXGON,
    RHOMBUS,
    SQUARE,
    START,
    TRIANGLE,
    WHITE,
    Board,
    Piece,
    board_of,
)

AIM = (
    "The aim",
    "Get your rhombus, the diamond shape, to the home of the other rhombus. You also win if your opponent cannot move.",
    START,
)
PIECES = (
    ("Square", "The square steps to a neighbour, but never straight towards either end of the board.", SQUARE, "2-5"),
    ("Triangle", "The triangle steps the way it points, or half left or half right of that.", TRIANGLE, "2-5"),
    (
        "Hexgon",
        (
            "The hexgon steps along its bar, forwards or backwards. It may add a second step, half left or half right. "
            "It leaps over any piece on the way."
        ),
        HEXGON,
        "2-5",
    ),
    (
        "Rhombus",
        (
            "The rhombus goes one or two hexes straight towards either end, or leaps two rows across. "
            "It may also step diagonally between the dark middle and an empty hex beside it. "
            "It never takes the other rhombus."
        ),
        RHOMBUS,
        "3-5",
    ),
    (
        "Circle",
        (
            "The circle runs round its ring of one tint as far as the way is free. It takes the first enemy it meets. "
            "It may also step to an empty hex of another tint, but not into the dark middle."
        ),
        CIRCLE,
        "2-5",
    ),
)
"""Title, text and type of each piece, and the hex from which a black one demonstrates its moves."""
OTHER_RULES = (
    ("Check", "You may not leave your rhombus where it could be taken, unless it has just reached its goal."),
    ("Repeating", "You lose if you bring about the same board for the third time. After 200 moves the game is a draw."),
)


def scene(kind: int, cell_id: str) -> tuple[Board, tuple[Move, ...]]:
    """Return a board with a black piece on a hex and the rhombuses at home, and the moves of that piece."""
    homes = {CELL["3-0"]: Piece(WHITE, RHOMBUS), CELL["3-8"]: Piece(BLACK, RHOMBUS)}
    if kind == RHOMBUS:
        del homes[CELL["3-8"]]
    cell = CELL[cell_id]
    board = board_of({**homes, cell: Piece(BLACK, kind)})
    return board, tuple(move for move in legal_moves(board, BLACK) if move.origin == cell)
