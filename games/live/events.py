"""Messages to open sockets, sent only after the causing transaction has committed.

Messages may be lost, because Redis buffers nothing. Each therefore carries a whole state, which could be read again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from games.live.states import PrivateSeat, RoomState
from games.transport.broadcaster import Broadcast, Message, group_write, latest

_answered: ContextVar[str] = ContextVar("answered", default="")


@contextmanager
def answering(channel: str) -> Iterator[None]:
    """Exclude this channel from broadcasts in this block: its socket gets the new state as its answer."""
    token = _answered.set(channel)
    try:
        yield
    finally:
        _answered.reset(token)


def room_group(code: str) -> str:
    """Return the group of all sockets in a room."""
    return f"room.{code}"


def room_changed(code: str, whole: RoomState, private: list[PrivateSeat]) -> None:
    """Send the new state of a room to every socket in it. ``RoomConsumer.room_state`` redacts it for its reader."""
    message = {"type": "room.state", "whole": whole, "private": private}
    group_write(room_group(code), Broadcast(message, merge=_newer, answered=_answered.get()))


def _newer(before: Message, after: Message) -> Message:
    """Return the newer state. Threads may hand over two states of a room in reverse order."""
    return max(before, after, key=lambda message: message["whole"]["version"])


def group_tell(
    group: str, message: Message, *, merge: Callable[[Message, Message], Message] = latest, every_s: float = 0.0
) -> bool:
    """Send a message to a group. Return false if it is known to have failed. Pending ones are merged by ``merge``."""
    return group_write(group, Broadcast(message, merge=merge, every_s=every_s))
