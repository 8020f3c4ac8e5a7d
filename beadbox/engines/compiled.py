"""Kernels of engines: they run compiled, or not at all."""

from __future__ import annotations

from beadbox.kernels.jit import Readiness, only_compiled


class EngineNotReadyError(RuntimeError):
    """The engine does not run here now."""

    code: str
    message: str

    def __str__(self) -> str:
        return self.message


class EngineCompilingError(EngineNotReadyError):
    """Another process compiles the engine."""

    code = "engine_compiling"
    message = "The engine is being compiled, which takes about a minute. Nothing has changed: try again in a moment."


class EngineMissingError(EngineNotReadyError):
    """The engine can't be compiled here."""

    code = "engine_missing"
    message = "This engine needs numba, which is not installed here."


def _error(readiness: Readiness) -> EngineNotReadyError:
    return EngineCompilingError() if readiness is Readiness.COMPILING else EngineMissingError()


def ready_require(readiness: Readiness) -> None:
    """Check that an engine is ready for a task, now or later.

    Raises:
        EngineCompilingError, EngineMissingError.
    """
    if readiness is not Readiness.READY:
        raise _error(readiness)


kernel = only_compiled(_error)
