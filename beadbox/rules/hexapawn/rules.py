"""Hexapawn on boards of three to five columns and three or four rows.

A pawn moves one square forward, or captures one square diagonally forward. A side wins by reaching the far row, or by
leaving the opponent without a move or without a pawn. There are no draws. Source: M. Gardner, "Mathematical games",
Scientific American (March 1962). The text of a position is that of HexapawnRL, followed by the side to move. Counts for
checks are in ``docs/rules/hexapawn.md``.
"""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError, InvalidSizeError
from beadbox.rules.game import Game, GuidePart, Presentation, Symmetry
from beadbox.rules.hexapawn.layout import layout_of, symmetries_of
from beadbox.rules.hexapawn.winner import winners
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.published import Published

PAWNS = "Oo"
"""The pawns of the first and the second side."""
EMPTY = "-"
SIDES = ("1", "2")

FAR_ROW = "far_row"
NO_PAWNS = "no_pawns"
NO_MOVES = "no_moves"

REASONS = MappingProxyType(
    {
        FAR_ROW: "a pawn reached the far row",
        NO_PAWNS: "the other side has no pawns left",
        NO_MOVES: "the other side cannot move",
    }
)

TAKING: dict[int, tuple[str, ...]] = {3: ("o-o", "o--", "-OO"), 4: ("o-o", "---", "o-O", "-O-")}
"""Example for the guide: files a to c of a board on which a white pawn can take, by the number of rows."""
CROSSING: dict[int, tuple[str, ...]] = {3: ("oO-", "--o", "-OO"), 4: ("oO-", "---", "--o", "-OO")}
"""Example for the guide: files a to c after a white pawn has reached the far row, by the number of rows."""

MIN_SIZE, MAX_SIZE = (3, 3), (5, 4)
"""The smallest and the largest board, each as columns and rows."""
LARGEST_LISTED = 16
"""Squares of the largest board with enumerated positions: 4 × 4 has 20,286 positions, 5 × 4 many times more."""


GARDNER = Published(
    "M. Gardner, Mathematical games, Scientific American (March 1962)",
    24,
    "boxes.second.boxes",
    "Of two moves that a symmetric board makes alike it keeps one. Other mirror images have a box each.",
)


class Position(NamedTuple):
    """The board from the far row's left to the near row's right, and the side to move."""

    board: str
    side: Side


class Move(NamedTuple):
    """A move from one square to another, as indices of the board."""

    start: int
    end: int


class PawnsPresentation(Presentation[Position, Move]):
    """The presentation of hexapawn, with a highlighted winning pawn."""

    def scene(self) -> Position:
        """Return the position after an advance of the middle pawn."""
        start = self.game.initial_position()
        moves = self.game.legal_moves(start)
        return self.game.apply(start, moves[len(moves) // 2])

    def winning_cells(self, position: Position) -> tuple[int, ...]:
        """Return the square of a pawn on its far row; empty if the game ended otherwise."""
        columns = int(self.layout.columns)
        last = len(position.board) - columns
        return tuple(
            cell
            for cell, pawn in enumerate(position.board)
            if (pawn == PAWNS[0] and cell < columns) or (pawn == PAWNS[1] and cell >= last)
        )


class Hexapawn(Game[Position, Move]):
    """The rules of hexapawn on a board of this size.

    Raises:
        InvalidSizeError: the size is outside ``MIN_SIZE`` to ``MAX_SIZE``.
    """

    summary = "Reach the far side with a pawn, or leave your opponent unable to move."
    has_draws = False

    def __init__(self, columns: int, rows: int) -> None:
        if not (MIN_SIZE[0] <= columns <= MAX_SIZE[0] and MIN_SIZE[1] <= rows <= MAX_SIZE[1]):
            raise InvalidSizeError(
                f"hexapawn has no board of {columns} columns and {rows} rows; "
                f"{MIN_SIZE[0]} to {MAX_SIZE[0]} columns and {MIN_SIZE[1]} to {MAX_SIZE[1]} rows can be played"
            )
        self.columns = columns
        self.rows = rows
        usual = (columns, rows) == MIN_SIZE
        self.slug: str = "hexapawn" if usual else f"hexapawn-{columns}x{rows}"
        self.name: str = "Hexapawn" if usual else f"Hexapawn {columns} × {rows}"
        self.choice: str = f"{columns} × {rows}"
        self.variant: str = "" if usual else f"{columns} columns, {rows} rows"
        self.listable: bool = columns * rows <= LARGEST_LISTED
        self.published: tuple[Published, ...] = (GARDNER,) if usual else ()
        self.symmetries: tuple[Symmetry, ...] = symmetries_of(columns, rows)
        self._reach = tuple(self._reach_of(side) for side in Side)

    def winners_by_size(self) -> dict[tuple[int, int], Side]:
        return winners()

    @cached_property
    def presentation(self) -> Presentation[Position, Move]:
        return PawnsPresentation(
            self,
            layout_of(self.columns, self.rows),
            notation="text, one character a cell, in the order of the layout's cells, then ':' and the side to move",
            reasons=REASONS,
            guide=self._guide(),
        )

    def _guide(self) -> tuple[GuidePart[Position, Move], ...]:
        start = self.initial_position()
        taking = self._position(TAKING[self.rows], Side.FIRST)
        crossing = self._position(CROSSING[self.rows], Side.SECOND)
        takes = tuple(move for move in self.legal_moves(taking) if taking.board[move.end] != EMPTY)
        return (
            GuidePart(
                "The aim",
                "Reach the far row with one of your pawns. You also win if your opponent cannot move. "
                "No game ends in a draw.",
                crossing,
            ),
            GuidePart(
                "Moving",
                "White moves first. A pawn steps one square straight ahead, if that square is empty.",
                start,
                self.legal_moves(start),
            ),
            GuidePart(
                "Taking",
                "A pawn takes an enemy pawn that is one square diagonally ahead. It cannot take straight ahead.",
                taking,
                takes,
            ),
        )

    def _position(self, rows: tuple[str, ...], side: Side) -> Position:
        """Return the position with these rows, extended by files on which no pawn has moved."""
        first, *middle, last = rows
        padded = [row.ljust(self.columns, EMPTY) for row in middle]
        return Position("".join([first.ljust(self.columns, "o"), *padded, last.ljust(self.columns, "O")]), side)

    @property
    def family(self) -> str:
        return "hexapawn"

    def initial_position(self) -> Position:
        middle = EMPTY * (self.columns * (self.rows - 2))
        return Position("o" * self.columns + middle + "O" * self.columns, Side.FIRST)

    def side_to_move(self, position: Position) -> Side:
        return position.side

    def ply(self, position: Position) -> int:
        """Return the least number of plies; on boards that are not ``listable`` a lower bound (``least_plies``)."""
        n_plies = self._n_plies(position)
        assert n_plies is not None, f"{position} cannot arise"
        return n_plies

    def legal_moves(self, position: Position) -> tuple[Move, ...]:
        return () if self._crossed(position.board) is not None else self._moves(position)

    def apply(self, position: Position, move: Move) -> Position:
        board = list(position.board)
        board[move.end], board[move.start] = board[move.start], EMPTY
        return Position("".join(board), position.side.other)

    def outcome(self, position: Position) -> Outcome | None:
        winner = self._crossed(position.board)
        if winner is not None:
            return Outcome(winner, FAR_ROW)
        if self._moves(position):
            return None
        has_pawns = PAWNS[position.side] in position.board
        return Outcome(position.side.other, NO_MOVES if has_pawns else NO_PAWNS)

    def transform(self, position: Position, symmetry: Symmetry) -> Position:
        # A reflection is its own inverse, so the image of a square is also its preimage.
        return Position("".join([position.board[cell] for cell in symmetry.cells]), position.side)

    def transform_move(self, move: Move, symmetry: Symmetry) -> Move:
        return Move(symmetry.cells[move.start], symmetry.cells[move.end])

    def encode(self, position: Position) -> str:
        return f"{position.board}:{SIDES[position.side]}"

    def decode(self, text: str) -> Position:
        board, colon, side = text.partition(":")
        if not colon or side not in SIDES:
            raise InvalidPositionError(f"{text!r} does not end in ':1' or ':2', the side to move")
        n_cells = self.columns * self.rows
        if len(board) != n_cells or not set(board) <= {*PAWNS, EMPTY}:
            raise InvalidPositionError(f"{text!r} is not {n_cells} characters from 'o', 'O' and '-' before the colon")
        for pawn, colour in zip(PAWNS, self.presentation.layout.roles, strict=True):
            if board.count(pawn) > self.columns:
                raise InvalidPositionError(f"{text!r} has {board.count(pawn)} {colour} pawns of {self.columns}")
        position = Position(board, Side(SIDES.index(side)))
        if self._n_plies(position) is None:
            raise InvalidPositionError(f"no game can reach {text!r}")
        return position

    def decode_as(self, text: str, side: Side) -> Position:
        """Return the position of a text, in which the side to move may be omitted, as in HexapawnRL."""
        return self.decode(text if ":" in text else f"{text}:{SIDES[side]}")

    def encode_short(self, position: Position) -> str:
        return position.board

    def format_move(self, move: Move) -> str:
        return self.presentation.layout.cells[move.start].id + self.presentation.layout.cells[move.end].id

    def parse_move(self, text: str) -> Move:
        ids = [cell.id for cell in self.presentation.layout.cells]
        if len(text) != 4 or text[:2] not in ids or text[2:] not in ids:
            raise InvalidMoveError(
                f"{text!r} is not two squares, such as 'b1b2'; squares are 'a1' to {ids[self.columns - 1]!r}"
            )
        return Move(ids.index(text[:2]), ids.index(text[2:]))

    def pieces(self, position: Position) -> tuple[str | None, ...]:
        roles = self.presentation.layout.roles
        return tuple(None if pawn == EMPTY else roles[PAWNS.index(pawn)] for pawn in position.board)

    def path(self, move: Move) -> tuple[int, ...]:
        return tuple(move)

    def _reach_of(self, side: Side) -> tuple[tuple[tuple[Move, str], ...], ...]:
        """Return for each square the moves of a pawn of ``side``, each with the content that its end must have."""
        step = -1 if side is Side.FIRST else 1
        reach = []
        for cell in range(self.columns * self.rows):
            row, column = divmod(cell, self.columns)
            ends = range(max(column - 1, 0), min(column + 2, self.columns)) if 0 <= row + step < self.rows else ()
            reach.append(
                tuple(
                    (Move(cell, (row + step) * self.columns + end), EMPTY if end == column else PAWNS[side.other])
                    for end in ends
                )
            )
        return tuple(reach)

    def _moves(self, position: Position) -> tuple[Move, ...]:
        board, own, reach = position.board, PAWNS[position.side], self._reach[position.side]
        return tuple(
            move
            for cell, pawn in enumerate(board)
            if pawn == own
            for move, needed in reach[cell]
            if board[move.end] == needed
        )

    def _crossed(self, board: str) -> Side | None:
        if PAWNS[0] in board[: self.columns]:
            return Side.FIRST
        return Side.SECOND if PAWNS[1] in board[-self.columns :] else None

    def _n_plies(self, position: Position) -> int | None:
        if self.listable:
            return self.least_plies_by_position.get(position)
        return least_plies(self.columns, self.rows, position)


def least_plies(columns: int, rows: int, position: Position) -> int | None:
    """Return a lower bound on the plies of a position by counting rows; ``None`` if counting shows it unreachable.

    A ply moves one pawn one row, so the moves of a side equal the rows that its pawns, taken ones included, have
    advanced. A taken pawn has advanced at least one row, or else its taker has crossed, and it never reached the far
    row. Only the last move of a game takes a pawn that never moved.

    On three rows the bound is exact. On four rows the true number may be greater by an even number, if the pawns' files
    need more captures. A few unreachable boards pass there.
    """
    board, to_move = position
    crossers = [Side.FIRST] * board[:columns].count(PAWNS[0]) + [Side.SECOND] * board[-columns:].count(PAWNS[1])
    if len(crossers) > 1 or to_move in crossers or PAWNS[to_move.other] not in board:
        return None
    least, most = [], []
    for side in Side:
        on_board = [cell // columns for cell, pawn in enumerate(board) if pawn == PAWNS[side]]
        advanced = sum(rows - 1 - row if side is Side.FIRST else row for row in on_board)
        n_taken = columns - len(on_board)
        unmoved = 1 if crossers and side is to_move and n_taken else 0
        least.append(advanced + n_taken - unmoved)
        most.append(advanced + n_taken * (rows - 2))
    n_advanced = 1 if to_move is Side.SECOND else 0
    second = max(least[1], least[0] - n_advanced)
    return 2 * second + n_advanced if second <= most[1] and second + n_advanced <= most[0] else None


HEXAPAWNS = (
    Hexapawn(3, 3),
    *(Hexapawn(columns, rows) for rows in (3, 4) for columns in (3, 4, 5) if (columns, rows) != (3, 3)),
)
"""Hexapawn on every allowed board, the usual one first."""
