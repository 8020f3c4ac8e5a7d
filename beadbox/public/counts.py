"""A check of whole numbers that programs pass to the library, such as a number of games."""

from __future__ import annotations

from operator import index

from beadbox.errors import UnsupportedError


def count_checked(number: object, noun: str, *, least: int = 1) -> int:
    """Return a whole number of games or rounds as Python's ``int``, also for a number of one of NumPy's types.

    Raises:
        UnsupportedError: the number is not whole, or less than ``least``.
    """
    try:
        found = index(number)  # type: ignore[arg-type]  # checked here
    except TypeError:
        found = least - 1
    if isinstance(number, bool) or found < least:
        raise UnsupportedError(f"Please give a whole number of {noun} from {least} up, not {number!r}.")
    return found
