"""The whole print: a page with the beads to buy, then sheets of box fronts with cut marks, sorted by move number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import IO

from reportlab.pdfgen.canvas import Canvas

from games.rules.base import Bead, Layout
from learning.core.machines.boxes import Cabinet
from learning.core.printing import ink
from learning.core.printing.box_front import BOLD, REGULAR, Front, bead_draw, front_draw, front_of
from learning.core.printing.errors import PrintingError
from learning.core.printing.paper import DEFAULT_MM, MARGIN, MM, Sheet

MAX_BOXES = 10_000
"""More boxes nobody glues, and no server should draw."""


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """What is printed on what.

    Attributes:
        with_beads: whether each box tells how many beads are in it now; else fronts are for a machine that begins.
    """

    paper: str = "A4"
    width_mm: float = DEFAULT_MM[0]
    height_mm: float = DEFAULT_MM[1]
    with_beads: bool = True


def sheets_write(
    out: IO[bytes], cabinet: Cabinet, name: str, boxes: Iterable[tuple[str, Sequence[int]]], options: PrintOptions
) -> None:
    """Write the print of a machine as PDF: vectors only, with the fonts that every reader has.

    Args:
        out: where to.
        cabinet: what its boxes are.
        name: what people call it.
        boxes: its boxes as (position, beads).
        options: paper, size and whether beads are counted.

    Raises:
        PrintingError: it does not fit on this paper, or there is nothing to print.
    """
    sheet = Sheet.of(options.paper, options.width_mm, options.height_mm)
    fronts, totals = _fronts(cabinet, boxes, with_beads=options.with_beads)
    n_sheets = -(-len(fronts) // sheet.n_boxes)
    # Without times and random names in it, the same machine is the same file.
    canvas = Canvas(out, pagesize=(sheet.width, sheet.height), pageCompression=1, invariant=1)
    title = ink.plain(name)
    canvas.setTitle(f"{title}: box fronts")
    canvas.setCreator("Beadbox")
    _shopping_page(canvas, sheet, cabinet, title, fronts, totals, options)
    for number in range(n_sheets):
        _sheet_page(
            canvas, sheet, cabinet.game.look.layout, fronts[number * sheet.n_boxes : (number + 1) * sheet.n_boxes]
        )
        _sheet_line(canvas, sheet, title, number + 1, n_sheets)
        canvas.showPage()
    canvas.save()


def sheets_pdf(
    cabinet: Cabinet, name: str, boxes: Iterable[tuple[str, Sequence[int]]], options: PrintOptions
) -> BytesIO:
    """The same, in memory and ready to be read."""
    out = BytesIO()
    sheets_write(out, cabinet, name, boxes, options)
    out.seek(0)
    return out


Totals = Counter[tuple[int, int]]
"""Beads by colour and move number."""


def _fronts(
    cabinet: Cabinet, boxes: Iterable[tuple[str, Sequence[int]]], *, with_beads: bool
) -> tuple[list[Front], Totals]:
    """Every front in order of play, and the beads that they need."""
    decoded = [(cabinet.game.decode(text), text, tuple(beads)) for text, beads in boxes]
    if not decoded:
        raise PrintingError("This machine has no box yet. Let it play first.")
    if len(decoded) > MAX_BOXES:
        raise PrintingError(f"This machine has {len(decoded):,} boxes; {MAX_BOXES:,} are the most that are printed.")
    decoded.sort(key=lambda box: (cabinet.move_number(box[0]), cabinet.game.ply(box[0]), box[1]))
    fronts, totals = [], Totals()
    for number, (position, _, now) in enumerate(decoded, start=1):
        front = front_of(cabinet, number, position, now if with_beads else None)
        fronts.append(front)
        for slot, count in zip(front.slots, now if with_beads else cabinet.initial_beads(position), strict=True):
            totals[slot.bead.colour, front.move_number] += count
    return fronts, totals


def _sheet_page(canvas: Canvas, sheet: Sheet, layout: Layout, fronts: Sequence[Front]) -> None:
    for index, front in enumerate(fronts):
        canvas.saveState()
        canvas.translate(*sheet.corner(index))
        front_draw(canvas, layout, front, sheet.box_width, sheet.box_height)
        canvas.restoreState()
    _cut_marks(canvas, sheet)


def _cut_marks(canvas: Canvas, sheet: Sheet) -> None:
    """Short lines outside the boxes, at each cut from edge to edge."""
    near, far = 1.5 * MM, 6 * MM
    right = sheet.left + sheet.columns * sheet.box_width
    top = sheet.bottom + sheet.rows * sheet.box_height
    canvas.setStrokeColor(ink.DARK)
    canvas.setLineWidth(0.5)
    for column in range(sheet.columns + 1):
        x = sheet.left + column * sheet.box_width
        canvas.line(x, top + near, x, top + far)
        canvas.line(x, sheet.bottom - near, x, sheet.bottom - far)
    for row in range(sheet.rows + 1):
        y = sheet.bottom + row * sheet.box_height
        canvas.line(sheet.left - near, y, sheet.left - far, y)
        canvas.line(right + near, y, right + far, y)


def _sheet_line(canvas: Canvas, sheet: Sheet, title: str, number: int, n_sheets: int) -> None:
    text = f"{title}, sheet {number} of {n_sheets}. Cut along the marks; print at 100 %."
    canvas.setFillColor(ink.SOFT)
    canvas.setFont(REGULAR, ink.fitting(text, REGULAR, 7, sheet.width - 2 * MARGIN))
    canvas.drawString(MARGIN, 4 * MM, text)


def _shopping_page(
    canvas: Canvas,
    sheet: Sheet,
    cabinet: Cabinet,
    title: str,
    fronts: Sequence[Front],
    totals: Totals,
    options: PrintOptions,
) -> None:
    """What to buy: matchboxes, and beads by colour."""
    game = cabinet.game
    left, y = 18 * MM, sheet.height - 24 * MM
    canvas.setFillColor(ink.DARK)
    canvas.setFont(BOLD, ink.fitting(title, BOLD, 22, sheet.width - 2 * left))
    canvas.drawString(left, y, title)
    canvas.setFont(REGULAR, 11)
    side = game.look.layout.role_names[cabinet.side]
    beads = sum(totals.values())
    holding = "the beads it holds now" if options.with_beads else "the beads it begins with"
    lines = (
        f"A matchbox machine for {game.name.lower()} that plays {side}.",
        f"{len(fronts):,} matchboxes of {options.width_mm:g} × {options.height_mm:g} mm, {beads:,} beads: {holding}.",
        "Each front shows a position, the beads of its moves, and which move of the machine it is for.",
    )
    for line in lines:
        y -= 16
        canvas.drawString(left, y, ink.plain(line))
    y -= 34
    canvas.setFont(BOLD, 14)
    canvas.drawString(left, y, "Beads to buy")
    _bead_table(canvas, left, y - 22, sheet.width - 2 * left, totals, _marks(fronts))
    canvas.showPage()


def _marks(fronts: Sequence[Front]) -> dict[int, str]:
    """The letters that beads of each colour bear."""
    marks: dict[int, set[str]] = {}
    for front in fronts:
        for slot in front.slots:
            marks.setdefault(slot.bead.colour, set()).add(slot.bead.mark)
    return {colour: " ".join(sorted(letters)) for colour, letters in marks.items()}


def _bead_table(canvas: Canvas, left: float, y: float, width: float, totals: Totals, marks: dict[int, str]) -> None:
    """A row for each colour, a column for each move number, and sums."""
    moves = sorted({move for _, move in totals})
    names = 48 * MM
    column = min(26 * MM, (width - names) / (len(moves) + 1))
    size = 10 if column > 14 * MM else 7
    edges = [left + names + column * (index + 1) for index in range(len(moves) + 1)]

    def row(y: float, words: Sequence[str], font: str) -> None:
        canvas.setFont(font, size)
        for x, text in zip(edges, words, strict=True):
            canvas.drawRightString(x, y, text)

    def rule(y: float) -> None:
        canvas.setStrokeColor(ink.LINE)
        canvas.setLineWidth(0.6)
        canvas.line(left, y, edges[-1], y)

    canvas.setFillColor(ink.SOFT)
    row(y, [*(f"{ink.ordinal(move)} move" for move in moves), "all"], REGULAR)
    rule(y - 6)
    for colour in sorted({colour for colour, _ in totals}):
        y -= 23
        first = next(iter(marks[colour].split()), "")
        bead_draw(canvas, Bead(colour, first), left + 8, y + 4, 8)
        canvas.setFillColor(ink.DARK)
        canvas.setFont(REGULAR, 11)
        letters = marks[colour] if len(marks[colour]) <= 12 else f"{marks[colour][:11]}…"
        canvas.drawString(left + 22, y, ink.plain(f"{ink.BEADS[colour].name} ({letters})"))
        counts = [totals[colour, move] for move in moves]
        row(y, [f"{count:,}" for count in (*counts, sum(counts))], REGULAR)
    rule(y - 9)
    y -= 23
    canvas.setFont(BOLD, 11)
    canvas.drawString(left, y, "All colours")
    sums = [sum(totals[colour, move] for colour in range(len(ink.BEADS))) for move in moves]
    row(y, [f"{count:,}" for count in (*sums, sum(sums))], BOLD)
