"""A table for spreadsheets: one row for each slot of each box, in order of play.

Reading needs the columns ``position``, ``move`` and ``beads``; ``draws`` is read where it is there.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace

from games.rules.base import Game
from games.rules.errors import InvalidPositionError
from learning.core.exchange.document import MAX_COUNT, MAX_TEXT, Entry, MachineData, Wanted, machine_from, whole_number
from learning.core.exchange.errors import ExchangeError, shown
from learning.core.machines.presets import PRESETS
from learning.core.machines.rule import MAX_BEADS, BoxRule

COLUMNS = ("position", "ply", "move_number", "move", "moves", "beads", "probability", "draws")
NEEDED = ("position", "move", "beads")
PRESET = "michie-1961"


def dump(data: MachineData) -> str:
    """The table, with a heading."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    game, cabinet = data.game, data.cabinet
    for box in data.boxes:
        position = game.decode(box.position)
        total = sum(box.beads)
        slots = zip(cabinet.printed_moves(position), cabinet.slots(position), box.beads, box.visits, strict=True)
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


def load(text: str, wanted: Wanted) -> MachineData:
    """The machine that a table holds; whether like squares share a slot is read off it.

    Raises:
        ExchangeError: something in it is wrong.
    """
    entries = list(_entries(text))
    merged = machine_from(entries, wanted, preset=PRESET)
    if wanted.rule is None and not _is_merged(merged.game, merged.rule, entries):
        usual = replace(PRESETS[PRESET].rule, merge_symmetric_moves=False)
        return machine_from(entries, wanted, preset=PRESET, usual=usual)
    return merged


def _is_merged(game: Game[object, object], rule: BoxRule, entries: list[Entry]) -> bool:
    """Whether every box has as many rows as it has classes of like moves."""
    for entry in entries:
        try:
            position = game.decode(entry.text)
        except InvalidPositionError:  # written with other blanks
            return False
        if len(entry.beads) != len(game.distinct_moves(position)):
            return False
    return rule.merge_symmetric_moves


def _entries(text: str) -> Iterator[Entry]:
    """The boxes of a table: rows of one position belong together, wherever they stand."""
    boxes: dict[str, Entry] = {}
    for line, row in _rows(text):
        position, move = row["position"], row["move"]
        if len(position) > MAX_TEXT or len(move) > MAX_TEXT:
            raise ExchangeError(line, f"{shown(max(position, move, key=len))} is too long")
        entry = boxes.setdefault(position, Entry(line, position, {}, {}))
        assert isinstance(entry.beads, dict)
        assert isinstance(entry.visits, dict)
        if move in entry.beads:
            raise ExchangeError(line, f"the move {shown(move)} of {shown(position)} stands twice")
        entry.beads[move] = _number(row["beads"], line, "beads", MAX_BEADS)
        entry.visits[move] = _number(row.get("draws") or "0", line, "draws", MAX_COUNT)
    yield from boxes.values()


def _rows(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Each row by column, with its line."""
    heading = text.partition("\n")[0]
    delimiter = ";" if heading.count(";") > heading.count(",") else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = [column.strip().lower() for column in next(reader, [])]
        missing = [column for column in NEEDED if column not in columns]
        if missing:
            raise ExchangeError("line 1", f"the heading has no column {', '.join(missing)}")
        if len(set(columns)) < len(columns):
            raise ExchangeError("line 1", "the heading names a column twice")
        for row in reader:
            if not row:
                continue
            if len(row) != len(columns):
                raise ExchangeError(f"line {reader.line_num}", f"has {len(row)} fields, the heading {len(columns)}")
            yield f"line {reader.line_num}", dict(zip(columns, row, strict=True))
    except csv.Error as error:
        raise ExchangeError(f"line {reader.line_num}", f"is not CSV ({error})") from None


def _number(text: str, line: str, column: str, highest: int) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise ExchangeError(line, f"{column} must be a whole number, not {shown(text)}")
    return whole_number(int(text), f"{line}, {column}", highest=highest)
