"""Sizes of benchmarks and fault tests: ``SMALL=1`` gives each its smallest form.

The smallest form shows that a program still runs, and judges no times. ``make soak`` runs every program this way.
"""

import os
from typing import TypeVar

SizeT = TypeVar("SizeT")
IS_SMALL = bool(os.environ.get("SMALL"))


def sized(full: SizeT, small: SizeT) -> SizeT:
    """Return ``small`` in the smallest form, else ``full``."""
    return small if IS_SMALL else full
