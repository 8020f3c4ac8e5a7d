"""A live site and a real browser: uvicorn serves the real application in a thread, Chromium visits it.

``page.goto("/")`` goes to the site; each test starts with an empty database.
"""

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from menace_site.processes import wait_until

CHROMIUM_ARGS = [
    "--no-sandbox",  # root may not have one
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",  # the tests need no network, and it may be closed
    "--disable-component-update",
    "--disable-sync",
]


class LiveSite:
    """The site on a port of its own, which it keeps when it is restarted."""

    def __init__(self) -> None:
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def start(self) -> None:
        from menace_site.asgi import application

        # Bound here, so that nobody takes the port between choosing it and serving.
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(("127.0.0.1", self.port))
        self.port = self.socket.getsockname()[1]
        config = uvicorn.Config(
            application,
            lifespan="off",
            log_level="warning",
            timeout_graceful_shutdown=1,
            ws_max_size=65536,
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)
        self.thread.start()
        assert wait_until(lambda: self.server.started, timeout_s=20)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(timeout=20)
        self.socket.close()

    def restart(self) -> None:
        self.stop()
        self.start()


@pytest.fixture(scope="session")
def live_site(django_db_setup: None) -> Iterator[LiveSite]:
    # Playwright's own loop runs in this thread, so Django takes each query of a test for one in async code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    site = LiveSite()
    yield site
    site.stop()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="session")
def base_url(live_site: LiveSite) -> str:
    return live_site.url


@pytest.fixture(autouse=True)
def _database(transactional_db: None) -> None:
    """The server sees only what was committed."""


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    chromium = shutil.which(os.environ.get("CHROMIUM") or "chromium")
    if chromium is None:
        pytest.fail("There is no Chromium: install it, or name it in CHROMIUM.")
    return {**browser_type_launch_args, "executable_path": chromium, "args": CHROMIUM_ARGS}
