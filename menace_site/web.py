"""``python -m menace_site.web``: uvicorn with its options, and somebody who answers while none of its processes can.

A process that was killed takes seconds until it serves again: Python, Django and the kernels have to be read. Where all
of them died at once, requests would wait in the queue of the socket meanwhile, and people before a page that is empty.
The parent holds that socket too, and has nothing else to do.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import socket
import sys
import threading
from collections.abc import Iterator
from http import HTTPStatus
from time import monotonic
from uuid import uuid4

from uvicorn.supervisors import Multiprocess

from menace_site.guards import guards

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "menace_site.settings")
OPTIONS = (
    "--http=menace_site.connections:Connection",
    "--ws=menace_site.connections:Socket",
    "--ws-ping-interval=5",
    "--ws-ping-timeout=5",
)
"""Whoever has gone without a word is noticed within ten seconds."""
RETRY_AFTER_S = 2
READ_WITHIN_S = 1.0
"""Who has not said what they want by then is answered all the same, and left when they have not gone by then again."""
MOST_BYTES = 16 * 1024
MOST_AT_ONCE = 64
WORDS = "The site is starting again. Your matches are kept; it takes some seconds."
PAGE = f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="{RETRY_AFTER_S}"><title>A short pause · Beadbox</title>
<h1>A short pause</h1><p role="status">{WORDS} This page then loads by itself.</p></html>
"""
REFUSAL = json.dumps({"detail": WORDS, "code": "unavailable"})


def answer(request: bytes) -> bytes:
    """What is said to a request: a page that comes back by itself to who reads pages, else the API's refusal."""
    head, _, _ = request.partition(b"\r\n\r\n")
    reads_pages = request.startswith((b"GET ", b"HEAD ")) and b"text/html" in head
    kind, body = ("text/html; charset=utf-8", PAGE) if reads_pages else ("application/json", REFUSAL)
    status = HTTPStatus.SERVICE_UNAVAILABLE
    lines = (
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body.encode())}",
        f"Retry-After: {RETRY_AFTER_S}",
        "Cache-Control: no-store",
        "Connection: close",
        f"X-Request-Id: {uuid4().hex}",
        *(f"{name}: {value}" for name, value in guards().items()),
    )
    told = "\r\n".join((*lines, "", ""))
    return (told if request.startswith(b"HEAD ") else told + body).encode()


def _heard(came: socket.socket) -> Iterator[bytes]:
    """What somebody says until they have done, for :data:`READ_WITHIN_S`, however it comes."""
    end = monotonic() + READ_WITHIN_S
    while (left := end - monotonic()) > 0:
        came.settimeout(left)
        try:
            more = came.recv(4096)
        except TimeoutError:
            return
        if not more:
            return
        yield more


class StandIn:
    """Threads that answer whoever comes to a socket, while it is on duty: nobody waits for one who is slow."""

    def __init__(self, listening: socket.socket) -> None:
        self.listening = listening
        self.is_on_duty = threading.Event()
        self.free = threading.Semaphore(MOST_AT_ONCE)
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        guards()  # reads the settings, for which nobody who comes later should wait
        while self.is_on_duty.wait():
            with contextlib.suppress(OSError, ValueError):  # a process has taken who came, or the socket is closed
                if select.select([self.listening], [], [], 0.1)[0]:
                    came = self.listening.accept()[0]
                    self.free.acquire()
                    threading.Thread(target=self._answer, args=[came], daemon=True).start()

    def _answer(self, came: socket.socket) -> None:
        with contextlib.ExitStack() as after:
            after.callback(self.free.release)
            after.enter_context(contextlib.suppress(OSError))  # they have gone
            after.enter_context(came)
            request = b""
            for more in _heard(came):
                request += more
                if b"\r\n\r\n" in request or len(request) >= MOST_BYTES:
                    break
            came.settimeout(READ_WITHIN_S)
            came.sendall(answer(request))
            came.shutdown(socket.SHUT_WR)
            # Closed with something unread, the connection would be reset, and the answer lost with it.
            for _ in _heard(came):
                pass


class Attended(Multiprocess):
    """uvicorn's processes, and a stand-in where one has served and none does.

    Before that nobody listens, and once told to end nobody does again: the proxy then goes to another host. Where there
    is none (``BEADBOX_ALONE``, of the supervisor), somebody answers from the beginning.
    """

    def run(self) -> None:
        """Serve until told to stop."""
        self.serving: set[int | None] = set()
        self.has_served = os.environ.get("BEADBOX_ALONE") == "1"
        self.stand_in = StandIn(self.sockets[0])
        if self.has_served:
            self.sockets[0].listen(self.config.backlog)
            self.stand_in.is_on_duty.set()
        super().run()

    def keep_subprocess_alive(self) -> None:
        """Replace who has died. Whoever has once served counts as serving while they live, however busy."""
        super().keep_subprocess_alive()
        living = [process for process in self.processes if process.process.is_alive()]
        self.serving &= {process.pid for process in living}
        self.serving |= {one.pid for one in living if one.pid not in self.serving and one.is_ready(timeout=0.2)}
        self.has_served |= bool(self.serving)
        if self.serving or not self.has_served:
            self.stand_in.is_on_duty.clear()
        else:
            self.stand_in.is_on_duty.set()

    def terminate_all(self) -> None:
        """Tell the processes to end, and hold their socket no longer than they do."""
        self.stand_in.is_on_duty.clear()
        self.sockets[0].close()
        super().terminate_all()


if __name__ == "__main__":
    command = importlib.import_module("uvicorn.main")  # the module; uvicorn.main is the function
    command.Multiprocess = Attended  # type: ignore[attr-defined]
    sys.exit(command.main([*OPTIONS, *sys.argv[1:]]))
