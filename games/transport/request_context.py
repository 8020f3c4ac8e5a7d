"""Which request led to what goes on: its id is in whatever the request calls, and on the jobs that it asks for.

It is a context variable, so it is there in other threads that ``asyncio.to_thread`` starts, and in the thinkers.
"""

from __future__ import annotations

from contextvars import ContextVar

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request, socket or task that goes on; empty where there is none, as at the start of a process."""


def request_id() -> str:
    """The id of what goes on here."""
    return REQUEST_ID.get()
