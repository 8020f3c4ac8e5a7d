"""The boxes that Gardner drew for HER: 24, where full mirror reduction needs 19.

Of the moves that a symmetric position makes equal, Gardner kept one. He did not merge the positions after them, so a
position and its mirror image, reached in two ways, have a drawing each. Source: M. Gardner (March 1962), with 2, 11 and
11 drawings for the machine's first, second and third move.
"""

from __future__ import annotations

from typing import Any

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.rules.game import AnyPosition


def printed_set(cabinet: Cabinet) -> tuple[AnyPosition, ...]:
    """Return the positions that get a drawing, in order of play; each uses the box of its canonical position."""
    game = cabinet.game
    drawn: list[Any] = []
    layer = [game.initial_position()]
    while layer:
        drawn += (position for position in layer if cabinet.has_box(position))
        # Where a position is not symmetric, every move is a class of its own.
        after = (game.apply(position, alike[0]) for position in layer for alike in game.distinct_moves(position))
        layer = list(dict.fromkeys(after))
    return tuple(drawn)
