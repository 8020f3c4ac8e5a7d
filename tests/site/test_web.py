"""Web processes and who stands in for them, for real, with an application that starts and ends when it is told."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from menace_site.servers import BASE_DIR
from tests.waiting import PAGE_HANG_S, wait_until

N_PROCESSES = 2
LETTER_S = 0.1
NOTICED_S = 0.6
"""The parent looks twice a second at what has become of its processes."""


async def until(file: str) -> None:
    """Wait for a file in the folder that the test and the processes share."""
    await asyncio.to_thread(wait_until, Path(os.environ["TOLD"], file).exists)


async def site(scope: Any, receive: Any, send: Any) -> None:
    """Starts when it may, and answers; to /late when it may."""
    if scope["type"] == "lifespan":
        await receive()
        Path(os.environ["TOLD"], f"starts-{os.getpid()}").touch()
        await until("start")
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    if scope["path"] == "/late":
        Path(os.environ["TOLD"], "late-asked").touch()
        await until("late")
    await send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"close")]})
    await send({"type": "http.response.body", "body": b"served"})


class Server:
    """The processes of a web host."""

    def __init__(self, told: Path, **env: str) -> None:
        self.told = told
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        words = f"tests.site.test_web:site --port {self.port} --workers {N_PROCESSES} --lifespan on --log-level warning"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "menace_site.web", *words.split(), "--timeout-graceful-shutdown", "60"],
            cwd=BASE_DIR,
            env={**os.environ, "TOLD": str(told), **env},
        )

    def starting(self) -> list[int]:
        """The processes that have begun to start."""
        return [int(file.name.removeprefix("starts-")) for file in self.told.glob("starts-*")]

    def status(self) -> int | None:
        """What a request is answered with; None where the connection is refused."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=PAGE_HANG_S) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code
        except urllib.error.URLError as error:
            return None if isinstance(error.reason, ConnectionRefusedError) else -1
        except OSError:  # a process took it along
            return -1


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    try:
        yield server
    finally:
        for file in ("start", "late"):
            (server.told / file).touch()
        server.process.terminate()
        server.process.wait(PAGE_HANG_S)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(Server(tmp_path)) as server:
        yield server


def test_where_there_is_no_other_host_somebody_answers_from_the_beginning(tmp_path: Path) -> None:
    with serving(Server(tmp_path, BEADBOX_ALONE="1")) as server:
        assert wait_until(lambda: server.status() == 503)
        (server.told / "start").touch()
        assert wait_until(lambda: server.status() == 200)


def test_who_says_what_they_want_letter_by_letter_keeps_nobody_waiting(tmp_path: Path) -> None:
    with serving(Server(tmp_path, BEADBOX_ALONE="1")) as server, ExitStack() as dripping:
        assert wait_until(lambda: server.status() == 503)
        slow = [
            dripping.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in range(N_PROCESSES * 8)
        ]
        is_over = threading.Event()

        def drip() -> None:
            while not is_over.wait(LETTER_S):
                for one in slow:
                    with suppress(OSError):
                        one.send(b"G")

        thread = threading.Thread(target=drip)
        thread.start()
        dripping.callback(thread.join)
        dripping.callback(is_over.set)
        assert server.status() == 503


def test_nobody_answers_before_a_process_serves_and_then_always_somebody(server: Server) -> None:
    assert wait_until(lambda: len(server.starting()) == N_PROCESSES)
    assert server.status() is None, "the proxy goes to another host instead"

    (server.told / "start").touch()
    assert wait_until(lambda: server.status() == 200)

    def asked_of_the_dead() -> int | None:
        """All die, again and again until it has been noticed that one has served; who comes after them takes longer."""
        time.sleep(NOTICED_S)
        for pid in server.starting():
            (server.told / f"starts-{pid}").unlink()
            os.kill(pid, signal.SIGKILL)
        return server.status()

    assert wait_until(lambda: asked_of_the_dead() == 503)
    assert wait_until(lambda: server.status() == 200)


def test_who_comes_while_it_ends_is_sent_elsewhere_and_not_left_in_a_queue(server: Server) -> None:
    (server.told / "start").touch()
    assert wait_until(lambda: server.status() == 200)
    with socket.create_connection(("127.0.0.1", server.port), PAGE_HANG_S) as late:
        late.sendall(b"GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert wait_until((server.told / "late-asked").exists)
        server.process.terminate()
        assert wait_until(lambda: server.status() is None)
        assert server.process.poll() is None, "it still answers what it was asked before"
        (server.told / "late").touch()
        assert late.recv(4096).startswith(b"HTTP/1.1 200")
    assert server.process.wait(PAGE_HANG_S) == 0
