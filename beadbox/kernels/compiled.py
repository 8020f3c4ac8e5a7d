"""The code that needs numba. It makes numba's dispatchers of kernels, all with the same options.

``cache=True`` stores the machine code on disc, so a program compiles nothing at its second start. ``nogil=True`` lets
other threads run while a kernel runs. ``parallel=True`` must not be used, because OpenMP kills a forked worker.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload, typeof_impl

from beadbox.kernels import cache

if sys.platform != "win32":
    import fcntl

_config: Any = numba.config


def dispatcher(function: Callable[..., Any]) -> Any:
    """Return the function as a dispatcher, which numba compiles at the first call.

    numba checks only the file of the outermost function for changes. If another file changed, numba would run outdated
    code of its functions. Each version of a module's sources therefore has its own cache folder.
    """
    folder, folder_before = cache.folder(), _config.CACHE_DIR
    if folder is not None:
        _config.CACHE_DIR = str(folder / f"{function.__module__}-{cache.checksum(function.__module__)}")
    try:
        return numba.njit(nogil=True, error_model="numpy", cache=folder is not None)(function)
    finally:
        _config.CACHE_DIR = folder_before


def compile_once(kernel: Any, args: tuple[Any, ...]) -> None:
    """Compile a dispatcher for the types of these arguments, or load the machine code that another process cached.

    Processes that share a cache take turns under a file lock. Without the lock, each would compile the same code for a
    minute, as happens on Windows. Without a cache folder the function does nothing, and the dispatcher compiles when
    it is called.
    """
    folder = cache.folder()
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{kernel.py_func.__module__}.lock").open("w") as lock_file:
        if sys.platform != "win32":
            fcntl.flock(lock_file, fcntl.LOCK_EX)
        kernel.compile(tuple(map(kernel.typeof_pyval, args)))


def register_kernels(kernel: type[Any]) -> None:
    """Register a class of kernels with numba: a kernel that calls another one calls its ``compiled`` dispatcher."""

    @typeof_impl.register(kernel)
    def _(called: Any, context: object) -> Any:
        return types.Dispatcher(called.compiled)


def register_function(function: Callable[..., Any], options: Any, instruction: str = "") -> None:
    """Let kernels call a plain function, or run one instruction of the processor in its place."""
    register = overload(function, jit_options=options, strict=False)
    if instruction:
        one = _instruction(instruction)
        register(lambda word: lambda word: one(word))  # noqa: PLW0108 - an overload has the parameters of its function
    else:
        register(lambda *_: function)


def _instruction(name: str) -> Any:
    """Return an intrinsic for an instruction on a 64-bit word that numba does not offer itself."""

    @intrinsic
    def one(typingctx: Any, word: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if name == "cttz":
                return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))
            return builder.ctpop(args[0])

        return types.int64(types.uint64), codegen

    return one
