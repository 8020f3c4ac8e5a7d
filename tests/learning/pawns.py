"""Pawns on three by three squares: a second, tiny game whose moves are not squares, for what must work with any game.

A position is nine characters from a3 to c1, ``o`` the second side's pawns on top. Each captured pawn of a game that
goes on had moved exactly once, so the number of plies follows from the board.
"""

from types import MappingProxyType

from games.rules.base import Cell, Game, Layout, Outcome, Side, Symmetry
from games.rules.errors import InvalidMoveError, InvalidPositionError

IDS = tuple(f"{file}{rank}" for rank in "321" for file in "abc")
MIRROR = (2, 1, 0, 5, 4, 3, 8, 7, 6)


class Pawns(Game[str, tuple[int, int]]):
    slug = "pawns"
    name = "Pawns"
    summary = "Reach the far row."
    layout = Layout(
        cells=tuple(Cell(id_, id_, id_, i % 3 + 0.5, i // 3 + 0.5) for i, id_ in enumerate(IDS)),
        columns=3,
        rows=3,
        shape="square",
        roles=("O", "o"),
        role_names=("white", "black"),
    )
    symmetries = (Symmetry("as it is", tuple(range(9))), Symmetry("mirrored", MIRROR, mirrored=True))
    reasons = MappingProxyType({"reached": "the far row is reached", "stuck": "no move is left"})

    def initial_position(self):
        return "ooo---OOO"

    def side_to_move(self, position):
        return Side(self.ply(position) % 2)

    def ply(self, position):
        moved = sum({"O": 2 - i // 3, "o": i // 3}.get(piece, 0) for i, piece in enumerate(position))
        return moved + 6 - sum(piece != "-" for piece in position)

    def legal_moves(self, position):
        return () if self._reached(position) is not None else self._moves(position)

    def apply(self, position, move):
        board = list(position)
        board[move[1]], board[move[0]] = board[move[0]], "-"
        return "".join(board)

    def outcome(self, position):
        reached = self._reached(position)
        if reached is not None:
            return Outcome(reached, "reached")
        return None if self._moves(position) else Outcome(self.side_to_move(position).other, "stuck")

    def transform(self, position, symmetry):
        return "".join(position[symmetry.cells.index(cell)] for cell in range(9))

    def transform_move(self, move, symmetry):
        return symmetry.cells[move[0]], symmetry.cells[move[1]]

    def encode(self, position):
        return position

    def decode(self, text):
        if len(text) != 9 or not set(text) <= set("oO-") or max(text.count("o"), text.count("O")) > 3:
            raise InvalidPositionError(f"{text!r} is not nine characters from 'o', 'O' and '-'")
        return text

    def format_move(self, move):
        return IDS[move[0]] + IDS[move[1]]

    def parse_move(self, text):
        if text[:2] not in IDS or text[2:] not in IDS:
            raise InvalidMoveError(f"{text!r} is not two squares")
        return IDS.index(text[:2]), IDS.index(text[2:])

    def pieces(self, position):
        return tuple(None if piece == "-" else piece for piece in position)

    def path(self, move):
        return move

    def _reached(self, position):
        if "O" in position[:3]:
            return Side.FIRST
        return Side.SECOND if "o" in position[6:] else None

    def _moves(self, position):
        own, foe, step = (("O", "o", -1), ("o", "O", 1))[self.side_to_move(position)]
        found = []
        for cell, piece in enumerate(position):
            row, column = cell // 3 + step, cell % 3
            if piece == own and 0 <= row <= 2:
                found += [
                    (cell, 3 * row + to)
                    for to in range(max(column - 1, 0), min(column + 1, 2) + 1)
                    if position[3 * row + to] == ("-" if to == column else foe)
                ]
        return tuple(found)
