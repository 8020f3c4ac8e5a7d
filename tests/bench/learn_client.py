"""People who watch machines learn at full speed, each from an address of their own, as the page asks the server.

Its first line of input is a :class:`Watching` as JSON: ``python -m tests.bench.learn_client``. It says ``begin`` when
everybody has used up what they may at once, and after a second line what was played, as JSON.
"""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any

MOST_GAMES = 10_000_000
HEADERS = {"Host": "localhost", "Accept": "application/json"}


@dataclass(frozen=True)
class Watching:
    """How many watch which page, and how long each has done so before it counts."""

    port: int
    n_visitors: int
    before_s: float
    host: str = "127.0.0.1"
    query: str = ""
    """What their addresses have in common; each has its own seed."""


class Visitor(threading.Thread):
    """A page at full speed: the next question when the answer is there, or when the server says so."""

    def __init__(self, case: Watching, number: int) -> None:
        super().__init__(daemon=True)
        self.case, self.number = case, number
        self.n_games = 0
        self.milliseconds: list[float] = []
        self.n_later = 0
        self.fault = ""

    def run(self) -> None:
        """Watch one machine after the other to its end."""
        self.line = HTTPConnection(self.case.host, self.case.port, timeout=60)
        seed = 1 + 1000 * self.number
        try:
            self.ask("/learn/noughts-and-crosses", f"seed={seed}&{self.case.query}")
            while True:
                self.watch(f"seed={seed}&{self.case.query}")
                seed += 1
        except (AssertionError, OSError, http.client.HTTPException) as error:
            self.fault = repr(error)

    def watch(self, address: str) -> None:
        """One machine, from its first game to the last that there is."""
        self.ask("/api/learn/boxes", address)
        at = 0
        while at < MOST_GAMES:
            found = json.loads(self.ask("/api/learn/machine", f"{address}&games={MOST_GAMES}&since={at - 1}"))
            assert found["games"] > at, "it comes no further"
            self.n_games += found["games"] - at
            at = found["games"]

    def ask(self, path: str, query: str) -> bytes:
        """The answer to a question, however often it has to be asked."""
        while True:
            began = time.perf_counter()
            self.line.request("GET", f"{path}?{query}", headers={**HEADERS, "X-Forwarded-For": f"10.0.0.{self.number}"})
            answer = self.line.getresponse()
            body = answer.read()
            if answer.status == 200:
                self.milliseconds.append(1000 * (time.perf_counter() - began))
                return body
            assert answer.status in (429, 503), f"{answer.status} {path}: {body[:200]!r}"
            self.n_later += 1
            time.sleep(float(answer.headers.get("Retry-After") or 2))


def main() -> None:
    """Let everybody watch until there is a second line on the input."""
    case = Watching(**json.loads(sys.stdin.readline()))
    visitors = [Visitor(case, number) for number in range(1, case.n_visitors + 1)]
    for visitor in visitors:
        visitor.start()
    time.sleep(case.before_s)
    before, began = [(one.n_games, len(one.milliseconds), one.n_later) for one in visitors], time.perf_counter()
    sys.stdout.write("begin\n")
    sys.stdout.flush()
    sys.stdin.readline()
    seconds = time.perf_counter() - began
    found: dict[str, Any] = {
        "seconds": seconds,
        "games": [one.n_games - n_games for one, (n_games, _, _) in zip(visitors, before, strict=True)],
        "milliseconds": [ms for one, (_, n, _) in zip(visitors, before, strict=True) for ms in one.milliseconds[n:]],
        "later": sum(one.n_later - n for one, (_, _, n) in zip(visitors, before, strict=True)),
        "faults": [one.fault for one in visitors if one.fault],
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
