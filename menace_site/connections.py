"""uvicorn's protocol for connections, but for clients that begin and never end: each costs a file of the process, and
memory where it does not take in what it has asked for.

A proxy in front does the same for heads of the clients that it has (``proxy/Caddyfile``); here its connections pass.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from menace_site.guards import guards

SILENT_S = 10.0
"""For so long a request may be silent before it is there whole, and its head take in all."""
BODY_S = 300.0
"""And for so long a body may flow: 4 MB at 14 kB a second."""

UNREAD_S = 30.0
"""For so long who is answered may take in nothing of it: of a slow network some tenths of a megabyte go at once."""
UNREAD_MOST = 256 * 1024**2
"""So many bytes of answers wait in a process to be taken in; beyond them, who has taken in nothing for longest goes."""

LAST_WORDS_S = 1.0
"""For so long somebody who is told why they are closed may take it in."""

_open: Counter[str] = Counter()
"""The connections of this process that are no WebSockets, by where they come from."""
_unread: dict[Connection, asyncio.TimerHandle] = {}
"""Those whose answers wait to be taken in, with when they are looked at: who has taken in nothing for longest first."""


class Socket(WebSocketsSansIOProtocol):
    """A WebSocket whose other end has to take what it is told.

    uvicorn answers every ping, and closes who answers none of its own when all that was written has gone out: to who
    reads nothing that is never, while what they ask for is kept.
    """

    unread: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        """As much as is kept for anybody waits for them."""
        super().pause_writing()
        self.unread = self.loop.call_later(SILENT_S, self.transport.abort)

    def resume_writing(self) -> None:
        """They have read on."""
        super().resume_writing()
        self._read()

    def handle_ping(self) -> None:
        """Answer, unless they do not read the answers."""
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.conn.data_to_send()

    def keepalive_timeout(self) -> None:
        """They have answered no ping: what they have not read by then, the reason among it, goes with them."""
        super().keepalive_timeout()
        self.loop.call_later(LAST_WORDS_S, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """They are gone."""
        self._read()
        super().connection_lost(exc)

    def _read(self) -> None:
        if self.unread is not None:
            self.unread.cancel()
            self.unread = None


class Connection(HttpToolsProtocol):
    """A connection that is closed where its request does not come, and at once where its address has too many."""

    peer = ""
    due: asyncio.TimerHandle | None = None
    body_until = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has come: they have to say what they want."""
        super().connection_made(transport)
        self.peer = "" if settings.NUM_PROXIES or self.client is None else self.client[0]
        _open[self.peer] += 1
        if self.peer and _open[self.peer] > settings.SOCKETS_PER_ADDRESS:
            self._end("429 Too Many Requests")
        else:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """They have gone."""
        self._gone()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """From now on it is a WebSocket, which is counted elsewhere and asked every few seconds whether it lives.

        Not while an answer still goes out: nobody would notice that it is not read.
        """
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.abort()
            return
        self._gone()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        """Whatever it is: it has ended uvicorn's wait for another request, and may be the beginning of none."""
        super().data_received(data)
        is_free = self.cycle is None or self.cycle.response_complete
        if is_free and self.due is None and self in self.connections:
            self._expect()

    def on_message_begin(self) -> None:
        """The first bytes of a request."""
        super().on_message_begin()
        if self.due is None:
            self._expect()

    def on_headers_complete(self) -> None:
        """The head is there; now its body is expected."""
        super().on_headers_complete()
        self.body_until = self.loop.time() + BODY_S
        self._expect()

    def on_body(self, body: bytes) -> None:
        """Some of the body is there; more is expected, unless it was answered without, or has flowed for too long."""
        super().on_body(body)
        if not self.cycle.response_complete and self.loop.time() < self.body_until:
            self._expect()

    def on_message_complete(self) -> None:
        """All of it is there."""
        self._expect_nothing()
        super().on_message_complete()

    def pause_writing(self) -> None:
        """More of an answer waits than is kept for anybody who is quick."""
        super().pause_writing()
        self._wait_for_reader()
        while sum(one.transport.get_write_buffer_size() for one in _unread) > UNREAD_MOST:
            next(iter(_unread))._forget()

    def resume_writing(self) -> None:
        """They have read on."""
        super().resume_writing()
        self._wait_for_reader()

    def on_response_complete(self) -> None:
        """All of an answer has been written, and some of it may wait."""
        super().on_response_complete()
        self._wait_for_reader()

    def _wait_for_reader(self) -> None:
        self._wait_no_more()
        if left := self.transport.get_write_buffer_size():
            _unread[self] = self.loop.call_later(UNREAD_S, self._look_at_reader, left)

    def _look_at_reader(self, left: int) -> None:
        if self.transport.get_write_buffer_size() < left:
            self._wait_for_reader()
        else:
            self._forget()

    def _wait_no_more(self) -> None:
        if (due := _unread.pop(self, None)) is not None:
            due.cancel()

    def _forget(self) -> None:
        self._wait_no_more()
        self.transport.abort()

    def _expect(self) -> None:
        self._expect_nothing()
        self.due = self.loop.call_later(SILENT_S, self._give_up)

    def _expect_nothing(self) -> None:
        if self.due is not None:
            self.due.cancel()
            self.due = None

    def _give_up(self) -> None:
        is_answering = self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body
        if is_answering or self.flow.read_paused:  # it is we who are slow
            self._expect()
        else:
            self._end("408 Request Timeout")

    def send_400_response(self, msg: str) -> None:
        """They have sent what is no request."""
        self._end("400 Bad Request")

    def _end(self, status: str) -> None:
        # Not before the application is there: what is counted goes where its settings say.
        from menace_site.observed import answered_at_once

        request_id = answered_at_once(int(status[:3]))
        said = {"Content-Length": "0", "Connection": "close", "X-Request-Id": request_id, **guards()}
        lines = (f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in said.items()), "", "")
        self.transport.write("\r\n".join(lines).encode())
        self.transport.close()

    def _gone(self) -> None:
        self._expect_nothing()
        self._wait_no_more()
        _open[self.peer] -= 1
        if not _open[self.peer]:
            del _open[self.peer]
