"""Draws boards and pieces on paper, in the same way as ``static/js/diagram.js`` on a page."""

from __future__ import annotations

import math

from reportlab.lib.colors import Color
from reportlab.pdfgen.canvas import Canvas

from beadbox.printing import ink
from beadbox.printing.ink import BOLD
from beadbox.rules.layout import Layout, PieceLook
from beadbox.rules.outcome import Side

SQUARE = "square"
POINT = "point"
POINT_RADIUS = 0.11
"""The radius of an empty point, in cells."""
OUTLINES: dict[str, tuple[tuple[int, int], ...]] = {
    "square": ((-25, -25), (25, -25), (25, 25), (-25, 25)),
    "triangle": ((43, 0), (-22, 23), (-22, -23)),
    "rhombus": ((0, -38), (25, 0), (0, 38), (-25, 0)),
    "hexgon": ((39, 0), (17, 27), (-17, 27), (-39, 0), (-17, -27), (17, -27)),
}
"""Corners of pieces in hundredths of a cell."""
UNIT = 10.0
"""Size of a cell in stored drawings (PDF forms), in points. A drawing is scaled wherever it is placed."""


def board_draw(canvas: Canvas, layout: Layout, left: float, top: float, scale: float) -> None:
    """Draw the empty board at an upper left corner, with cells ``scale`` points wide. The file stores it only once."""
    canvas.saveState()
    canvas.transform(scale / UNIT, 0, 0, scale / UNIT, left, top)
    if not canvas.hasForm("board"):
        _board_form(canvas, layout)
    canvas.doForm("board")
    canvas.restoreState()


def _board_form(canvas: Canvas, layout: Layout) -> None:
    """Store the empty board as a form, with its upper left corner at the origin."""
    canvas.beginForm("board", -UNIT, -(layout.rows + 1) * UNIT, (layout.columns + 1) * UNIT, UNIT)
    canvas.setStrokeColor(ink.LINE)
    canvas.setLineWidth(0.03 * UNIT)
    for cell in layout.cells:
        _cell(canvas, layout, cell.x * UNIT, -cell.y * UNIT, UNIT)
    for ends in layout.lines:
        start, end = (layout.cells[cell] for cell in ends)
        length = math.dist((start.x, start.y), (end.x, end.y))
        right, down = (POINT_RADIUS * (end.x - start.x) / length, POINT_RADIUS * (end.y - start.y) / length)
        points = start.x + right, start.y + down, end.x - right, end.y - down
        canvas.line(*(UNIT * at * sign for at, sign in zip(points, (1, -1, 1, -1), strict=True)))
    canvas.endForm()


def _cell(canvas: Canvas, layout: Layout, x: float, y: float, scale: float) -> None:
    half = scale / 2
    if layout.shape == POINT:
        canvas.circle(x, y, POINT_RADIUS * scale)
        return
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


def piece_draw(canvas: Canvas, layout: Layout, piece: str, x: float, y: float, scale: float) -> None:
    """Draw a piece as the layout describes it, or else as a lettered disc.

    Outlines of the first side are dark, as on the screen; its pawns and discs are light.
    """
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
    is_outline = look.shape == "circle" or look.shape in OUTLINES
    fill, letter = (ink.LIGHT, ink.DARK) if (look.side is Side.FIRST) is not is_outline else (ink.DARK, ink.LIGHT)
    canvas.setLineWidth(0.05 * scale)
    canvas.setFillColor(fill)
    if look.shape == "pawn":
        _pawn(canvas, x, y, scale)
        return
    if look.shape in OUTLINES:
        _outline(canvas, look, x, y, scale, fill, letter)
        return
    canvas.circle(x, y, (0.3 if look.shape == "circle" else 0.36) * scale, stroke=1, fill=1)
    if look.shape == "disc":
        canvas.setFillColor(letter)
        canvas.setFont(BOLD, 0.42 * scale)
        canvas.drawCentredString(x, y - 0.15 * scale, ink.plain(piece))


def _outline(canvas: Canvas, look: PieceLook, x: float, y: float, scale: float, body: Color, core: Color) -> None:
    """Draw a shape with corners, turned like the piece; a flipped piece has a core of the other colour."""
    for size, fill in ((1.0, body), (0.5, core)) if look.flipped else ((1.0, body),):
        canvas.saveState()
        canvas.translate(x, y)
        canvas.rotate(-look.angle)  # the layout's angles are clockwise
        path = canvas.beginPath()
        for index, (across, down) in enumerate(OUTLINES[look.shape]):
            (path.lineTo if index else path.moveTo)(across * size * scale / 100, -down * size * scale / 100)
        path.close()
        canvas.setFillColor(fill)
        canvas.drawPath(path, stroke=1, fill=1)
        canvas.restoreState()


def _pawn(canvas: Canvas, x: float, y: float, scale: float) -> None:
    """Draw a pawn in the current fill and stroke: a foot, a body that narrows, and a head."""
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
