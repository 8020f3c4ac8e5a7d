"""A PostgreSQL, a Valkey and a worker for a single test, which can kill them and start them again.

These servers store data as durably as on the site. Other tests use the shared servers.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import environ
import pytest
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone
from kombu.exceptions import OperationalError

from learning.models import JobStatus, Pairing, TrainingRun
from menace_site.celery import app
from menace_site.local import processes, servers
from menace_site.local.given_servers import redis_answers
from tests.factories import expire_leases
from tests.waiting import wait_until
from tests.wheel import build_once

RECOVERY_INTERVAL_S = 5
"""Seconds between two recovery passes of the worker. On the site, Celery's beat starts these passes."""
WORKER_ARGUMENTS = "celery --quiet --app menace_site.celery worker --concurrency 2 --loglevel critical"


class Outage:
    """A PostgreSQL, a Valkey and a worker that only one test uses, so that it can kill them."""

    def __init__(self, var: Path, stack: contextlib.ExitStack) -> None:
        self.var, self.stack = var, stack
        self.redis_url = servers.private_redis_url(var)
        self.start_database()
        self.start_broker()

    def _spawn(self, command: list[Any], **options: Any) -> subprocess.Popen[bytes]:
        process = processes.spawn(command, **options)
        self.stack.callback(processes.stop, {process: signal.SIGKILL})
        return process

    def start_database(self) -> None:
        servers.prepare_postgres(self.var)
        with (self.var / "postgres.log").open("ab") as log:
            command = servers.postgres_command(self.var)
            self.postgres = self._spawn(command, output=log, death_signal=signal.SIGINT)
        servers.wait_for_postgres(self.var, self.postgres)

    def start_broker(self) -> None:
        servers.prepare_valkey(self.var)
        with (self.var / "valkey.log").open("ab") as log:
            self.valkey = self._spawn(servers.valkey_command(self.var), output=log)
        servers.wait_for_valkey(self.var, self.valkey)

    def start_worker(self) -> None:
        urls = {"DATABASE_URL": servers.private_database_url(self.var), "REDIS_URL": self.redis_url}
        env = {**os.environ, **urls, "DJANGO_SETTINGS_MODULE": "tests.settings", "LOG_LEVEL": "CRITICAL"}
        with (self.var / "worker.log").open("ab") as log:
            self.worker = self._spawn(
                [sys.executable, "-W", "ignore", "-m", *WORKER_ARGUMENTS.split()], env=env, output=log
            )

    def wait_until(self, condition: Callable[[], bool]) -> bool:
        """Return whether the condition becomes true. During the wait, restart a dead worker and start recovery passes.

        The site does both too. In an outage of the broker, kombu's Redis transport sometimes ends the whole worker with
        an error. A lost connection can lose the wake-up that it has received.
        """
        recover_at = time.monotonic() + RECOVERY_INTERVAL_S

        def is_fulfilled() -> bool:
            nonlocal recover_at
            if processes.is_dead(self.worker):
                processes.kill_group_and_wait(self.worker)
                self.start_worker()
                self.recover()
            if time.monotonic() > recover_at:
                recover_at = time.monotonic() + RECOVERY_INTERVAL_S
                with contextlib.suppress(OperationalError):  # the broker is down at the moment
                    self.wake_up("learning.tasks.jobs_reap")
            return condition()

        return wait_until(is_fulfilled)

    def kill_database(self) -> None:
        """Kill PostgreSQL and all its child processes, which are in separate process groups."""
        os.kill(self.postgres.pid, signal.SIGSTOP)  # a stopped server creates no more processes
        pids = postgres_processes(self)
        assert len(pids) > 4
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):  # a child may have ended together with its parent
                os.kill(pid, signal.SIGKILL)
        processes.kill_group_and_wait(self.postgres)
        with pytest.raises(DatabaseError):
            TrainingRun.objects.exists()
        connection.close()

    def kill_broker(self) -> None:
        os.kill(self.valkey.pid, signal.SIGKILL)
        processes.kill_group_and_wait(self.valkey)
        assert not redis_answers(self.redis_url)

    def wake_up(self, task: str, *arguments: str | int) -> None:
        with app.connection_for_write(
            f"redis+socket://{servers.socket_dir(self.var) / servers.VALKEY_SOCKET}"
        ) as broker:
            app.send_task(task, arguments, connection=broker)

    def recover(self) -> None:
        """Let all leases expire, and start a recovery pass of the worker."""
        expire_leases(*TrainingRun.objects.all(), *Pairing.objects.all())
        Pairing.objects.filter(status=JobStatus.QUEUED).update(knocked_at=timezone.now() - timedelta(minutes=1))
        self.wake_up("learning.tasks.jobs_reap")


def pause(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)


def resume(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


def postgres_processes(outage: Outage) -> list[int]:
    """Return the process ids of PostgreSQL and of all its child processes."""
    children = Path(f"/proc/{outage.postgres.pid}/task/{outage.postgres.pid}/children").read_text().split()
    return [outage.postgres.pid, *map(int, children)]


TERMINATE_CONNECTION = "PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(10);"
"""A statement for :func:`failing_inserts`: the database connection is terminated."""
FILL_DISK = "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';"
"""A statement for :func:`failing_inserts`: the disk is full."""


@contextlib.contextmanager
def failing_inserts(statement: str, table: str = "games_ply") -> Iterator[None]:
    """Make PostgreSQL execute the PL/pgSQL statement ``statement`` at each insert into a table."""
    with connection.cursor() as cursor:
        body = f"$$ BEGIN {statement} RETURN NEW; END $$"
        cursor.execute(f"CREATE FUNCTION fail_insert() RETURNS trigger LANGUAGE plpgsql AS {body}")
        cursor.execute(f"CREATE TRIGGER fails BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION fail_insert()")
    try:
        yield
    finally:
        connection.close()
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TRIGGER fails ON {table}")
            cursor.execute("DROP FUNCTION fail_insert()")


def make_tables(var: Path) -> None:
    """Start a PostgreSQL in an empty folder, and create all tables."""
    with servers.private_servers(var, database=True, redis=False):
        command = [sys.executable, servers.BASE_DIR / "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(command, env={**os.environ, "DATABASE_URL": servers.private_database_url(var)}, check=True)


@contextlib.contextmanager
def private_servers() -> Iterator[Outage]:
    """Start empty servers with all tables, and connect this process to them for the time of the block."""
    var = Path(tempfile.mkdtemp(prefix="beadbox-outage-"))
    subprocess.run(["cp", "-a", build_once("migrated", make_tables) / "postgres", var], check=True)
    before = dict(connection.settings_dict)
    database = environ.Env.db_url_config(servers.private_database_url(var))
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, var, ignore_errors=True)
        stack.callback(shutil.rmtree, servers.socket_dir(var), ignore_errors=True)
        connection.close()
        stack.callback(connection.settings_dict.update, before)
        connection.settings_dict.update(database)
        outage = Outage(var, stack)
        stack.callback(connection.close)
        yield outage
