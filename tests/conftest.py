"""A private PostgreSQL and Valkey for the run, started once, whatever number of workers share it."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from menace_site import processes, servers

# channels.testing brings a live server that imports daphne; ours is uvicorn, so empty stand-ins will do.
for name in ("daphne", "daphne.testing"):
    sys.modules.setdefault(name, types.ModuleType(name))
sys.modules["daphne.testing"].__dict__.setdefault("DaphneProcess", None)

_running = contextlib.ExitStack()

StartWorker = Callable[[], subprocess.Popen[bytes]]


def pytest_configure(config: pytest.Config) -> None:
    """Start what no URL names, in the controlling process only: xdist's workers find it at the same place."""
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    var = Path(os.environ["BEADBOX_VAR"])
    _running.callback(shutil.rmtree, var, ignore_errors=True)
    _running.enter_context(
        servers.throwaway_servers(
            var, database=not os.environ.get("DATABASE_URL"), redis=not os.environ.get("REDIS_URL")
        )
    )


def pytest_unconfigure(config: pytest.Config) -> None:
    _running.close()


def environment() -> dict[str, str]:
    """What a process of its own needs to work on this test's database."""
    from django.conf import settings
    from django.db import connection

    database = urlsplit(settings.DATABASE_URL)._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    return {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": database}


@pytest.fixture
def start_worker(transactional_db: None) -> Iterator[StartWorker]:
    """Start a real Celery worker on this test's database; it can be killed, and another started.

    For what crosses processes: locks, leases, progress. Its process group is its own: ``os.killpg(worker.pid, 9)``.
    """
    from menace_site.celery import app

    env = environment()
    words = "celery --quiet --app menace_site.celery worker --concurrency 2 --loglevel warning"
    started: dict[subprocess.Popen[bytes], signal.Signals] = {}

    def start() -> subprocess.Popen[bytes]:
        worker = processes.spawn([sys.executable, "-W", "ignore", "-m", *words.split()], env=env)
        started[worker] = signal.SIGKILL
        assert processes.wait_until(lambda: bool(app.control.ping(timeout=0.5)), timeout_s=60)
        return worker

    yield start
    for worker in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
    processes.stop(started)
    app.control.purge()
