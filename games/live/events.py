"""What is told to open sockets, always after the transaction that caused it has committed.

A message may be lost (Redis buffers nothing), so every one carries a whole state that could be read again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from games.live.states import PrivateSeat, RoomState
from games.transport.broadcaster import Broadcast, Message, group_write, latest

_answered: ContextVar[str] = ContextVar("answered", default="")


@contextmanager
def answering(channel: str) -> Iterator[None]:
    """Leave this channel out of broadcasts from this block: its socket gets the new state as the answer."""
    token = _answered.set(channel)
    try:
        yield
    finally:
        _answered.reset(token)


def room_group(code: str) -> str:
    """The group of everybody in a room."""
    return f"room.{code}"


def room_changed(code: str, whole: RoomState, private: list[PrivateSeat]) -> None:
    """Send the new state of a room to every socket in it: ``RoomConsumer.room_state`` redacts it for its reader."""
    message = {"type": "room.state", "whole": whole, "private": private}
    group_write(room_group(code), Broadcast(message, merge=_newer, answered=_answered.get()))


def _newer(before: Message, after: Message) -> Message:
    """Threads may hand over two states of a room the other way round."""
    return max(before, after, key=lambda message: message["whole"]["version"])


def group_tell(
    group: str, message: Message, *, merge: Callable[[Message, Message], Message] = latest, every_s: float = 0.0
) -> bool:
    """Send a message to a group; whether it could be sent. The latest of several, or both as one, say everything."""
    return group_write(group, Broadcast(message, merge=merge, every_s=every_s))
