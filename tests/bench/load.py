"""A load generator: repeats one request over a few open connections, at full speed or at a rate.

Run this module in a separate process: ``python -m tests.bench.load PORT PATH N_CONNECTIONS SECONDS RATE < body``. A
rate of 0 means full speed. The program prints, as JSON, the latencies of all responses in milliseconds and the number
of responses with a status other than 200.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time


class Connection(asyncio.Protocol):
    """Send the request, wait for the whole response, and repeat until the time is over."""

    def __init__(self, request: bytes, ends_at: float, pause_s: float, closed: asyncio.Future[None]) -> None:
        self.request, self.ends_at, self.pause_s, self.closed = request, ends_at, pause_s, closed
        self.milliseconds: list[float] = []
        self.n_refused = 0
        self.answer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._ask()

    def data_received(self, data: bytes) -> None:
        self.answer += data
        head, blank, body = self.answer.partition(b"\r\n\r\n")
        if not blank:
            return
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        now = time.perf_counter()
        self.milliseconds.append(1000 * (now - self.asked_at))
        self.n_refused += not head.startswith(b"HTTP/1.1 200")
        if now >= self.ends_at:
            self.transport.close()
        else:  # The pause counts from the start of the last request.
            self.closed.get_loop().call_later(max(0.0, self.asked_at + self.pause_s - now), self._ask)

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set_result(None)

    def _ask(self) -> None:
        self.answer = b""
        self.asked_at = time.perf_counter()
        self.transport.write(self.request)


async def load(port: int, path: str, n_connections: int, seconds: float, rate: float, body: bytes) -> dict[str, object]:
    """Send requests for ``seconds``, ``rate`` a second over all connections; return the latencies and refusals."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    loop = asyncio.get_running_loop()
    ends_at = time.perf_counter() + seconds
    pause_s = n_connections / rate if rate else 0.0
    connections = [
        Connection(f"{head}\r\n\r\n".encode() + body, ends_at, pause_s, loop.create_future())
        for _ in range(n_connections)
    ]
    for connection in connections:
        await loop.create_connection(lambda connection=connection: connection, "127.0.0.1", port)  # type: ignore[misc]
    await asyncio.gather(*(connection.closed for connection in connections))
    return {
        "milliseconds": [one for connection in connections for one in connection.milliseconds],
        "n_refused": sum(connection.n_refused for connection in connections),
    }


if __name__ == "__main__":
    port, path, n_connections, seconds, rate = sys.argv[1:]
    body = sys.stdin.buffer.read()
    results = asyncio.run(load(int(port), path, int(n_connections), float(seconds), float(rate), body))
    json.dump(results, sys.stdout)
