"""Nim 3-3-3: a move takes any number of counters from one of three heaps, and the side that takes the last one wins.

A position is nine characters, heap by heap, ``C`` for a counter and ``.`` for one that is taken, and the side to move
(``1`` or ``2``). Counters are taken from the end of a heap; a move is the foremost counter that it takes, ``1`` to
``9``. Source: C. L. Bouton, "Nim, a game with a complete mathematical theory" (1901); ``docs/rules/nim-3-3-3.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from types import MappingProxyType

from beadbox.rules.game import GuidePart, Symmetry
from beadbox.rules.layout import Bead, Cell, Layout, PieceLook
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.returning import EMPTY, Move, Position, ReturningGame, StonesPresentation

N_HEAPS = 3
SIZE = 3
"""Counters of a heap at the start."""
COUNTER = "C"
LAST_TAKEN = "last_taken"
_HEAPS = ("top", "middle", "bottom")
_PLACES = ("first", "second", "third")
_EXCHANGES: dict[tuple[int, ...], str] = {
    (0, 1, 2): "as it is",
    (0, 2, 1): "the middle and the bottom heap exchanged",
    (1, 0, 2): "the top and the middle heap exchanged",
    (2, 1, 0): "the top and the bottom heap exchanged",
    (1, 2, 0): "each heap one place down, and the bottom one on top",
    (2, 0, 1): "each heap one place up, and the top one at the bottom",
}

LAYOUT = Layout(
    cells=tuple(
        Cell(
            id=str(SIZE * heap + place + 1),
            name=f"{_PLACES[place]} of the {_HEAPS[heap]} heap",
            mark="ABCDEFGHI"[SIZE * heap + place],
            x=place + 0.5,
            y=heap + 0.5,
        )
        for heap in range(N_HEAPS)
        for place in range(SIZE)
    ),
    columns=SIZE,
    rows=N_HEAPS,
    shape="square",
    roles=("A", "B"),
    role_names=("player A", "player B"),
    pieces=MappingProxyType({COUNTER: PieceLook("counter", "circle", Side.FIRST)}),
    cell_words="counters",
    badges=(COUNTER, COUNTER),
    prompts=("Your turn: take counters from one row.", "Your turn: take counters from one row."),
)

GUIDE: tuple[GuidePart[Position, Move], ...] = (
    GuidePart("The aim", "Take the last counter. There are three heaps, drawn as rows."),
    GuidePart(
        "Your turn",
        "Take one, two or three counters from one row. Touch a counter to take it and all after it in its row.",
        Position("CCC......", Side.FIRST),
        ((0,), (1,), (2,)),
    ),
    GuidePart(
        "A hint",
        "Two equal rows are good to leave. Do to one row what the other player does to the other.",
        Position("CC.CC....", Side.SECOND),
    ),
)


class NimLook(StonesPresentation):
    """A bead has the colour and the letter of the foremost counter that its move takes."""

    def scene(self) -> Position:
        return Position("CC.CCCC..", Side.FIRST)

    def bead(self, position: Position, move: Move) -> Bead:
        return Bead(colour=move[0], mark=self.layout.cells[move[0]].mark)

    def describe_move(self, move: Move) -> str:
        return f"from the {super().describe_move(move)} on"


class Nim(ReturningGame):
    """The rules of Nim with three heaps of three; no position recurs."""

    slug = "nim-3-3-3"
    name = "Nim 3-3-3"
    summary = "Take counters from one of three rows. The player who takes the last one wins."
    always_ends = True
    has_draws = False
    symmetries: tuple[Symmetry, ...] = tuple(
        Symmetry(
            _EXCHANGES[heaps],
            tuple(SIZE * heap + place for heap in heaps for place in range(SIZE)),
            exchanged=heaps != tuple(range(N_HEAPS)),
        )
        for heaps in permutations(range(N_HEAPS))
    )
    layout = LAYOUT
    stones = COUNTER
    start = COUNTER * (N_HEAPS * SIZE)
    reasons: Mapping[str, str] = {LAST_TAKEN: "the winner took the last counter"}
    guide: tuple[GuidePart[Position, Move], ...] = GUIDE
    presentation_type: type[StonesPresentation] = NimLook

    def legal_moves(self, position: Position) -> tuple[Move, ...]:
        return tuple((cell,) for cell, counter in enumerate(position.board) if counter == COUNTER)

    def apply(self, position: Position, move: Move) -> Position:
        end = (move[0] // SIZE + 1) * SIZE
        board = position.board[: move[0]] + EMPTY * (end - move[0]) + position.board[end:]
        return Position(board, position.side.other)

    def outcome(self, position: Position) -> Outcome | None:
        return None if COUNTER in position.board else Outcome(position.side.other, LAST_TAKEN)

    def fault(self, position: Position) -> str:
        rows = [position.board[at : at + SIZE] for at in range(0, len(position.board), SIZE)]
        return "has a gap in a heap" if any(EMPTY + COUNTER in row for row in rows) else super().fault(position)
