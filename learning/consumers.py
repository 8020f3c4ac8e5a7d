"""Sockets of machine pages: they only listen."""

from __future__ import annotations

from typing import Any

from games.consumers import FrameConsumer, in_thread
from games.exceptions import PlayError
from learning.events import machine_group
from learning.selectors import machine_seen


class MachineConsumer(FrameConsumer):
    """Tells a machine's page of every bead drawn, added and taken."""

    async def connect(self) -> None:
        """Join the machine's group."""
        machine_id = self.scope["url_route"]["kwargs"]["machine_id"]
        await self.listen(machine_group(machine_id))
        try:
            await in_thread(machine_seen, machine_id, self.scope.get("user"))
        except PlayError as error:
            await self.refuse(error)
            return
        await self.send_frame("joined", {})

    async def machine_boxes(self, event: dict[str, Any]) -> None:
        """Boxes that changed, from the group."""
        await self.send_frame("boxes", event["data"])
