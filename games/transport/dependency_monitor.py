"""Whether database and broker answer: asked all the time, and told to every open socket of the process when it changes.

A page that waits for a move would else learn of it from its next move, or from a ping ten seconds later.
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

BEAT_S = 0.7
"""So often both are asked."""
PATIENCE_S = 0.8
"""Who has not answered by then is away; with the beat, every page knows within two seconds."""
GIVEN_UP_S = 10.0
"""A question that nobody has answered by then is asked anew, on a connection of its own."""


class Listener(Protocol):
    """An open socket."""

    async def send_frame(self, kind: str, data: object) -> None:
        """Send a frame."""


class Question:
    """Something that is asked again and again, where one question may take longer than it may matter."""

    def __init__(self, ask: Callable[[], Awaitable[None]]) -> None:
        self.ask = ask
        self.asked: asyncio.Task[None] | None = None
        self.asked_at = 0.0

    async def is_answered(self) -> bool:
        """Whether the answer comes in time. What is still under way is waited for again, and not asked twice."""
        now = asyncio.get_running_loop().time()
        if self.asked is None or now - self.asked_at > GIVEN_UP_S:
            self.close()
            self.asked, self.asked_at = asyncio.ensure_future(self.ask()), now
        done, _ = await asyncio.wait([self.asked], timeout=PATIENCE_S)
        if not done:
            return False
        asked, self.asked = self.asked, None
        return asked.exception() is None

    def close(self) -> None:
        """Ask no more."""
        if self.asked is not None:
            self.asked.cancel()
            self.asked = None


class DependencyMonitor:
    """What a process knows of both, and the sockets that it tells."""

    def __init__(self) -> None:
        self.sockets: WeakSet[Listener] = WeakSet()
        self.database = self.broker = True
        self.telling: set[asyncio.Task[None]] = set()
        self.connection: psycopg.AsyncConnection[Any] | None = None

    @property
    def says(self) -> dict[str, str]:
        """The data of the frame ``site``."""
        return {
            "database": "ok" if self.database else "away",
            "spectators": "ok" if self.broker else "late",
        }

    async def join(self, socket: Listener) -> None:
        """Tell a socket from now on; what is wrong already, at once."""
        self.sockets.add(socket)
        if not (self.database and self.broker):
            await socket.send_frame("site", self.says)

    def leave(self, socket: Listener) -> None:
        """Tell a socket nothing more."""
        self.sockets.discard(socket)

    async def keep(self) -> None:
        """Ask and tell until cancelled."""
        client = redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_timeout=PATIENCE_S, retry=None)
        database, broker = Question(self._ask_database), Question(lambda: _ask_broker(client))
        try:
            while True:
                before = self.says
                self.database, self.broker = await asyncio.gather(database.is_answered(), broker.is_answered())
                if self.says != before:
                    logger.warning("the database is %(database)s, spectators are %(spectators)s", self.says)
                    await self.tell()
                await asyncio.sleep(BEAT_S)
        finally:
            database.close()
            broker.close()
            await client.aclose()
            if self.connection is not None:
                await self.connection.close()

    async def tell(self) -> None:
        """Tell all sockets."""
        telling = {asyncio.create_task(_tell(socket, self.says)) for socket in list(self.sockets)}
        for task in telling:
            self.telling.add(task)
            task.add_done_callback(self.telling.discard)
        if telling:
            await asyncio.wait(telling, timeout=PATIENCE_S)  # whose other end reads nothing just now hears it later

    async def _ask_database(self) -> None:
        """One question on a connection of its own: those of the pool may all be waiting for an answer."""
        connection, self.connection = self.connection, None
        if connection is None:
            connection = await psycopg.AsyncConnection.connect(settings.DATABASE_URL, autocommit=True)
        try:
            await connection.execute("SELECT 1")
        except BaseException:  # a question that is given up, too
            await connection.close()
            raise
        self.connection = connection


async def _tell(socket: Listener, says: dict[str, str]) -> None:
    with contextlib.suppress(Exception):  # one that is just closing keeps the news from nobody else
        await socket.send_frame("site", says)


async def _ask_broker(client: redis.asyncio.Redis) -> None:
    await client.execute_command("PING")  # type: ignore[no-untyped-call]


DEPENDENCIES = DependencyMonitor()
"""That of this process."""
