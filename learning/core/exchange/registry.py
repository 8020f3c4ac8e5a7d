"""Every format that machines travel in. A new one is a module beside this file and an entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from learning.core.exchange import csv_table, hexapawn_rl, matchbox_ai, native
from learning.core.exchange.document import Document, MachineData, Wanted, words
from learning.core.exchange.errors import ExchangeError

MAX_BYTES = 4 * 1024 * 1024
"""The largest file that is read."""


@dataclass(frozen=True, slots=True)
class Format:
    """How machines are written in one format, and how they are read."""

    slug: str
    name: str
    summary: str
    suffix: str
    media_type: str
    dump: Callable[[MachineData], str]
    load: Callable[[str, Wanted], Document]


FORMATS: dict[str, Format] = {
    form.slug: form
    for form in (
        Format(
            "native",
            "Beadbox",
            "Everything: rule, boxes, beads, draws and totals, or values. Reading it back gives an identical machine.",
            "json",
            "application/json",
            native.dump,
            native.load,
        ),
        Format(
            "matchbox-ai",
            "matchbox-ai",
            "Its list of states, with the beads square by square; those on taken squares are set aside. "
            "It goes on like Matchbox AI, as shipped.",
            "json",
            "application/json",
            matchbox_ai.dump,
            matchbox_ai.load,
        ),
        Format(
            "hexapawn-rl",
            "HexapawnRL",
            "Its save file: the moves still in play in each position, and how much it trusts them. "
            "It goes on like HexapawnRL, as shipped.",
            "json",
            "application/json",
            hexapawn_rl.dump,
            hexapawn_rl.load,
        ),
        Format(
            "csv",
            "Table (CSV)",
            "For spreadsheets: a row for each colour of bead in each box. It goes on like Michie 1961.",
            "csv",
            "text/csv",
            csv_table.dump,
            csv_table.load,
        ),
    )
}


def format_get(slug: str) -> Format:
    """The format with this slug.

    Raises:
        ExchangeError: there is none.
    """
    if slug not in FORMATS:
        raise ExchangeError("format", f"must be one of {', '.join(FORMATS)}")
    return FORMATS[slug]


def machine_read(content: bytes, wanted: Wanted, slug: str = "") -> Document:
    """The machine in a file; the format is told by the file itself when nobody names it.

    Raises:
        ExchangeError: the file is too large, no text, of no known format, or wrong in some place.
    """
    words(wanted.name, "name", longest=80)
    text = text_of(content, any_size=wanted.any_size)
    return (format_get(slug) if slug else _format_of(text)).load(text, wanted)


def text_of(content: bytes, *, any_size: bool = False) -> str:
    """The text of a file.

    Raises:
        ExchangeError: it is too large, no text, or empty.
    """
    if len(content) > MAX_BYTES and not any_size:
        raise ExchangeError("", f"The file has {len(content):,} bytes; {MAX_BYTES:,} are the most.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ExchangeError(f"line {line}", "is not UTF-8 text") from None
    if not text.strip():
        raise ExchangeError("", "The file is empty.")
    return text


def _format_of(text: str) -> Format:
    """The format of a text, by how it begins and what it names."""
    match text.lstrip()[0]:
        case "[":
            return FORMATS["matchbox-ai"]
        case "{":
            # A full reading follows; here a look for the name that only save files of that program have is enough.
            return FORMATS["native" if f'"{native.FORMAT}"' in text or '"memory"' not in text else "hexapawn-rl"]
        case _:
            return FORMATS["csv"]
