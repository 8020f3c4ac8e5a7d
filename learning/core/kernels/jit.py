"""How kernels are compiled, in one place and with types that survive it.

``cache=True`` keeps the machine code on disc (``NUMBA_CACHE_DIR``), so the second start of the program is
warm. ``nogil=True`` lets other threads run meanwhile. Never ``parallel=True``: OpenMP kills a forked worker.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.extending import register_jitable

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])


def _sources_checksum() -> str:
    """A short name for the state of all kernel sources, and of the rules that engines have tables of."""
    root = Path(__file__).parents[3]
    folders = ("learning/core/kernels", "learning/core/engines", "games/rules")
    sources = sorted(source for folder in folders for source in (root / folder).rglob("*.py"))
    return hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()[:16]


# Numba asks only the file of the outermost function whether the cache is stale, and would go on running old helpers
# from the other files. So every state of the sources has a folder of its own.
_config: Any = numba.config
if _config.CACHE_DIR:
    _config.CACHE_DIR = str(Path(_config.CACHE_DIR) / _sources_checksum())


def kernel(function: FunctionT) -> FunctionT:
    """The function, compiled by numba when first called."""
    return cast("FunctionT", numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def inlined(function: FunctionT) -> FunctionT:
    """A part of kernels, always compiled into them: a call would hand over seven words for every array."""
    return cast("FunctionT", numba.njit(nogil=True, error_model="numpy", forceinline=True)(function))


def shared(function: FunctionT) -> FunctionT:
    """Python as it stands where Python calls it, and compiled where a kernel does."""
    compiled: FunctionT = register_jitable(function)
    return compiled
