"""WebSocket clients of tests, which connect to the real ASGI application."""

from typing import Any, Self

from asgiref.testing import ApplicationCommunicator
from channels.testing import WebsocketCommunicator
from rest_framework.test import APIClient

from games.accounts import tokens
from menace_site.asgi import application

PAGE = [(b"host", b"localhost"), (b"origin", b"http://localhost")]
"""The headers of a socket opened by the site's own pages."""


class _Socket(WebsocketCommunicator):
    # Channels' own methods keep threads from closing connections, for tests inside one transaction. These are not.
    send_input = ApplicationCommunicator.send_input
    receive_output = ApplicationCommunicator.receive_output

    async def __aenter__(self) -> Self:
        connected, _ = await self.connect()
        assert connected
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.disconnect()

    async def expect(self, kind: str) -> Any:
        frame = await self.receive_json_from()
        assert frame["type"] == kind, frame
        return frame["data"]


class Socket(_Socket):
    """A connection to a room, by seat token or as a page that only watches."""

    def __init__(self, code: str, token: str = "", bearer: str = "") -> None:
        headers = [] if token else PAGE
        if bearer:
            headers = [(b"authorization", f"Bearer {bearer}".encode())]
        query = f"?seat_token={token}" if token else ""
        super().__init__(application, f"/api/rooms/{code}/ws{query}", headers)

    async def frame(self, kind: str, data: Any = None) -> None:
        await self.send_json_to({"type": kind} if data is None else {"type": kind, "data": data})


def token_of(account: Any, *scopes: str) -> str:
    return tokens.token_make(user=account, name="a robot", scopes=scopes, lifetime=None)[1]


class RunSocket(_Socket):
    """A connection to a run, as a program with a token or as a page without a log-in."""

    def __init__(self, path: str, token: str = "", session: str = "") -> None:
        headers = [(b"authorization", f"Bearer {token}".encode())] if token else PAGE
        if session:
            headers = [*headers, (b"cookie", f"sessionid={session}".encode())]
        super().__init__(application, path, headers)


def tournament_after(before: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Return a client's tournament after a frame ``state``, as static/js/tournament_tables.js computes it."""
    assert change["since"] == before["version"]
    now = {**before, **change}
    for table, name in (("entries", "number"), ("pairings", "number"), ("standings", "entry"), ("crosstable", "entry")):
        lines = {line[name]: line for line in [*before[table], *change[table]]}
        order = change["order"] if name == "entry" else sorted(lines)
        now[table] = [lines[one] for one in order]
    del now["since"], now["order"]
    return now


def logged_in(account: Any) -> str:
    api = APIClient()
    api.force_login(account)
    return api.cookies["sessionid"].value
