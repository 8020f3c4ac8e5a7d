"""Names that people type: compared, searched and checked here, and nowhere else.

The folded forms are stored. A database folds case by its locale, and may have none; Python folds everywhere alike.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Unicode's Default_Ignorable_Code_Point: a font draws nothing for these characters."""
BLANK = "\u2800\ufffc\U0001d159"
"""Symbols by their category, and nothing to be seen."""
FILLERS = "\u115f\u1160\u3164\uffa0"
"""Letters by their category: they fill the place of a missing part of a Korean syllable, and serve as fake blanks."""
JOINERS = "\u200c\u200d"
"""Persian and Indian scripts need them inside words, and emoji between two pictures."""
VISIBLE_FORMAT = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Format characters that are drawn: signs before or around numbers (Prepended_Concatenation_Mark)."""
FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]+\U000e007f")
"""The flags of England, Scotland and Wales: a black flag and invisible letters."""
ACCENT = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652\u0670]")
"""Accents, and the vowel points of Hebrew and Arabic: a search leaves them out. Marks of other scripts are letters."""
MAX_SLUG_CHARACTERS = 80
"""A longer text is like no name."""
LOOSE_JOINER = re.compile(rf"(?:^|(?<=\s))[{JOINERS}]|[{JOINERS}](?=\s|$)")


def name_key(name: str) -> str:
    """The form by which two names are the same name, whatever their case, width or encoding of accents.

    NFKC and case folding, without ignorable characters, and with single blanks. It is stable: the key of a key is the
    key itself.
    """
    key = unicodedata.normalize("NFKC", name)
    while True:
        visible = IGNORABLE.sub("", key.casefold())
        folded = unicodedata.normalize("NFKC", " ".join(visible.split()))
        if folded == key:
            return key
        key = folded


def name_search(text: str) -> str:
    """The form in which a name is searched: its key without accents, so that "lodz" finds "Łódź"."""
    bare = (_unaccented(char) for char in unicodedata.normalize("NFKD", name_key(text)))
    return name_key("".join(bare))


def _unaccented(char: str) -> str:
    if char.isascii():
        return char
    if ACCENT.match(char):
        return ""
    if char == "ı":
        return "i"
    plain, _, sign = unicodedata.name(char, "").partition(" WITH ")  # Ł, Ø and Đ have no decomposition
    try:
        return unicodedata.lookup(plain) if sign and plain.startswith("LATIN") else char
    except KeyError:
        return char


def name_problem(name: str) -> str:
    """A sentence that says why people cannot be shown this name; empty for a good one."""
    hidden = next(filter(_is_hidden, FLAG.sub("x", name)), "") or LOOSE_JOINER.search(name)
    if hidden:
        char = hidden if isinstance(hidden, str) else hidden.group()
        return f"This name holds a hidden character (U+{ord(char):04X}). Type the name again without it."
    if not any(map(_is_visible, name)):
        return "A name needs a letter, a digit or another character that can be seen."
    return ""


def _is_hidden(char: str) -> bool:
    """Control and direction characters, line separators, and what exists to be invisible."""
    category = unicodedata.category(char)
    if category == "Cf":
        return char not in JOINERS and char not in VISIBLE_FORMAT
    if category == "Cn":  # a picture of a newer Unicode, perhaps
        return _is_noncharacter(char) or IGNORABLE.match(char) is not None
    return category in ("Cc", "Cs", "Zl", "Zp") or char in FILLERS


def _is_noncharacter(char: str) -> bool:
    return 0xFDD0 <= ord(char) <= 0xFDEF or ord(char) & 0xFFFE == 0xFFFE


def _is_visible(char: str) -> bool:
    """A mark alone is none: it stands on a letter."""
    category = unicodedata.category(char)
    if char in VISIBLE_FORMAT or category == "Cn":
        return True
    return category[0] not in "CMZ" and char not in BLANK and IGNORABLE.match(char) is None


def name_near(text: str, known: Iterable[str]) -> str:
    """The known name that the text is most like, in any case; empty if it is like none."""
    by_key = {name.casefold(): name for name in known}
    near = get_close_matches(text.casefold(), by_key, 1) if len(text) <= MAX_SLUG_CHARACTERS else []
    return by_key[near[0]] if near else ""


def did_you_mean(text: str, known: Iterable[str]) -> str:
    """A question that names the known name that is most like the text, else a sentence that lists all known names."""
    names = list(known)
    near = name_near(text, names)
    return f"Did you mean {near}?" if near else f"There are {', '.join(names)}." if names else "There are none."
