"""Broadcasts to groups of sockets: any thread queues messages, and the process's event loop sends them.

Threads that queue a message never wait. While the loop sends one batch, it gathers the next batch, so a busier site
sends larger batches. The loop does not send superseded messages, or messages to groups without listeners. A message may
be lost, because Redis buffers nothing. A page with an old state gets the new state as the answer to its next ping.

A page joins its group first, and reads the state afterwards. The read includes everything committed before. Messages
sent after the join reach the page, because listeners are counted only when a message is sent.
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

from games.transport.database_errors import error_summary

logger = logging.getLogger("games.outbox")

SEND_TIMEOUT_S = 2
"""Seconds after which the broadcaster gives up a send to a hanging broker."""
CLOSE_WITHIN_S = 1
"""Seconds for the last messages when the process ends. Messages that remain after this time are dropped."""
BATCH_PAUSE_S = 0.05
"""Pause in seconds between two batches. The first message after a quiet time is sent at once."""
MAX_PENDING_GROUPS = 10_000
"""Limit on groups with pending messages. Messages to further groups are dropped."""

Message = dict[str, Any]


class Broker:
    """Availability of the broker, by the last attempt of this process.

    The log gets one line at the start of an outage and one line at its end, however many messages fail in between.
    """

    is_away = False

    def record_failure(self, action: str, error: BaseException) -> None:
        """Record a failure of ``action``, such as "join a group".

        An outage is logged once, at its start. Another error is logged with its traceback.
        """
        if not isinstance(error, (RedisError, OSError)):
            logger.error("could not %s", action, exc_info=error)
        elif not self.is_away:
            self.is_away = True
            logger.error("the broker is away: could not %s: %s", action, error_summary(error))

    def record_success(self) -> None:
        """Record a success. The first success after an outage is logged."""
        if self.is_away:
            self.is_away = False
            logger.warning("the broker is back")


BROKER = Broker()


def keep_latest(before: Message, after: Message) -> Message:
    """Return the later of two messages, for messages that contain the whole state."""
    return after


@dataclass(frozen=True, slots=True)
class Broadcast:
    """A message to a group of sockets.

    Args:
        message: the JSON that the channel layer carries.
        merge: merges an earlier pending message to the same group with this message.
        min_interval_s: shortest interval in seconds between two messages of this process to the group.
        informed_channel: a channel that already has the message. If no other channel listens, nothing is sent.
    """

    message: Message
    merge: Callable[[Message, Message], Message] = keep_latest
    min_interval_s: float = 0.0
    informed_channel: str = ""

    def after(self, before: Broadcast) -> Broadcast:
        """Return this broadcast merged with an earlier broadcast ``before``.

        If the merged message is the message of one of the two, ``informed_channel`` comes from that broadcast.
        Otherwise ``informed_channel`` is empty.
        """
        message = self.merge(before.message, self.message)
        informed_channel = next(
            (broadcast.informed_channel for broadcast in (self, before) if broadcast.message is message), ""
        )
        return replace(self, message=message, informed_channel=informed_channel)


class Broadcaster:
    """The pending broadcasts of a process, and the task of its event loop that sends them.

    Create a broadcaster in the event loop. :meth:`put` is thread-safe.
    """

    current: ClassVar[Broadcaster | None] = None
    """The broadcaster of this process; ``None`` in a process without an event loop."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.lock = threading.Lock()
        self.broadcasts: dict[str, Broadcast] = {}
        self.earliest_times: dict[str, float] = {}
        """Earliest time of the next message by group, for groups that recently got one with ``min_interval_s``."""
        self.n_dropped = 0
        self.is_wake_scheduled = False
        self.is_closing = False
        self.wake = asyncio.Event()
        self.task = self.loop.create_task(self._run())

    def put(self, group: str, broadcast: Broadcast) -> bool:
        """Queue a broadcast to a group, and return at once: false if the event loop sends no more broadcasts."""
        if not self.loop.is_running() or self.task.done() or self.is_closing:
            return False
        with self.lock:
            pending = self.broadcasts.get(group)
            if pending is None and len(self.broadcasts) >= MAX_PENDING_GROUPS:
                self.n_dropped += 1
                return True
            self.broadcasts[group] = broadcast if pending is None else broadcast.after(pending)
            is_first, self.is_wake_scheduled = not self.is_wake_scheduled, True
        if is_first:
            self.loop.call_soon_threadsafe(self.wake.set)
        return True

    async def close(self) -> None:
        """Send all pending broadcasts without regard to ``min_interval_s``, then stop."""
        self.is_closing = True
        self.wake.set()
        await asyncio.wait([self.task], timeout=CLOSE_WITHIN_S)
        self.task.cancel()

    async def _run(self) -> None:
        # Check for cancellation here: wait_for of Python 3.11, in the broker's client, loses a cancellation that comes
        # just when the awaited call ends.
        while not self.task.cancelling():
            self.wake.clear()
            broadcasts, due_in_s = self._take()
            if broadcasts:
                await deliver(broadcasts)
                await asyncio.sleep(BATCH_PAUSE_S)
            elif self.is_closing:
                return
            else:
                await _await_at_most(self.wake.wait(), due_in_s)

    def _take(self) -> tuple[dict[str, Broadcast], float | None]:
        """Remove and return the due broadcasts, with the seconds until the next of the other broadcasts is due.

        The seconds are ``None`` if no other broadcast waits.
        """
        now_s = time.monotonic()
        with self.lock:
            self.is_wake_scheduled = False
            self.earliest_times = {
                group: earliest_s for group, earliest_s in self.earliest_times.items() if earliest_s > now_s
            }
            early = {} if self.is_closing else {group: self.earliest_times[group] for group in self._early_groups()}
            due = {group: self.broadcasts.pop(group) for group in list(self.broadcasts) if group not in early}
            n_dropped, self.n_dropped = self.n_dropped, 0
        self.earliest_times |= {
            group: now_s + broadcast.min_interval_s for group, broadcast in due.items() if broadcast.min_interval_s
        }
        if n_dropped:
            logger.error("%d messages were dropped: %d groups wait to be told something", n_dropped, MAX_PENDING_GROUPS)
        return due, min(early.values()) - now_s if early else None

    def _early_groups(self) -> Collection[str]:
        return self.broadcasts.keys() & self.earliest_times.keys()


async def _await_at_most(awaitable: Any, seconds: float | None) -> None:
    """Await ``awaitable`` for at most ``seconds``; ``None`` means without limit."""
    try:
        async with asyncio.timeout(seconds):
            await awaitable
    except TimeoutError:
        pass


def broadcaster_open() -> None:
    """Start the broadcaster on the running loop, unless it runs already.

    The application calls this function when its server starts, and for each socket: not every server announces its
    start.
    """
    if Broadcaster.current is None or Broadcaster.current.loop is not asyncio.get_running_loop():
        Broadcaster.current = Broadcaster()


async def broadcaster_close() -> None:
    """Send the remaining broadcasts. The application calls this when its server stops."""
    if Broadcaster.current is not None:
        await Broadcaster.current.close()


def group_write(group: str, broadcast: Broadcast) -> bool:
    """Broadcast to a group. Return false if the message is known to have failed.

    In a web process, the event loop sends the message later. In a process without an event loop, such as a worker, the
    message is sent before this function returns.
    """
    broadcaster = Broadcaster.current
    try:
        if broadcaster is None or not broadcaster.put(group, broadcast):
            return async_to_sync(deliver)({group: broadcast})
    except Exception:  # The data are stored already, so no error of the message may undo the caller's work.
        logger.exception("could not tell a group of %s", group.partition(".")[0])  # The rest may be a room code.
        return False
    return True


def group_has_listeners(group: str) -> bool:
    """Whether a group has listeners now; true if unknown. Callers can then skip the work for a message.

    Call it after the data have been stored. Do not call it on the event loop's thread, because it blocks.
    """
    try:
        return async_to_sync(_has_listeners)(group)
    except Exception as error:  # Without an answer of the broker, assume listeners, as in _groups_with_listeners.
        logger.debug("cannot ask who listens: %r", error)
        return True


async def _has_listeners(group: str) -> bool:
    async with asyncio.timeout(SEND_TIMEOUT_S):
        return (await count_listeners(get_channel_layer(), [group]))[group] > 0


async def deliver(broadcasts: Mapping[str, Broadcast]) -> bool:
    """Send broadcasts, by group, to the groups with listeners. Return whether all succeeded. Raises no error."""
    try:
        async with asyncio.timeout(SEND_TIMEOUT_S):
            layer = get_channel_layer()
            groups = await _groups_with_listeners(layer, broadcasts)
            sends = [layer.group_send(group, broadcasts[group].message) for group in groups]
            faults = [fault for fault in await asyncio.gather(*sends, return_exceptions=True) if fault is not None]
    except Exception as error:  # The data are stored already, so no error of the broker's client may escape.
        faults = [error]
    if faults:
        BROKER.record_failure(f"tell {len(faults)} of {len(broadcasts)} groups", faults[0])
    else:
        BROKER.record_success()
    return not faults


async def _groups_with_listeners(layer: Any, broadcasts: Mapping[str, Broadcast]) -> list[str]:
    """Return the groups with a listener that does not have the message yet; all groups if the query fails."""
    try:
        n_listening = await count_listeners(layer, broadcasts)
        informed_groups = {
            group for group, broadcast in broadcasts.items() if _channels(layer, group) == {broadcast.informed_channel}
        }
    except Exception as error:  # The broker is away, forbids the query, or is another layer. Sending will show.
        logger.debug("cannot ask who listens: %r", error)
        return list(broadcasts)
    # If only the informed channel listens in this process, only a second process can need the message.
    return [group for group, n in n_listening.items() if n > (1 if group in informed_groups else 0)]


async def count_listeners(layer: Any, groups: Collection[str]) -> dict[str, int]:
    """Return the number of processes that listen to each group, by one query to Redis.

    Raises:
        AttributeError: the layer is no pub/sub layer of channels_redis.
        Exception: any error of the broker's client.
    """
    names = {_redis_channel(layer, group).encode(): group for group in groups}
    # The synchronous client runs in a thread. An asynchronous client would have to be closed with each event loop.
    counts = await asyncio.to_thread(_redis(settings.REDIS_URL).pubsub_numsub, *names)
    return {names[name]: n for name, n in counts}


@cache
def _redis(url: str) -> Any:
    return Redis.from_url(url, socket_timeout=SEND_TIMEOUT_S)


def _redis_channel(layer: Any, group: str) -> str:
    """Return the Redis channel to which channels_redis publishes messages of a group."""
    return f"{layer.prefix}__group__{group}"


def _channels(layer: Any, group: str) -> set[str]:
    """Return the channels of this process that listen to a group."""
    channels: set[str] = layer.groups.get(_redis_channel(layer, group), set())
    return channels
