"""Request context: the id of the request that led to the running code. Jobs store the id of their request.

The id is a context variable, so threads of ``asyncio.to_thread`` and of background moves have it too.
"""

from __future__ import annotations

from contextvars import ContextVar

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""Id of the current request, socket or task; empty where there is none, as at the start of a process."""


def request_id() -> str:
    """Return the id of the current request, socket or task."""
    return REQUEST_ID.get()
