"""Kernels of engines: they run compiled, or not at all."""

from __future__ import annotations

from games.exceptions import BusyError, PlayError
from learning.core.kernels.jit import Readiness, only_compiled


class EngineCompilingError(BusyError):
    """Another process compiles the engine."""

    message = "The engine is being compiled, which takes about a minute. Nothing has changed: try again in a moment."
    retry_after_s = 5


class EngineMissingError(PlayError):
    """The engine can't be compiled here."""

    message = "This engine needs numba, which is not installed here."
    code = "engine_missing"
    status = 503
    pauses = True


def _refusal(readiness: Readiness) -> PlayError:
    return EngineCompilingError() if readiness is Readiness.COMPILING else EngineMissingError()


def ready_require(readiness: Readiness) -> None:
    """Refuse what an engine is to do, or to do later, unless it is ready.

    Raises:
        EngineCompilingError, EngineMissingError.
    """
    if readiness is not Readiness.READY:
        raise _refusal(readiness)


kernel = only_compiled(_refusal)
