"""Where everything lies on the front of a matchbox: board, panel, beads and numbers, in points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import NamedTuple

from beadbox.printing import ink
from beadbox.printing.errors import PrintingError
from beadbox.printing.ink import BOLD, Glass
from beadbox.printing.paper import MM
from beadbox.rules.layout import Bead, Layout

LETTER_MM = 4
"""The least height of a bead's letter, in mm."""
LETTER_SIZE = 1.8
"""The size of a bead's letter, in radii of the bead."""
CAPITAL = 0.718
"""The height of a capital letter of Helvetica-Bold, as a share of the font size."""
SMALLEST_RADIUS = LETTER_MM * MM / (LETTER_SIZE * CAPITAL)
SHRINKINGS = (1.0, 0.9, 0.8, 0.7, 0.62)
"""Sizes of beads that are tried until no two lie on each other."""
ALONG = (1.0, 0.85, 0.74, 0.66, 0.58, 0.5, 0.42)
SHIFTS = (0.0, 0.13, -0.13, 0.22, -0.22)
"""Other places of a bead, if its usual place is taken: shares of its move, and distances from its line in cells."""
MAX_TRIES = 4_000
DIGIT_SIZE = 0.85
"""The size of the number at a bead, in radii of the bead."""


@dataclass(frozen=True, slots=True)
class Front:
    """The pieces, beads and numbers on the front of a box."""

    number: int
    position: str
    move_number: int
    pieces: tuple[str | None, ...]
    slots: tuple[Slot, ...]

    @property
    def is_even(self) -> bool:
        """Whether all its moves have the same number of beads, which is then printed once."""
        return len({slot.beads for slot in self.slots}) < 2

    @property
    def beads_words(self) -> str:
        """Words for the number of beads of each colour, if it is the same for all; else empty."""
        n = self.slots[0].beads
        if not self.is_even:
            return ""
        if not n or len(self.slots) > 1:
            return f"{n:,} of each" if n else "empty"
        return f"{n:,} bead{'' if n == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Slot:
    """A colour of beads in a box: its look, the cells that its move touches, and its number of beads."""

    bead: Bead
    path: tuple[int, ...]
    beads: int


@dataclass(frozen=True, slots=True)
class Face:
    """Places and sizes of board and panel on every front of a print, in points from its lower left corner.

    Attributes:
        glasses: the colours of beads, by :attr:`Bead.colour`.
        left, top: the upper left corner of the board.
        scale: the side of a cell.
        radius: of a bead.
        piece: the size of pieces, 1 for the usual one.
        panel: left, bottom, width and height.
    """

    layout: Layout
    glasses: Sequence[Glass]
    width: float
    height: float
    left: float
    top: float
    scale: float
    radius: float
    piece: float
    panel: tuple[float, float, float, float]

    @classmethod
    def of(cls, layout: Layout, glasses: Sequence[Glass], width: float, height: float, fronts: Sequence[Front]) -> Face:
        """Return the face with the largest board: with the panel beside or above it.

        Raises:
            PrintingError: the letters would be too small to read.
        """
        leaps = any(len(slot.path) > 1 for front in fronts for slot in front.slots)
        # Two moves of one cell have their beads side by side.
        shared = any(len({slot.path for slot in front.slots}) < len(front.slots) for front in fronts)
        counts = any(not front.is_even for front in fronts)
        edge = min(width, height)
        pad = 0.03 * edge
        room, across = height - 2 * pad, width - 2 * pad
        scale_at_side = min(room / layout.rows, (across - 0.2 * width) / layout.columns)
        scale_above = min(across / layout.columns, (room - 0.15 * edge) / layout.rows)
        scale = max(scale_at_side, scale_above)
        # In cells, the largest radius at which beads keep clear of pieces, of each other and of numbers.
        max_share = {(False, False): 0.49, (False, True): 0.36, (True, False): 0.385, (True, True): 0.315}[
            leaps, counts
        ]
        if shared:
            max_share = 0.24 if counts else 0.287
        _require_letters(scale * max_share, width, height, counts=counts)
        radius = max(SMALLEST_RADIUS, scale * (min(max_share, 0.28) if shared else 0.26 if leaps else 0.35))
        # A bead between four pieces touches only their edges.
        piece = min(0.85, (0.55 - radius / scale) / 0.26) if leaps else 1
        board = scale * layout.columns, scale * layout.rows
        if scale_at_side >= scale_above:
            thick = min(across - board[0], width / 2)
            panel = (width - thick, 0.0, thick, height)
            left, top = (width - thick - board[0]) / 2, (height + board[1]) / 2
        else:
            thick = min(room - board[1], height / 2)
            panel = (0.0, height - thick, width, thick)
            left, top = (width - board[0]) / 2, (height - thick + board[1]) / 2
        face = cls(layout, glasses, width, height, left, top, scale, radius, piece, panel)
        shrunk = (replace(face, radius=radius * size) for size in SHRINKINGS)
        face = next((one for one in shrunk if all(_are_clear(one, _bead_spots(one, front)) for front in fronts)), face)
        _require_letters(face.radius, width, height, counts=counts)
        return face

    def centre(self, cell: int) -> tuple[float, float]:
        """Return the middle of a cell, in points."""
        place = self.layout.cells[cell]
        return self.left + place.x * self.scale, self.top - place.y * self.scale

    def holds(self, spot: Spot) -> bool:
        """Whether a bead lies on the board, with a hair's breadth for rounding."""
        across, down = (spot.x - self.left) / self.scale, (self.top - spot.y) / self.scale
        edge = self.radius / self.scale - 0.01
        return edge <= across <= self.layout.columns - edge and edge <= down <= self.layout.rows - edge


def _require_letters(radius: float, width: float, height: float, *, counts: bool) -> None:
    """Refuse beads that are too small for their letters, and name a sufficient size of the boxes."""
    if radius < SMALLEST_RADIUS:
        min_size_mm = [math.ceil(side / MM * SMALLEST_RADIUS / radius) for side in (width, height)]
        numbered = ", with a number beside each bead" if counts else ""
        raise PrintingError(
            f"Letters of {LETTER_MM} mm do not fit on boxes of this size{numbered}. "
            f"Make the boxes {min_size_mm[0]} × {min_size_mm[1]} mm or larger."
        )


class Spot(NamedTuple):
    """The place of a move's bead, and the side of it with room for a number: 1 above, -1 below."""

    slot: Slot
    x: float
    y: float
    number: int


def spots_of(face: Face, front: Front) -> list[Spot]:
    """Return the place of each bead: where its move ends, or halfway if a piece stands there, so as not to cover it.

    Where beads would lie on each other, each lies somewhere along its move instead. Where a number would touch another
    bead or number, it stands on the other side of its bead, if it touches fewer there.
    """
    spots = _bead_spots(face, front)
    if front.is_even:
        return spots
    boxes = [NumberBox.of(face, spot) for spot in spots]

    def n_touched(index: int, box: NumberBox) -> int:
        others = [other for other in range(len(spots)) if other != index]
        return sum(box.touches_bead(face, spots[other]) + box.touches_number(boxes[other]) for other in others)

    for index, spot in enumerate(spots):
        if n := n_touched(index, boxes[index]):
            turned = spot._replace(number=-spot.number)
            box = NumberBox.of(face, turned)
            if n_touched(index, box) < n:
                spots[index], boxes[index] = turned, box
    return spots


def _bead_spots(face: Face, front: Front) -> list[Spot]:
    spots = _usual_spots(face, front)
    return spots if _are_clear(face, spots) else _spread(face, spots) or spots


def _are_clear(face: Face, spots: Sequence[Spot]) -> bool:
    """Whether all beads lie on the board and none on another."""
    return all(face.holds(spot) for spot in spots) and all(
        math.dist(one[1:3], other[1:3]) > 2 * face.radius for one, other in combinations(spots, 2)
    )


def _spread(face: Face, spots: Sequence[Spot]) -> list[Spot]:
    """Return the beads at places along or beside their moves where none lies on another; empty if none are found."""
    least, n_tries = 2 * face.radius, 0
    chosen: list[Spot] = []

    def lay() -> bool:
        nonlocal n_tries
        if len(chosen) == len(spots):
            return True
        for spot in _places(face, spots[len(chosen)]):
            n_tries += 1
            if n_tries > MAX_TRIES:
                return False
            if face.holds(spot) and all(math.dist(spot[1:3], other[1:3]) > least for other in chosen):
                chosen.append(spot)
                if lay():
                    return True
                chosen.pop()
        return False

    return chosen if lay() else []


def _places(face: Face, spot: Spot) -> Iterator[Spot]:
    """Yield places of a bead along its move, the nearest to its end first; the usual one if it has no length."""
    (x, y), (to_x, to_y) = face.centre(spot.slot.path[0]), face.centre(spot.slot.path[-1])
    across, down = to_x - x, to_y - y
    length = math.hypot(across, down)
    if not length:
        yield spot
    for shift, along in product(SHIFTS, ALONG) if length else ():
        off = shift * face.scale / length
        yield spot._replace(x=x + along * across - off * down, y=y + along * down + off * across)


class NumberBox(NamedTuple):
    """The rectangle of a bead's number, over or under the bead, and the size of its font."""

    left: float
    bottom: float
    width: float
    height: float
    size: float

    @classmethod
    def of(cls, face: Face, spot: Spot) -> NumberBox:
        text = f"{spot.slot.beads:,}"
        room = (0.9 if len(spot.slot.path) < 2 else 0.44) * face.scale
        size = ink.fitting(text, BOLD, DIGIT_SIZE * face.radius, room)
        width, height, gap = ink.width_of(text, BOLD, size), CAPITAL * size, 1.06 * face.radius
        bottom = spot.y + gap if spot.number > 0 else spot.y - gap - height
        return cls(spot.x - width / 2, bottom, width, height, size)

    def touches_number(self, other: NumberBox) -> bool:
        return (
            -self.width < self.left - other.left < other.width
            and -self.height < self.bottom - other.bottom < other.height
        )

    def touches_bead(self, face: Face, bead: Spot) -> bool:
        across = max(self.left - bead.x, 0.0, bead.x - self.left - self.width)
        up = max(self.bottom - bead.y, 0.0, bead.y - self.bottom - self.height)
        return math.hypot(across, up) < face.radius


def _usual_spots(face: Face, front: Front) -> list[Spot]:
    lying: dict[tuple[float, float], list[Slot]] = {}
    for slot in front.slots:
        (from_x, from_y), (x, y) = face.centre(slot.path[0]), face.centre(slot.path[-1])
        if front.pieces[slot.path[-1]] is not None:
            x, y = (x + from_x) / 2, (y + from_y) / 2
        lying.setdefault((round(x, 3), round(y, 3)), []).append(slot)
    spots = []
    for (x, y), slots in lying.items():
        for index, slot in enumerate(slots):
            from_y = face.centre(slot.path[0])[1]
            number = 1 if from_y < y - 0.01 else -1
            apart = (index - (len(slots) - 1) / 2) * 2.06 * face.radius
            is_taken = front.pieces[slot.path[-1]] is not None
            if len(slots) > 1 and is_taken:  # lines of moves that cross
                spots.append(Spot(slot, x, y - apart, 1 if index == 0 else -1))
                continue
            if len(slots) > 1 and len(slot.path) == 1 and front.is_even:  # from corner to corner there is more room
                spots.append(Spot(slot, x + apart / math.sqrt(2), y - apart / math.sqrt(2), number))
                continue
            shift = 0.0 if is_taken or front.is_even else -0.35 * face.radius * number
            spots.append(Spot(slot, x + apart, y + shift, number))
    return spots
