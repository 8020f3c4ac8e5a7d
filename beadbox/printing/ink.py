"""Colours and fonts on paper: beads, the coloured band with the move number of a box, and letters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reportlab.lib.colors import Color, HexColor
from reportlab.pdfbase.pdfmetrics import registerFont, stringWidth
from reportlab.pdfbase.ttfonts import TTFont


@dataclass(frozen=True, slots=True)
class Glass:
    """A colour of beads, and the colour of letters on these beads."""

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
    Glass("blue", HexColor("#1f5fae"), LIGHT),
    Glass("light blue", HexColor("#8fc3e8"), DARK),
    Glass("turquoise", HexColor("#3fb8ac"), DARK),
    Glass("light green", HexColor("#9bd07f"), DARK),
    Glass("yellow", HexColor("#f7e463"), DARK),
    Glass("orange", HexColor("#f59a3e"), DARK),
    Glass("purple", HexColor("#6a2c91"), LIGHT),
    Glass("brown", HexColor("#74451f"), LIGHT),
)
"""The nine colours usually given for Michie's machine, as on the screen, and then other colours that shops sell."""

BANDS = tuple(
    HexColor(colour)
    for colour in ("#a02f17", "#1d5aa6", "#1f6a38", "#7a2f8f", "#8a6a10", "#0f6a70", "#a3264f", "#4c5560")
)
"""Colours of the move numbers, dark enough for white letters. After the last colour, they repeat."""


REGULAR, BOLD = "Helvetica", "Helvetica-Bold"
"""Fonts of all fixed texts. Every PDF reader has them."""
NOTO_REGULAR, NOTO_BOLD = "NotoSans-Regular", "NotoSans-Bold"
"""Fonts for names with letters that Helvetica lacks. The PDF file contains only the characters that it uses."""


def band(move_number: int) -> Color:
    """Return the colour of a move number, 1 for the first."""
    return BANDS[(move_number - 1) % len(BANDS)]


def ordinal(number: int) -> str:
    """Return the English ordinal of a number: ``1st``, ``2nd``, ``11th``."""
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def plain(text: str) -> str:
    """Return a text in which question marks replace all letters that Helvetica lacks."""
    return text.encode("cp1252", "replace").decode("cp1252")


def fonts_for(text: str) -> tuple[str, str] | None:
    """Return the names of a regular and a bold font with all characters of a text; ``None`` if there are none.

    The text must be in composed form (NFC).
    """
    if plain(text) == text:
        return REGULAR, BOLD
    return (NOTO_REGULAR, NOTO_BOLD) if _noto_characters().issuperset(map(ord, text)) else None


@cache
def _noto_characters() -> frozenset[int]:
    """Return the code points that both Noto fonts have. Reading them takes milliseconds, and few sheets need them."""
    folder = Path(__file__).parent / "fonts"
    fonts = [TTFont(name, folder / f"{name}.ttf") for name in (NOTO_REGULAR, NOTO_BOLD)]
    for font in fonts:
        registerFont(font)
    return frozenset.intersection(*(frozenset(font.face.charToGlyph) for font in fonts))


def fitting(text: str, font: str, size: float, room: float) -> float:
    """Return the greatest font size, at most ``size``, at which a text is at most ``room`` points wide."""
    return min(size, size * room / max(width_of(text, font, size), 1))


def width_of(text: str, font: str, size: float) -> float:
    """Return the width of a text in points."""
    width: float = stringWidth(text, font, size)
    return width
