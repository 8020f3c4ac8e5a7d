"""``python -m menace_site.web``: uvicorn's servers, forked from a parent that has imported the application.

The parent replaces a killed server by a fork, which takes milliseconds. A new Python process that imports the
application takes two seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from typing import Any

import uvicorn
from uvicorn.config import STARTUP_FAILURE

from menace_site.local.fallback_responder import serve_fallback

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "menace_site.settings")

logger = logging.getLogger("menace_site.web")

UVICORN_OPTIONS: dict[str, Any] = {
    "http": "httptools",
    "ws": "websockets-sansio",
    # The server closes the socket of a client that has vanished within ten seconds.
    "ws_ping_interval": 5,
    "ws_ping_timeout": 5,
    "ws_max_size": 64 * 1024,
    # Longer than clients keep an idle connection, so that no client sends a request on a connection that we just close.
    # Chrome keeps connections for 300 s, Firefox for 115 s, Caddy (to its upstreams) for 120 s, nginx for 60 s.
    "timeout_keep_alive": 330,
    "timeout_graceful_shutdown": 5,
    "lifespan": "on",
    "proxy_headers": False,
    "server_header": False,
    "access_log": False,
    "log_config": None,
}
UNREAD_TIMEOUT_S = 30
"""Seconds without acknowledgement of sent data after which the kernel closes a connection."""
HEARTBEAT_INTERVAL_S = 0.2
"""Time between two heartbeats of a process, and between two checks of all processes."""
MAX_MISSED_HEARTBEATS = 25
"""Consecutive checks without a heartbeat after which a process is replaced.

With one check each ``HEARTBEAT_INTERVAL_S``, this is 5 s.
"""
FORK_CONTEXT = multiprocessing.get_context("fork")


class Worker:
    """A web process that counts heartbeats while it runs."""

    def __init__(self, config: uvicorn.Config, listening_socket: socket.socket) -> None:
        self.n_beats = FORK_CONTEXT.RawValue("L", 0)
        self.n_beats_at_last_check = self.n_missed_heartbeats = 0
        self.process = FORK_CONTEXT.Process(target=self._serve, args=(config, listening_socket))
        self.process.start()

    def _serve(self, config: uvicorn.Config, listening_socket: socket.socket) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        threading.Thread(target=self._beat, daemon=True).start()
        uvicorn.Server(config).run(sockets=[listening_socket])

    def _beat(self) -> None:
        while True:
            self.n_beats.value += 1
            time.sleep(HEARTBEAT_INTERVAL_S)

    def is_hung(self) -> bool:
        """Whether no heartbeat came between the last ``MAX_MISSED_HEARTBEATS`` calls of this method."""
        self.n_missed_heartbeats = (
            self.n_missed_heartbeats + 1 if self.n_beats_at_last_check == self.n_beats.value else 0
        )
        self.n_beats_at_last_check = self.n_beats.value
        return self.n_missed_heartbeats >= MAX_MISSED_HEARTBEATS


def bind_listening_socket(config: uvicorn.Config) -> socket.socket:
    """Return a socket bound to the address of ``config``; the kernel closes connections that clients do not read.

    The kernel has to do this: uvicorn closes a WebSocket without pongs only after the client has read all earlier data.
    """
    listening_socket = config.bind_socket()
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Accepted connections inherit this option.
        listening_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * UNREAD_TIMEOUT_S)
    return listening_socket


def serve(config: uvicorn.Config, *, has_fallback: bool) -> int:
    """Serve with ``config.workers`` processes until SIGINT or SIGTERM, and return the exit status.

    With ``has_fallback``, a fallback answers 503 while the application is imported.
    """
    listening_socket = bind_listening_socket(config)
    with serve_fallback(listening_socket) if has_fallback else contextlib.nullcontext():
        config.load()
    gc.collect()
    gc.freeze()  # The collector ignores frozen objects, so the forked processes keep sharing their memory.
    stop_signals: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: stop_signals.append(number))
    workers = [Worker(config, listening_socket) for _ in range(config.workers)]
    status = 0
    while not stop_signals and not status:
        time.sleep(HEARTBEAT_INTERVAL_S)
        for index, worker in enumerate(workers):
            if worker.is_hung():
                worker.process.kill()
                worker.process.join()
            if worker.process.exitcode == STARTUP_FAILURE:  # A replacement would fail in the same way.
                status = STARTUP_FAILURE
            elif worker.process.exitcode is not None and not stop_signals:
                logger.warning("a web process ended with %s and is replaced", worker.process.exitcode)
                workers[index] = Worker(config, listening_socket)
    listening_socket.close()  # Once the workers have closed their copies too, the proxy sends requests to another host.
    for worker in workers:
        worker.process.terminate()
    for worker in workers:
        worker.process.join()
    return status


def main(words: list[str]) -> int:
    """Serve as the arguments ``words`` of the command line say, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m menace_site.web", description=__doc__)
    parser.add_argument("application", nargs="?", default="menace_site.asgi:application")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--stand-in", action="store_true", help="answer 503 while the application is imported")
    arguments = parser.parse_args(words)
    config = uvicorn.Config(
        arguments.application, host=arguments.host, port=arguments.port, workers=arguments.workers, **UVICORN_OPTIONS
    )
    return serve(config, has_fallback=arguments.stand_in)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
