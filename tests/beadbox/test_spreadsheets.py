"""A CSV file that a spreadsheet program has saved again gives the same boxes."""

import csv
import io

import pytest

from beadbox.learners.boxes.exchange.document import BoxData, MachineData
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.exchange.document import ImportOptions
from beadbox.learners.formats import FORMATS, machine_read
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES

GAME = GAMES["noughts-and-crosses"]
MACHINE = MachineData(
    GAME,
    Side.FIRST,
    PRESETS["michie-1961"].rule,
    "MENACE",
    (
        BoxData(".........", (4, 5, 1), (25, 8, 0)),
        BoxData(".......OX", (0, 7, 10, 2, 3, 1, 1), (3, 0, 0, 0, 1, 0, 12)),
    ),
)
CSV_ROWS = list(csv.reader(io.StringIO(FORMATS["csv"].dump(MACHINE))))
EXPECTED_BOXES = {box.position: (box.beads, box.visits) for box in MACHINE.boxes}
CSV_HEADING = "position,move,beads\n"


def to_csv(
    rows: list[list[str]] = CSV_ROWS, separator: str = ",", end: str = "\n", quoting: int = csv.QUOTE_MINIMAL
) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)  # type: ignore[arg-type]
    return out.getvalue()


def rows_with_notation(column: int, text: str) -> list[list[str]]:
    """Return the rows with the numbers of one column in another notation."""
    return [CSV_ROWS[0], *([*row[:column], text.format(row[column]), *row[column + 1 :]] for row in CSV_ROWS[1:])]


def read_boxes(content: str | bytes) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    data = machine_read(content if isinstance(content, bytes) else content.encode(), ImportOptions())
    assert isinstance(data, MachineData)
    return {box.position: (box.beads, box.visits) for box in data.boxes}


EMPTY_ROW = [""] * 8
READABLE_TABLES: dict[str, str | bytes] = {
    "semicolons": to_csv(separator=";"),
    "tabs": to_csv(separator="\t"),
    "line ends of Windows": to_csv(end="\r\n"),
    "line ends of an old Mac": to_csv(end="\r"),
    "every cell quoted": to_csv(quoting=csv.QUOTE_ALL),
    "byte order mark, UTF-8": to_csv().encode("utf-8-sig"),
    "UTF-16, little-endian": b"\xff\xfe" + to_csv(separator="\t", end="\r\n").encode("utf-16-le"),
    "UTF-16, big-endian": b"\xfe\xff" + to_csv(separator="\t", end="\r\n").encode("utf-16-be"),
    "UTF-32": to_csv().encode("utf-32"),
    "sep of semicolons": "sep=;\n" + to_csv(separator=";"),
    "sep of commas, with empty cells": "sep=,,,,,,,,\r\n" + to_csv(end="\r\n"),
    "sep of tabs": "SEP=\t\n" + to_csv(separator="\t"),
    "sep in quotes after the byte order mark": '\ufeff"sep=;"\r\n' + to_csv(separator=";"),
    "sep after an empty row": "\n;;;;\nsep=;\n\n" + to_csv(separator=";"),
    "empty rows between": to_csv(
        [EMPTY_ROW, [], *(row for one in CSV_ROWS for row in (one, EMPTY_ROW, [])), [" "] * 8]
    ),
    "empty columns between": to_csv([["", *row[:3], " ", *row[3:], "", ""] for row in CSV_ROWS]),
    "separators at the end of the rows": to_csv([CSV_ROWS[0], *([*row, "", ""] for row in CSV_ROWS[1:])]),
    "separators at the end of the heading": to_csv([[*CSV_ROWS[0], "", ""], *CSV_ROWS[1:]]),
    "blanks after commas": to_csv().replace(",", ", "),
    "blanks around quotes": to_csv(quoting=csv.QUOTE_ALL).replace(",", " , "),
    "non-breaking spaces": to_csv(separator=";").replace(";", "\u00a0;\u00a0"),
    "blanks in the heading": to_csv([[f" {name.title()} " for name in CSV_ROWS[0]], *CSV_ROWS[1:]]),
    "4.0 for 4": to_csv(rows_with_notation(5, "{}.0")),
    "4.00 for 4 in every column": to_csv(
        [
            CSV_ROWS[0],
            *([row[0], *(f"{cell}.00" for cell in row[1:4]), row[4], f"{row[5]}.00", *row[6:]] for row in CSV_ROWS[1:]),
        ]
    ),
    "4,0 for 4": to_csv(rows_with_notation(5, "{},0"), separator=";"),
    "4,0 for 4 in quotes": to_csv(rows_with_notation(5, "{},0")),
    "moves with decimals": to_csv(rows_with_notation(3, "{},0"), separator="\t"),
    "probabilities with a comma": to_csv(
        [CSV_ROWS[0], *([*r[:6], r[6].replace(".", ","), r[7]] for r in CSV_ROWS[1:])], ";"
    ),
    "a column of notes": to_csv([["notes", *CSV_ROWS[0]], *(["=1+1, ü", *row] for row in CSV_ROWS[1:])]),
    "rows in another order": to_csv([CSV_ROWS[0], *reversed(CSV_ROWS[1:])]),
}


@pytest.mark.parametrize("content", READABLE_TABLES.values(), ids=READABLE_TABLES)
def test_csv_saved_by_a_spreadsheet_is_read(content: str | bytes) -> None:
    assert read_boxes(content) == EXPECTED_BOXES


def test_missing_cells_at_the_end_of_a_row_count_as_0() -> None:
    """The column ``draws`` has the number of draws of a bead, which the site calls visits."""
    table = "position,move,beads,draws\n.........,1,4\n.........,2,5,\n.........,5,0,6"
    assert read_boxes(table) == {".........": ((4, 5, 0), (0, 0, 6))}


def test_empty_squares_may_be_blanks() -> None:
    assert read_boxes(f"{CSV_HEADING}X   O    ,2,4\n") == read_boxes(f"{CSV_HEADING}X...O....,2,4\n")
    assert read_boxes(f'{CSV_HEADING}"    O   X",2,4\n') == read_boxes(f"{CSV_HEADING}....O...X,2,4\n")


def test_positions_with_a_leading_apostrophe_are_read() -> None:
    """A position of hexapawn begins with a minus sign, like a formula, so the file has an apostrophe before it."""
    unguarded, guarded = (f"{CSV_HEADING}{mark}-oo-oOO--:2,b3c2,4\n{mark}-oo-oOO--:2,b2b1,5\n" for mark in ("", "'"))
    assert read_boxes(guarded) == read_boxes(unguarded)
