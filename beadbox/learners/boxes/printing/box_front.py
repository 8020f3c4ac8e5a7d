"""The front of one matchbox: the position with a bead for every move, and a panel with the number of box and move."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product
from typing import NamedTuple

from reportlab.pdfgen.canvas import Canvas

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.printing import ink
from beadbox.printing.board import UNIT, board_draw, piece_draw
from beadbox.printing.errors import PrintingError
from beadbox.printing.ink import BOLD, Glass
from beadbox.printing.paper import MM
from beadbox.rules.game import AnyPosition
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


def front_of(cabinet: Cabinet, number: int, position: AnyPosition, beads: Sequence[int]) -> Front:
    """Return the front of a position's box, with the board as ``position`` lies; ``beads`` are those of the box."""
    game = cabinet.game
    box = cabinet.box_position(position)
    printed = cabinet.slot_labels(box)
    moves = printed if position == box else tuple(members[0] for members in cabinet.slot_moves(position))
    return Front(
        number=number,
        position=game.encode(position),
        move_number=cabinet.move_number(position) + 1,
        pieces=game.pieces(position),
        slots=tuple(
            Slot(game.look.bead(box, bead), game.path(move), n)
            for bead, move, n in zip(printed, moves, beads, strict=True)
        ),
    )


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


def front_draw(canvas: Canvas, face: Face, front: Front) -> None:
    """Draw a front with its lower left corner at the origin."""
    canvas.setLineWidth(0.4)
    canvas.setStrokeColor(ink.LINE)
    canvas.rect(0, 0, face.width, face.height)
    _panel(canvas, front, *face.panel)
    _board(canvas, face, front)


def bead_draw(canvas: Canvas, glass: Glass, mark: str, x: float, y: float, radius: float) -> None:
    """Draw a bead with its letter around a point. The file stores each kind of bead once."""
    name = f"bead-{glass.name.replace(' ', '-')}-{mark}"
    if not canvas.hasForm(name):
        _bead_form(canvas, glass, mark, name)
    size = radius / UNIT
    canvas.saveState()
    canvas.transform(size, 0, 0, size, x, y)
    canvas.doForm(name)
    canvas.restoreState()


def _bead_form(canvas: Canvas, glass: Glass, mark: str, name: str) -> None:
    canvas.beginForm(name, -1.2 * UNIT, -1.2 * UNIT, 1.2 * UNIT, 1.2 * UNIT)
    canvas.setFillColor(glass.fill)
    canvas.setStrokeColor(ink.DARK)
    canvas.setLineWidth(0.08 * UNIT)
    canvas.circle(0, 0, UNIT, stroke=1, fill=1)
    canvas.setFillColor(glass.ink)
    size = ink.fitting(mark, BOLD, LETTER_SIZE * UNIT, 1.7 * UNIT)
    canvas.setFont(BOLD, size)
    canvas.drawCentredString(0, -CAPITAL * size / 2, ink.plain(mark))
    canvas.endForm()


def _panel(canvas: Canvas, front: Front, x: float, y: float, width: float, height: float) -> None:
    """Draw the move number, the number of the box and its beads, one under the other or in a line."""
    is_strip = width > 2 * height
    canvas.setFillColor(ink.band(front.move_number))
    canvas.rect(x, y if is_strip else y + 0.72 * height, width, height * (1 if is_strip else 0.28), stroke=0, fill=1)
    canvas.setFillColor(ink.LIGHT)
    move, number = f"{ink.ordinal(front.move_number)} move", f"No. {front.number}"
    if is_strip:
        size = ink.fitting(f"{move}   {front.beads_words}   {number}", BOLD, 0.62 * height, width - height)
        canvas.setFont(BOLD, size)
        base = y + height / 2 - CAPITAL * size / 2
        canvas.drawString(x + height / 3, base, move)
        canvas.drawString(x + height / 3 + ink.width_of(f"{move}   ", BOLD, size), base, front.beads_words)
        canvas.drawRightString(x + width - height / 3, base, number)
        return
    _centred(canvas, move, x, y + 0.72 * height, width, 0.28 * height)
    canvas.setFillColor(ink.DARK)
    _centred(canvas, number, x, y + 0.34 * height, width, 0.3 * height)
    _centred(canvas, front.beads_words, x, y + 0.06 * height, width, 0.26 * height)


def _centred(canvas: Canvas, text: str, x: float, y: float, width: float, height: float) -> None:
    """Draw a line of text in the middle of a rectangle."""
    size = ink.fitting(text, BOLD, 0.55 * height, 0.88 * width)
    canvas.setFont(BOLD, size)
    canvas.drawCentredString(x + width / 2, y + height / 2 - CAPITAL * size / 2, text)


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
    for index, spot in () if front.is_even else enumerate(spots):
        others = spots[:index] + spots[index + 1 :]
        turned = spot._replace(number=-spot.number)
        spots[index] = min(spot, turned, key=lambda one, others=others: _n_touched(face, one, others))
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


def _n_touched(face: Face, spot: Spot, others: Sequence[Spot]) -> int:
    """Return how many other beads and numbers the number of a bead touches."""
    box = NumberBox.of(face, spot)
    return sum(box.touches_bead(face, other) + box.touches_number(NumberBox.of(face, other)) for other in others)


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


def _board(canvas: Canvas, face: Face, front: Front) -> None:
    """Draw the position, the beads of its moves, and a line for each move from cell to cell."""
    board_draw(canvas, face.layout, face.left, face.top, face.scale)
    spots = spots_of(face, front)
    for spot in spots:
        if len(spot.slot.path) > 1:
            _move_line(canvas, face, front, spot)
    for cell, piece in enumerate(front.pieces):
        if piece is not None:
            piece_draw(canvas, face.layout, piece, *face.centre(cell), face.scale * face.piece)
    for spot in spots:
        bead_draw(canvas, face.glasses[spot.slot.bead.colour], spot.slot.bead.mark, spot.x, spot.y, face.radius)
    for spot in () if front.is_even else spots:
        _bead_number(canvas, face, spot)


def _move_line(canvas: Canvas, face: Face, front: Front, spot: Spot) -> None:
    """Draw the line of a move through its bead, in the bead's colour; an arrowhead points at a captured piece."""
    path = spot.slot.path
    points = [face.centre(path[0]), (spot.x, spot.y)]
    if front.pieces[path[-1]] is not None:
        end_x, end_y = face.centre(path[-1])
        angle = math.atan2(spot.y - end_y, spot.x - end_x)
        gap = 0.34 * face.scale * face.piece
        points.append((end_x + gap * math.cos(angle), end_y + gap * math.sin(angle)))
    fill = face.glasses[spot.slot.bead.colour].fill
    for colour, width in ((ink.DARK, 0.075), (fill, 0.045)):
        canvas.setStrokeColor(colour)
        canvas.setLineWidth(width * face.scale)
        for (x, y), (to_x, to_y) in pairwise(points):
            canvas.line(x, y, to_x, to_y)
    if len(points) > 2:
        canvas.saveState()
        canvas.translate(*points[2])
        canvas.rotate(math.degrees(angle))
        tip = canvas.beginPath()
        tip.moveTo(0, 0)
        tip.lineTo(0.14 * face.scale, 0.07 * face.scale)
        tip.lineTo(0.14 * face.scale, -0.07 * face.scale)
        tip.close()
        canvas.setFillColor(fill)
        canvas.setStrokeColor(ink.DARK)
        canvas.setLineWidth(0.015 * face.scale)
        canvas.drawPath(tip, stroke=1, fill=1)
        canvas.restoreState()


def _bead_number(canvas: Canvas, face: Face, spot: Spot) -> None:
    """Draw the number of beads of this kind, over or under the bead on a white ground."""
    box = NumberBox.of(face, spot)
    canvas.setFillColor(ink.LIGHT)
    canvas.rect(box.left - 0.4, box.bottom - 0.4, box.width + 0.8, box.height + 0.8, stroke=0, fill=1)
    canvas.setFillColor(ink.DARK)
    canvas.setFont(BOLD, box.size)
    canvas.drawCentredString(spot.x, box.bottom, f"{spot.slot.beads:,}")
