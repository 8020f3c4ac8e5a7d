"""What the process tells sockets is sent by the loop that serves it, from its first request to its last moment."""

from channels.routing import ProtocolTypeRouter

from games.outbox import outbox_close, outbox_open
from menace_site.boundary import Receive, Scope, Send


class Outgoing(ProtocolTypeRouter):  # type: ignore[misc]  # Channels has no types
    """Opens the outbox of the loop that asks the application anything, and empties it when the server stops."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        outbox_open()
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await super().__call__(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await outbox_close()
        await send({"type": "lifespan.shutdown.complete"})
