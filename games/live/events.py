"""Messages to open sockets, sent only after the causing transaction has committed.

Messages may be lost, because Redis buffers nothing. Each therefore carries a whole state, which could be read again.
"""

from games.live.states import PrivateSeat, RoomState
from games.transport.broadcaster import Broadcast, Message, group_write


def room_group(code: str) -> str:
    """Return the group of all sockets in a room."""
    return f"room.{code}"


def room_changed(code: str, whole: RoomState, private: list[PrivateSeat], answered: str = "") -> None:
    """Send the new state of a room to its sockets. ``RoomConsumer.room_state`` redacts it for its reader.

    The socket of the channel ``answered`` gets the state as its answer instead.
    """
    message = {"type": "room.state", "whole": whole, "private": private}
    group_write(room_group(code), Broadcast(message, merge=_newer, answered=answered))


def _newer(before: Message, after: Message) -> Message:
    """Return the newer state. Threads may hand over two states of a room in reverse order."""
    return max(before, after, key=lambda message: message["whole"]["version"])
