"""Room codes, as people write them."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

from games.exceptions import NotACodeError

CODE_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""Letters and digits without the easily confused i, l, o, 0 and 1."""
CODE_LENGTH = 6
CODE_PATTERN = re.compile(r"[a-hjkmnp-z2-9]{6}")
MAX_TEXT_LENGTH = 500
ROOM_LINK_PATTERN = re.compile(r"\brooms\s*/+([^/?#]+)")
CODE_LABEL_PATTERN = re.compile(r"^\W*(?:room\W+)?code\W+")
"""The label before a code on a page or in a message, such as "Room code:"."""
LINK_END_PATTERN = re.compile(r"[\s,;&]")
"""A character that ends a link in a message."""


def parse_code(text: str) -> str:
    """Return the room code in a text that a person typed or pasted.

    Blanks and punctuation are ignored, and capitals and full-width letters are converted. In a link to a room, the part
    after ``rooms/`` is the code, even if more text follows.

    Raises:
        NotACodeError: the text cannot be a code, so no room needs to be looked up.
    """
    text = unicodedata.normalize("NFKC", unquote(text[:MAX_TEXT_LENGTH])).lower()
    link = ROOM_LINK_PATTERN.search(text)
    parts = [link[1], LINK_END_PATTERN.split(link[1].lstrip())[0]] if link else [text, CODE_LABEL_PATTERN.sub("", text)]
    for part in parts:
        code = "".join(filter(str.isalnum, part))
        if CODE_PATTERN.fullmatch(code):
            return code
    raise NotACodeError
