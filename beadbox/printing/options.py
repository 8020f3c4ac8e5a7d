"""What can be chosen of a print, and what was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from beadbox.printing.paper import DEFAULT_MM

MAX_BEADS = 2_000
"""More beads are printed only if asked for once more."""
N_COLOURS = 9
"""Colours that beads have on the screen."""


@dataclass(frozen=True, slots=True)
class PrintChoices:
    """What can be chosen for a machine.

    Attributes:
        marks: the letters of its beads, by colour.
        gardner: how many boxes Gardner drew for it; 0 if none.
    """

    marks: Mapping[int, Sequence[str]]
    gardner: int


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """What is printed on what.

    Attributes:
        beads_now: each box has the beads it holds now; else those at the beginning.
        gardner: the boxes are those that Gardner drew for HER; else a position and its mirror image share one.
        colours: the colour of beads for each colour of the screen, as places in :data:`ink.BEADS`.
        many_beads: more than :data:`MAX_BEADS` beads are no mistake.
    """

    paper: str = "A4"
    width_mm: float = DEFAULT_MM[0]
    height_mm: float = DEFAULT_MM[1]
    beads_now: bool = False
    gardner: bool = False
    colours: tuple[int, ...] = tuple(range(N_COLOURS))
    many_beads: bool = False
