"""How kernels run: as plain Python, or compiled by numba. Both leave the same bytes.

``BEADBOX_KERNELS`` says which, for a process:

* not set: a kernel is compiled when it is first called, or read from the cache (``NUMBA_CACHE_DIR``).
* ``ready``: nothing is compiled here. A kernel runs as plain Python until another process (``manage.py
  warm_kernels``) has compiled its package and has left a marker; then this process reads the machine code.
* ``plain``: nothing is compiled, as where numba is not installed.

A kernel that takes minutes as plain Python (``only_compiled``) is refused where it cannot run compiled.
"""

from __future__ import annotations

import asyncio
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

from beadbox.kernels.cache import identity

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])
LOOK_EVERY_S = 1.0
"""How often a process looks for a marker."""


class Readiness(Enum):
    """Whether the kernels of a package run compiled."""

    READY = "ready"
    COMPILING = "compiling"
    """Another process compiles them."""
    NEVER = "never"
    """There is no numba here, or it is not to be used."""


class Part(NamedTuple):
    """A function that compiled kernels contain: how numba is told of it."""

    function: Callable[..., Any]
    options: dict[str, Any]
    instruction: str = ""
    """The instruction of LLVM that it stands for."""


PARTS: list[Part] = []
"""Parts that numba has not been told of yet."""
_mutex = threading.RLock()


@functools.cache
def _mode() -> str:
    return os.environ.get("BEADBOX_KERNELS", "") if find_spec("numba") else "plain"


@functools.cache
def _compiler() -> Any:
    """What needs numba, which takes a while to be imported."""
    from beadbox.kernels import compiled

    compiled.know(Kernel)
    return compiled


def can_compile() -> bool:
    """Whether numba is there, and to be used."""
    return _mode() != "plain"


class KernelPackage:
    """The kernels of a package, which become ready together."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kernels: list[Kernel] = []
        self.is_loaded = False
        self.looked_at_s = -LOOK_EVERY_S

    @cached_property
    def marker(self) -> Path | None:
        """The file that says that the cache has them all; ``None`` where there is no folder for a cache."""
        folder = os.environ.get("NUMBA_CACHE_DIR")
        return Path(folder) / f"{self.name}-{identity(self.name)}.ready" if folder else None

    def readiness(self) -> Readiness:
        """Whether they run compiled. Looks for the marker at most once a second, and loads numba if it is there."""
        if self.is_loaded:
            return Readiness.READY
        if not can_compile():
            return Readiness.NEVER
        if _mode() != "ready":
            self._load()
        elif self._looks() and self.is_marked:
            self._load_off_the_loop()
        return Readiness.READY if self.is_loaded else Readiness.COMPILING

    def mark(self) -> None:
        """Say that the cache has them all."""
        if self.marker is not None:
            self.marker.touch()

    @property
    def is_marked(self) -> bool:
        """Whether the cache has them all."""
        return self.marker is not None and self.marker.exists()

    def _looks(self) -> bool:
        """Whether it is time to look for the marker again."""
        now_s = monotonic()
        if now_s - self.looked_at_s < LOOK_EVERY_S:
            return False
        self.looked_at_s = now_s
        return True

    def _load_off_the_loop(self) -> None:
        """Load numba in this thread, or in another where this one has an event loop to run."""
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
"""By name. A package is here once one of its modules is imported."""


class Kernel:
    """A function that runs compiled where that can be had."""

    def __init__(self, function: Callable[..., Any], refusal: Callable[[Readiness], Exception] | None = None) -> None:
        update_wrapper(self, function)
        self.function = function
        self.refusal = refusal
        name = function.__module__.rpartition(".")[0]
        self.package = PACKAGES.setdefault(name, KernelPackage(name))
        self.package.kernels.append(self)
        self.runs = self._choose

    def __call__(self, *args: Any) -> Any:
        return self.runs(*args)

    @cached_property
    def compiled(self) -> Any:
        """Numba's dispatcher."""
        with _mutex:
            compiler = _compiler()
            while PARTS:
                compiler.contain(*PARTS.pop())
            return compiler.dispatcher(self.function)

    def _choose(self, *args: Any) -> Any:
        readiness = self.package.readiness()
        if readiness is Readiness.READY:
            _compiler().compile_once(self.compiled, args)
            self.runs = self.compiled
            return self.compiled(*args)
        if self.refusal is not None:
            raise self.refusal(readiness)
        if readiness is Readiness.NEVER:
            self.runs = self.plain
        return self.plain(*args)

    def plain(self, *args: Any) -> Any:
        """What the function returns as plain Python. Sums of words overflow, as they do where it is compiled."""
        with np.errstate(all="ignore"):
            return self.function(*args)


def kernel(function: FunctionT) -> FunctionT:
    """The function, compiled where numba is ready."""
    return cast("FunctionT", Kernel(function))


def only_compiled(refusal: Callable[[Readiness], Exception]) -> Callable[[FunctionT], FunctionT]:
    """A decorator as :func:`kernel`, for a package that takes minutes as plain Python: it is refused instead."""

    def decorate(function: FunctionT) -> FunctionT:
        return cast("FunctionT", Kernel(function, refusal))

    return decorate


def inlined(function: FunctionT) -> FunctionT:
    """A part of kernels, always compiled into them: a call would hand over seven words for every array."""
    PARTS.append(Part(function, {"nogil": True, "error_model": "numpy", "forceinline": True}))
    return function


def shared(function: FunctionT) -> FunctionT:
    """Python as it stands where Python calls it, and compiled where a kernel does."""
    PARTS.append(Part(function, {}))
    return function


def instruction(name: str) -> Callable[[FunctionT], FunctionT]:
    """Python as it stands where Python calls it, and one instruction of the processor where a kernel does.

    ``name``: that of a function of LLVM's builder that takes a 64-bit word: ``cttz`` or ``ctpop``.
    """

    def decorate(function: FunctionT) -> FunctionT:
        PARTS.append(Part(function, {"forceinline": True}, name))
        return function

    return decorate
