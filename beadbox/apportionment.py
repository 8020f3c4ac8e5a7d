"""Shares in whole numbers that add up to a given total."""

from __future__ import annotations

from collections.abc import Sequence


def apportion(parts: Sequence[float], units: int = 100) -> list[int]:
    """Divide ``units`` among parts, which must not be negative, by the largest-remainder method.

    Every share is rounded down; the remaining units go to the largest remainders, of equal ones to the first. All
    shares are 0 if all parts are 0. ``static/js/words.js`` has the same function; ``tests/data/shares.json`` tests
    both.
    """
    total = sum(parts)
    if not total:
        return [0] * len(parts)
    due = [part * units / total for part in parts]
    found = [int(share) for share in due]
    order = sorted(range(len(due)), key=lambda at: found[at] - due[at])
    for at in order[: units - sum(found)]:
        found[at] += 1
    return found
