"""The life of a web process: its event loop sends what sockets are told, from the first request to the last moment."""

import asyncio
import contextlib
import gc
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from channels.routing import ProtocolTypeRouter

from games.accounts.blocks import BLOCKS, READ_AGAIN_S
from games.exceptions import UnavailableError
from games.live.consumers import in_thread
from games.transport.broadcaster import broadcaster_close, broadcaster_open
from menace_site.server.boundary import Application, Receive, Scope, Send

THREADS = 16
"""So many requests of sockets at once: more than have a connection, for who ends a match waits for others without."""


class Lifespan(ProtocolTypeRouter):  # type: ignore[misc]  # Channels has no types
    """Opens the outbox of the loop that asks the application anything, and empties it when the server stops.

    ``background`` runs from the start of the server to its stop.
    """

    def __init__(
        self, applications: dict[str, Application], background: Sequence[Callable[[], Coroutine[Any, Any, None]]]
    ) -> None:
        super().__init__(applications)
        self.background = background

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        broadcaster_open()
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await super().__call__(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        # What is there before anybody is served stays. The garbage collector looked at all of it again and again, and
        # nobody was answered meanwhile.
        gc.collect()
        gc.freeze()
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "socket"))
        tasks = [asyncio.create_task(work()) for work in self.background]
        await send({"type": "lifespan.startup.complete"})
        await receive()
        for task in tasks:
            task.cancel()
        await broadcaster_close()
        await send({"type": "lifespan.shutdown.complete"})


async def blocks_keep() -> None:
    """Read the blocked addresses again and again. Without the database those that were read last stay."""
    while True:
        with contextlib.suppress(UnavailableError):
            await in_thread(BLOCKS.read)
        await asyncio.sleep(READ_AGAIN_S)
