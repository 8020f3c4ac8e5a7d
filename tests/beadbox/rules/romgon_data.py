"""The golden positions, tables and games of Romgon, converted to boards, moves and sides of this code."""

import json
import random
from pathlib import Path

from beadbox.rules.romgon.geometry import CELL, IDS, N_CELLS, half_turn
from beadbox.rules.romgon.moves import Move, Options, is_capture
from beadbox.rules.romgon.pieces import (
    BLACK,
    CODES,
    FLIPPED_BIT,
    RHOMBUS,
    TYPE_NAMES,
    WHITE,
    Board,
    Piece,
    board_of,
    kind_of,
    piece_of,
    side_of,
)

DATA_FOLDER = Path(__file__).parents[2] / "data" / "romgon"
TABLES = json.loads((DATA_FOLDER / "tables.json").read_text(encoding="utf-8"))
VECTORS = json.loads((DATA_FOLDER / "vectors.json").read_text(encoding="utf-8"))
"""The golden positions, games and move counts, called vectors."""
SIDES = {"white": WHITE, "black": BLACK, None: None}
"""The side of each colour in the golden files."""


def entry_parameters(entries):
    """Return arguments of ``pytest.mark.parametrize``: the entries of one part of the vectors, with their names."""
    return {"argvalues": entries, "ids": [entry["id"] for entry in entries]}


def read_board(entry) -> Board:
    """Return the board of an entry of the vectors."""
    pieces = {
        CELL[cell_id]: Piece(
            SIDES[piece["color"]],
            TYPE_NAMES.index(piece["type"]),
            piece.get("flipped", False),
            piece.get("rotation", 0),
        )
        for cell_id, piece in entry["board"].items()
    }
    return board_of(pieces, flips=entry["flipModeEnabled"])


def read_options(entry) -> Options:
    """Return the options of an entry of the vectors: with or without flips."""
    return Options(flip=entry["flipModeEnabled"])


def action_json(board: Board, move: Move) -> dict:
    """Return an action in the form of the vectors."""
    action = {
        "from": IDS[move.origin],
        "to": IDS[move.target],
        "isCapture": is_capture(board, move),
        "isFlip": move.is_flip,
    }
    return action | ({"captured": TYPE_NAMES[kind_of(board[move.target])]} if is_capture(board, move) else {})


def random_board(rng: random.Random, *, flips: bool, n_pieces: int) -> Board:
    """Return a board with any pieces on any cells, as a client may send it, with at most one rhombus a side."""
    board, rhombuses = bytearray(N_CELLS), set()
    for cell in rng.sample(range(N_CELLS), n_pieces):
        code = rng.choice(CODES)
        while (kind_of(code) == RHOMBUS and side_of(code) in rhombuses) or (code & FLIPPED_BIT and not flips):
            code = rng.choice(CODES)
        if kind_of(code) == RHOMBUS:
            rhombuses.add(side_of(code))
        board[cell] = code
    return Board(bytes(board))


def half_turned_board(board: Board) -> Board:
    """Return the board rotated by half a turn, with every piece in the other colour."""
    pieces = {half_turn(cell): piece_of(code) for cell, code in enumerate(board) if code}
    return board_of({cell: piece._replace(side=piece.side.other) for cell, piece in pieces.items()})
