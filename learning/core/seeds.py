"""Seeds: whole numbers of 63 bits, as the database keeps them."""

from __future__ import annotations

import secrets

MAX_SEED = (1 << 63) - 1


class SeedError(ValueError):
    """A number that is no seed; the message names the field ``seed``."""


def seed_checked(seed: int) -> int:
    """The seed, if it is one.

    Raises:
        SeedError: it is out of range.
    """
    if not 0 <= seed <= MAX_SEED:
        raise SeedError(f"seed: must lie between 0 and {MAX_SEED}, not {seed}.")
    return seed


def seed_or_random(seed: int | None) -> int:
    """The seed; a random one if nobody chose any, short enough to be typed, and for every language's whole numbers."""
    return secrets.randbelow(1 << 32) if seed is None else seed
