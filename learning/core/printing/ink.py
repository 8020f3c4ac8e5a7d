"""Colours on paper: beads and their names, and the band that tells a box's move number."""

from __future__ import annotations

from dataclasses import dataclass

from reportlab.lib.colors import Color, HexColor
from reportlab.pdfbase.pdfmetrics import stringWidth


@dataclass(frozen=True, slots=True)
class Glass:
    """A colour of beads."""

    name: str
    fill: Color
    ink: Color


DARK, LIGHT = HexColor("#241f1a"), HexColor("#ffffff")
LINE = HexColor("#8b7f6c")
SOFT = HexColor("#5b5348")

BEADS = (
    Glass("white", HexColor("#fbf9f3"), DARK),
    Glass("lilac", HexColor("#b89ddb"), DARK),
    Glass("silver", HexColor("#b4bac1"), DARK),
    Glass("black", HexColor("#29272e"), LIGHT),
    Glass("gold", HexColor("#e4bd35"), DARK),
    Glass("green", HexColor("#23773f"), LIGHT),
    Glass("amber", HexColor("#e5781f"), DARK),
    Glass("red", HexColor("#b4212d"), LIGHT),
    Glass("pink", HexColor("#f3a6c0"), DARK),
)
"""As on the screen: the nine colours usually given for Michie's machine."""

BANDS = tuple(
    HexColor(colour)
    for colour in ("#a02f17", "#1d5aa6", "#1f6a38", "#7a2f8f", "#8a6a10", "#0f6a70", "#a3264f", "#4c5560")
)
"""One for each move number, dark enough for white letters; after the last they begin again."""


def band(move_number: int) -> Color:
    """The colour of a move number, 1 for the first."""
    return BANDS[(move_number - 1) % len(BANDS)]


def ordinal(number: int) -> str:
    """``1st``, ``2nd``, ``11th``."""
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def plain(text: str) -> str:
    """The text in letters that every printer's own fonts have; others become a question mark."""
    return text.encode("cp1252", "replace").decode("cp1252")


def fitting(text: str, font: str, size: float, room: float) -> float:
    """The size at which the text takes no more than this room: ``size``, or as much smaller as it has to be."""
    length: float = stringWidth(text, font, size)
    return min(size, size * room / max(length, 1))
