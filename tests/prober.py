"""A client that requests a page of a site ten times a second, during a fault or a release, and counts the answers."""

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

EVERY_S = 0.1
PATIENCE_S = 5.0
"""Timeout of a request in seconds: longer than any answer may take. Then a new request is sent."""


@dataclass
class Prober:
    """Sends requests in a thread of its own, from the beginning of a ``with`` block to its end."""

    host: str
    port: int
    site: str = "localhost"
    """The host name in the requests."""
    authority: str = ""
    """The file with the certificate authority that vouches for the host name. Without it nothing is encrypted."""
    path: str = "/api/health"
    answered_at: list[float] = field(default_factory=list)
    """When any answer came, by ``time.perf_counter``; the first entry is the start."""
    statuses: Counter[str] = field(default_factory=Counter)
    """Number of answers by status; ``stand-in`` is the fallback responder, ``none`` a missing answer."""
    broken: list[str] = field(default_factory=list)
    """Faults: 5xx answers other than the site's own refusals, which give a code."""

    def __enter__(self) -> Prober:
        self.trust = ssl.create_default_context(cafile=self.authority) if self.authority else None
        self.is_over = threading.Event()
        self.answered_at.append(time.perf_counter())
        self.thread = threading.Thread(target=self._ask_on)
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.is_over.set()
        self.thread.join()

    @property
    def longest_s(self) -> float:
        """The longest time without an answer, in seconds."""
        moments = [*self.answered_at, time.perf_counter()]
        return max(after - before for before, after in itertools.pairwise(moments))

    def _ask_on(self) -> None:
        while not self.is_over.wait(EVERY_S):
            try:
                status, body = self._ask()
            except (OSError, http.client.HTTPException):
                self.statuses["none"] += 1
                continue
            self.answered_at.append(time.perf_counter())
            is_stand_in = UNAVAILABLE_TEXT in body
            self.statuses["stand-in" if is_stand_in else str(status)] += 1
            if status >= 500 and (is_stand_in or not _is_refusal(body)):
                self.broken.append(f"{status} {body[:80]}")

    def _ask(self) -> tuple[int, str]:
        with contextlib.ExitStack() as stack:
            plain = stack.enter_context(socket.create_connection((self.host, self.port), PATIENCE_S))
            connection = http.client.HTTPConnection(self.site)
            connection.sock = plain if self.trust is None else self.trust.wrap_socket(plain, server_hostname=self.site)
            stack.callback(connection.close)
            connection.request("GET", self.path, headers={"Connection": "close"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode(errors="replace")


def _is_refusal(body: str) -> bool:
    """Whether an answer is the API's own refusal, with a code; a proxy's answer has none."""
    with contextlib.suppress(ValueError):
        data = json.loads(body)
        return isinstance(data, dict) and "code" in data
    return False
