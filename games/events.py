"""What is told to open sockets, always after the transaction that caused it has committed.

A message may be lost (Redis buffers nothing), so every one carries a whole state that could be read again.
"""

import asyncio
import logging
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

from games.states import PrivateSeat, RoomState

logger = logging.getLogger(__name__)

SEND_TIMEOUT_S = 2
"""A broker that hangs holds up nobody for longer than this."""


def room_group(code: str) -> str:
    """The group of everybody in a room."""
    return f"room.{code}"


def room_changed(code: str, whole: RoomState, private: list[PrivateSeat]) -> None:
    """Send the new state of a room to every socket in it: each tells its reader what they may know of it."""
    group_tell(room_group(code), {"type": "room.state", "whole": whole, "private": private})


def group_tell(group: str, message: dict[str, Any]) -> bool:
    """Send a message to a group; whether it could be sent.

    With Redis away nothing is lost: sockets get the whole state when they reconnect.
    """
    try:
        async_to_sync(_send)(group, message)
    except Exception:  # whatever the broker's client raises, the write has succeeded
        logger.exception("could not tell %s", group)
        return False
    return True


async def _send(group: str, message: dict[str, Any]) -> None:
    await asyncio.wait_for(get_channel_layer().group_send(group, message), SEND_TIMEOUT_S)
