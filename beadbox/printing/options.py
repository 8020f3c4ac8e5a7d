"""The options of a print, and the choices that a machine offers for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from beadbox.printing.paper import DEFAULT_MM

MAX_BEADS = 2_000
"""Maximum number of beads in a print, unless the option ``many_beads`` allows more."""
N_COLOURS = 9
"""Number of colours of beads on the screen."""


@dataclass(frozen=True, slots=True)
class PrintChoices:
    """The choices that a print of a machine offers.

    Attributes:
        marks: the letters on the beads of each colour.
        gardner: the number of boxes in Gardner's drawings of the machine; 0 without drawings.
    """

    marks: Mapping[int, Sequence[str]]
    gardner: int


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """The options of a print: paper, size of the boxes, and beads.

    Attributes:
        beads_now: whether each box shows its present beads, instead of those before training.
        gardner: whether the boxes are those that Gardner drew for HER. Else mirror images share a box.
        colours: the printed colour for each colour of the screen, as indices of :data:`ink.BEADS`.
        many_beads: whether more than :data:`MAX_BEADS` beads are allowed.
    """

    paper: str = "A4"
    width_mm: float = DEFAULT_MM[0]
    height_mm: float = DEFAULT_MM[1]
    beads_now: bool = False
    gardner: bool = False
    colours: tuple[int, ...] = tuple(range(N_COLOURS))
    many_beads: bool = False
