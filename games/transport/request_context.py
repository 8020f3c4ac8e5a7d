"""Request context: the id of the request that the running code works for.

The id is a context variable. Threads of ``asyncio.to_thread`` inherit its value, and so do the threads that compute
background moves (``games/live/background_moves.py``). A job stores the id of the request that created the job.
"""

from __future__ import annotations

from contextvars import ContextVar

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""Id of the current request, socket or task; empty outside of these, for example at the start of a process."""


def request_id() -> str:
    """Return the id of the current request, socket or task."""
    return REQUEST_ID.get()
