"""How the noughts and crosses board is drawn and named."""

from types import MappingProxyType

from beadbox.rules.layout import Layout, PieceLook
from beadbox.rules.outcome import Side
from beadbox.rules.squares import CELLS

LAYOUT = Layout(
    cells=CELLS,
    columns=3,
    rows=3,
    shape="square",
    roles=("X", "O"),
    role_names=("crosses", "noughts"),
    pieces=MappingProxyType(
        {"X": PieceLook("X", "cross", Side.FIRST), "O": PieceLook("O", "nought", Side.SECOND)},
    ),
    prompts=("Your turn: place a cross.", "Your turn: place a nought."),
)
