"""The front of one matchbox: a band with the move number, the position with its beads, and what each bead plays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from reportlab.pdfgen.canvas import Canvas

from games.rules.base import Bead, Layout, PieceLook, Side
from learning.core.machines.boxes import Cabinet
from learning.core.printing import ink

REGULAR, BOLD = "Helvetica", "Helvetica-Bold"
SQUARE = "square"
OUTLINES = {
    "square": ((-25, -25), (25, -25), (25, 25), (-25, 25)),
    "triangle": ((43, 0), (-22, 23), (-22, -23)),
    "rhombus": ((0, -38), (25, 0), (0, 38), (-25, 0)),
    "hexgon": ((39, 0), (17, 27), (-17, 27), (-39, 0), (-17, -27), (17, -27)),
}
"""Corners of pieces in hundredths of a cell, as ``static/js/diagram.js`` draws them."""
UNIT = 10.0
"""The size that stamps are drawn in."""


@dataclass(frozen=True, slots=True)
class Front:
    """What stands on a box."""

    number: int
    position: str
    move_number: int
    pieces: tuple[str | None, ...]
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """A colour of beads in a box: what it looks like, the cells its move touches, its text, and how many there are."""

    bead: Bead
    path: tuple[int, ...]
    move: str
    beads: int | None


def front_of(cabinet: Cabinet, number: int, position: Any, beads: tuple[int, ...] | None) -> Front:
    """The front of the box of a canonical position; without ``beads`` no numbers are printed."""
    game = cabinet.game
    printed = cabinet.printed_moves(position)
    return Front(
        number=number,
        position=game.encode(position),
        move_number=cabinet.move_number(position) + 1,
        pieces=game.pieces(position),
        slots=tuple(
            Slot(
                game.look.bead(position, move),
                game.path(move),
                game.format_move(move),
                None if beads is None else beads[k],
            )
            for k, move in enumerate(printed)
        ),
    )


def front_draw(canvas: Canvas, layout: Layout, front: Front, width: float, height: float) -> None:
    """Draw a front with its lower left corner at the origin."""
    edge = min(width, height)
    band, pad = 0.15 * edge, 0.05 * edge
    canvas.setLineWidth(0.4)
    canvas.setStrokeColor(ink.LINE)
    canvas.rect(0, 0, width, height)
    _band(canvas, front, width, height, band)
    room, across = height - band - 2 * pad, width - 2 * pad
    if width < height:  # upright: the key stands below the board
        scale = min(0.6 * room / layout.rows, across / layout.columns)
        left, top = (width - scale * layout.columns) / 2, pad + room
        key = (pad, pad, across, room - scale * layout.rows - pad)
    else:
        scale = min(room / layout.rows, 0.62 * width / layout.columns)
        left, top = pad, pad + (room + scale * layout.rows) / 2
        beside = scale * layout.columns + pad
        key = (pad + beside, pad, across - beside, room)
    _board(canvas, layout, front, left, top, scale)
    _key(canvas, front, *key)


def bead_draw(canvas: Canvas, bead: Bead, x: float, y: float, radius: float) -> None:
    """A bead with its letter around a point. Each kind is in the file once, and stamped wherever it lies."""
    name = f"bead-{bead.colour}-{bead.mark}"
    if not canvas.hasForm(name):
        _bead_form(canvas, bead, name)
    size = radius / UNIT
    canvas.saveState()
    canvas.transform(size, 0, 0, size, x, y)
    canvas.doForm(name)
    canvas.restoreState()


def _bead_form(canvas: Canvas, bead: Bead, name: str) -> None:
    glass = ink.BEADS[bead.colour]
    canvas.beginForm(name, -1.2 * UNIT, -1.2 * UNIT, 1.2 * UNIT, 1.2 * UNIT)
    canvas.setFillColor(glass.fill)
    canvas.setStrokeColor(ink.DARK)
    canvas.setLineWidth(0.1 * UNIT)
    canvas.circle(0, 0, UNIT, stroke=1, fill=1)
    canvas.setFillColor(glass.ink)
    canvas.setFont(BOLD, 1.1 * UNIT)
    canvas.drawCentredString(0, -0.39 * UNIT, ink.plain(bead.mark))
    canvas.endForm()


def _band(canvas: Canvas, front: Front, width: float, height: float, band: float) -> None:
    canvas.setFillColor(ink.band(front.move_number))
    canvas.rect(0, height - band, width, band, stroke=0, fill=1)
    canvas.setFillColor(ink.LIGHT)
    size, base, pad = 0.62 * band, height - 0.71 * band, band / 3
    canvas.setFont(BOLD, size)
    canvas.drawString(pad, base, f"{ink.ordinal(front.move_number)} move")
    canvas.drawRightString(width - pad, base, f"No. {front.number}")


def _board(canvas: Canvas, layout: Layout, front: Front, left: float, top: float, scale: float) -> None:
    """The position, and on it each bead where its move ends (and a line from where it begins)."""
    centres = [(left + cell.x * scale, top - cell.y * scale) for cell in layout.cells]
    canvas.saveState()
    canvas.transform(scale / UNIT, 0, 0, scale / UNIT, left, top)
    if not canvas.hasForm("board"):
        _board_form(canvas, layout)
    canvas.doForm("board")
    canvas.restoreState()
    for piece, (x, y) in zip(front.pieces, centres, strict=True):
        if piece is not None:
            _piece(canvas, layout, piece, x, y, scale)
    ends: dict[int, list[Slot]] = {}
    for slot in front.slots:
        if len(slot.path) > 1:
            canvas.setStrokeColor(ink.SOFT)
            canvas.setLineWidth(0.06 * scale)
            canvas.line(*centres[slot.path[0]], *centres[slot.path[-1]])
        ends.setdefault(slot.path[-1], []).append(slot)
    for cell, slots in ends.items():
        x, y = centres[cell]
        crowded = len(slots) > 1 or front.pieces[cell] is not None
        radius = scale * (0.2 if crowded else 0.31)
        for index, slot in enumerate(slots):
            # Several moves may end on one cell: their beads stand side by side.
            shift = (index - (len(slots) - 1) / 2) * 2.1 * radius
            bead_draw(canvas, slot.bead, x + shift, y, radius)


def _board_form(canvas: Canvas, layout: Layout) -> None:
    """The empty board from its upper left corner."""
    canvas.beginForm("board", -UNIT, -(layout.rows + 1) * UNIT, (layout.columns + 1) * UNIT, UNIT)
    canvas.setStrokeColor(ink.LINE)
    canvas.setLineWidth(0.03 * UNIT)
    for cell in layout.cells:
        _cell(canvas, layout, cell.x * UNIT, -cell.y * UNIT, UNIT)
    canvas.endForm()


def _cell(canvas: Canvas, layout: Layout, x: float, y: float, scale: float) -> None:
    half = scale / 2
    if layout.shape == SQUARE:
        canvas.rect(x - half, y - half, scale, scale)
        return
    path = canvas.beginPath()
    for corner in range(6):
        angle = math.radians(60 * corner - 30)
        point = x + 0.57 * scale * math.cos(angle), y + 0.57 * scale * math.sin(angle)
        (path.lineTo if corner else path.moveTo)(*point)
    path.close()
    canvas.drawPath(path)


def _piece(canvas: Canvas, layout: Layout, piece: str, x: float, y: float, scale: float) -> None:
    """A piece as the layout says it looks; what it says nothing of is a lettered disc. The first side's are light."""
    look = layout.look_of(piece)
    arm = 0.27 * scale
    canvas.setStrokeColor(ink.DARK)
    canvas.setLineWidth(0.09 * scale)
    if look.shape == "cross":
        canvas.line(x - arm, y - arm, x + arm, y + arm)
        canvas.line(x - arm, y + arm, x + arm, y - arm)
        return
    if look.shape == "nought":
        canvas.circle(x, y, arm)
        return
    fill, letter = (ink.LIGHT, ink.DARK) if look.side is Side.FIRST else (ink.DARK, ink.LIGHT)
    canvas.setLineWidth(0.05 * scale)
    canvas.setFillColor(fill)
    if look.shape == "pawn":
        _pawn(canvas, x, y, scale)
        return
    if look.shape in OUTLINES:
        _outline(canvas, look, x, y, scale)
        return
    canvas.circle(x, y, (0.3 if look.shape == "circle" else 0.36) * scale, stroke=1, fill=1)
    if look.shape == "disc":
        canvas.setFillColor(letter)
        canvas.setFont(BOLD, 0.42 * scale)
        canvas.drawCentredString(x, y - 0.15 * scale, ink.plain(piece))


def _outline(canvas: Canvas, look: PieceLook, x: float, y: float, scale: float) -> None:
    """A shape with corners, turned as the piece is; one that is flipped is hollow."""
    for size in (1.0, 0.5) if look.flipped else (1.0,):
        canvas.saveState()
        canvas.translate(x, y)
        canvas.rotate(-look.angle)  # ours are clockwise
        path = canvas.beginPath()
        for index, (across, down) in enumerate(OUTLINES[look.shape]):
            (path.lineTo if index else path.moveTo)(across * size * scale / 100, -down * size * scale / 100)
        path.close()
        canvas.drawPath(path, stroke=1, fill=1 if size == 1 else 0)
        canvas.restoreState()


def _pawn(canvas: Canvas, x: float, y: float, scale: float) -> None:
    """A foot, a body that narrows, and a head, in the fill and stroke that are set."""
    body = canvas.beginPath()
    body.moveTo(x - 0.26 * scale, y - 0.32 * scale)
    body.lineTo(x + 0.26 * scale, y - 0.32 * scale)
    body.curveTo(
        x + 0.24 * scale, y - 0.12 * scale, x + 0.1 * scale, y - 0.12 * scale, x + 0.08 * scale, y + 0.1 * scale
    )
    body.lineTo(x - 0.08 * scale, y + 0.1 * scale)
    body.curveTo(
        x - 0.1 * scale, y - 0.12 * scale, x - 0.24 * scale, y - 0.12 * scale, x - 0.26 * scale, y - 0.32 * scale
    )
    body.close()
    canvas.drawPath(body, stroke=1, fill=1)
    canvas.circle(x, y + 0.2 * scale, 0.15 * scale, stroke=1, fill=1)


def _key(canvas: Canvas, front: Front, left: float, bottom: float, width: float, height: float) -> None:
    """Each bead with its move or, where beads are counted, its number; below, the text of the position."""
    footer = 0.14 * height
    canvas.setFillColor(ink.SOFT)
    canvas.setFont(REGULAR, ink.fitting(front.position, REGULAR, 0.75 * footer, width))
    canvas.drawRightString(left + width, bottom, front.position)
    n_columns = 1 if len(front.slots) <= 5 else 2 if len(front.slots) <= 14 else 3
    n_rows = -(-len(front.slots) // n_columns)
    line = min((height - footer) / max(n_rows, 1), 0.2 * height)
    column = width / n_columns
    radius = min(0.42 * line, 0.17 * column)
    for index, slot in enumerate(front.slots):
        row_x = left + (index // n_rows) * column
        y = bottom + height - (index % n_rows + 0.5) * line
        bead_draw(canvas, slot.bead, row_x + radius, y, radius)
        text = slot.move if slot.beads is None else f"{slot.beads:,}"
        size = ink.fitting(text, BOLD, 1.25 * radius, column - 2.6 * radius)
        canvas.setFillColor(ink.DARK)
        canvas.setFont(BOLD, size)
        canvas.drawString(row_x + 2.5 * radius, y - 0.36 * size, ink.plain(text))
