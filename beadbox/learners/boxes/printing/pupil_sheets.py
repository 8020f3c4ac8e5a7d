"""The results of a class on paper: a sheet for each pupil, with the machine's curve and its most notable boxes."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

from reportlab.pdfgen.canvas import Canvas

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.printing.box_face import Face
from beadbox.learners.boxes.printing.box_front import front_draw, front_of
from beadbox.printing import ink
from beadbox.printing.ink import BOLD, REGULAR
from beadbox.printing.paper import MM, PAPERS

LEFT = 18 * MM
BOX = (84 * MM, 57 * MM)
CURVE_HEIGHT = 42 * MM


@dataclass(frozen=True, slots=True)
class PupilSheet:
    """The content of a pupil's sheet.

    Attributes:
        name: the name of the pupil.
        lines: sentences about the machine.
        curve: pairs of a number of games and the points after them, from 0 to 1.
        cabinet: the boxes that the machine may have.
        boxes: caption, position and beads of each box to draw, at most four.
    """

    name: str
    lines: Sequence[str]
    curve: Sequence[tuple[float, float]]
    cabinet: Cabinet
    boxes: Sequence[tuple[str, str, Sequence[int]]]


def pupil_sheets_pdf(title: str, sheets: Sequence[PupilSheet]) -> BytesIO:
    """Return the sheets as PDF in memory, ready to be read: one page of A4 each. All machines play the same game.

    Raises:
        PrintingError: the boxes of the game do not fit on the sheet.
    """
    out = BytesIO()
    canvas = Canvas(out, pagesize=PAPERS["A4"], pageCompression=1, invariant=1)
    canvas.setTitle(title)
    canvas.setCreator("Beadbox")
    for sheet in sheets:
        _sheet(canvas, title, sheet)
        canvas.showPage()
    canvas.save()
    out.seek(0)
    return out


def _sheet(canvas: Canvas, title: str, sheet: PupilSheet) -> None:
    width, height = PAPERS["A4"]
    room, y = width - 2 * LEFT, height - 24 * MM
    y = _line(canvas, sheet.name, y, 24, room, bold=True)
    y = _line(canvas, title, y, 11, room) - 4 * MM
    for text in sheet.lines:
        y = _line(canvas, text, y, 11, room)
    if sheet.curve:
        y -= 8 * MM + CURVE_HEIGHT
        _curve(canvas, sheet.curve, y, room)
    fronts = [
        front_of(sheet.cabinet, number, sheet.cabinet.game.decode(position), beads)
        for number, (_, position, beads) in enumerate(sheet.boxes, start=1)
    ]
    if not fronts:
        return
    face = Face.of(sheet.cabinet.game.presentation.layout, ink.BEADS, *BOX, fronts)
    top = y - 12 * MM
    for index, (front, (caption, _, _)) in enumerate(zip(fronts, sheet.boxes, strict=True)):
        row, column = divmod(index, 2)
        left, base = LEFT + column * (BOX[0] + 6 * MM), top - row * (BOX[1] + 12 * MM)
        canvas.setFillColor(ink.DARK)
        canvas.setFont(BOLD, ink.fitting(caption, BOLD, 11, BOX[0]))
        canvas.drawString(left, base, ink.plain(caption))
        canvas.saveState()
        canvas.translate(left, base - BOX[1] - 2 * MM)
        front_draw(canvas, face, front)
        canvas.restoreState()


def _line(canvas: Canvas, text: str, y: float, size: float, room: float, *, bold: bool = False) -> float:
    """Draw a line of text and return the height of the next line."""
    text = unicodedata.normalize("NFC", text)
    fonts = ink.fonts_for(text)
    font = (fonts or (REGULAR, BOLD))[bold]
    text = text if fonts else ink.plain(text)
    canvas.setFillColor(ink.DARK)
    canvas.setFont(font, ink.fitting(text, font, size, room))
    canvas.drawString(LEFT, y, text)
    return y - 1.5 * size


def _curve(canvas: Canvas, curve: Sequence[tuple[float, float]], y: float, room: float) -> None:
    """Draw the points after each number of games, with lines at 0, 50 and 100 points."""
    left, most = LEFT + 12 * MM, max(games for games, _ in curve) or 1
    across = room - 12 * MM
    canvas.setFillColor(ink.SOFT)
    canvas.setStrokeColor(ink.LINE)
    canvas.setLineWidth(0.4)
    canvas.setFont(REGULAR, 9)
    for share in (0, 0.5, 1):
        canvas.line(left, y + share * CURVE_HEIGHT, left + across, y + share * CURVE_HEIGHT)
        canvas.drawRightString(left - 2 * MM, y + share * CURVE_HEIGHT - 3, f"{100 * share:.0f}")
    canvas.drawString(LEFT, y + CURVE_HEIGHT + 3 * MM, "Points of 100 against random play")
    canvas.drawRightString(left + across, y - 4.5 * MM, f"{most:,.0f} game{'' if most == 1 else 's'}")
    canvas.setStrokeColor(ink.DARK)
    canvas.setLineWidth(1.6)
    places = [(left + games / most * across, y + score * CURVE_HEIGHT) for games, score in curve]
    path = canvas.beginPath()
    path.moveTo(*places[0])
    for place in places[1:]:
        path.lineTo(*place)
    canvas.drawPath(path)
    canvas.setFillColor(ink.DARK)
    canvas.circle(*places[-1], 2.4, stroke=0, fill=1)
