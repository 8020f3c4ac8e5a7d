"""What needs numba: kernels as its dispatchers, with the options that are the same for all.

``cache=True`` keeps the machine code on disc, so the second start of the program is warm. ``nogil=True`` lets other
threads run meanwhile. Never ``parallel=True``: OpenMP kills a forked worker.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload, typeof_impl

from beadbox.kernels.cache import checksum

_config: Any = numba.config
_FOLDER = _config.CACHE_DIR


def dispatcher(function: Callable[..., Any]) -> Any:
    """The function, compiled by numba when first called.

    Numba asks only the file of the outermost function whether the cache is stale, and would go on running old parts
    from other files. So every state of the sources of a module has a folder of its own.
    """
    if not _FOLDER:
        return numba.njit(nogil=True, error_model="numpy", cache=True)(function)
    _config.CACHE_DIR = str(Path(_FOLDER) / f"{function.__module__}-{checksum(function.__module__)}")
    try:
        return numba.njit(nogil=True, error_model="numpy", cache=True)(function)
    finally:
        _config.CACHE_DIR = _FOLDER


def compile_once(kernel: Any, args: tuple[Any, ...]) -> None:
    """Compile a dispatcher for the types of these arguments, or read what another process has compiled.

    Processes that share a cache wait for one another: each would compile the same machine code for a minute.
    """
    if not _FOLDER:
        return
    lock = Path(_FOLDER) / f"{kernel.py_func.__module__}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        kernel.compile(tuple(map(kernel.typeof_pyval, args)))


def know(kernel: type[Any]) -> None:
    """A kernel of this class is for another one that calls it the function that numba has as its ``compiled``."""

    @typeof_impl.register(kernel)
    def _(called: Any, context: object) -> Any:
        return types.Dispatcher(called.compiled)


def contain(function: Callable[..., Any], options: Any, instruction: str = "") -> None:
    """Let kernels contain a plain function, or one instruction of the processor in its place."""
    tell = overload(function, jit_options=options, strict=False)
    if instruction:
        one = _instruction(instruction)
        tell(lambda word: lambda word: one(word))  # noqa: PLW0108 - an overload has the parameters of its function
    else:
        tell(lambda *_: function)


def _instruction(name: str) -> Any:
    """An instruction of the processor that numba does not offer by itself, on a 64-bit word."""

    @intrinsic
    def one(typingctx: Any, word: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if name == "cttz":
                return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))
            return builder.ctpop(args[0])

        return types.int64(types.uint64), codegen

    return one
