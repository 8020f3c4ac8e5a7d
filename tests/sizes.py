"""The sizes of the programs that measure and break things: ``SMALL=1`` gives each its smallest form.

That form shows that a program still runs, and judges no time. ``make soak`` runs every program so.
"""

import os
from typing import TypeVar

SizeT = TypeVar("SizeT")
IS_SMALL = bool(os.environ.get("SMALL"))


def sized(full: SizeT, small: SizeT) -> SizeT:
    """Return ``small`` in the smallest form, else ``full``."""
    return small if IS_SMALL else full
