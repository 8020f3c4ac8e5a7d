"""WebSocket clients of tests, which connect to the real ASGI application."""

from typing import Any, Self

from asgiref.testing import ApplicationCommunicator
from channels.testing import WebsocketCommunicator
from rest_framework.test import APIClient

from games.accounts import tokens
from menace_site.asgi import application

PAGE_HEADERS = [(b"host", b"localhost"), (b"origin", b"http://localhost")]
"""The headers of a socket opened by the site's own pages."""


class _Socket(WebsocketCommunicator):
    # Channels' own methods keep threads from closing database connections, for tests that run in one transaction. Tests
    # with these sockets do not run in one transaction, so threads may close their connections.
    send_input = ApplicationCommunicator.send_input
    receive_output = ApplicationCommunicator.receive_output

    async def __aenter__(self) -> Self:
        connected, _ = await self.connect()
        assert connected
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.disconnect()

    async def expect(self, kind: str) -> Any:
        """Receive the next frame, which must be of this kind, and return its data."""
        frame = await self.receive_json_from()
        assert frame["type"] == kind, frame
        return frame["data"]


class Socket(_Socket):
    """A socket of a room: with a seat token, with an account's token, or without a token as a page of a spectator."""

    def __init__(self, code: str, token: str = "", bearer: str = "") -> None:
        headers = [] if token else PAGE_HEADERS
        if bearer:
            headers = [(b"authorization", f"Bearer {bearer}".encode())]
        query = f"?seat_token={token}" if token else ""
        super().__init__(application, f"/api/rooms/{code}/ws{query}", headers)

    async def frame(self, kind: str, data: Any = None) -> None:
        await self.send_json_to({"type": kind} if data is None else {"type": kind, "data": data})


def token_of(account: Any, *scopes: str) -> str:
    return tokens.token_make(user=account, name="a robot", scopes=scopes, lifetime=None)[1]


class RunSocket(_Socket):
    """A socket of a training run: of a program with a token, or of a page with or without a session."""

    def __init__(self, path: str, token: str = "", session: str = "") -> None:
        headers = [(b"authorization", f"Bearer {token}".encode())] if token else PAGE_HEADERS
        if session:
            headers = [*headers, (b"cookie", f"sessionid={session}".encode())]
        super().__init__(application, path, headers)


def tournament_after(before: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a tournament after a frame ``state``, as static/js/tournament_tables.js computes it."""
    assert change["since"] == before["version"]
    after = {**before, **change}
    for table, key in (("entries", "number"), ("pairings", "number"), ("standings", "entry"), ("crosstable", "entry")):
        lines = {line[key]: line for line in [*before[table], *change[table]]}
        order = change["order"] if key == "entry" else sorted(lines)
        after[table] = [lines[number] for number in order]
    del after["since"], after["order"]
    return after


def session_of(account: Any) -> str:
    """Log an account in and return its session id."""
    api = APIClient()
    api.force_login(account)
    return api.cookies["sessionid"].value
