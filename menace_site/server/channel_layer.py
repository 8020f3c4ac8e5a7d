"""The channel layer: publish and subscribe of Redis, adapted to sockets that only receive messages of groups."""

import asyncio
from functools import lru_cache
from typing import Any
from uuid import uuid4

from channels_redis.pubsub import RedisPubSubChannelLayer

MAX_CACHED_MESSAGES = 64
"""A small cache is enough: all sockets of a process read a message at about the same time."""


class SocketLayer(RedisPubSubChannelLayer):  # type: ignore[misc]  # channels_redis has no types
    """Decodes a message once for all sockets of a process, and opens a channel without a call to the broker."""

    def __init__(self, **config: Any) -> None:
        super().__init__(**config)
        self.read = lru_cache(maxsize=MAX_CACHED_MESSAGES)(super().deserialize)

    def deserialize(self, message: bytes) -> dict[str, object]:
        """Decode a message. All receivers share the result, so it must not be changed."""
        decoded: dict[str, Any] = self.read(message)
        return decoded

    async def new_channel(self, prefix: str = "specific.") -> str:
        """Return a channel that receives only group messages.

        The broker need not know the channel, because no code sends to a single socket.
        """
        channel = f"{self.prefix}{prefix}{uuid4().hex}"
        self.channels[channel] = asyncio.Queue()
        return channel
