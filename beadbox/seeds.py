"""Seeds: whole numbers of 63 bits, as the database keeps them."""

from __future__ import annotations

import secrets

from beadbox import field_text

MAX_SEED = (1 << 63) - 1
MAX_JSON_NUMBER = 1 << 53
"""Beyond it JavaScript and other readers of JSON round whole numbers."""


class SeedError(ValueError):
    """A number that is no seed; the message names the field ``seed``."""


def seed_checked(seed: int) -> int:
    """The seed, if it is one.

    Raises:
        SeedError: it is out of range.
    """
    if seed < 0:
        raise SeedError(f"seed: {field_text.at_least(0)}")
    if seed > MAX_SEED:
        raise SeedError(f"seed: {field_text.at_most(MAX_SEED)}")
    return seed


def seed_to_json(seed: int) -> int | str:
    """The seed as answers have it: text where a reader of JSON may round the number."""
    return seed if seed <= MAX_JSON_NUMBER else str(seed)


def seed_or_random(seed: int | None) -> int:
    """The seed; a random one if nobody chose any, short enough to be typed, and for every language's whole numbers."""
    return secrets.randbelow(1 << 32) if seed is None else seed
