"""Sizes of benchmarks and fault tests. With ``SMALL=1``, each program runs in its smallest form.

The smallest form shows only that a program still works, and checks no durations. ``make soak`` runs all programs so.
"""

import os
from typing import TypeVar

SizeT = TypeVar("SizeT")
IS_SMALL = bool(os.environ.get("SMALL"))


def sized(full: SizeT, small: SizeT) -> SizeT:
    """Return ``small`` if programs run in their smallest form, else ``full``."""
    return small if IS_SMALL else full
