"""Real web processes and their fallback responder, with an application that starts and ends on command."""

import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from menace_site.local.servers import BASE_DIR
from tests.waiting import PAGE_HANG_S, wait_until

N_PROCESSES = 2
LETTER_S = 0.1


async def until(file: str) -> None:
    """Wait for a file in the folder that the test and the processes share."""
    await asyncio.to_thread(wait_until, Path(os.environ["TOLD"], file).exists)


async def site(scope: Any, receive: Any, send: Any) -> None:
    """An application that starts, and answers /late, only when the test allows. Other requests get answers at once."""
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
    """The processes of a web host, run by ``menace_site.web``."""

    def __init__(self, folder: Path, *options: str, application: str = "site") -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        words = f"tests.site.test_web:{application} --port {self.port} --workers {N_PROCESSES}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "menace_site.web", *words.split(), *options],
            cwd=BASE_DIR,
            env={**os.environ, "TOLD": str(folder)},
        )

    def started_pids(self) -> list[int]:
        """Return the ids of all processes that have begun to start, dead ones included."""
        return [int(file.name.removeprefix("starts-")) for file in self.folder.glob("starts-*")]

    def status(self) -> int | None:
        """Return the status of a response, or ``None`` if the connection is refused."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=PAGE_HANG_S) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code
        except urllib.error.URLError as error:
            return None if isinstance(error.reason, ConnectionRefusedError) else -1
        except OSError:  # a process has already taken it
            return -1


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    try:
        yield server
    finally:
        for file in ("start", "late"):
            (server.folder / file).touch()
        server.process.terminate()
        server.process.wait(PAGE_HANG_S)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(Server(tmp_path)) as server:
        yield server


@pytest.fixture
def importing(tmp_path: Path) -> Iterator[Server]:
    """Yield a server with a fallback responder that imports its application until the test lets it go on."""
    with serving(Server(tmp_path, "--stand-in", application="slow_site")) as server:
        assert wait_until(lambda: server.status() == 503)
        yield server


def slow_site() -> Any:
    """Return the application after a slow import: uvicorn calls this while it loads."""
    assert wait_until(Path(os.environ["TOLD"], "import").exists)
    return site


def send_request(
    server: Server, method: str, accept: str, body: bytes | None = None
) -> tuple[http.client.HTTPResponse, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PAGE_HANG_S)
    with contextlib.closing(connection):
        connection.request(method, "/", body, {"Accept": accept})
        answer = connection.getresponse()
        return answer, answer.read().decode()


def test_fallback_answers_until_a_process_serves(importing: Server) -> None:
    page, text = send_request(importing, "GET", "text/html")
    assert (page.status, page.getheader("Retry-After")) == (503, "2")
    assert 'http-equiv="refresh"' in text
    for method, body in (("GET", None), ("POST", b"x" * 2**20), ("DELETE", None)):
        refusal, text = send_request(importing, method, "*/*", body)
        assert (refusal.status, json.loads(text)["code"]) == (503, "unavailable")
        assert {refusal.getheader(name) for name in ("X-Content-Type-Options", "X-Frame-Options")} == {
            "nosniff",
            "DENY",
        }
    head, text = send_request(importing, "HEAD", "text/html")
    assert (head.status, text) == (503, "")
    for file in ("import", "start"):
        (importing.folder / file).touch()
    assert wait_until(lambda: importing.status() == 200)


def test_slow_clients_delay_no_other(importing: Server) -> None:
    with ExitStack() as dripping:
        slow = [
            dripping.enter_context(socket.create_connection(("127.0.0.1", importing.port)))
            for _ in range(N_PROCESSES * 8)
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
        assert importing.status() == 503


def test_no_process_answers_before_the_site_is_ready(server: Server) -> None:
    """Killed processes are replaced."""
    assert wait_until(lambda: len(server.started_pids()) == N_PROCESSES)
    assert server.status() is None, "the proxy goes to another host instead"
    (server.folder / "start").touch()
    assert wait_until(lambda: server.status() == 200)
    killed = server.started_pids()
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: len(set(server.started_pids()) - set(killed)) == N_PROCESSES)
    assert wait_until(lambda: server.status() == 200)


@pytest.mark.soak
def test_hanging_process_is_replaced(server: Server) -> None:
    (server.folder / "start").touch()
    assert wait_until(lambda: server.status() == 200)
    hung = server.started_pids()[0]
    os.kill(hung, signal.SIGSTOP)
    assert wait_until(lambda: len(server.started_pids()) == N_PROCESSES + 1)
    assert not Path(f"/proc/{hung}").exists()
    assert wait_until(lambda: server.status() == 200)


@pytest.mark.parametrize("application", ["no_site", "broken_site"])
def test_server_that_cannot_start_ends_without_a_retry(tmp_path: Path, application: str) -> None:
    with serving(Server(tmp_path, application=application)) as server:
        assert server.process.wait(PAGE_HANG_S) != 0


async def broken_site(scope: Any, receive: Any, send: Any) -> None:
    """Fail at start-up, like an application with an error."""
    await receive()
    await send({"type": "lifespan.startup.failed", "message": "on purpose"})


def test_ending_server_refuses_new_connections(server: Server) -> None:
    """Requests that were accepted before the end are still answered."""
    (server.folder / "start").touch()
    assert wait_until(lambda: server.status() == 200)
    with socket.create_connection(("127.0.0.1", server.port), PAGE_HANG_S) as late:
        late.sendall(b"GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert wait_until((server.folder / "late-asked").exists)
        server.process.terminate()
        assert wait_until(lambda: server.status() is None)
        assert server.process.poll() is None, "the process still answers earlier requests"
        (server.folder / "late").touch()
        assert late.recv(4096).startswith(b"HTTP/1.1 200")
    assert server.process.wait(PAGE_HANG_S) == 0
