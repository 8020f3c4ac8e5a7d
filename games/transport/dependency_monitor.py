"""Monitor of database and broker: polls both, and tells every open socket of the process about a change.

Without the monitor, a waiting page would notice an outage only at its next move, or at a ping up to ten seconds later.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol
from weakref import WeakSet

import psycopg
import redis.asyncio
from django.conf import settings

logger = logging.getLogger("games.pulse")

POLL_INTERVAL_S = 0.7
"""Seconds between two polls of database and broker."""
ANSWER_TIMEOUT_S = 0.8
"""Seconds without an answer after which a dependency counts as away. So pages show an outage within two seconds."""
CANCEL_AFTER_S = 10.0
"""Seconds after which an unanswered query is cancelled, and a new query starts on a new connection."""


class Listener(Protocol):
    """An open socket that receives the frame ``site``."""

    async def send_frame(self, kind: str, data: object) -> None:
        """Send a frame of this kind to the client."""


class RepeatedQuery:
    """A query that the monitor repeats. A run of the query may take longer than its caller waits."""

    def __init__(self, ask: Callable[[], Awaitable[None]]) -> None:
        self.ask = ask
        self.running_query: asyncio.Task[None] | None = None
        self.started_at = 0.0

    async def is_answered(self) -> bool:
        """Whether an answer arrives within ``ANSWER_TIMEOUT_S``. If the last run still goes on, wait for it again."""
        now_s = asyncio.get_running_loop().time()
        if self.running_query is None or now_s - self.started_at > CANCEL_AFTER_S:
            self.close()
            self.running_query, self.started_at = asyncio.ensure_future(self.ask()), now_s
        done, _ = await asyncio.wait([self.running_query], timeout=ANSWER_TIMEOUT_S)
        if not done:
            return False
        task, self.running_query = self.running_query, None
        return task.exception() is None

    def close(self) -> None:
        """Cancel the running query, if any."""
        if self.running_query is not None:
            self.running_query.cancel()
            self.running_query = None


class DependencyMonitor:
    """The last known state of database and broker, and the sockets that get the frame ``site`` at a change."""

    def __init__(self) -> None:
        self.sockets: WeakSet[Listener] = WeakSet()
        self.is_database_up = self.is_broker_up = True
        self.sending_tasks: set[asyncio.Task[None]] = set()
        self.connection: psycopg.AsyncConnection[Any] | None = None

    @property
    def state(self) -> dict[str, str]:
        """The data of the frame ``site``."""
        return {
            "database": "ok" if self.is_database_up else "away",
            "spectators": "ok" if self.is_broker_up else "late",
        }

    async def join(self, socket: Listener) -> None:
        """Tell a socket about changes from now on, and about a current outage at once."""
        self.sockets.add(socket)
        if not (self.is_database_up and self.is_broker_up):
            await socket.send_frame("site", self.state)

    def leave(self, socket: Listener) -> None:
        self.sockets.discard(socket)

    async def run(self) -> None:
        """Poll database and broker until cancelled, and tell the sockets about each change."""
        client = redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_timeout=ANSWER_TIMEOUT_S, retry=None)
        database_query, broker_query = RepeatedQuery(self._ask_database), RepeatedQuery(lambda: _ask_broker(client))
        try:
            while True:
                state_before = self.state
                self.is_database_up, self.is_broker_up = await asyncio.gather(
                    database_query.is_answered(), broker_query.is_answered()
                )
                if self.state != state_before:
                    logger.warning("the database is %(database)s, spectators are %(spectators)s", self.state)
                    await self.tell()
                await asyncio.sleep(POLL_INTERVAL_S)
        finally:
            database_query.close()
            broker_query.close()
            await client.aclose()
            if self.connection is not None:
                await self.connection.close()

    async def tell(self) -> None:
        """Send all sockets the current state."""
        tasks = {asyncio.create_task(_tell(socket, self.state)) for socket in list(self.sockets)}
        for task in tasks:
            self.sending_tasks.add(task)
            task.add_done_callback(self.sending_tasks.discard)
        if tasks:
            # The task of a socket that does not read goes on after the time-out, so the socket gets its frame later.
            await asyncio.wait(tasks, timeout=ANSWER_TIMEOUT_S)

    async def _ask_database(self) -> None:
        """Query the database on a separate connection, since all connections of the pool may be in use."""
        connection, self.connection = self.connection, None
        if connection is None:
            connection = await psycopg.AsyncConnection.connect(settings.DATABASE_URL, autocommit=True)
        try:
            await connection.execute("SELECT 1")
        except BaseException:  # A cancelled query leaves the connection unusable too.
            await connection.close()
            raise
        self.connection = connection


async def _tell(socket: Listener, state: dict[str, str]) -> None:
    with contextlib.suppress(Exception):  # An error of a closing socket must not reach the other sockets.
        await socket.send_frame("site", state)


async def _ask_broker(client: redis.asyncio.Redis) -> None:
    await client.execute_command("PING")  # type: ignore[no-untyped-call]


DEPENDENCIES = DependencyMonitor()
"""The monitor of this process. It polls from the start of the server to its stop."""
