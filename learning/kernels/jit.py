"""How kernels are compiled, in one place and with types that survive it.

``cache=True`` keeps the machine code on disc (``NUMBA_CACHE_DIR``), so the second start of the program is
warm. ``nogil=True`` lets other threads run meanwhile. Never ``parallel=True``: OpenMP kills a forked worker.
"""

from collections.abc import Callable
from typing import TypeVar

from numba import njit

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])


def kernel(function: FunctionT) -> FunctionT:
    """The function, compiled by numba when first called."""
    compiled: FunctionT = njit(cache=True, nogil=True)(function)
    return compiled
