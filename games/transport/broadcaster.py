"""Broadcasts to groups of sockets: any thread hands messages over, and the process's event loop sends them.

Senders never wait. While one batch is sent the next one gathers, so a busier site sends fewer batches. Superseded
messages and messages to groups without listeners are not sent. A message may be lost, because Redis buffers nothing;
the pings of the sockets make up for that.

A page joins its group first and reads afterwards. It reads everything committed before the read. Messages sent after
the join reach it, because listeners are counted when a message goes out and not earlier.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

from games.transport.database_errors import summary

logger = logging.getLogger("games.outbox")

SEND_TIMEOUT_S = 2
"""Seconds after which sending to a broker that hangs is given up."""
CLOSE_WITHIN_S = 1
"""Seconds for sending the remaining messages when the process ends. The rest is dropped."""
GATHER_S = 0.05
"""Seconds for which the next batch gathers after a batch. The first message after a pause is sent at once."""
MOST_GROUPS = 10_000
"""Groups with pending messages. Beyond this limit, messages to further groups are dropped."""

Message = dict[str, Any]


class Broker:
    """Availability of the broker, as far as this process has seen.

    The log has one line when the broker goes away and one when it is back, however many messages fail in between.
    """

    is_away = False

    def failed(self, doing: str, error: BaseException) -> None:
        """Record a failure. Errors other than outages are faults of the site and are logged with traceback."""
        if not isinstance(error, (RedisError, OSError)):
            logger.error("could not %s", doing, exc_info=error)
        elif not self.is_away:
            self.is_away = True
            logger.error("the broker is away: could not %s: %s", doing, summary(error))

    def answered(self) -> None:
        """Record a success. The log has a line after an outage."""
        if self.is_away:
            self.is_away = False
            logger.warning("the broker is back")


BROKER = Broker()


def latest(before: Message, after: Message) -> Message:
    """Merge two messages of which the later one contains everything."""
    return after


@dataclass(frozen=True, slots=True)
class Broadcast:
    """A message to a group of sockets.

    Args:
        message: the JSON that the channel layer carries.
        merge: merges an earlier pending message to the same group with this one.
        every_s: shortest interval in seconds between two messages of this process to the group.
        answered: a channel that already has the message. Nothing is sent if it is the only listener.
    """

    message: Message
    merge: Callable[[Message, Message], Message] = latest
    every_s: float = 0.0
    answered: str = ""

    def after(self, before: Broadcast) -> Broadcast:
        """Return both broadcasts as one. ``answered`` is that of the broadcast with the remaining message."""
        message = self.merge(before.message, self.message)
        answered = next((broadcast.answered for broadcast in (self, before) if broadcast.message is message), "")
        return replace(self, message=message, answered=answered)


class Broadcaster:
    """Pending broadcasts of a process, sent by its event loop. Create it on that loop; :meth:`put` is thread-safe."""

    here: ClassVar[Broadcaster | None] = None
    """The broadcaster of this process; ``None`` without an event loop."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.lock = threading.Lock()
        self.broadcasts: dict[str, Broadcast] = {}
        self.not_before: dict[str, float] = {}
        """Earliest time of the next message, by group, for groups with ``every_s`` that had one recently."""
        self.n_dropped = 0
        self.is_called = False
        self.is_closing = False
        self.wake = asyncio.Event()
        self.task = self.loop.create_task(self._run())

    @property
    def is_open(self) -> bool:
        """Whether the event loop sends what is put in."""
        return self.loop.is_running() and not self.task.done() and not self.is_closing

    def put(self, group: str, broadcast: Broadcast) -> None:
        """Queue a broadcast to a group. Returns at once."""
        with self.lock:
            before = self.broadcasts.get(group)
            if before is None and len(self.broadcasts) >= MOST_GROUPS:
                self.n_dropped += 1
                return
            self.broadcasts[group] = broadcast if before is None else broadcast.after(before)
            if self.is_called:
                return
            self.is_called = True
        self.loop.call_soon_threadsafe(self.wake.set)

    async def close(self) -> None:
        """Send all pending broadcasts without regard to ``every_s``, then stop."""
        self.is_closing = True
        self.wake.set()
        await asyncio.wait([self.task], timeout=CLOSE_WITHIN_S)
        self.task.cancel()

    async def _run(self) -> None:
        # Python 3.11's wait_for, in the broker's client, loses a cancellation that comes as what it awaits ends.
        while not self.task.cancelling():
            self.wake.clear()
            broadcasts, due_in_s = self._take()
            if broadcasts:
                await deliver(broadcasts)
                await asyncio.sleep(GATHER_S)
            elif self.is_closing:
                return
            else:
                await _within(self.wake.wait(), due_in_s)

    def _take(self) -> tuple[dict[str, Broadcast], float | None]:
        """Remove and return the due broadcasts. If none is due, also return the seconds until one is, else ``None``."""
        now = time.monotonic()
        with self.lock:
            self.is_called = False
            self.not_before = {group: then for group, then in self.not_before.items() if then > now}
            early = {} if self.is_closing else {group: self.not_before[group] for group in self._early()}
            due = {group: self.broadcasts.pop(group) for group in list(self.broadcasts) if group not in early}
            n_dropped, self.n_dropped = self.n_dropped, 0
        self.not_before |= {group: now + broadcast.every_s for group, broadcast in due.items() if broadcast.every_s}
        if n_dropped:
            logger.error("%d messages were dropped: %d groups wait to be told something", n_dropped, MOST_GROUPS)
        return due, min(early.values()) - now if early else None

    def _early(self) -> Collection[str]:
        return self.broadcasts.keys() & self.not_before.keys()


async def _within(waited: Any, seconds: float | None) -> None:
    """Await at most this many seconds."""
    try:
        async with asyncio.timeout(seconds):
            await waited
    except TimeoutError:
        pass


def broadcaster_open() -> None:
    """Start the broadcaster on the running loop, once per loop. The application calls this on every request."""
    if Broadcaster.here is None or Broadcaster.here.loop is not asyncio.get_running_loop():
        Broadcaster.here = Broadcaster()


async def broadcaster_close() -> None:
    """Send the remaining broadcasts. The application calls this when its server stops."""
    if Broadcaster.here is not None:
        await Broadcaster.here.close()


def group_write(group: str, broadcast: Broadcast) -> bool:
    """Broadcast to a group. Return false if the message is known to have failed.

    An event loop sends it later. Without one, as in a worker or a command, it is sent before this function returns.
    """
    here = Broadcaster.here
    try:
        if here is None or not here.is_open:
            return async_to_sync(deliver)({group: broadcast})
        here.put(group, broadcast)
    except Exception:  # any error: the data have been stored
        logger.exception("could not tell a group of %s", group.partition(".")[0])  # the rest may be a room code
        return False
    return True


def group_is_heard(group: str) -> bool:
    """Whether a group has listeners now; true if unknown. Saves the preparation of expensive messages.

    Call after the data have been stored, and not on the event loop's thread, because the call blocks.
    """
    try:
        return async_to_sync(_is_heard)(group)
    except Exception as error:  # as in _listened
        logger.debug("cannot ask who listens: %r", error)
        return True


async def _is_heard(group: str) -> bool:
    async with asyncio.timeout(SEND_TIMEOUT_S):
        return (await listeners(get_channel_layer(), [group]))[group] > 0


async def deliver(broadcasts: Mapping[str, Broadcast]) -> bool:
    """Send broadcasts to the groups that have listeners. Return whether all succeeded. Raises nothing."""
    try:
        async with asyncio.timeout(SEND_TIMEOUT_S):
            layer = get_channel_layer()
            groups = await _listened(layer, broadcasts)
            sent = [layer.group_send(group, broadcasts[group].message) for group in groups]
            faults = [fault for fault in await asyncio.gather(*sent, return_exceptions=True) if fault is not None]
    except Exception as error:  # any error of the broker's client; the writes have succeeded
        faults = [error]
    if faults:
        BROKER.failed(f"tell {len(faults)} of {len(broadcasts)} groups", faults[0])
    else:
        BROKER.answered()
    return not faults


async def _listened(layer: Any, broadcasts: Mapping[str, Broadcast]) -> list[str]:
    """Return the groups with a listener that lacks the message; all groups if the broker cannot be asked."""
    try:
        n_listening = await listeners(layer, broadcasts)
        known = {group for group, broadcast in broadcasts.items() if _channels(layer, group) == {broadcast.answered}}
    except Exception as error:  # broker away, query forbidden, or another layer: sending shows which
        logger.debug("cannot ask who listens: %r", error)
        return list(broadcasts)
    # If only this process listens, the answered channel is the only listener.
    return [group for group, n in n_listening.items() if n > (1 if group in known else 0)]


async def listeners(layer: Any, groups: Collection[str]) -> dict[str, int]:
    """Return the number of processes that listen to each group, by one query to Redis.

    Raises:
        AttributeError: the layer is no pub/sub layer of channels_redis.
        Exception: any error of the broker's client.
    """
    names = {_published(layer, group).encode(): group for group in groups}
    # In a thread, since an asynchronous client would have to be closed with each loop that asks.
    counts = await asyncio.to_thread(_redis(settings.REDIS_URL).pubsub_numsub, *names)
    return {names[name]: n for name, n in counts}


@cache
def _redis(url: str) -> Any:
    return Redis.from_url(url, socket_timeout=SEND_TIMEOUT_S)


def _published(layer: Any, group: str) -> str:
    """The Redis channel to which channels_redis publishes a group."""
    return f"{layer.prefix}__group__{group}"


def _channels(layer: Any, group: str) -> set[str]:
    """The channels of this process that listen to a group."""
    found: set[str] = layer.groups.get(_published(layer, group), set())
    return found
