"""The connection pool of web processes: it never lends a connection that its server has ended."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.db.utils import load_backend
from psycopg_pool import ConnectionPool

from games.transport.database_errors import is_database_outage
from menace_site.server.pooled import RECONNECT_OPTIONS
from menace_site.server.pooled.base import DatabaseWrapper
from tests.waiting import HANG_S, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def pool_of(pool: dict[str, Any], **options: Any) -> Iterator[DatabaseWrapper]:
    """Yield a database wrapper with a pool, as in a web process."""
    settings = connection.settings_dict
    options = {**settings["OPTIONS"], **options, "pool": pool}
    wrapper = load_backend("menace_site.server.pooled").DatabaseWrapper(
        {**settings, "OPTIONS": options}, alias="pooled"
    )
    try:
        yield wrapper
    finally:
        wrapper.close()
        wrapper.close_pool()


@pytest.fixture
def pooled() -> Iterator[DatabaseWrapper]:
    with pool_of({"min_size": 2, "max_size": 2}) as wrapper:
        yield wrapper


def backend_of(wrapper: DatabaseWrapper) -> int:
    """Return the process id of the server behind the connection that the pool lends next."""
    with wrapper.cursor() as cursor:
        pid = int(cursor.execute("SELECT pg_backend_pid()").fetchone()[0])
    wrapper.close()
    return pid


def test_connections_are_reused(pooled: DatabaseWrapper) -> None:
    assert len({backend_of(pooled) for _ in range(10)}) <= 2


def test_connection_ended_by_the_server_is_not_reused(pooled: DatabaseWrapper) -> None:
    before = {backend_of(pooled) for _ in range(10)}
    with connection.cursor() as cursor:
        for pid in before:
            cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
    after = {backend_of(pooled) for _ in range(10)}
    assert after
    assert not after & before


def test_pool_reconnects_within_a_quarter_of_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The length of the outage does not matter. By default the pool waits 1 s, then 2 s, then 4 s between attempts."""
    pauses: list[float] = []
    schedule = ConnectionPool.schedule_task

    def scheduled(pool: Any, task: Any, delay: float) -> None:
        if type(task).__name__ == "AddConnection":
            pauses.append(delay)
        schedule(pool, task, delay)

    monkeypatch.setattr(ConnectionPool, "schedule_task", scheduled)
    with pool_of({"min_size": 1, "max_size": 1, **RECONNECT_OPTIONS}, host=str(tmp_path)) as away:
        away.pool.open()
        assert wait_until(lambda: len(pauses) >= 5)
    assert max(pauses) <= 0.25


def test_wait_for_an_absent_server_ends_in_an_error(tmp_path: Path) -> None:
    pool = {"min_size": 1, "max_size": 1, **RECONNECT_OPTIONS, "timeout": 0.1}
    with pool_of(pool, host=str(tmp_path)) as away, pytest.raises(OperationalError) as error:
        backend_of(away)
    assert is_database_outage(error.value), "the time-out gives a page with the reason"
    assert settings.DATABASES["default"]["OPTIONS"].get("pool", RECONNECT_OPTIONS)["timeout"] <= 5


def test_waiting_client_finds_a_server_after_a_long_outage(tmp_path: Path) -> None:
    with connection.cursor() as cursor:
        own = Path(cursor.connection.info.host)
    pool = {"min_size": 1, "max_size": 1, **RECONNECT_OPTIONS, "reconnect_timeout": 0.1, "timeout": HANG_S}
    with pool_of(pool, host=str(tmp_path)) as away:

        def comes_back() -> None:
            if wait_until(lambda: away.pool.get_stats().get("connections_errors", 0) > 5):
                for socket in own.glob(".s.PGSQL.*[0-9]"):
                    (tmp_path / socket.name).symlink_to(socket)

        thread = threading.Thread(target=comes_back)
        thread.start()
        assert backend_of(away)
        thread.join()
