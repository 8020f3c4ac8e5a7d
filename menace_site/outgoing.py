"""What the process tells sockets is sent by the loop that serves it, from its first request to its last moment."""

from games.outbox import outbox_close, outbox_open
from menace_site.boundary import Application, Receive, Scope, Send


class Outgoing:
    """Opens the outbox of the loop that asks the application anything, and empties it when the server stops."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        outbox_open()
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await self.application(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await outbox_close()
        await send({"type": "lifespan.shutdown.complete"})
