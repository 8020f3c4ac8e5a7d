"""Sheets of box fronts, read back: pages, texts, sizes of boxes, and beads to buy."""

import math
import re
import unicodedata
from collections import Counter
from dataclasses import replace
from html import unescape
from io import BytesIO
from itertools import combinations, permutations, product
from typing import Any

import pytest
from django.test import Client
from pypdf import PdfReader
from pypdf.generic import ContentStream
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfbase.ttfonts import TTFontFile

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.printed_set import printed_set
from beadbox.learners.boxes.printing.box_face import CAPITAL, LETTER_SIZE, Face, NumberBox, spots_of
from beadbox.learners.boxes.printing.box_front import front_of
from beadbox.learners.boxes.printing.sheets import fronts_of, sheets_pdf
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.boxes.table import boxes_compile
from beadbox.printing.board import UNIT
from beadbox.printing.errors import ManyBeadsError, PrintingError
from beadbox.printing.ink import BEADS, ordinal
from beadbox.printing.options import PrintOptions
from beadbox.printing.paper import MM, PAPERS, Sheet
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from learning.exceptions import PrintRefusedError
from learning.kinds.boxes.files import BoxesFiles
from learning.models import Machine
from learning.services.machines import machine_create
from tests.factories import machine, trained_machine, user
from tests.sbom import FONTS
from tests.threads import at_once


def cabinet_of(preset: str = "michie-1961", side: Side = Side.FIRST, slug: str = "noughts-and-crosses") -> Cabinet:
    return Cabinet(GAMES[slug], side, PRESETS[preset].rule)


def boxes_of(cabinet: Cabinet) -> list[tuple[str, list[int]]]:
    keys = boxes_compile(cabinet.game, cabinet.side, cabinet.rule).keys
    return [(key, cabinet.initial_beads(cabinet.game.decode(key))) for key in keys]


def print_sheets(cabinet: Cabinet, options: PrintOptions, name: str = "MENACE") -> PdfReader:
    return PdfReader(sheets_pdf(cabinet, name, boxes_of(cabinet), replace(options, many_beads=True)))


def rectangles(reader: PdfReader, page: int) -> Counter[tuple[float, float]]:
    """Return the sizes of the rectangles drawn on a page, in points."""
    content = reader.pages[page].get_contents()
    assert content is not None
    stream = ContentStream(content, reader)
    sizes = [(round(float(o[2]), 2), round(float(o[3]), 2)) for o, operator in stream.operations if operator == b"re"]
    return Counter(sizes)


Matrix = tuple[float, ...]


def compose(first: Matrix, second: Matrix) -> Matrix:
    """Return the transformation ``first`` followed by ``second``."""
    a, b, c, d, e, f = first
    g, h, i, j, k, m = second
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


TextsAndBeads = tuple[list[tuple[float, float, float, float]], list[tuple[float, float, float]]]


def texts_and_beads_on(reader: PdfReader, page: int) -> TextsAndBeads:
    """Return the texts of a page as (left, right, height on the page, size), and its beads as (x, y, radius)."""
    content = reader.pages[page].get_contents()
    assert content is not None
    matrix: Matrix = (1, 0, 0, 1, 0, 0)
    saved_matrices: list[Matrix] = []
    text_matrix, font, size = matrix, "", 0.0
    texts, beads = [], []
    for operands, operator in ContentStream(content, reader).operations:
        if operator == b"q":
            saved_matrices.append(matrix)
        elif operator == b"Q":
            matrix = saved_matrices.pop()
        elif operator == b"cm":
            matrix = compose(tuple(map(float, operands)), matrix)
        elif operator == b"Do" and "board" not in str(operands[0]):
            beads.append((matrix[4], matrix[5], matrix[0] * UNIT))
        elif operator == b"Tf":
            fonts: Any = reader.pages[page]["/Resources"]
            font, size = fonts["/Font"][operands[0]]["/BaseFont"].removeprefix("/"), float(operands[1])
        elif operator == b"Tm":
            text_matrix = compose(tuple(map(float, operands)), matrix)
        elif operator == b"Tj":
            texts.append(
                (
                    text_matrix[4],
                    text_matrix[4] + stringWidth(str(operands[0]), font, size) * text_matrix[0],
                    text_matrix[5],
                    size * text_matrix[3],
                )
            )
    return texts, beads


def letters_on(reader: PdfReader, page: int) -> list[float]:
    """Return the heights of the letters on the beads of a page; each letter is in a stamp that the page scales."""
    forms: Any = reader.pages[page]["/Resources"]
    content = reader.pages[page].get_contents()
    assert content is not None
    matrix: Matrix = (1, 0, 0, 1, 0, 0)
    saved_matrices: list[Matrix] = []
    heights = []
    for operands, operator in ContentStream(content, reader).operations:
        if operator == b"q":
            saved_matrices.append(matrix)
        elif operator == b"Q":
            matrix = saved_matrices.pop()
        elif operator == b"cm":
            matrix = compose(tuple(map(float, operands)), matrix)
        elif operator == b"Do" and "board" not in str(operands[0]):
            stamp = ContentStream(forms["/XObject"][operands[0]], reader)
            sizes = [float(o[1]) for o, operator in stamp.operations if operator == b"Tf"]
            heights.append(sizes[-1] * CAPITAL * matrix[0])  # the first size, of every stamp, writes no text
    return heights


def assert_clear_of_pawn(face: Face, spot: Any, cell: int) -> None:
    """Assert that a bead's letter, within 0.75 of its radius, does not overlap a pawn."""
    x, y = face.centre(cell)
    size = face.scale * face.piece
    pawn = [(x + 0.26 * size * side, y - 0.32 * size) for side in (-1, -0.5, 0, 0.5, 1)]
    pawn += [(x, y + 0.2 * size + 0.15 * size * up) for up in (-1, 0, 1)]
    pawn += [(x + 0.15 * size * side, y + 0.2 * size) for side in (-1, 1)]
    assert all(math.dist((spot.x, spot.y), point) > 0.75 * face.radius for point in pawn)


class TestSheets:
    # The larger boards have thousands of boxes that look alike.
    @pytest.mark.parametrize("slug", ["noughts-and-crosses", "hexapawn", "hexapawn-3x4"])
    @pytest.mark.parametrize("side", Side)
    @pytest.mark.sampled(2)
    def test_every_box_is_printed_once_in_order_of_play(self, slug: str, side: Side) -> None:
        cabinet = cabinet_of(side=side, slug=slug)
        reader = print_sheets(cabinet, PrintOptions())
        lines = [line for page in reader.pages[1:] for line in page.extract_text().splitlines()]
        keys = [key for key, _ in boxes_of(cabinet)]
        fronts, _ = fronts_of(cabinet, boxes_of(cabinet), PrintOptions(many_beads=True))
        assert sorted(front.position for front in fronts) == sorted(keys)
        numbers = [cabinet.move_number(cabinet.game.decode(front.position)) + 1 for front in fronts]
        assert [line for line in lines if line.endswith(" move")] == [f"{ordinal(number)} move" for number in numbers]
        assert numbers == sorted(numbers)
        assert [line for line in lines if line.startswith("No. ")] == [f"No. {n + 1}" for n in range(len(keys))]
        assert not set(keys) & set(lines)  # the text of a board is of no use to a player

    @pytest.mark.parametrize(
        ("paper", "width", "height"),
        [("A4", 53, 36), ("A4", 60.5, 40), ("A4", 36, 53), ("A3", 120, 90), ("Letter", 53, 36)],
    )
    def test_boxes_have_the_chosen_size(self, paper: str, width: float, height: float) -> None:
        cabinet = cabinet_of()
        reader = print_sheets(cabinet, PrintOptions(paper, width, height))
        sheet = Sheet.of(paper, width, height)
        size = (round(width / 25.4 * 72, 2), round(height / 25.4 * 72, 2))
        assert sum(rectangles(reader, page)[size] for page in range(len(reader.pages))) == 304
        assert rectangles(reader, 1)[size] == min(sheet.n_boxes, 304)
        assert len(reader.pages) == 1 + -(-304 // sheet.n_boxes)
        box = reader.pages[1].mediabox
        assert sorted((float(box.width), float(box.height))) == pytest.approx(sorted(PAPERS[paper]), abs=0.01)

    def test_an_a4_sheet_has_25_usual_boxes(self) -> None:
        sheet = Sheet.of("A4", 53, 36)
        assert (sheet.columns, sheet.rows) == (5, 5)
        assert len(print_sheets(cabinet_of(), PrintOptions()).pages) == 1 + 13

    def test_boxes_lie_within_the_margin_without_overlap(self) -> None:
        for paper in PAPERS:
            sheet = Sheet.of(paper, 53, 36)
            corners = [sheet.corner(index) for index in range(sheet.n_boxes)]
            for x, y in corners:
                assert x + 1e-6 >= 12 * MM
                assert x + sheet.box_width <= sheet.width - 12 * MM + 1e-6
                assert y + 1e-6 >= 12 * MM
                assert y + sheet.box_height <= sheet.height - 12 * MM + 1e-6
            assert len({(round(x / sheet.box_width, 3), round(y / sheet.box_height, 3)) for x, y in corners}) == len(
                corners
            )
            assert corners[0][1] > corners[-1][1]

    def test_beads_to_buy_equal_the_beads_in_the_boxes(self) -> None:
        cabinet = cabinet_of()
        text = print_sheets(cabinet, PrintOptions()).pages[0].extract_text()
        # 4, 3, 2, 1 beads in 304 boxes with equivalent squares merged: docs/learning.md counts 1,720.
        assert "You need 304 matchboxes of 53 × 36 mm and 1,720 beads." in text
        assert "These are the beads at the beginning." in text
        lines = text.splitlines()
        total_line = lines.index("All colours")
        n_by_colour = Counter(
            {
                cabinet.game.presentation.bead(position, move).colour: 0
                for key, _ in boxes_of(cabinet)
                for position in [cabinet.game.decode(key)]
                for move in cabinet.slot_labels(position)
            }
        )
        for key, beads in boxes_of(cabinet):
            position = cabinet.game.decode(key)
            for move, count in zip(cabinet.slot_labels(position), beads, strict=True):
                n_by_colour[cabinet.game.presentation.bead(position, move).colour] += count
        for colour, count in n_by_colour.items():
            row = next(i for i, line in enumerate(lines) if line.startswith(f"{BEADS[colour].name} ("))
            assert lines[row + 5] == f"{count:,}"
        assert lines[total_line + 1 : total_line + 6][-1] == "1,720"

    def test_current_beads_are_printed_only_if_chosen(self) -> None:
        cabinet = cabinet_of()
        boxes = [(key, [7777 + k for k in range(len(beads))]) for key, beads in boxes_of(cabinet)]
        reader_now = PdfReader(sheets_pdf(cabinet, "M", boxes, PrintOptions(beads_now=True, many_beads=True)))
        reader_at_start = PdfReader(sheets_pdf(cabinet, "M", boxes, PrintOptions()))
        texts = ["".join(page.extract_text() for page in reader.pages) for reader in (reader_now, reader_at_start)]
        assert texts[0].count("7,77") >= 304
        assert "7,77" not in texts[1]
        assert texts[1].count("4 of each") == 1
        assert texts[1].count("3 of each") == 12

    @pytest.mark.parametrize(("n_beads", "needs_confirmation"), [(100_000, True), (2_001, True), (2_000, False)])
    def test_many_beads_need_confirmation(self, n_beads: int, needs_confirmation: bool) -> None:
        cabinet = cabinet_of()
        boxes = [(key, [0] * len(beads)) for key, beads in boxes_of(cabinet)]
        boxes[0][1][0] = n_beads
        if needs_confirmation:
            with pytest.raises(ManyBeadsError) as error:
                sheets_pdf(cabinet, "M", boxes, PrintOptions(beads_now=True))
            assert (error.value.n_beads, error.value.n_start) == (n_beads, 1720)
        sheets_pdf(cabinet, "M", boxes, PrintOptions(beads_now=True, many_beads=needs_confirmation))

    def test_her_is_printed_as_gardner_drew_her(self) -> None:
        cabinet = cabinet_of("gardner-her", Side.SECOND, "hexapawn")
        fronts, totals = fronts_of(cabinet, boxes_of(cabinet), PrintOptions(gardner=True))
        assert Counter(front.move_number for front in fronts) == {1: 2, 2: 11, 3: 11}
        assert {front.position for front in fronts} == {cabinet.game.encode(one) for one in printed_set(cabinet)}
        for front in fronts:  # every bead plays a legal move on the board as drawn
            legal = {cabinet.game.path(move) for move in cabinet.game.legal_moves(cabinet.game.decode(front.position))}
            assert {slot.path for slot in front.slots} <= legal
        assert totals.total() == sum(len(front.slots) for front in fronts) == 55
        text = print_sheets(cabinet, PrintOptions(gardner=True)).pages[0].extract_text()
        assert "You need 24 matchboxes" in text
        assert "Martin Gardner drew in 1962" in text

    @pytest.mark.parametrize("slug", ["hexapawn", "hexapawn-4x3", "hexapawn-3x4", "hexapawn-4x4", "hexapawn-5x3"])
    @pytest.mark.parametrize("side", Side)
    @pytest.mark.parametrize("is_even", [True, False])
    @pytest.mark.sampled(6)
    def test_letters_are_large_and_lie_on_no_piece(self, slug: str, side: Side, is_even: bool) -> None:
        cabinet = cabinet_of("hexapawn-rl", side, slug)
        boxes = boxes_of(cabinet)[::7][:150]
        if not is_even:
            boxes = [(key, list(range(len(beads)))) for key, beads in boxes]
        options = PrintOptions("A4", 70, 50, beads_now=True, many_beads=True)
        fronts, _ = fronts_of(cabinet, boxes, options)
        face = Face.of(cabinet.game.presentation.layout, BEADS, 70 * MM, 50 * MM, fronts)
        assert face.radius * LETTER_SIZE * CAPITAL >= 4 * MM - 1e-9
        for front in fronts:
            spots = spots_of(face, front)
            for index, spot in enumerate(spots):
                for cell, piece in enumerate(front.pieces):
                    if piece is not None:
                        assert_clear_of_pawn(face, spot, cell)
                for other in spots[:index]:
                    distance = math.dist((spot.x, spot.y), (other.x, other.y))
                    assert distance > 1.85 * face.radius  # rings may touch, but letters never overlap

    @pytest.mark.parametrize("slug", [slug for slug, game in GAMES.items() if game.supports_boxes and game.listable])
    def test_no_bead_lies_on_another(self, slug: str) -> None:
        for side, is_numbered in product(Side, (False, True)):
            cabinet = Cabinet(GAMES[slug], side, BoxRule())
            fronts = [
                front_of(cabinet, 1, cabinet.game.decode(key), list(range(1, len(beads) + 1)) if is_numbered else beads)
                for key, beads in boxes_of(cabinet)
            ]
            face = Face.of(cabinet.game.presentation.layout, BEADS, 80 * MM, 60 * MM, fronts)
            assert face.radius * LETTER_SIZE * CAPITAL >= 4 * MM - 1e-9
            for front in fronts:
                assert all(face.holds(spot) for spot in spots_of(face, front)), front
                for one, other in combinations(spots_of(face, front), 2):
                    assert math.dist((one.x, one.y), (other.x, other.y)) > 2 * face.radius, front
            if is_numbered:
                numbers = [[(NumberBox.of(face, spot), spot) for spot in spots_of(face, front)] for front in fronts]
                touches = [
                    box.touches_bead(face, other) or box.touches_number(other_box)
                    for front_numbers in numbers
                    for (box, _), (other_box, other) in permutations(front_numbers, 2)
                ]
                assert sum(touches) <= len(touches) / 50  # with three pieces that go anywhere there is little room

    @pytest.mark.parametrize(("width", "height"), [(53, 36), (36, 53), (60, 60), (180, 30)])
    @pytest.mark.parametrize("slug", ["noughts-and-crosses", "hexapawn", "hexapawn-4x3"])
    def test_no_letter_on_a_sheet_is_lower_than_4_mm(self, slug: str, width: float, height: float) -> None:
        cabinet = cabinet_of("hexapawn-rl" if slug.startswith("hexa") else "apl-notebook", slug=slug)
        boxes = boxes_of(cabinet)[:60]
        reader = PdfReader(sheets_pdf(cabinet, "M", boxes, PrintOptions("A4", width, height, many_beads=True)))
        for page in range(len(reader.pages)):
            letters = letters_on(reader, page)
            assert letters
            assert min(letters) >= 4 * MM - 0.01

    def test_too_small_boxes_are_refused_with_a_sufficient_size(self) -> None:
        cabinet = cabinet_of()
        with pytest.raises(
            PrintingError, match=r"^Letters of 4 mm do not fit .* Make the boxes 24 × 24 mm or larger\.$"
        ):
            print_sheets(cabinet, PrintOptions("A4", 20, 20))
        assert print_sheets(cabinet, PrintOptions("A4", 24, 24))
        pawns = cabinet_of("hexapawn-rl", slug="hexapawn-4x4")
        with pytest.raises(PrintingError, match="Make the boxes 41 × 41 mm or larger"):
            sheets_pdf(pawns, "M", boxes_of(pawns)[:30], PrintOptions("A4", 30, 30))
        assert sheets_pdf(pawns, "M", boxes_of(pawns)[:30], PrintOptions("A4", 41, 41))

    def test_beads_have_the_chosen_colours(self) -> None:
        cabinet = cabinet_of("gardner-her", Side.SECOND, "hexapawn")
        names = [glass.name for glass in BEADS]
        colours = (*map(names.index, ("red", "blue", "yellow", "brown")), 0, 1, 2, 3, 4)
        text = print_sheets(cabinet, PrintOptions(colours=colours)).pages[0].extract_text()
        assert [name for name in names if f"{name} (" in text] == ["red", "blue", "yellow", "brown"]
        assert "red (A)" in text
        assert len(set(names)) == len(names)

    def test_the_file_has_no_pictures_and_fonts(self) -> None:
        reader = print_sheets(cabinet_of(), PrintOptions())
        fonts: set[Any] = set()
        for page in reader.pages:
            assert not page.images
            for font in page["/Resources"]["/Font"].values():  # type: ignore[index,union-attr]
                assert "/FontDescriptor" not in font.get_object()
                fonts.add(font.get_object()["/BaseFont"])
        assert fonts <= {"/Helvetica", "/Helvetica-Bold"}

    def test_the_same_machine_gives_the_same_file(self) -> None:
        cabinet = cabinet_of()
        one, two = (sheets_pdf(cabinet, "M", boxes_of(cabinet), PrintOptions()).getvalue() for _ in range(2))
        assert one == two

    @pytest.mark.parametrize("name", ["Ünïcödé", "x" * 80, "(\\)", "50 % – “so”"])
    def test_western_names_need_no_embedded_font(self, name: str) -> None:
        reader = print_sheets(cabinet_of(), PrintOptions(), name)
        assert reader.pages[0].extract_text().splitlines()[0] == name
        assert embedded_fonts_of(reader) == []

    @pytest.mark.parametrize("slug", ["noughts-and-crosses", "hexapawn", "hexapawn-4x3"])
    @pytest.mark.parametrize(
        ("width", "height"), [(42, 42), (44, 180), (180, 36), (43, 63), (53, 36), (60, 61), (180, 180)]
    )
    def test_all_parts_of_a_box_lie_inside_it(self, slug: str, width: float, height: float) -> None:
        cabinet = cabinet_of(slug=slug)
        boxes = [(key, [123_456_789 + k for k in range(len(beads))]) for key, beads in boxes_of(cabinet)][10:40]
        options = PrintOptions("A4", width, height, beads_now=True, many_beads=True)
        reader = PdfReader(sheets_pdf(cabinet, "W" * 80, boxes, options))
        sheet = Sheet.of("A4", width, height)
        for page in range(len(reader.pages)):
            for left, right, _, size in texts_and_beads_on(reader, page)[0]:
                assert size > 0
                assert left >= 0
                assert right <= sheet.width + 0.01
        texts, beads = texts_and_beads_on(reader, 1)
        assert beads
        for x, y, radius in beads:
            assert radius > 0
            inside = (x - sheet.left) % sheet.box_width, (y - sheet.bottom) % sheet.box_height
            for middle, side in zip(inside, (sheet.box_width, sheet.box_height), strict=True):
                assert radius - 0.01 <= middle <= side - radius + 0.01
        for left, right, y, _ in texts:
            if y > sheet.bottom:  # the line below the boxes belongs to no box
                column = (left - sheet.left + 0.01) // sheet.box_width
                assert right <= sheet.left + (column + 1) * sheet.box_width + 0.01

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            (PrintOptions("A5"), "paper: Please choose one of these: A4, A3, Letter"),
            (PrintOptions("A4", 19, 36), "width: Please give a number from 20 to 180"),
            (PrintOptions("A4", 53, 181), "height: Please give a number from 20 to 180"),
            (PrintOptions("A4", float("nan"), 36), "width: Please give a number from"),
            (PrintOptions("Letter", 180, 180), None),
        ],
    )
    def test_unfitting_options_are_refused(self, options: PrintOptions, reason: str | None) -> None:
        if reason is None:
            assert Sheet.of(options.paper, options.width_mm, options.height_mm).n_boxes == 1
            return
        with pytest.raises(PrintingError, match=reason):
            print_sheets(cabinet_of(), options)

    def test_ordinals(self) -> None:
        assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 112)] == [
            *("1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th")
        ]


NAMES = [
    *("Łódź żółw", "Матрица", "Ёлка Їжак Ђорђе Ѓорѓи Қазақ", "Tiếng Việt Đặng Thị Ớt", "Άρης Ξένος", "Ἀθῆναι ᾧδε"),
    *(
        "Şükrü Iğdır İzmir",
        "Žluťoučký kůň",
        "Őrség tűz",
        "Ştefan Ţara Șerban Țara",
        "Ŋwɛ ɖoɖo ɓaɗe",
        "x̂ q̃",
        "Ada №1 ₴ ₽",
    ),
    *("Ǆ ŉ ẞ ſ", "ʻokina Māori", "ﬁle"[1:] + "ą", "Łódź" * 20),
]
OTHER_SCRIPTS = ["机器", "العربية", "עברית", "हिन्दी", "日本語 Ä", "한국어", "ไทย", "Հայ", "ქართ", "🎲"]


def embedded_fonts_of(reader: PdfReader) -> list[Any]:
    """Return the fonts embedded in the file."""
    embedded_fonts = {}
    for page in reader.pages:
        for font in page["/Resources"]["/Font"].values():  # type: ignore[index,union-attr]
            if "/FontDescriptor" in font.get_object():
                embedded_fonts[font.get_object()["/BaseFont"]] = font.get_object()
    return list(embedded_fonts.values())


class TestNames:
    """Names are printed as they are written."""

    @pytest.mark.parametrize("form", ["NFC", "NFD"])
    @pytest.mark.parametrize("name", NAMES)
    def test_a_name_is_printed_as_it_is_written(self, name: str, form: Any) -> None:
        composed_name = unicodedata.normalize("NFC", name)
        cabinet = cabinet_of()
        boxes = boxes_of(cabinet)[:5]
        reader = PdfReader(sheets_pdf(cabinet, unicodedata.normalize(form, name), boxes, PrintOptions()))
        assert reader.pages[0].extract_text().splitlines()[0] == composed_name
        for page in reader.pages[1:]:
            assert f"{composed_name}, sheet " in page.extract_text()
        assert reader.metadata is not None
        assert reader.metadata.title == f"{composed_name}: box fronts"
        fonts = embedded_fonts_of(reader)
        assert {font["/BaseFont"].rpartition("+")[2] for font in fonts} == {"NotoSans-Regular", "NotoSans-Bold"}
        for style in ("Regular", "Bold"):  # a missing letter drawn as an empty box would read back the same
            glyphs = TTFontFile(str(FONTS / f"NotoSans-{style}.ttf")).charToGlyph
            assert all(glyphs.get(ord(char), 0) for char in composed_name)

    @pytest.mark.parametrize("name", OTHER_SCRIPTS)
    def test_name_in_another_script_prints_as_a_code_with_a_note(self, name: str) -> None:
        boxes = boxes_of(cabinet_of())[:5]
        sheets = sheets_pdf(cabinet_of(), name, boxes, PrintOptions(), code="m-abc", page="/machines/7")
        reader = PdfReader(sheets)
        text = reader.pages[0].extract_text()
        assert text.splitlines()[0] == "m-abc"
        assert "so m-abc stands for it." in text
        assert "The name stands on the machine’s page of the site: /machines/7" in text
        assert "m-abc, sheet 1 of 1." in reader.pages[1].extract_text()
        assert "?" not in text
        assert embedded_fonts_of(reader) == []
        assert reader.metadata is not None
        assert reader.metadata.title == f"{name}: box fronts"

    @pytest.mark.parametrize(
        ("name", "printed_name"), [("Ada 🎲", "Ada"), ("Ł 🙂 ż", "Ł  ż"), ("Матрица → ★ 1", "Матрица   1")]
    )
    def test_characters_without_a_font_are_left_out(self, name: str, printed_name: str) -> None:
        sheets = sheets_pdf(cabinet_of(), name, boxes_of(cabinet_of())[:5], PrintOptions(), code="m-abc")
        text = PdfReader(sheets).pages[0].extract_text()
        assert text.splitlines()[0].split() == printed_name.split()
        assert "This print leaves out the signs of the machine’s name that it cannot show." in text

    def test_embedded_fonts_are_small_and_reproducible(self) -> None:
        cabinet = cabinet_of()
        files = [sheets_pdf(cabinet, "Łódź żółw", boxes_of(cabinet), PrintOptions()).getvalue() for _ in range(2)]
        assert files[0] == files[1]
        assert len(files[0]) - len(sheets_pdf(cabinet, "MENACE", boxes_of(cabinet), PrintOptions()).getvalue()) < 30_000

    def test_sheets_are_made_in_parallel(self) -> None:
        cabinet, boxes = cabinet_of(), boxes_of(cabinet_of())[:20]

        def check(name: str) -> None:
            for _ in range(5):
                reader = PdfReader(sheets_pdf(cabinet, name, boxes, PrintOptions()))
                assert reader.pages[0].extract_text().splitlines()[0] == name

        assert at_once(*(lambda name=name: check(name) for name in NAMES[:4])) == []  # type: ignore[misc]

    @pytest.mark.django_db
    def test_a_page_prints_the_code_of_its_machine(self, client: Client) -> None:
        learner = machine(name="汉字")
        answer = client.get(f"/machines/{learner.pk}/print?paper=A4&width=53&height=36&beads=start")
        text = PdfReader(BytesIO(b"".join(answer.streaming_content))).pages[0].extract_text()  # type: ignore[arg-type]
        assert text.splitlines()[0] == learner.slug
        assert f"page of the site: /machines/{learner.pk}" in text


@pytest.mark.django_db
class TestPage:
    def url(self, learner: Machine, query: str = "") -> str:
        return f"/machines/{learner.pk}/print{query}"

    def test_the_form_gives_the_sheets(self, client: Client) -> None:
        learner = trained_machine(machine(Side.FIRST))
        page = client.get(self.url(learner))
        assert page.status_code == 200
        assert b"Make the sheets" in page.content
        answer = client.get(self.url(learner, "?paper=A3&width=53&height=36&beads=now&many=on"))
        assert answer.headers["Content-Type"] == "application/pdf"
        assert f"{learner.slug}-boxes.pdf" in answer.headers["Content-Disposition"]
        assert answer.streaming
        reader = PdfReader(BytesIO(b"".join(answer.streaming_content)))  # type: ignore[arg-type]
        total = sum(map(sum, learner.boxes.values_list("beads", flat=True)))
        assert f"and {total:,} beads.\nThese are the beads it holds now." in reader.pages[0].extract_text()

    def test_the_form_begins_with_the_initial_beads(self, client: Client) -> None:
        page = client.get(self.url(trained_machine(machine(Side.FIRST)))).content.decode()
        assert re.search(r'name="beads" value="start"[^>]* checked', page)
        assert "as Martin Gardner drew them" not in page

    def test_machine_of_100_000_beads_warns_before_printing(self, client: Client) -> None:
        learner = machine(Side.FIRST)
        box = learner.boxes.get(move_number=1)
        box.beads = [100_000, 0, 0]
        box.save()
        total = sum(map(sum, learner.boxes.values_list("beads", flat=True)))
        query = "?paper=A4&width=53&height=36&beads=now"
        answer = client.get(self.url(learner, query))
        assert answer.status_code == 200
        page = unescape(answer.content.decode())
        assert f"This print needs {total:,} beads. Most people have fewer." in page
        assert "At the beginning the machine needs 1,720. You can choose these below." in page
        print_link = re.search(r'<a class="button" href="([^"]+)" id="print-many">', page)
        assert print_link is not None
        assert client.get(self.url(learner, print_link[1])).headers["Content-Type"] == "application/pdf"
        answer_at_start = client.get(self.url(learner, query.replace("now", "start")))
        assert answer_at_start.headers["Content-Type"] == "application/pdf"

    def test_machine_beginning_with_100_000_beads_offers_no_fewer(self, client: Client) -> None:
        rule = BoxRule(initial=(100_000,))
        learner = machine_create(game="noughts-and-crosses", side=Side.FIRST, rule=rule, name="Many")
        page = client.get(self.url(learner, "?paper=A4&width=53&height=36&beads=start")).content.decode()
        assert "Its rule begins with that many. A machine with another rule needs fewer." in page
        assert "below" not in page.split('id="print-many"')[0].split("Most people")[1]

    def test_her_is_offered_in_24_boxes(self, client: Client) -> None:
        learner = machine_create(game="hexapawn", side=Side.SECOND, preset="gardner-her", name="HER")
        assert b"24 boxes, as Martin Gardner drew them" in client.get(self.url(learner)).content
        answer = client.get(self.url(learner, "?paper=A4&width=53&height=36&beads=start&boxes=gardner"))
        reader = PdfReader(BytesIO(b"".join(answer.streaming_content)))  # type: ignore[arg-type]
        assert "You need 24 matchboxes" in reader.pages[0].extract_text()
        first_player = machine_create(game="hexapawn", side=Side.FIRST, preset="gardner-her", name="Not HER")
        assert b"Gardner drew" not in client.get(self.url(first_player)).content
        answer = client.get(self.url(machine(Side.FIRST), "?paper=A4&width=53&height=36&beads=start&boxes=gardner"))
        reader = PdfReader(BytesIO(b"".join(answer.streaming_content)))  # type: ignore[arg-type]
        assert "You need 304 matchboxes" in reader.pages[0].extract_text()

    def test_colours_are_chosen_and_no_two_beads_share_one(self, client: Client) -> None:
        learner = machine_create(game="hexapawn", side=Side.SECOND, preset="gardner-her", name="HER")
        page = client.get(self.url(learner)).content.decode()
        assert re.findall(r"Bead [A-Z]", page) == ["Bead A", "Bead B", "Bead C", "Bead D"]
        query = "?paper=A4&width=53&height=36&beads=start&colour_0=9&colour_1={}"
        answer = client.get(self.url(learner, query.format(7)))
        text = PdfReader(BytesIO(b"".join(answer.streaming_content))).pages[0].extract_text()  # type: ignore[arg-type]
        assert "blue (A)" in text
        assert "red (B)" in text
        for colour in (9, 2):  # the colours of A and, by default, of C
            answer = client.get(self.url(learner, query.format(colour)))
            assert answer.status_code == 400
            assert b"has this colour too. Choose another one." in answer.content
        assert client.get(self.url(learner, query.format(99))).status_code == 400

    @pytest.mark.parametrize("query", ["?paper=A5", "?paper=A4&width=1&height=36&beads=now", "?paper=A4&width=nan"])
    def test_a_refusal_is_shown_at_its_field(self, client: Client, query: str) -> None:
        answer = client.get(self.url(machine(), query))
        assert answer.status_code == 400
        assert b"errorlist" in answer.content

    def test_a_machine_without_boxes_is_not_printed(self, client: Client) -> None:
        learner = machine()
        learner.boxes.all().delete()
        answer = client.get(self.url(learner, "?paper=A4&width=53&height=36&beads=now"))
        assert answer.status_code == 400
        assert b"has no box yet" in answer.content
        with pytest.raises(PrintRefusedError):
            BoxesFiles().sheets(learner, PrintOptions())

    def test_a_hidden_machine_is_not_found(self, client: Client) -> None:
        learner = machine(owner=user("anna"), is_public=False)
        assert client.get(self.url(learner)).status_code == 404
        client.force_login(user("bert"))
        assert client.get(self.url(learner)).status_code == 404
        client.force_login(learner.owner)  # type: ignore[arg-type]
        assert client.get(self.url(learner)).status_code == 200
