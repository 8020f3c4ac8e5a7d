"""Request context: the id of the request that caused the running code.

The id is a context variable, which threads of ``asyncio.to_thread`` and of background moves inherit. Jobs store the id
of their request.
"""

from __future__ import annotations

from contextvars import ContextVar

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""Id of the current request, socket or task; empty outside of these, as at the start of a process."""


def request_id() -> str:
    """Return the id of the current request, socket or task."""
    return REQUEST_ID.get()
