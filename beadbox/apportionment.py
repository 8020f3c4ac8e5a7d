"""Shares of a whole in round numbers that add up to it."""

from __future__ import annotations

from collections.abc import Sequence


def apportion(parts: Sequence[float], units: int = 100) -> list[int]:
    """Divide so many units among parts, none of them negative, by the largest remainder.

    Every part is rounded down; the units that are left go to the largest remainders, of equal ones to the first.
    All are 0 if the parts are. ``static/js/words.js`` has the same function; ``tests/data/shares.json`` tests both.
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
