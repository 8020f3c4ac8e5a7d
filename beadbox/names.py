"""Names that people type: the only module that compares, searches and checks them.

The folded forms are stored, because a database folds case by its locale and Python folds the same everywhere.
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
"""Characters of a symbol category that are drawn as a blank."""
FILLERS = "\u115f\u1160\u3164\uffa0"
"""Characters of a letter category that are drawn as a blank: fillers for a missing part of a Korean syllable."""
JOINERS = "\u200c\u200d"
"""Invisible characters that Persian and Indian scripts need inside words, and emoji between two pictures."""
VISIBLE_FORMAT = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Format characters that are drawn: signs before or around numbers (Prepended_Concatenation_Mark)."""
FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]+\U000e007f")
"""The flags of England, Scotland and Wales: a black flag and invisible letters."""
ACCENT = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652\u0670]")
"""Accents, and the vowel points of Hebrew and Arabic: a search leaves them out. Marks of other scripts are letters."""
MAX_SLUG_CHARACTERS = 80
"""Longest text that is compared with known names for a suggestion."""
LOOSE_JOINER = re.compile(rf"(?:^|(?<=\s))[{JOINERS}]|[{JOINERS}](?=\s|$)")


def name_key(name: str) -> str:
    """Return the key of a name: equal for names that differ only in case, width or encoding of accents.

    NFKC and case folding, without ignorable characters, and with single blanks. Idempotent: the key of a key is the
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
    """Return the form in which a name is searched: its key without accents, so that "lodz" finds "Łódź"."""
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
    """Return a sentence that says why a name is refused; empty for a valid name."""
    hidden = next(filter(_is_hidden, FLAG.sub("x", name)), "") or LOOSE_JOINER.search(name)
    if hidden:
        char = hidden if isinstance(hidden, str) else hidden.group()
        return f"This name holds a hidden character (U+{ord(char):04X}). Type the name again without it."
    if not any(map(_is_visible, name)):
        return "A name needs a letter, a digit or another character that can be seen."
    return ""


def _is_hidden(char: str) -> bool:
    """Whether a character controls text or its direction, separates lines, or is invisible by design."""
    category = unicodedata.category(char)
    if category == "Cf":
        return char not in JOINERS and char not in VISIBLE_FORMAT
    if category == "Cn":  # unassigned: possibly an emoji of a newer Unicode
        return _is_noncharacter(char) or IGNORABLE.match(char) is not None
    return category in ("Cc", "Cs", "Zl", "Zp") or char in FILLERS


def _is_noncharacter(char: str) -> bool:
    return 0xFDD0 <= ord(char) <= 0xFDEF or ord(char) & 0xFFFE == 0xFFFE


def _is_visible(char: str) -> bool:
    """Whether a character is drawn by itself; a combining mark is not, since it stands on a letter."""
    category = unicodedata.category(char)
    if char in VISIBLE_FORMAT or category == "Cn":
        return True
    return category[0] not in "CMZ" and char not in BLANK and IGNORABLE.match(char) is None


def name_near(text: str, known: Iterable[str]) -> str:
    """Return the known name most similar to the text, ignoring case; empty if none is similar."""
    by_key = {name.casefold(): name for name in known}
    near = get_close_matches(text.casefold(), by_key, 1) if len(text) <= MAX_SLUG_CHARACTERS else []
    return by_key[near[0]] if near else ""


def did_you_mean(text: str, known: Iterable[str]) -> str:
    """Return a question that suggests the most similar known name, else a sentence that lists all known names."""
    names = list(known)
    near = name_near(text, names)
    return f"Did you mean {near}?" if near else f"There are {', '.join(names)}." if names else "There are none."
