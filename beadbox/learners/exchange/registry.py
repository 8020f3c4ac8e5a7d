"""Every format that machines travel in. A new one is a module beside this file and an entry here."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from zipfile import BadZipFile, ZipFile

from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.exchange import csv_table, hexapawn_rl, matchbox_ai, native
from beadbox.learners.exchange.document import FORMAT, Document, MachineData, Wanted, name_require
from beadbox.learners.exchange.errors import ExchangeError

RULES_TO_CHOOSE = PRESETS
"""The presets whose rule a file without a rule may follow, by slug: such a file holds boxes."""

MAX_BYTES = 4 * 1024 * 1024
"""The largest file that is read."""


_REFUSED = (
    ((b"\x1f\x8b",), "gzip"),
    ((b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c", b"Rar!"), "compressed"),
    ((b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",), "old_office"),
    ((b"%PDF",), "pdf"),
    ((b"{\\rtf",), "rtf"),
)
"""Files of other kinds, by their first bytes, and the code of their refusal."""
_ZIPPED = (("xl/", ".xlsx"), ("content.xml", ".ods"), ("Index/", ".numbers"))
"""What a zipped spreadsheet holds, and how its name ends."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks. That of UTF-32 begins with that of UTF-16."""


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
            "Everything about the machine. Importing the file gives an identical machine.",
            "json",
            "application/json",
            native.dump,
            native.load,
        ),
        Format(
            "matchbox-ai",
            "matchbox-ai",
            "The states that Matchbox AI saves, with the beads of each square. Beads on taken squares are left out. "
            "The machine then learns like Matchbox AI as shipped.",
            "json",
            "application/json",
            matchbox_ai.dump,
            matchbox_ai.load,
        ),
        Format(
            "hexapawn-rl",
            "HexapawnRL",
            "The file that HexapawnRL saves: the moves left in each position, and their scores. "
            "The machine then learns like HexapawnRL as shipped.",
            "json",
            "application/json",
            hexapawn_rl.dump,
            hexapawn_rl.load,
        ),
        Format(
            "csv",
            "Table (CSV)",
            "A table for spreadsheets. Each kind of bead in a box has a row. The machine then learns like Michie 1961.",
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
        raise ExchangeError("format", "choice", choices=", ".join(FORMATS))
    return FORMATS[slug]


def machine_read(content: bytes, wanted: Wanted, slug: str = "") -> Document:
    """The machine in a file; the format is told by the file itself when nobody names it.

    Raises:
        ExchangeError: the file is too large, no text, of no known format, or wrong in some place.
    """
    from beadbox.learners.exchange import schemas  # only when a file is read

    schemas.read(schemas.Named, {"name": wanted.name})
    name_require(wanted.name)
    text = text_of(content, any_size=wanted.any_size)
    return (format_get(slug) if slug else _format_of(text)).load(text, wanted)


def text_of(content: bytes, *, any_size: bool = False) -> str:
    """The text of a file: UTF-8, or what its byte order mark says.

    Raises:
        ExchangeError: it is too large, of another kind, no text, or empty.
    """
    if len(content) > MAX_BYTES and not any_size:
        raise ExchangeError("", "file_too_large", n_bytes=len(content), max_bytes=MAX_BYTES)
    _other_kind_refuse(content)
    encoding = next((encoding for mark, encoding in _MARKS if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        name = "UTF-8" if encoding.startswith("utf-8") else encoding.upper()
        raise ExchangeError(f"line {line}", "encoding", encoding=name) from None
    if not text.strip():
        raise ExchangeError("", "empty")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ExchangeError(f"line {line}", "nul")
    if text.lstrip().startswith("<"):
        raise ExchangeError("", "web_page" if "<html" in text[:10_000].lower() else "markup")
    return text


def _other_kind_refuse(content: bytes) -> None:
    """Refuse a file of a known kind that is no text, and say what to do with it."""
    for marks, code in _REFUSED:
        if content.startswith(marks):
            raise ExchangeError("", code)
    if not content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return
    try:
        names = ZipFile(BytesIO(content)).namelist()
    except (BadZipFile, NotImplementedError, ValueError):  # cut off, or of a kind that cannot be listed
        names = []
    ending = next((ending for start, ending in _ZIPPED if any(name.startswith(start) for name in names)), None)
    raise ExchangeError("", "spreadsheet" if ending else "zip", ending=ending)


def _format_of(text: str) -> Format:
    """The format of a text, by how it begins and what it names."""
    match text.lstrip()[0]:
        case "[":
            return FORMATS["matchbox-ai"]
        case "{":
            # A full reading follows; here a look for the name that only save files of that program have is enough.
            return FORMATS["native" if f'"{FORMAT}"' in text or '"memory"' not in text else "hexapawn-rl"]
        case _:
            return FORMATS["csv"]
