"""The front of one matchbox: the position with a bead for every move, and a panel with the number of box and move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from reportlab.pdfgen.canvas import Canvas

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.printing.box_face import (
    CAPITAL,
    LETTER_SIZE,
    Face,
    Front,
    NumberBox,
    Slot,
    Spot,
    spots_of,
)
from beadbox.printing import ink
from beadbox.printing.board import UNIT, board_draw, piece_draw
from beadbox.printing.ink import BOLD, Glass
from beadbox.rules.game import AnyPosition


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
            Slot(game.presentation.bead(box, bead), game.path(move), n)
            for bead, move, n in zip(printed, moves, beads, strict=True)
        ),
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
