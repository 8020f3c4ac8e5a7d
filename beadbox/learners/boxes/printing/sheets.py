"""The whole print: a page with the beads to buy, then sheets of box fronts with cut marks, sorted by move number."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import IO

from reportlab.pdfgen.canvas import Canvas

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.printed_set import printed_set
from beadbox.learners.boxes.printing.box_face import SMALLEST_RADIUS, Face, Front
from beadbox.learners.boxes.printing.box_front import bead_draw, front_draw, front_of
from beadbox.printing import ink
from beadbox.printing.errors import ManyBeadsError, PrintingError
from beadbox.printing.ink import BOLD, REGULAR, Glass
from beadbox.printing.options import MAX_BEADS, N_COLOURS, PrintOptions
from beadbox.printing.paper import MARGIN, MM, Sheet

MAX_BOXES = 10_000
"""Boxes in one print: more would take the server too long, and are too many to glue."""


@dataclass(frozen=True, slots=True)
class Title:
    """The name of the machine on the sheets, and the fonts that have its letters.

    Attributes:
        name: the name itself, composed (NFC).
        text: the name without signs that our fonts lack, or the machine's code if our fonts lack its letters.
        notes: sentences about the parts of the name that are not printed, and the page that has them.
    """

    name: str
    text: str
    regular: str
    bold: str
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, code: str, page: str) -> Title:
        """Return the title of a machine with this name, code and page address."""
        name = unicodedata.normalize("NFC", name)
        text = "".join(char for char in name if unicodedata.category(char)[0] in "LMN" or ink.fonts_for(char))
        if text.strip() and (fonts := ink.fonts_for(text)) is not None:
            left_out = (
                () if text == name else ("This print leaves out the signs of the machine’s name that it cannot show.",)
            )
            return cls(name, text.strip(), *fonts, left_out)
        notes = (
            f"This print cannot show the letters of the machine’s name, so {code} stands for it.",
            f"The name stands on the machine’s page of the site: {page}",
        )
        return cls(name, code, REGULAR, BOLD, notes)


def sheets_write(
    out: IO[bytes],
    cabinet: Cabinet,
    title: Title,
    boxes: Iterable[tuple[str, Sequence[int]]],
    options: PrintOptions,
) -> None:
    """Write the print of a machine as PDF: vectors, and the letters of a name that PDF readers have no font for.

    Args:
        out: the file to write to.
        cabinet: the boxes that the machine may have.
        title: the machine's name on the sheets.
        boxes: its boxes as (position, beads).
        options: paper, size of boxes, and kind of beads.

    Raises:
        PrintingError: the boxes do not fit on this paper, are too many, or there are none.
        ManyBeadsError: the print would take more beads than most people have.
    """
    sheet = Sheet.of(options.paper, options.width_mm, options.height_mm)
    fronts, totals = fronts_of(cabinet, boxes, options)
    glasses = [ink.BEADS[colour] for colour in options.colours]
    face = Face.of(cabinet.game.presentation.layout, glasses, sheet.box_width, sheet.box_height, fronts)
    n_sheets = -(-len(fronts) // sheet.n_boxes)
    # Without times and random names in it, the same machine gives the same file.
    canvas = Canvas(out, pagesize=(sheet.width, sheet.height), pageCompression=1, invariant=1)
    canvas.setTitle(f"{title.name}: box fronts")
    canvas.setCreator("Beadbox")
    _shopping_page(canvas, sheet, cabinet, title, fronts, totals, options, glasses)
    for number in range(n_sheets):
        _sheet_page(canvas, sheet, face, fronts[number * sheet.n_boxes : (number + 1) * sheet.n_boxes])
        _sheet_line(canvas, sheet, title, number + 1, n_sheets)
        canvas.showPage()
    canvas.save()


def sheets_pdf(
    cabinet: Cabinet,
    name: str,
    boxes: Iterable[tuple[str, Sequence[int]]],
    options: PrintOptions,
    *,
    code: str = "",
    page: str = "",
) -> BytesIO:
    """Return the print of a machine in memory, ready to be read.

    Args:
        cabinet: the boxes that the machine may have.
        name: the name of the machine.
        boxes: its boxes as (position, beads).
        options: paper, size of boxes, and kind of beads.
        code: an ASCII name of the machine, for a name with letters that our fonts lack.
        page: the address of its page.

    Raises:
        PrintingError: as :func:`sheets_write`.
    """
    out = BytesIO()
    sheets_write(out, cabinet, Title.of(name, code, page), boxes, options)
    out.seek(0)
    return out


Totals = Counter[tuple[int, int]]
"""Beads by colour and move number."""


def fronts_of(
    cabinet: Cabinet, boxes: Iterable[tuple[str, Sequence[int]]], options: PrintOptions
) -> tuple[list[Front], Totals]:
    """Return every front in order of play, and the beads that they need.

    Raises:
        PrintingError: there are no boxes, or too many.
        ManyBeadsError: the boxes take more beads than the options allow.
    """
    now = {text: tuple(beads) for text, beads in boxes}
    if not now:
        raise PrintingError("This machine has no box yet. Let it play first.")
    if len(now) > MAX_BOXES:
        raise PrintingError(f"This machine has {len(now):,} boxes. At most {MAX_BOXES:,} can be printed.")
    game = cabinet.game
    positions = printed_set(cabinet) if options.gardner else [game.decode(text) for text in now]
    fronts, totals, n_start = [], Totals(), 0
    for number, position in enumerate(
        sorted(positions, key=lambda one: (cabinet.move_number(one), game.ply(one), game.encode(one))), start=1
    ):
        box = cabinet.box_position(position)
        start = cabinet.initial_beads(box)
        front = front_of(cabinet, number, position, now.get(game.encode(box), start) if options.beads_now else start)
        fronts.append(front)
        n_start += sum(start)
        for slot in front.slots:
            totals[slot.bead.colour, front.move_number] += slot.beads
    if totals.total() > MAX_BEADS and not options.many_beads:
        raise ManyBeadsError(totals.total(), n_start)
    return fronts, totals


def _sheet_page(canvas: Canvas, sheet: Sheet, face: Face, fronts: Sequence[Front]) -> None:
    for index, front in enumerate(fronts):
        canvas.saveState()
        canvas.translate(*sheet.corner(index))
        front_draw(canvas, face, front)
        canvas.restoreState()
    _cut_marks(canvas, sheet)


def _cut_marks(canvas: Canvas, sheet: Sheet) -> None:
    """Draw short lines outside the boxes, at both ends of each cut."""
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


def _sheet_line(canvas: Canvas, sheet: Sheet, title: Title, number: int, n_sheets: int) -> None:
    text = f"{title.text}, sheet {number} of {n_sheets}. Print at 100 % and cut along the marks."
    canvas.setFillColor(ink.SOFT)
    canvas.setFont(title.regular, ink.fitting(text, title.regular, 7, sheet.width - 2 * MARGIN))
    canvas.drawString(MARGIN, 4 * MM, text)


def _shopping_page(
    canvas: Canvas,
    sheet: Sheet,
    cabinet: Cabinet,
    title: Title,
    fronts: Sequence[Front],
    totals: Totals,
    options: PrintOptions,
    glasses: Sequence[Glass],
) -> None:
    """Draw the page about the matchboxes and the beads to buy, by colour."""
    game = cabinet.game
    left, y = 18 * MM, sheet.height - 24 * MM
    canvas.setFillColor(ink.DARK)
    canvas.setFont(title.bold, ink.fitting(title.text, title.bold, 22, sheet.width - 2 * left))
    canvas.drawString(left, y, title.text)
    canvas.setFont(REGULAR, 11)
    side = game.presentation.layout.role_names[cabinet.side]
    beads = sum(totals.values())
    boxes = _count(len(fronts), "matchbox", "matchboxes")
    beads_note = "These are the beads it holds now." if options.beads_now else "These are the beads at the beginning."
    lines = (
        *title.notes,
        f"This machine of matchboxes plays {game.name.lower()}. It plays {side}.",
        *(["Its boxes are the ones that Martin Gardner drew in 1962."] if options.gardner else []),
        f"You need {boxes} of {options.width_mm:g} × {options.height_mm:g} mm and {_count(beads, 'bead', 'beads')}.",
        beads_note,
        "The label of a box shows the board. Each bead on it stands for a move.",
    )
    for line in lines:
        y -= 16
        canvas.drawString(left, y, ink.plain(line))
    y -= 34
    canvas.setFont(BOLD, 14)
    canvas.drawString(left, y, "Beads to buy")
    _bead_table(canvas, left, y - 22, sheet.width - 2 * left, totals, _marks(fronts), glasses)
    canvas.showPage()


def _count(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


def _marks(fronts: Sequence[Front]) -> dict[int, str]:
    """Return the letters on the beads of each colour."""
    marks: dict[int, set[str]] = {}
    for front in fronts:
        for slot in front.slots:
            marks.setdefault(slot.bead.colour, set()).add(slot.bead.mark)
    return {colour: " ".join(sorted(letters)) for colour, letters in marks.items()}


def _bead_table(
    canvas: Canvas,
    left: float,
    y: float,
    width: float,
    totals: Totals,
    marks: dict[int, str],
    glasses: Sequence[Glass],
) -> None:
    """Draw a table with a row for each colour, a column for each move number, and sums."""
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
        bead_draw(canvas, glasses[colour], first, left + 9, y + 4, SMALLEST_RADIUS)
        canvas.setFillColor(ink.DARK)
        canvas.setFont(REGULAR, 11)
        letters = marks[colour] if len(marks[colour]) <= 12 else f"{marks[colour][:11]}…"
        canvas.drawString(left + 24, y, ink.plain(f"{glasses[colour].name} ({letters})"))
        counts = [totals[colour, move] for move in moves]
        row(y, [f"{count:,}" for count in (*counts, sum(counts))], REGULAR)
    rule(y - 9)
    y -= 23
    canvas.setFont(BOLD, 11)
    canvas.drawString(left, y, "All colours")
    sums = [sum(totals[colour, move] for colour in range(N_COLOURS)) for move in moves]
    row(y, [f"{count:,}" for count in (*sums, sum(sums))], BOLD)
