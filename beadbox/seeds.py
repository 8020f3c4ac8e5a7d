"""Seeds: non-negative whole numbers of 63 bits, the range of the database column."""

from __future__ import annotations

import secrets
from operator import index

from beadbox import field_text
from beadbox.errors import BeadboxError

MAX_SEED = (1 << 63) - 1
MAX_JSON_NUMBER = 1 << 53
"""The largest whole number up to which JavaScript and other readers of JSON do not round."""


class SeedError(BeadboxError):
    """A number is out of the range of seeds; the message names the field ``seed``."""


def seed_checked(seed: int) -> int:
    """Return the seed as Python's ``int`` if it is a whole number from 0 to :data:`MAX_SEED`.

    Whole numbers of NumPy's types are accepted too.

    Raises:
        SeedError: the seed is no such number.
    """
    try:
        found = index(seed)
    except TypeError:
        raise SeedError(f"seed: {field_text.WHOLE_NUMBER}") from None
    if found < 0:
        raise SeedError(f"seed: {field_text.at_least(0)}")
    if found > MAX_SEED:
        raise SeedError(f"seed: {field_text.at_most(MAX_SEED)}")
    return found


def seed_to_json(seed: int) -> int | str:
    """Return the seed for a JSON response: as text where a reader of JSON could round the number."""
    return seed if seed <= MAX_JSON_NUMBER else str(seed)


def seed_or_random(seed: int | None) -> int:
    """Return the seed, or for ``None`` a random one of 32 bits: short to type, and exact in every language."""
    return secrets.randbelow(1 << 32) if seed is None else seed
