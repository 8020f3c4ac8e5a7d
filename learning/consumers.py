"""Sockets of machine pages: they only listen."""

from __future__ import annotations

from typing import Any

from games.consumers import CLOSE_NOT_FOUND, FrameConsumer, in_thread
from games.exceptions import PlayError
from learning.events import machine_group
from learning.selectors import machine_find


class MachineConsumer(FrameConsumer):
    """Tells a machine's page of every bead drawn, added and taken."""

    async def connect(self) -> None:
        """Join the machine's group."""
        self.group = machine_group(self.scope["url_route"]["kwargs"]["machine_id"])
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.accept()
        try:
            await in_thread(machine_find, self.scope["url_route"]["kwargs"]["machine_id"])
        except PlayError as error:
            await self.send_error(error.code, str(error))
            await self.close(CLOSE_NOT_FOUND)
            return
        await self.send_frame("joined", {})

    async def disconnect(self, code: int) -> None:
        """Leave the group."""
        await self.channel_layer.group_discard(self.group, self.channel_name)

    async def machine_boxes(self, event: dict[str, Any]) -> None:
        """Boxes that changed, from the group."""
        await self.send_frame("boxes", event["data"])
