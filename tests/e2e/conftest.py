"""A live site and a real browser: uvicorn serves the real application in a thread, and Chromium visits it.

``page.goto("/")`` goes to the site; each test starts with an empty database. ``page`` is one visitor; ``visitor()``
opens more visitors, each with their own cookies. Errors in a browser fail the test (fixture ``watch``).
"""

import os
import re
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn
from django.conf import settings
from django.db import connection
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Response, expect

from games.live import background_moves
from menace_site.web import UVICORN_OPTIONS
from tests.e2e.lab import sign_in
from tests.environment import CHROMIUM_ARGS, chromium
from tests.factories import user
from tests.waiting import HANG_S, PAGE_HANG_S, wait_until

expect.set_options(timeout=PAGE_HANG_S * 1000)

# The browser uses the tests' fonts and no others, so that text looks the same on every machine.
FONTCONFIG = {"FONTCONFIG_FILE": str(settings.BASE_DIR / "tests" / "data" / "fonts" / "fonts.conf")}


class LiveSite:
    """The site on a free port. The port stays the same after a restart."""

    def __init__(self, bind: str = "127.0.0.1", host: str = "localhost") -> None:
        self.bind, self.host, self.port = bind, host, 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def start(self) -> None:
        from menace_site.asgi import application

        # Bind the socket before the server starts, so that no other program takes the port.
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind((self.bind, self.port))
        self.port = self.socket.getsockname()[1]
        config = uvicorn.Config(
            application,
            **{**UVICORN_OPTIONS, "lifespan": "off", "log_level": "warning", "timeout_graceful_shutdown": 1},
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)
        self.thread.start()
        assert wait_until(lambda: self.server.started)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(HANG_S)
        self.socket.close()

    def is_idle(self) -> bool:
        """Return whether no request, socket, background move or database query is in progress."""
        if self.server.server_state.tasks or not background_moves.is_idle():
            return False
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle'"
            )
            return bool(cursor.fetchone() == (0,))

    def restart(self) -> None:
        self.stop()
        self.start()


@pytest.fixture(scope="session")
def live_site(django_db_setup: None) -> Iterator[LiveSite]:
    # Playwright's event loop runs in this thread, so Django would refuse each query of a test as a query in async code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    site = LiveSite()
    yield site
    site.stop()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="session")
def base_url(live_site: LiveSite) -> str:
    return live_site.url


@pytest.fixture(autouse=True)
def _database(transactional_db: None, live_site: LiveSite) -> Iterator[None]:
    """Use a database with committed data, and wait until the server is idle before the tables are emptied."""
    yield
    assert wait_until(live_site.is_idle)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    browser = chromium()
    if browser is None:
        pytest.fail("There is no Chromium. Install it, or set CHROMIUM to its path.")
    return {
        **browser_type_launch_args,
        "executable_path": browser,
        "args": CHROMIUM_ARGS,
        "env": {**os.environ, **FONTCONFIG},
        "timeout": PAGE_HANG_S * 1000,
    }


REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`Content Security Policy: ${event.effectiveDirective} refused ${event.blockedURI}`));
"""


class Watch:
    """Records the complaints of all pages.

    These are console errors, exceptions, violations of the content security policy, failed and refused requests, and
    every request to another origin.
    """

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.complaints: list[str] = []
        self.requests: list[Request] = []
        self._allowed: list[re.Pattern[str]] = []

    def allow(self, *patterns: str) -> None:
        """Allow complaints that match these patterns, in a test that causes them."""
        self._allowed += [re.compile(pattern) for pattern in patterns]

    def observe(self, context: BrowserContext) -> BrowserContext:
        context.set_default_timeout(PAGE_HANG_S * 1000)
        context.add_init_script(REPORT_VIOLATIONS)
        context.on("console", self._console)
        context.on("weberror", lambda error: self.complaints.append(f"exception: {error.error}"))
        context.on("request", self._request)
        context.on("requestfailed", self._failed)
        context.on("response", self._response)
        return context

    @property
    def unexpected_complaints(self) -> list[str]:
        return [text for text in self.complaints if not any(pattern.search(text) for pattern in self._allowed)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console: {message.text} ({message.location.get('url')})")

    def _request(self, request: Request) -> None:
        self.requests.append(request)
        if not request.url.startswith((f"{self.origin}/", "data:", "blob:")):
            self.complaints.append(f"another origin: {request.url}")

    def _failed(self, request: Request) -> None:
        # The browser aborts the requests of a page when it leaves the page.
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"failed: {request.failure} {request.url}")

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self.complaints.append(f"status: {response.status} {response.url}")


@pytest.fixture(autouse=True)
def watch(base_url: str) -> Iterator[Watch]:
    watch = Watch(base_url)
    yield watch
    assert watch.unexpected_complaints == []


@pytest.fixture
def context(new_context: Callable[..., BrowserContext], watch: Watch) -> BrowserContext:
    return watch.observe(new_context())


Visitor = Callable[..., Page]


@pytest.fixture
def visitor(new_context: Callable[..., BrowserContext], watch: Watch) -> Visitor:
    """Return a function that opens a page in a new browser context. The function takes the options of a context."""
    return lambda **browser_options: watch.observe(new_context(**browser_options)).new_page()


@pytest.fixture
def owner(context: BrowserContext, live_site: LiveSite) -> Any:
    """Create an account and sign its session into the browser."""
    account = user("owner")
    sign_in(context, live_site, account)
    return account
