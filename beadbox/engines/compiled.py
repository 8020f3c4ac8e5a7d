"""The decorator for the kernels of engines. These run only compiled, because interpreted they would be far too slow."""

from __future__ import annotations

from collections.abc import Callable

from beadbox.kernels.jit import FunctionT, Readiness, only_compiled


class EngineNotReadyError(RuntimeError):
    """The engine cannot run in this process at the moment."""

    code: str
    message: str

    def __str__(self) -> str:
        return self.message


class EngineCompilingError(EngineNotReadyError):
    """Another process is compiling the engine, which takes about a minute."""

    code = "engine_compiling"
    message = "The engine is being compiled, which takes about a minute. Nothing has changed: try again in a moment."


class EngineMissingError(EngineNotReadyError):
    """The engine cannot be compiled, because numba is not installed."""

    code = "engine_missing"
    message = "This engine needs numba, which is not installed here."


def _error(readiness: Readiness) -> EngineNotReadyError:
    return EngineCompilingError() if readiness is Readiness.COMPILING else EngineMissingError()


def ready_require(readiness: Readiness) -> None:
    """Check that an engine is ready.

    Raises:
        EngineCompilingError: another process is compiling the engine.
        EngineMissingError: numba is not installed.
    """
    if readiness is not Readiness.READY:
        raise _error(readiness)


kernel: Callable[[FunctionT], FunctionT] = only_compiled(_error)
"""Decorator for a compiled function. A call raises ``EngineNotReadyError`` if the function cannot be compiled now."""
