"""Somebody who asks a site ten times a second whether it answers, and what: while it is broken, or renewed."""

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
"""Longer than anybody may take to answer; who has not answered by then is asked anew."""


@dataclass
class Prober:
    """Asks from the beginning of a ``with`` to its end, in a thread of its own."""

    host: str
    port: int
    site: str = "localhost"
    """The name that the host is asked by."""
    authority: str = ""
    """Whose word for that name is taken; without one nothing is encrypted."""
    path: str = "/api/health"
    answered_at: list[float] = field(default_factory=list)
    """When something came back, whatever it was: by ``time.perf_counter``, the first is when it began."""
    statuses: Counter[str] = field(default_factory=Counter)
    """What was answered, by status; ``stand-in`` where nobody serves yet, ``none`` where nothing came."""
    broken: list[str] = field(default_factory=list)
    """Faults: what was answered with 5xx and is no refusal of the site's own, that says why."""

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
        """The longest time in which nobody answered."""
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
    """Whether an answer is the API's own, with its code: what a proxy says has none."""
    with contextlib.suppress(ValueError):
        told = json.loads(body)
        return isinstance(told, dict) and "code" in told
    return False
