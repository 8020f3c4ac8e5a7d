"""The format of tables for spreadsheets: one row for each slot of each box, in order of play.

A table to be read needs the columns ``position``, ``move`` and ``beads``; ``draws`` is optional. A spreadsheet may have
changed the table: another separator, empty rows and columns, and 4.0 instead of 4.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace

from beadbox.learners.boxes.exchange.document import BLANKS, Entry, MachineData, machine_from
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.exchange.document import ImportOptions
from beadbox.learners.exchange.errors import ExchangeError, shown
from beadbox.rules.errors import InvalidPositionError
from beadbox.rules.game import Game

COLUMNS = ("position", "ply", "move_number", "move", "moves", "beads", "probability", "draws")
REQUIRED_COLUMNS = ("position", "move", "beads")
PRESET = "michie-1961"
SEPARATORS = ",;\t"
_SEP = re.compile(r'"?sep=([,;\t])"?[,;\t]*', re.IGNORECASE)
"""A first line that names the separator, as spreadsheets write it."""
_DECIMALS = re.compile(r"(\d+)[.,](0+)", re.ASCII)
"""A whole number with decimals, as a spreadsheet may write it: 4.0, or 4,0 in countries with a decimal comma."""


def dump(data: MachineData) -> str:
    """Return a machine as a table with a heading."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    game, cabinet = data.game, data.cabinet
    for box in data.boxes:
        position = game.decode(box.position)
        total = sum(box.beads)
        slots = zip(cabinet.slot_labels(position), cabinet.slot_classes(position), box.beads, box.visits, strict=True)
        for move, members, beads, draws in slots:
            table.writerow(
                (
                    box.position,
                    game.ply(position),
                    cabinet.move_number(position) + 1,
                    game.format_move(move),
                    " ".join(map(game.format_move, members)),
                    beads,
                    beads / total if total else 0.0,
                    draws,
                )
            )
    return out.getvalue()


def load(text: str, options: ImportOptions) -> MachineData:
    """Return the machine in a table.

    If the options have no rule, the rows decide whether symmetric moves share a slot.

    Raises:
        ExchangeError: the table is invalid.
    """
    entries = list(_entries(text))
    merged = machine_from(entries, options, preset=PRESET)
    if options.rule is None and not _is_merged(merged.game, merged.rule, entries):
        usual = replace(PRESETS[PRESET].rule, merge_symmetric_moves=False)
        return machine_from(entries, options, preset=PRESET, usual=usual)
    return merged


def _is_merged(game: Game[object, object], rule: BoxRule, entries: list[Entry]) -> bool:
    """Whether every box has as many rows as classes of symmetric moves."""
    for entry in entries:
        try:
            position = game.decode(entry.text)
        except InvalidPositionError:  # written with other blanks
            return False
        if len(entry.beads) != len(game.distinct_moves(position)):
            return False
    return rule.merge_symmetric_moves


def _entries(text: str) -> Iterator[Entry]:
    """Yield the boxes of a table. All rows with the same position form a box, in whatever lines they are."""
    from beadbox.learners.boxes.exchange import shapes  # only when a file is read
    from beadbox.learners.exchange import schemas  # only when a file is read

    boxes: dict[str, Entry] = {}
    for line, row in _rows(text):
        cells = {
            "position": _position_text(row["position"]),
            "move": _without_decimals(row["move"], line, "move"),
            "beads": _read_number(row["beads"], line, "beads"),
            "draws": _read_number(row.get("draws") or "0", line, "draws"),
        }
        read = schemas.read(shapes.RowFields, cells, line)
        entry = boxes.setdefault(read.position, Entry(line, read.position, {}, {}))
        assert isinstance(entry.beads, dict)
        assert isinstance(entry.visits, dict)
        if read.move in entry.beads:
            raise ExchangeError(line, "move_of_box_twice", move=shown(read.move), position=shown(read.position))
        entry.beads[read.move], entry.visits[read.move] = read.beads, read.draws
    yield from boxes.values()


def _rows(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each row that is not empty: the name of its line, and its cells by column."""
    lines = io.StringIO(text, newline="").readlines()
    first = next((number for number, line in enumerate(lines) if line.strip(SEPARATORS + " \r\n")), 0)
    if named := _SEP.fullmatch(lines[first].strip("\r\n ")):
        separator, first = named[1], first + 1
    else:
        separator = max(SEPARATORS, key=lines[first].count)
    reader = csv.reader(_without_blanks("".join(lines[first:]), separator), delimiter=separator, strict=True)
    columns: list[str] = []
    try:
        for row in reader:
            line = f"line {first + reader.line_num}"
            if not any(cell.strip() for cell in row):
                continue
            if columns:
                yield line, _cells_by_column(row, columns, line)
            else:
                columns = _column_names(row, line)
    except csv.Error as error:
        raise ExchangeError(f"line {first + reader.line_num}", "not_csv", problem=error) from None


def _without_blanks(text: str, separator: str) -> io.StringIO:
    """Remove blanks between a separator and a quotation mark, because the CSV reader would read the mark as text."""
    padding = rf'(?<![^{separator}\r\n])[ \xa0]+(?=")|(?<=")[ \xa0]+(?![^{separator}\r\n])'
    return io.StringIO(re.sub(padding, "", text), newline="")


def _column_names(row: list[str], line: str) -> list[str]:
    """Return the names in the heading, empty for a column without a name."""
    columns = [cell.strip().lower() for cell in row]
    missing = [column for column in REQUIRED_COLUMNS if column not in columns]
    if missing:
        raise ExchangeError(line, "no_column", columns=", ".join(missing))
    named = [column for column in columns if column]
    if len(set(named)) < len(named):
        raise ExchangeError(line, "column_twice")
    return columns


def _cells_by_column(row: list[str], columns: list[str], line: str) -> dict[str, str]:
    """Return the cells by column. Spreadsheets leave out empty cells at the end of a row, or add some."""
    n_needed = max(map(columns.index, REQUIRED_COLUMNS)) + 1
    if len(row) < n_needed or any(cell.strip() for cell in row[len(columns) :]):
        raise ExchangeError(line, "n_fields", n_fields=len(row), n_columns=len(columns))
    for number, (column, cell) in enumerate(zip(columns, row, strict=False), start=1):
        if not column and cell.strip():
            raise ExchangeError(line, "nameless_column", number=number, value=shown(cell))
    return dict(zip(columns, row, strict=False))


def _position_text(text: str) -> str:
    """Return the text of a position. Blanks around it are dropped, unless they stand for empty squares."""
    plain = text.strip()
    if plain.startswith("'"):
        plain = plain[1:]  # our downloads add the apostrophe, so that spreadsheets do not read the text as a formula
    return plain if set(plain) & set(BLANKS.strip()) else text


def _without_decimals(text: str, line: str, column: str) -> str:
    """Return the text of a cell; a whole number loses its decimals."""
    text = text.strip()
    number = _DECIMALS.fullmatch(text)
    if number is None:
        return text
    if len(number[2]) == 3:
        meanings = {"decimal": number[1], "thousands": number[1] + number[2]}
        raise ExchangeError(f"{line}, {column}", "ambiguous_number", value=shown(text), **meanings)
    return number[1]


def _read_number(text: str, line: str, column: str) -> int | str:
    """Return the whole number of a cell. Any other text is returned unchanged, and the schema refuses it."""
    text = _without_decimals(text, line, column)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else text
