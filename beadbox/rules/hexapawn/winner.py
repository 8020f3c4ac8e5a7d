"""The winner of hexapawn on a board of any size, by depth-first search over sets of squares.

A set of squares is an integer, one bit a square, the first side's home row in the lowest bits. The search stops at the
first winning move, so it needs far fewer positions than a list of all of them.
"""

from collections.abc import Iterator

from beadbox.rules.outcome import Side

BOARDS = ((3, 8), (4, 6), (5, 5), (6, 4))
"""Rows of the boards in the table of winners, each with the largest number of columns."""


def winner(columns: int, rows: int) -> Side:
    """Return the side that wins on a board of at least one column and three rows."""
    home = (1 << columns) - 1
    return Side.FIRST if _Search(columns, rows).wins(Side.FIRST, home, home << columns * (rows - 1)) else Side.SECOND


def winners() -> dict[tuple[int, int], Side]:
    """Return the winner on each of :data:`BOARDS`, by columns and rows."""
    return {(columns, rows): winner(columns, rows) for rows, most in BOARDS for columns in range(1, most + 1)}


class _Search:
    """A search on one board. Mirror images share their result."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns = columns
        home = (1 << columns) - 1
        self.far = (home << columns * (rows - 1), home)
        self.board = (1 << columns * rows) - 1
        self.left = sum(1 << columns * row for row in range(rows))
        self.right = self.left << columns - 1
        self.known: dict[tuple[int, int, Side], bool] = {}

    def wins(self, side: Side, own: int, other: int) -> bool:
        """Whether the side to move wins, with its pawns on the squares ``own``."""
        key = own, other, side
        if key not in self.known:
            won = self._wins(side, own, other)
            self.known[key] = self.known[self._mirrored(own), self._mirrored(other), side] = won
        return self.known[key]

    def _wins(self, side: Side, own: int, other: int) -> bool:
        moves = tuple(self._moves(side, own, other))
        return any(end & self.far[side] for _, end in moves) or any(
            not self.wins(side.other, other & ~end, own ^ start ^ end) for start, end in moves
        )

    def _moves(self, side: Side, own: int, other: int) -> Iterator[tuple[int, int]]:
        """Yield the squares that a pawn leaves and enters, captures first."""
        empty = self.board & ~(own | other)
        to_left, to_right = own & ~self.left, own & ~self.right
        for pawns, free, step in (
            (to_left, other, self.columns - 1 if side is Side.FIRST else -self.columns - 1),
            (to_right, other, self.columns + 1 if side is Side.FIRST else 1 - self.columns),
            (own, empty, self.columns if side is Side.FIRST else -self.columns),
        ):
            ends = (pawns << step if step > 0 else pawns >> -step) & free
            while ends:
                end = ends & -ends
                yield (end >> step if step > 0 else end << -step), end
                ends ^= end

    def _mirrored(self, squares: int) -> int:
        return sum(1 << at - at % self.columns + self.columns - 1 - at % self.columns for at in _bits(squares))


def _bits(squares: int) -> Iterator[int]:
    while squares:
        low = squares & -squares
        yield low.bit_length() - 1
        squares ^= low
