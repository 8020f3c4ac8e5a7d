"""Kernels run as plain Python or compiled by numba, with identical results.

``BEADBOX_KERNELS`` sets the mode of a process:

* not set: a kernel is compiled when it is first called, or read from the cache (:func:`beadbox.kernels.cache.folder`).
* ``ready``: this process compiles nothing. Another process (``manage.py warm_kernels``) compiles all kernels of a
  package and then writes a marker file. Kernels run as plain Python until this process finds the marker, and then
  from the cached machine code.
* ``plain``: no process compiles anything. This mode also holds where numba is not installed.

A kernel that would take minutes as plain Python (``only_compiled``) raises an error if it cannot run compiled.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from enum import Enum
from functools import cached_property, update_wrapper
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from beadbox.kernels.cache import folder, identity

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])
CHECK_EVERY_S = 1.0
"""Seconds between two checks for the marker of a package."""


class Readiness(Enum):
    """Whether the kernels of a package run compiled."""

    READY = "ready"
    COMPILING = "compiling"
    """Another process is compiling them."""
    NEVER = "never"
    """numba is not installed, or must not be used."""


class Part(NamedTuple):
    """A function that compiled kernels contain, and its options for numba."""

    function: Callable[..., Any]
    options: dict[str, Any]
    instruction: str = ""
    """The LLVM instruction that replaces the function in compiled code; empty if none does."""


PARTS: list[Part] = []
"""Functions that are not registered with numba yet."""
_mutex = threading.RLock()


@functools.cache
def _mode() -> str:
    return os.environ.get("BEADBOX_KERNELS", "") if find_spec("numba") else "plain"


@functools.cache
def _compiler() -> Any:
    """Return the module that imports numba. Its import is late, because an import of numba takes long."""
    from beadbox.kernels import compiled

    compiled.register_kernels(Kernel)
    return compiled


def can_compile() -> bool:
    """Whether numba is installed and may be used."""
    return _mode() != "plain"


class KernelPackage:
    """The kernels of a Python package, which all become compiled at the same time."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kernels: list[Kernel] = []
        self.is_loaded: bool = False
        self.checked_at_s: float = -CHECK_EVERY_S

    @cached_property
    def marker(self) -> Path | None:
        """The file that marks the cache as complete for this package; ``None`` without a cache folder."""
        cache = folder()
        return cache / f"{self.name}-{identity(self.name)}.ready" if cache else None

    def readiness(self) -> Readiness:
        """Return whether the kernels run compiled. The first call at which they can run compiled loads numba.

        In mode ``ready`` a call checks for the marker at most once a second.
        """
        if self.is_loaded:
            return Readiness.READY
        if not can_compile():
            return Readiness.NEVER
        if _mode() != "ready":
            self._load()
        elif self._is_check_due() and self.is_marked:
            self._load_outside_event_loop()
        return Readiness.READY if self.is_loaded else Readiness.COMPILING

    def mark(self) -> None:
        """Mark the cache as complete, for processes that wait for it."""
        if self.marker is not None:
            self.marker.touch()

    @property
    def is_marked(self) -> bool:
        """Whether the cache has all kernels of the package."""
        return self.marker is not None and self.marker.exists()

    def _is_check_due(self) -> bool:
        """Whether a check for the marker is due. If so, the next check is due a second later."""
        now_s = monotonic()
        if now_s - self.checked_at_s < CHECK_EVERY_S:
            return False
        self.checked_at_s = now_s
        return True

    def _load_outside_event_loop(self) -> None:
        """Load numba in this thread, or in another one if this thread runs an event loop."""
        import asyncio  # Imported late: only processes of a site need it, and it would delay every import of beadbox.

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._load()
        else:
            threading.Thread(target=self._load, daemon=True).start()

    def _load(self) -> None:
        with _mutex:
            _compiler()
            self.is_loaded = True


PACKAGES: dict[str, KernelPackage] = {}
"""Packages of kernels by name. A package is added when the first of its kernels is defined."""


class Kernel:
    """A function that runs compiled where possible.

    Elsewhere the function runs as plain Python, or a call raises the exception that ``refusal`` returns.
    """

    def __init__(self, function: Callable[..., Any], refusal: Callable[[Readiness], Exception] | None = None) -> None:
        update_wrapper(self, function)
        self.function = function
        self.refusal = refusal
        name = function.__module__.rpartition(".")[0]
        self.package: KernelPackage = PACKAGES.setdefault(name, KernelPackage(name))
        self.package.kernels.append(self)
        self.implementation: Callable[..., Any] = self._choose_and_call

    def __call__(self, *args: Any) -> Any:
        return self.implementation(*args)

    @cached_property
    def compiled(self) -> Any:
        """The function as numba's dispatcher; all :data:`PARTS` are registered first."""
        with _mutex:
            compiler = _compiler()
            while PARTS:
                compiler.register_function(*PARTS.pop())
            return compiler.dispatcher(self.function)

    def _choose_and_call(self, *args: Any) -> Any:
        readiness = self.package.readiness()
        if readiness is Readiness.READY:
            _compiler().compile_once(self.compiled, args)
            self.implementation = self.compiled
            return self.compiled(*args)
        if self.refusal is not None:
            raise self.refusal(readiness)
        if readiness is Readiness.NEVER:
            self.implementation = self.plain
        return self.plain(*args)

    def plain(self, *args: Any) -> Any:
        """Run the function as plain Python. Sums of words overflow without a warning, as they do in compiled code."""
        with np.errstate(all="ignore"):
            return self.function(*args)


def kernel(function: FunctionT) -> FunctionT:
    """Return the function as a :class:`Kernel`: compiled where numba is ready, else plain Python."""
    return cast("FunctionT", Kernel(function))


def only_compiled(refusal: Callable[[Readiness], Exception]) -> Callable[[FunctionT], FunctionT]:
    """Return a decorator like :func:`kernel` for a package that takes minutes as plain Python.

    Where such a kernel cannot run compiled, a call raises the exception that ``refusal`` returns for the readiness.
    """

    def decorate(function: FunctionT) -> FunctionT:
        return cast("FunctionT", Kernel(function, refusal))

    return decorate


def inlined(function: FunctionT) -> FunctionT:
    """Register a function that is always inlined into kernels: a call would pass seven words for every array."""
    PARTS.append(Part(function, {"nogil": True, "error_model": "numpy", "forceinline": True}))
    return function


def shared(function: FunctionT) -> FunctionT:
    """Register a function that both Python and compiled kernels call."""
    PARTS.append(Part(function, {}))
    return function


def instruction(name: str) -> Callable[[FunctionT], FunctionT]:
    """Return a decorator for a function that is plain Python, and one instruction of the processor in kernels.

    ``name``: a function of LLVM's builder that takes a 64-bit word: ``cttz`` or ``ctpop``.
    """

    def decorate(function: FunctionT) -> FunctionT:
        PARTS.append(Part(function, {"forceinline": True}, name))
        return function

    return decorate
