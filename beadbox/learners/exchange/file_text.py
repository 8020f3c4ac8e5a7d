"""The text in the bytes of a file, and the refusal of files of other kinds."""

from __future__ import annotations

import codecs
from io import BytesIO
from zipfile import BadZipFile, ZipFile

from beadbox.learners.exchange.errors import ExchangeError

MAX_BYTES = 4 * 1024 * 1024
"""Maximum size of a file."""
_REFUSED = (
    ((b"\x1f\x8b",), "gzip"),
    ((b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c", b"Rar!"), "compressed"),
    ((b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",), "old_office"),
    ((b"%PDF",), "pdf"),
    ((b"{\\rtf",), "rtf"),
)
"""Files of other kinds, by their first bytes, and the code of their refusal."""
_ZIPPED = (("xl/", ".xlsx"), ("content.xml", ".ods"), ("Index/", ".numbers"))
"""Kinds of zipped spreadsheets: the beginning of a name inside, and the ending of the file's name."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks. UTF-32 comes first, because its mark begins with that of UTF-16."""


def text_of(content: bytes, *, any_size: bool = False) -> str:
    """Return the text of a file, in UTF-8 or the encoding of its byte order mark.

    Raises:
        ExchangeError: the file is too large, of another kind, not text, or empty.
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
    """Refuse a file of a known kind that is not text, with advice on what to do with it."""
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
