"""The 24 boxes that Gardner drew for HER. A full reduction by the reflection needs only 19 boxes.

If two moves of a symmetric position are mirror images, Gardner used only one of them. But he did not merge positions
that become mirror images later in the game, so such positions have a drawing each. Source: M. Gardner (March 1962).
There are 2, 11 and 11 drawings for the machine's first, second and third move.
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
        # In a position that is not symmetric, every move is a class of its own.
        after = (game.apply(position, moves[0]) for position in layer for moves in game.distinct_moves(position))
        layer = list(dict.fromkeys(after))
    return tuple(drawn)
