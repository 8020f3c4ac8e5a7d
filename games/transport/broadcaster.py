"""What a process tells groups of sockets: handed over by any thread, sent by the event loop where anybody listens.

Whoever hands something over waits for nothing. While one batch is on its way the next one gathers, so the busier the
site the less is sent: what a later message supersedes is not sent at all, and neither is what nobody listens to. A
message may be lost (Redis buffers nothing): sockets make good for it by their pings.

A page joins its group first and reads afterwards. So what is committed before it reads is in what it has read, and what
is told after it joined finds it among the listeners: these are counted when a message goes out, never before.
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
"""What a broker that hangs has not taken by then is given up."""
CLOSE_WITHIN_S = 1
"""What is still to be told when the process ends is told within this, or not at all."""
GATHER_S = 0.05
"""After a batch the next one gathers for so long; what comes after a while of silence goes out at once."""
MOST_GROUPS = 10_000
"""So many groups at most wait to be told something; what comes for others then is dropped."""

Message = dict[str, Any]


class Broker:
    """Whether the broker is there, as far as this process has seen: the log has a line when it goes and one when it is
    back, and nothing in between, however many groups are not told.
    """

    is_away = False

    def failed(self, doing: str, error: BaseException) -> None:
        """It could not do something. An error that is no outage is a fault of ours, and has its traceback."""
        if not isinstance(error, (RedisError, OSError)):
            logger.error("could not %s", doing, exc_info=error)
        elif not self.is_away:
            self.is_away = True
            logger.error("the broker is away: could not %s: %s", doing, summary(error))

    def answered(self) -> None:
        """It did what it was asked."""
        if self.is_away:
            self.is_away = False
            logger.warning("the broker is back")


BROKER = Broker()


def latest(before: Message, after: Message) -> Message:
    """Two messages to tell as one, where the later says everything."""
    return after


@dataclass(frozen=True, slots=True)
class Broadcast:
    """A message to a group.

    Args:
        message: what the group is told; JSON, as the channel layer carries it.
        together: what tells this and an earlier message to the same group as one.
        every_s: a process tells its group no more often than this.
        answered: a channel that has been told by other means: where nobody else listens nothing is sent.
    """

    message: Message
    merge: Callable[[Message, Message], Message] = latest
    every_s: float = 0.0
    answered: str = ""

    def after(self, before: Broadcast) -> Broadcast:
        """The two as one; who has been answered with the message that stays knows it."""
        message = self.merge(before.message, self.message)
        answered = next((broadcast.answered for broadcast in (self, before) if broadcast.message is message), "")
        return replace(self, message=message, answered=answered)


class Broadcaster:
    """The letters of a process that an event loop sends. Made on that loop; :meth:`put` is for all threads."""

    here: ClassVar[Broadcaster | None] = None
    """That of this process, if it has a loop."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.lock = threading.Lock()
        self.broadcasts: dict[str, Broadcast] = {}
        self.not_before: dict[str, float] = {}
        """When a group may be told again, of those that were told lately and not too often."""
        self.n_dropped = 0
        self.is_called = False
        self.is_closing = False
        self.wake = asyncio.Event()
        self.task = self.loop.create_task(self._run())

    @property
    def is_open(self) -> bool:
        """Whether its loop sends what is put in."""
        return self.loop.is_running() and not self.task.done() and not self.is_closing

    def put(self, group: str, broadcast: Broadcast) -> None:
        """Have a group told, soon. Returns at once."""
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
        """Send what there is, without waiting for when it is due, and end."""
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
        """What is due, taken out; if nothing is, in how many seconds something will be (``None``: nothing waits)."""
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
    """Wait, for so long at most."""
    try:
        async with asyncio.timeout(seconds):
            await waited
    except TimeoutError:
        pass


def broadcaster_open() -> None:
    """Have the running loop send from now on what this process tells; for the application, whenever it is asked."""
    if Broadcaster.here is None or Broadcaster.here.loop is not asyncio.get_running_loop():
        Broadcaster.here = Broadcaster()


async def broadcaster_close() -> None:
    """Send what is left; for the application, when its server stops."""
    if Broadcaster.here is not None:
        await Broadcaster.here.close()


def group_write(group: str, broadcast: Broadcast) -> bool:
    """Tell a group something; whether it could be told, as far as is known: where a loop sends it, that is not awaited.

    In a process without one (a worker, a command) it is sent before this returns.
    """
    here = Broadcaster.here
    try:
        if here is None or not here.is_open:
            return async_to_sync(deliver)({group: broadcast})
        here.put(group, broadcast)
    except Exception:  # whatever it is, what is told of has been stored
        logger.exception("could not tell a group of %s", group.partition(".")[0])  # what follows may be a code
        return False
    return True


def group_is_heard(group: str) -> bool:
    """Whether anybody listens to a group just now; yes, where nobody knows. For what takes long to put together.

    Ask when what is to be told of has been stored. Not for the event loop's own thread: it waits for the answer.
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
    """Send letters to those groups that somebody listens to; whether nothing went wrong. Raises nothing."""
    try:
        async with asyncio.timeout(SEND_TIMEOUT_S):
            layer = get_channel_layer()
            groups = await _listened(layer, broadcasts)
            sent = [layer.group_send(group, broadcasts[group].message) for group in groups]
            faults = [fault for fault in await asyncio.gather(*sent, return_exceptions=True) if fault is not None]
    except Exception as error:  # whatever the broker's client raises, the writes have succeeded
        faults = [error]
    if faults:
        BROKER.failed(f"tell {len(faults)} of {len(broadcasts)} groups", faults[0])
    else:
        BROKER.answered()
    return not faults


async def _listened(layer: Any, broadcasts: Mapping[str, Broadcast]) -> list[str]:
    """The groups to which anybody listens who does not know yet; all of them if the broker cannot be asked."""
    try:
        n_listening = await listeners(layer, broadcasts)
        known = {group for group, broadcast in broadcasts.items() if _channels(layer, group) == {broadcast.answered}}
    except Exception as error:  # it may be away, not allow the question, or the layer be another one: sending tells
        logger.debug("cannot ask who listens: %r", error)
        return list(broadcasts)
    # Where one process listens and this one does, nobody listens elsewhere.
    return [group for group, n in n_listening.items() if n > (1 if group in known else 0)]


async def listeners(layer: Any, groups: Collection[str]) -> dict[str, int]:
    """How many processes listen to each of these groups: one question to Redis.

    Raises:
        AttributeError: the layer is no pub/sub layer of channels_redis.
        Exception: whatever the broker's client raises.
    """
    names = {_published(layer, group).encode(): group for group in groups}
    # In a thread, since an asynchronous client would have to be closed with each loop that asks.
    counts = await asyncio.to_thread(_redis(settings.REDIS_URL).pubsub_numsub, *names)
    return {names[name]: n for name, n in counts}


@cache
def _redis(url: str) -> Any:
    return Redis.from_url(url, socket_timeout=SEND_TIMEOUT_S)


def _published(layer: Any, group: str) -> str:
    """The channel of Redis to which channels_redis publishes a group."""
    return f"{layer.prefix}__group__{group}"


def _channels(layer: Any, group: str) -> set[str]:
    """The channels of this process that listen to a group."""
    found: set[str] = layer.groups.get(_published(layer, group), set())
    return found
