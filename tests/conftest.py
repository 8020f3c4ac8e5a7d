"""Fixtures for all tests, and the start of a private PostgreSQL and Valkey, which all workers of a run share."""

import contextlib
import fcntl
import math
import os
import shutil
import signal
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

import psycopg
import pytest
from hypothesis import HealthCheck, settings

from menace_site.local import processes, servers
from tests.waiting import HANG_S, wait_for_sockets, wait_until

if TYPE_CHECKING:
    from tests.outage import Outage

# channels.testing imports daphne, which is not installed, because the site uses uvicorn. Empty modules replace it.
for name in ("daphne", "daphne.testing"):
    sys.modules.setdefault(name, types.ModuleType(name))
sys.modules["daphne.testing"].__dict__.setdefault("DaphneProcess", None)
wait_for_sockets()
# Without a deadline, because the duration of an example depends on the load of the machine.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

_running_servers = contextlib.ExitStack()

StartWorker = Callable[..., subprocess.Popen[bytes]]
CannotTry = Callable[[str], None]


def pytest_configure(config: pytest.Config) -> None:
    """Start the servers for which no URL is set. Only xdist's controlling process does so; its workers share them."""
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    var = Path(os.environ["BEADBOX_VAR"])
    _running_servers.callback(shutil.rmtree, var, ignore_errors=True)
    os.environ.setdefault("BEADBOX_PREPARED", str(var / "prepared"))
    _running_servers.enter_context(
        servers.private_servers(var, database=not os.environ.get("DATABASE_URL"), redis=not os.environ.get("REDIS_URL"))
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before pytest deselects tests by their markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Draw a sample of the cases of each ``sampled`` test, and mark all other cases as ``soak``.

    Also run ``tests/site`` first, because these tests take minutes, in which they mostly wait.
    """
    cases: dict[tuple[str, int], list[pytest.Item]] = {}
    for item in items:
        if sampled := item.get_closest_marker("sampled"):
            cases.setdefault((item.nodeid.partition("[")[0], *sampled.args), []).append(item)
    for (name, n_drawn), test_cases in cases.items():
        sample = Random(name).sample(test_cases, min(n_drawn, len(test_cases)))
        for item in test_cases:
            if item not in sample:
                item.add_marker(pytest.mark.soak)
    yield
    items.sort(key=lambda item: "tests/site/" not in item.nodeid)


def pytest_unconfigure(config: pytest.Config) -> None:
    _running_servers.close()


@pytest.fixture(autouse=True)
def _stop_clock_of_rate_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock of rate limits, so that their windows of a minute or an hour do not change during a test."""
    from games.accounts.throttles import Throttle

    monkeypatch.setattr(Throttle, "timer", lambda self: 1_800_000_000.0)


@pytest.fixture(autouse=True)
def _switch_off_count_of_site(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switch off the periodic count of the site's rows, because tests count queries."""
    from games.limits.quotas import site_counts

    monkeypatch.setattr(site_counts, "recount_at", math.inf)


@pytest.fixture(autouse=True)
def _raise_admission_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the time after which a waiting move is refused, because moves wait longer on a slow machine."""
    from games.limits import admission

    monkeypatch.setattr(admission, "BUSY_AFTER_S", HANG_S)


@pytest.fixture(autouse=True)
def _raise_retention_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the time limit of a statement in retention, which a slow machine would exceed."""
    from learning.workers import retention

    monkeypatch.setattr(retention, "STATEMENT_TIMEOUT_MS", 1000 * HANG_S)


@pytest.fixture
def cannot_try(record_property: Callable[[str, object], None]) -> CannotTry:
    """Return a function that records something this machine cannot test. The summary of the run lists all records."""
    return lambda what: record_property("cannot try", what)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    properties = [
        entry for report in terminalreporter.getreports("passed") for entry in getattr(report, "user_properties", [])
    ]
    if tried := sorted({str(what) for name, what in properties if name == "tried"}):
        terminalreporter.write_line(f"Tried: {', '.join(tried)}.")
    for what in sorted({what for name, what in properties if name == "cannot try"}):
        terminalreporter.write_line(f"This machine cannot try {what}.")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Migrate a template database once in a run. Each process creates its test database as a copy of the template."""
    from django.db import connection

    if os.environ.get("DATABASE_URL"):
        return
    var, name = Path(os.environ["BEADBOX_VAR"]), "with_tables"
    with (var / "tables.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (var / name).exists():
            url = urlsplit(servers.private_database_url(var))
            with psycopg.connect(url.geturl(), autocommit=True) as database:
                database.execute(f"CREATE DATABASE {name}")
            template_url = url._replace(path=f"/{name}").geturl()
            command = [sys.executable, servers.BASE_DIR / "manage.py", "migrate", "--verbosity", "0"]
            subprocess.run(command, env={**os.environ, "DATABASE_URL": template_url}, check=True)
            with psycopg.connect(template_url, autocommit=True) as database:
                database.execute("ANALYZE")  # the site estimates its size from PostgreSQL's statistics
            (var / name).touch()
    connection.settings_dict["TEST"]["TEMPLATE"] = name


def environment() -> dict[str, str]:
    """Return environment variables for a process that uses the database of this test."""
    from django.conf import settings
    from django.db import connection

    database = urlsplit(settings.DATABASE_URL)._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    return {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": database}


@pytest.fixture
def outage(django_db_setup: None, django_db_blocker: Any) -> "Iterator[Outage]":
    """Yield servers that only this test uses, so that it can kill them."""
    from tests.outage import private_servers

    with django_db_blocker.unblock(), private_servers() as own_servers:
        yield own_servers


@pytest.fixture
def start_worker(transactional_db: None) -> Iterator[StartWorker]:
    """Yield a function that starts a Celery worker on the database of this test.

    The fixture is for tests of locks, leases and progress across processes. A test can kill a worker with
    ``os.killpg(worker.pid, 9)``, because each has its own process group. If a file ``log`` is given, it receives what
    production logs.
    """
    from menace_site.celery import app

    env = environment()
    arguments = "celery --quiet --app menace_site.celery worker --concurrency 2 --loglevel warning"
    workers: dict[subprocess.Popen[bytes], signal.Signals] = {}

    def start_one(log: IO[bytes] | None = None, **more: str) -> subprocess.Popen[bytes]:
        variables = {**env, **more} if log is None else {**env, **more, "LOG_LEVEL": "INFO", "LOG_FORMAT": "json"}
        worker = processes.spawn([sys.executable, "-W", "ignore", "-m", *arguments.split()], env=variables, output=log)
        workers[worker] = signal.SIGKILL
        assert wait_until(lambda: bool(app.control.ping(timeout=0.5)))
        return worker

    yield start_one
    for worker in workers:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
    processes.stop(workers)
    app.control.purge()
