"""Sheets of box fronts, read back: pages, texts, the size of every box, and the beads to buy."""

from collections import Counter
from io import BytesIO
from typing import Any

import pytest
from django.test import Client
from pypdf import PdfReader
from pypdf.generic import ContentStream
from reportlab.pdfbase.pdfmetrics import stringWidth

from games.rules.base import Side
from games.rules.registry import GAMES
from learning.core.machines.boxes import Cabinet
from learning.core.machines.presets import PRESETS
from learning.core.printing.box_front import UNIT
from learning.core.printing.errors import PrintingError
from learning.core.printing.ink import BEADS, ordinal
from learning.core.printing.paper import MM, PAPERS, Sheet
from learning.core.printing.sheets import PrintOptions, sheets_pdf
from learning.core.training.tables import boxes_compile
from learning.exceptions import PrintRefusedError
from learning.kinds.machines import machine_sheets
from learning.models import Machine
from tests.factories import machine, trained, user


def cabinet_of(preset: str = "michie-1961", side: Side = Side.FIRST, slug: str = "noughts-and-crosses") -> Cabinet:
    return Cabinet(GAMES[slug], side, PRESETS[preset].rule)


def boxes_of(cabinet: Cabinet) -> list[tuple[str, list[int]]]:
    keys = boxes_compile(cabinet.game, cabinet.side, cabinet.rule).keys
    return [(key, cabinet.initial_beads(cabinet.game.decode(key))) for key in keys]


def printed(cabinet: Cabinet, options: PrintOptions, name: str = "MENACE") -> PdfReader:
    return PdfReader(sheets_pdf(cabinet, name, boxes_of(cabinet), options))


def rectangles(reader: PdfReader, page: int) -> Counter[tuple[float, float]]:
    """The sizes of the rectangles drawn on a page, in points."""
    content = reader.pages[page].get_contents()
    assert content is not None
    stream = ContentStream(content, reader)
    sizes = [(round(float(o[2]), 2), round(float(o[3]), 2)) for o, operator in stream.operations if operator == b"re"]
    return Counter(sizes)


Matrix = tuple[float, ...]


def times(one: Matrix, two: Matrix) -> Matrix:
    """The transformation that does ``one`` and then ``two``."""
    a, b, c, d, e, f = one
    g, h, i, j, k, m = two
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


Drawn = tuple[list[tuple[float, float, float, float]], list[tuple[float, float, float]]]


def drawn_on(reader: PdfReader, page: int) -> Drawn:
    """What a page draws itself: its texts as (left, right, height on the page, size), its beads as (x, y, radius)."""
    content = reader.pages[page].get_contents()
    assert content is not None
    now: Matrix = (1, 0, 0, 1, 0, 0)
    kept: list[Matrix] = []
    at, font, size = now, "", 0.0
    texts, beads = [], []
    for operands, operator in ContentStream(content, reader).operations:
        if operator == b"q":
            kept.append(now)
        elif operator == b"Q":
            now = kept.pop()
        elif operator == b"cm":
            now = times(tuple(map(float, operands)), now)
        elif operator == b"Do" and "board" not in str(operands[0]):
            beads.append((now[4], now[5], now[0] * UNIT))
        elif operator == b"Tf":
            fonts: Any = reader.pages[page]["/Resources"]
            font, size = fonts["/Font"][operands[0]]["/BaseFont"].removeprefix("/"), float(operands[1])
        elif operator == b"Tm":
            at = times(tuple(map(float, operands)), now)
        elif operator == b"Tj":
            texts.append((at[4], at[4] + stringWidth(str(operands[0]), font, size) * at[0], at[5], size * at[3]))
    return texts, beads


class TestSheets:
    # The larger boards have thousands of boxes, and what a box looks like is the same.
    @pytest.mark.parametrize("slug", ["noughts-and-crosses", "hexapawn", "hexapawn-3x4"])
    @pytest.mark.parametrize("side", Side)
    def test_every_box_is_there_once_in_order_of_its_move(self, slug: str, side: Side) -> None:
        cabinet = cabinet_of(side=side, slug=slug)
        reader = printed(cabinet, PrintOptions())
        lines = [line for page in reader.pages[1:] for line in page.extract_text().splitlines()]
        keys = {key for key, _ in boxes_of(cabinet)}
        assert sorted(line for line in lines if line in keys) == sorted(keys)
        moves = [line for line in lines if line.endswith(" move")]
        assert len(moves) == len(keys)
        numbers = [cabinet.move_number(cabinet.game.decode(line)) + 1 for line in lines if line in keys]
        assert moves == [f"{ordinal(number)} move" for number in numbers]
        assert numbers == sorted(numbers)
        assert [line for line in lines if line.startswith("No. ")] == [f"No. {n + 1}" for n in range(len(keys))]

    @pytest.mark.parametrize(
        ("paper", "width", "height"),
        [("A4", 53, 36), ("A4", 60.5, 40), ("A4", 36, 53), ("A3", 120, 90), ("Letter", 53, 36)],
    )
    def test_boxes_have_the_size_that_was_asked_for(self, paper: str, width: float, height: float) -> None:
        cabinet = cabinet_of()
        reader = printed(cabinet, PrintOptions(paper, width, height))
        sheet = Sheet.of(paper, width, height)
        size = (round(width / 25.4 * 72, 2), round(height / 25.4 * 72, 2))
        assert sum(rectangles(reader, page)[size] for page in range(len(reader.pages))) == 304
        assert rectangles(reader, 1)[size] == min(sheet.n_boxes, 304)
        assert len(reader.pages) == 1 + -(-304 // sheet.n_boxes)
        box = reader.pages[1].mediabox
        assert sorted((float(box.width), float(box.height))) == pytest.approx(sorted(PAPERS[paper]), abs=0.01)

    def test_a4_takes_25_matchboxes_of_the_usual_size(self) -> None:
        sheet = Sheet.of("A4", 53, 36)
        assert (sheet.columns, sheet.rows) == (5, 5)
        assert len(printed(cabinet_of(), PrintOptions()).pages) == 1 + 13

    def test_boxes_lie_within_the_margin_and_never_on_each_other(self) -> None:
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

    def test_beads_to_buy_are_the_beads_in_the_boxes(self) -> None:
        cabinet = cabinet_of()
        text = printed(cabinet, PrintOptions(with_beads=False)).pages[0].extract_text()
        # 4, 3, 2, 1 beads in 304 boxes with like squares merged: docs/learning.md counts 1,720.
        assert "304 matchboxes of 53 × 36 mm, 1,720 beads: the beads it begins with." in text
        lines = text.splitlines()
        at = lines.index("All colours")
        by_colour = Counter(
            {
                cabinet.game.look.bead(position, move).colour: 0
                for key, _ in boxes_of(cabinet)
                for position in [cabinet.game.decode(key)]
                for move in cabinet.printed_moves(position)
            }
        )
        for key, beads in boxes_of(cabinet):
            position = cabinet.game.decode(key)
            for move, count in zip(cabinet.printed_moves(position), beads, strict=True):
                by_colour[cabinet.game.look.bead(position, move).colour] += count
        for colour, count in by_colour.items():
            row = next(i for i, line in enumerate(lines) if line.startswith(f"{BEADS[colour].name} ("))
            assert lines[row + 5] == f"{count:,}"
        assert lines[at + 1 : at + 6][-1] == "1,720"

    def test_beads_are_counted_only_if_asked_for(self) -> None:
        cabinet = cabinet_of()
        boxes = [(key, [7777] * len(beads)) for key, beads in boxes_of(cabinet)]
        now = PdfReader(sheets_pdf(cabinet, "M", boxes, PrintOptions()))
        start = PdfReader(sheets_pdf(cabinet, "M", boxes, PrintOptions(with_beads=False)))
        texts = ["".join(page.extract_text() for page in reader.pages) for reader in (now, start)]
        assert texts[0].count("7,777") >= 1087
        assert "7,777" not in texts[1]

    def test_nothing_in_it_is_a_picture_or_a_font_of_its_own(self) -> None:
        reader = printed(cabinet_of(), PrintOptions())
        fonts: set[Any] = set()
        for page in reader.pages:
            assert not page.images
            for font in page["/Resources"]["/Font"].values():  # type: ignore[index,union-attr]
                assert "/FontDescriptor" not in font.get_object()
                fonts.add(font.get_object()["/BaseFont"])
        assert fonts <= {"/Helvetica", "/Helvetica-Bold"}

    def test_the_same_machine_is_the_same_file(self) -> None:
        cabinet = cabinet_of()
        one, two = (sheets_pdf(cabinet, "M", boxes_of(cabinet), PrintOptions()).getvalue() for _ in range(2))
        assert one == two

    @pytest.mark.parametrize("name", ["Ünïcödé", "机器 🎲", "x" * 80, "(\\)"])
    def test_any_name_can_be_printed(self, name: str) -> None:
        text = printed(cabinet_of(), PrintOptions(), name).pages[0].extract_text()
        assert text.splitlines()[0] == name.encode("cp1252", "replace").decode("cp1252")

    @pytest.mark.parametrize("slug", ["noughts-and-crosses", "hexapawn", "hexapawn-4x3"])
    @pytest.mark.parametrize(
        ("width", "height"), [(20, 20), (20, 180), (180, 20), (21, 60), (36, 53), (53, 36), (60, 61), (180, 180)]
    )
    def test_nothing_of_a_box_lies_outside_it(self, slug: str, width: float, height: float) -> None:
        cabinet = cabinet_of(slug=slug)
        boxes = [(key, [123_456_789] * len(beads)) for key, beads in boxes_of(cabinet)][10:40]
        reader = PdfReader(sheets_pdf(cabinet, "W" * 80, boxes, PrintOptions("A4", width, height)))
        sheet = Sheet.of("A4", width, height)
        for page in range(len(reader.pages)):
            for left, right, _, size in drawn_on(reader, page)[0]:
                assert size > 0
                assert left >= 0
                assert right <= sheet.width + 0.01
        texts, beads = drawn_on(reader, 1)
        assert beads
        for x, y, radius in beads:
            assert radius > 0
            inside = (x - sheet.left) % sheet.box_width, (y - sheet.bottom) % sheet.box_height
            for middle, side in zip(inside, (sheet.box_width, sheet.box_height), strict=True):
                assert radius - 0.01 <= middle <= side - radius + 0.01
        for left, right, y, _ in texts:
            if y > sheet.bottom:  # the line below the boxes is no box's
                column = (left - sheet.left + 0.01) // sheet.box_width
                assert right <= sheet.left + (column + 1) * sheet.box_width + 0.01

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            (PrintOptions("A5"), "paper: must be one of A4, A3, Letter"),
            (PrintOptions("A4", 19, 36), "width: must lie between 20 and 180"),
            (PrintOptions("A4", 53, 181), "height: must lie between 20 and 180"),
            (PrintOptions("A4", float("nan"), 36), "width: must lie"),
            (PrintOptions("Letter", 180, 180), None),
        ],
    )
    def test_what_does_not_fit_is_refused(self, options: PrintOptions, reason: str | None) -> None:
        if reason is None:
            assert Sheet.of(options.paper, options.width_mm, options.height_mm).n_boxes == 1
            return
        with pytest.raises(PrintingError, match=reason):
            printed(cabinet_of(), options)

    def test_ordinals(self) -> None:
        assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 112)] == [
            *("1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th")
        ]


@pytest.mark.django_db
class TestPage:
    def url(self, learner: Machine, query: str = "") -> str:
        return f"/machines/{learner.pk}/print{query}"

    def test_a_form_and_then_the_sheets(self, client: Client) -> None:
        learner = trained(machine(Side.FIRST))
        page = client.get(self.url(learner))
        assert page.status_code == 200
        assert b"Make the sheets" in page.content
        answer = client.get(self.url(learner, "?paper=A3&width=53&height=36&beads=now"))
        assert answer.headers["Content-Type"] == "application/pdf"
        assert f"{learner.slug}-boxes.pdf" in answer.headers["Content-Disposition"]
        assert answer.streaming
        reader = PdfReader(BytesIO(b"".join(answer.streaming_content)))  # type: ignore[arg-type]
        total = sum(map(sum, learner.boxes.values_list("beads", flat=True)))
        assert f"{total:,} beads: the beads it holds now" in reader.pages[0].extract_text()

    @pytest.mark.parametrize("query", ["?paper=A5", "?paper=A4&width=1&height=36&beads=now", "?paper=A4&width=nan"])
    def test_what_is_wrong_is_said_beside_its_field(self, client: Client, query: str) -> None:
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
            machine_sheets(learner, PrintOptions())

    def test_a_machine_that_may_not_be_seen_is_not_there(self, client: Client) -> None:
        learner = machine(owner=user("anna"), is_public=False)
        assert client.get(self.url(learner)).status_code == 404
        client.force_login(user("bert"))
        assert client.get(self.url(learner)).status_code == 404
        client.force_login(learner.owner)  # type: ignore[arg-type]
        assert client.get(self.url(learner)).status_code == 200
