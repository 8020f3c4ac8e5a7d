"""Writes, reads and checks the keys of entries in a value table. docs/learning.md defines their form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from beadbox.engines.romgon.answers import legal_actions
from beadbox.rules.romgon.geometry import CELL, IDS, N_CELLS
from beadbox.rules.romgon.moves import KEPT, Move, Options
from beadbox.rules.romgon.pieces import (
    CODES,
    FLIPPED_BIT,
    GOALS,
    START,
    TYPE_BITS,
    TYPE_NAMES,
    WHITE_BIT,
    Board,
    kind_of,
    rhombus_cell,
    rotation_of,
    side_of,
)


def pieces_key(board: Board) -> str:
    """Return the pieces of a board in the form of a key, such as ``0-0:swU|0-5:sbU``.

    In games with turning pieces a rotation other than 0 follows the piece: ``1-0:twU@2``.
    """
    return "|".join(f"{IDS[cell]}:{_ITEM[code]}" for cell, code in enumerate(board) if code)


def _item(code: int) -> str:
    """Return a piece in the form of a key, such as ``swU`` or ``twU@2``."""
    letters = TYPE_NAMES[kind_of(code)][0] + ("w" if code & WHITE_BIT else "b") + ("F" if code & FLIPPED_BIT else "U")
    return letters + (f"@{rotation_of(code)}" if rotation_of(code) else "")


_ITEM = {code: _item(code) for code in range(1, 256) if 0 < kind_of(code) < len(TYPE_NAMES)}


def action_key(move: Move | None) -> str:
    """Return an action in the form of a key, such as ``0-0-1-1``; ``start`` for no action.

    If the piece turns, ``@`` and its new rotation follow.
    """
    if move is None:
        return "start"
    return f"{IDS[move.origin]}-{IDS[move.target]}" + ("" if move.turn == KEPT else f"@{move.turn}")


def entry_key(board: Board, move: Move | None) -> str:
    """Return the key of the entry for an action on a board."""
    return f"{action_key(move)}#{pieces_key(board)}"


def key_board(key: str) -> str:
    """Return the part of a key that identifies the board, as :func:`pieces_key` writes it."""
    return key.partition("#")[2]


_CODE = {_item(code): code for code in CODES}
_ACTION = re.compile(r"(\d-\d)-(\d-\d)(?:@(\d))?", re.ASCII)


def entry_read(key: str) -> tuple[Board, Move]:
    """Return the board and the action of a key: the inverse of :func:`entry_key`.

    Raises:
        ValueError: the text is no key, or not in canonical form.
    """
    action, _, pieces = key.partition("#")
    action_parts = _ACTION.fullmatch(action)
    if action_parts is None:
        raise ValueError("A key begins with an action such as 0-0-1-1 and #.")
    origin, target, turn = action_parts.groups()
    board = bytearray(N_CELLS)
    try:
        move = Move(CELL[origin], CELL[target], KEPT if turn is None else int(turn))
        for item in pieces.split("|"):
            cell, _, piece = item.partition(":")
            board[CELL[cell]] = _CODE[piece]
    except KeyError as error:
        raise ValueError(f"The part {ascii(error.args[0])[:20]} is not a hex or a piece.") from None
    if entry_key(Board(bytes(board)), move) != key:
        raise ValueError("Pieces stand in the order of the hexes, each once, without rotations of 0.")
    return Board(bytes(board)), move


def _army(board: Board) -> Mapping[int, int]:
    """Return the number of pieces on a board by type and colour."""
    return Counter(code & (TYPE_BITS | WHITE_BIT) for code in board if code)


_START_ARMY = _army(START)


def entry_problem(board: Board, move: Move, options: Options) -> str:
    """Return the reason why no machine can have made this action on this board; empty if one can."""
    army = _army(board)
    if any(n > _START_ARMY[piece] for piece, n in army.items()):
        return "A side has more pieces of a type than a game begins with."
    if any(code & FLIPPED_BIT for code in board) and not options.flip:
        return "Pieces flip only in games with flips."
    if any(rotation_of(code) for code in board) and not options.turn:
        return "Pieces turn only in games with turning pieces."
    if any(rhombus_cell(board, side) in (None, goal) for side, goal in GOALS.items()):
        return "The game is over, so there is nothing to choose."
    if not board[move.origin] or move not in legal_actions(board, side_of(board[move.origin]), options):
        return "The action is not legal on this board."
    return ""
