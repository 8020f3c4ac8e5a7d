"""The channel layer: Redis' publish and subscribe, as much of it as our sockets use."""

import asyncio
from functools import lru_cache
from typing import Any
from uuid import uuid4

from channels_redis.pubsub import RedisPubSubChannelLayer

KEPT = 64
"""So many messages are kept as they were read; the sockets of a process read one at about the same time."""


class SocketLayer(RedisPubSubChannelLayer):  # type: ignore[misc]  # channels_redis has no types
    """Reads a message once for all sockets of a process that are told it, and needs no broker to open one."""

    def __init__(self, **config: Any) -> None:
        super().__init__(**config)
        self.read = lru_cache(maxsize=KEPT)(super().deserialize)

    def deserialize(self, message: bytes) -> dict[str, object]:
        """What a message says. It is everybody's: nobody changes it."""
        said: dict[str, Any] = self.read(message)
        return said

    async def new_channel(self, prefix: str = "specific.") -> str:
        """A channel that only groups lead to: nobody else writes to one socket, so the broker need not know of it."""
        channel = f"{self.prefix}{prefix}{uuid4().hex}"
        self.channels[channel] = asyncio.Queue()
        return channel
