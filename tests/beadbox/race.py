"""A long game with very many small boxes, for code that has to stay fast with 10,000 of them.

Both sides in turn add 0, 1 or 2 to one number modulo 100. After a fixed number of plies an even number wins for
the first side.
"""

from functools import cached_property
from types import MappingProxyType

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.game import Game, GuidePart, Presentation, Symmetry
from beadbox.rules.layout import Cell, Layout
from beadbox.rules.outcome import Outcome, Side

N_PLIES = 226
MODULUS = 100
MARKS = "abc"


LAYOUT = Layout(
    cells=tuple(Cell(mark, mark, mark, i + 0.5, 0.5) for i, mark in enumerate(MARKS)),
    columns=3,
    rows=1,
    shape="square",
    roles=("E", "O"),
    role_names=("even", "odd"),
)


class Race(Game[tuple[int, int], int]):
    slug = "race"
    name = "Race"
    summary = "End on an even number."
    symmetries = (Symmetry("as it is", (0, 1, 2)),)

    @cached_property
    def presentation(self):
        return Presentation(
            self,
            LAYOUT,
            guide=(GuidePart("The aim", "End on an even number.", (0, 0)),),
            notation="two numbers",
            reasons=MappingProxyType({"counted": "the last number is counted"}),
        )

    def initial_position(self):
        return 0, 0

    def side_to_move(self, position):
        return Side(position[0] % 2)

    def ply(self, position):
        return position[0]

    def legal_moves(self, position):
        return () if position[0] == N_PLIES else (0, 1, 2)

    def apply(self, position, move):
        return position[0] + 1, (position[1] + move) % MODULUS

    def outcome(self, position):
        return Outcome(Side(position[1] % 2), "counted") if position[0] == N_PLIES else None

    def transform(self, position, symmetry):
        return position

    def transform_move(self, move, symmetry):
        return move

    def encode(self, position):
        return f"{position[0]}.{position[1]}"

    def decode(self, text):
        ply, dot, number = text.partition(".")
        if not (dot and ply.isdecimal() and number.isdecimal() and int(ply) <= N_PLIES and int(number) < MODULUS):
            raise InvalidPositionError(f"{text!r} is no ply and number")
        return int(ply), int(number)

    def format_move(self, move):
        return MARKS[move]

    def parse_move(self, text):
        if text not in MARKS or len(text) != 1:
            raise InvalidMoveError(f"{text!r} is not a, b or c")
        return MARKS.index(text)

    def pieces(self, position):
        return tuple("EO"[position[1] >> bit & 1] for bit in range(3))

    def path(self, move):
        return (move,)
