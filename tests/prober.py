"""A client that requests a page ten times a second and counts the answers, for tests of faults and releases."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import socket
import ssl
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from menace_site.local.fallback_responder import UNAVAILABLE_TEXT

INTERVAL_S = 0.1
TIMEOUT_S = 5.0
"""Time-out of a request in seconds. The time-out is longer than any answer may take."""


@dataclass
class Prober:
    """Sends requests from a separate thread during a ``with`` block."""

    host: str
    port: int
    site: str = "localhost"
    """The host name in the requests."""
    authority: str = ""
    """The file with the certificate authority for encrypted requests. If it is empty, requests are not encrypted."""
    path: str = "/api/health"
    answered_at: list[float] = field(default_factory=list)
    """Times of all answers by ``time.perf_counter``. The first entry is the time of the start."""
    statuses: Counter[str] = field(default_factory=Counter)
    """Number of answers by status; ``stand-in`` counts answers of the fallback responder, ``none`` missing answers."""
    faults: list[str] = field(default_factory=list)
    """The 5xx answers that are faults. A refusal of the API has a code and is no fault."""

    def __enter__(self) -> Prober:
        self.tls_context = ssl.create_default_context(cafile=self.authority) if self.authority else None
        self.is_over = threading.Event()
        self.answered_at.append(time.perf_counter())
        self.thread = threading.Thread(target=self._ask_repeatedly)
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.is_over.set()
        self.thread.join()

    @property
    def longest_s(self) -> float:
        """The longest time without an answer, in seconds."""
        times = [*self.answered_at, time.perf_counter()]
        return max(after - before for before, after in itertools.pairwise(times))

    def _ask_repeatedly(self) -> None:
        while not self.is_over.wait(INTERVAL_S):
            try:
                status, body = self._ask()
            except (OSError, http.client.HTTPException):
                self.statuses["none"] += 1
                continue
            self.answered_at.append(time.perf_counter())
            is_stand_in = UNAVAILABLE_TEXT in body
            self.statuses["stand-in" if is_stand_in else str(status)] += 1
            if status >= 500 and (is_stand_in or not _is_refusal(body)):
                self.faults.append(f"{status} {body[:80]}")

    def _ask(self) -> tuple[int, str]:
        with contextlib.ExitStack() as stack:
            tcp_socket = stack.enter_context(socket.create_connection((self.host, self.port), TIMEOUT_S))
            connection = http.client.HTTPConnection(self.site)
            connection.sock = (
                tcp_socket
                if self.tls_context is None
                else self.tls_context.wrap_socket(tcp_socket, server_hostname=self.site)
            )
            stack.callback(connection.close)
            connection.request("GET", self.path, headers={"Connection": "close"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode(errors="replace")


def _is_refusal(body: str) -> bool:
    """Return whether an answer is a refusal of the API, which has a code, and not an answer of a proxy."""
    with contextlib.suppress(ValueError):
        data = json.loads(body)
        return isinstance(data, dict) and "code" in data
    return False
