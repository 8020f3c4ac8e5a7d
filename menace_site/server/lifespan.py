"""Start and stop of a web process: its background tasks, and the broadcaster that sends messages to sockets."""

import asyncio
import contextlib
import gc
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from games.accounts.blocks import BLOCKS, BLOCKS_MAX_AGE_S
from games.exceptions import UnavailableError
from games.live.consumers import in_thread
from games.transport.broadcaster import broadcaster_close, broadcaster_open
from menace_site.server.boundary import Receive, Scope, Send

N_SOCKET_THREADS = 16
"""Threads for socket requests. There are more threads than database connections in the pool, because a thread that
ends a match waits without a connection."""


class Lifespan:
    """Opens the broadcaster when the server starts, and flushes it when the server stops.

    The coroutines of ``background`` run from the start of the server to its stop.
    """

    def __init__(self, background: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
        self.background = background

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        broadcaster_open()
        # Objects from before the first request live as long as the process. The garbage collector must not scan these
        # objects again and again, because requests wait for each scan.
        gc.collect()
        gc.freeze()
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(N_SOCKET_THREADS, "socket"))
        tasks = [asyncio.create_task(work()) for work in self.background]
        await send({"type": "lifespan.startup.complete"})
        await receive()
        for task in tasks:
            task.cancel()
        await broadcaster_close()
        await send({"type": "lifespan.shutdown.complete"})


async def reload_blocks() -> None:
    """Reload the blocked addresses every ``BLOCKS_MAX_AGE_S`` seconds; in a database outage keep the last list."""
    while True:
        with contextlib.suppress(UnavailableError):
            await in_thread(BLOCKS.read)
        await asyncio.sleep(BLOCKS_MAX_AGE_S)
