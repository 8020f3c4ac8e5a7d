"""Options of a print, and the choices that a machine offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from beadbox.printing.paper import DEFAULT_MM

MAX_BEADS = 2_000
"""Beads in a print without a second request (``many_beads``)."""
N_COLOURS = 9
"""Colours that beads have on the screen."""


@dataclass(frozen=True, slots=True)
class PrintChoices:
    """The choices that a print of a machine offers.

    Attributes:
        marks: the letters of its beads, by colour.
        gardner: the number of boxes that Gardner drew for it; 0 if none.
    """

    marks: Mapping[int, Sequence[str]]
    gardner: int


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """The paper, size, boxes and beads of one print.

    Attributes:
        beads_now: each box has the beads that it holds now; else those at the beginning.
        gardner: the boxes are those that Gardner drew for HER; else a position and its mirror image share one.
        colours: the colour of beads for each colour of the screen, as indices of :data:`ink.BEADS`.
        many_beads: more than :data:`MAX_BEADS` beads are allowed.
    """

    paper: str = "A4"
    width_mm: float = DEFAULT_MM[0]
    height_mm: float = DEFAULT_MM[1]
    beads_now: bool = False
    gardner: bool = False
    colours: tuple[int, ...] = tuple(range(N_COLOURS))
    many_beads: bool = False
