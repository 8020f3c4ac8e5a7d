"""The private servers: their programs, their folders, and their return after faults."""

import os
import re
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from menace_site.local import processes, servers
from menace_site.local.errors import ServerError
from menace_site.local.given_servers import check_given_database, check_given_redis
from tests.conftest import CannotTry
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _forget_how_to_run() -> Iterator[None]:
    servers.find_unprivileged_way.cache_clear()
    yield
    servers.find_unprivileged_way.cache_clear()


def start_and_query_servers(var: Path) -> None:
    """Start both servers, query both, and stop them."""
    with servers.private_servers(var, database=True, redis=True):
        with psycopg.connect(servers.private_database_url(var)) as database:
            assert database.execute("SELECT 1").fetchone() == (1,)
        with redis.Redis.from_url(servers.private_redis_url(var)) as valkey:
            assert valkey.ping()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a ``var`` with the data of a PostgreSQL that is not running."""
    var = tmp_path_factory.mktemp("servers")
    servers.prepare_postgres(var)
    return var


def test_data_and_sockets_are_private(prepared: Path) -> None:
    for directory in (prepared / "postgres", servers.socket_dir(prepared)):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700


@pytest.mark.parametrize("pid", ["dead", "zombie", "another program"])
def test_a_stale_pid_file_does_not_stop_the_server(pid: str, prepared: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    assert wait_until(lambda: processes.is_dead(child))  # a zombie until it is waited for
    if pid == "dead":
        child.wait()
    number = os.getpid() if pid == "another program" else child.pid
    (prepared / "postgres" / "postmaster.pid").write_text(f"{number}\n{prepared / 'postgres'}\n")
    start_and_query_servers(prepared)
    child.wait()


def test_an_idle_transaction_loses_its_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "IDLE_IN_TRANSACTION_TIMEOUT", "100ms")
    with servers.private_servers(tmp_path, database=True, redis=False, is_durable=True):
        url = servers.private_database_url(tmp_path)
        with psycopg.connect(url) as hangs, psycopg.connect(url) as waits:
            hangs.execute("SELECT pg_advisory_xact_lock(1)")
            waits.execute("SELECT pg_advisory_xact_lock(1)")  # blocks until the lock is released
            with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
                hangs.execute("SELECT 1")


def test_recovery_after_a_crash_syncs_by_one_kernel_call(tmp_path: Path) -> None:
    """A sync of each file would take seconds, in which the site is down."""
    url = servers.private_database_url(tmp_path)
    with servers.private_servers(tmp_path, database=True, redis=False), psycopg.connect(url) as database:
        (how,) = database.execute("SHOW recovery_init_sync_method").fetchone() or ("",)
    assert how == ("syncfs" if sys.platform == "linux" else "fsync")
    compose = (servers.BASE_DIR / "docker-compose.yml").read_text()
    assert "-crecovery_init_sync_method=syncfs" in compose


def test_start_waits_for_a_server_that_is_still_stopping(prepared: Path) -> None:
    data = prepared / "postgres"
    old = subprocess.Popen([sys.executable, "-c", "input()"], cwd=data, stdin=subprocess.PIPE)
    (data / "postmaster.pid").write_text(f"{old.pid}\n{data}\n")
    assert servers._is_running_on(old.pid, data)
    assert old.stdin is not None
    old.stdin.close()  # the old process ends in its own time from here on
    servers.prepare_postgres(prepared)
    assert not (data / "postmaster.pid").exists()
    old.wait()


def test_data_of_another_version_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("9\n")
    with pytest.raises(ServerError, match=r"written by PostgreSQL 9, and this is PostgreSQL \d+.*pg_dump"):
        servers.prepare_postgres(tmp_path)


def test_an_interrupted_initdb_begins_again(tmp_path: Path) -> None:
    (tmp_path / "postgres" / "base").mkdir(parents=True)
    (tmp_path / "postgres" / "postgresql.conf").write_text("half")
    start_and_query_servers(tmp_path)


@pytest.mark.parametrize("name", ["long" * 30, "a path with spaces, ümlauts & 100%"])
def test_too_long_path_gets_a_short_socket_folder(name: str, tmp_path: Path) -> None:
    var = tmp_path / name
    socket = servers.socket_dir(var) / servers.POSTGRES_SOCKET
    assert var not in socket.parents
    assert len(os.fsencode(socket)) <= servers.MAX_SOCKET_PATH_BYTES
    assert servers.socket_dir(var) != servers.socket_dir(tmp_path / f"{name}r")
    start_and_query_servers(var)
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    for left in socket.parent.iterdir():
        left.unlink()
    socket.parent.rmdir()


def reason_against(way: servers.UnprivilegedWay) -> str:
    """Return the reason why this machine cannot run PostgreSQL in this way; an empty string if it can.

    The function finds the reason without the code under test.
    """
    folders = [folder.stat() for folder in servers.postgres_bin().parents]
    closed = [folder for folder in folders if not folder.st_mode & stat.S_IXOTH]
    if way is servers.NAMESPACE:
        if subprocess.run(["unshare", "--user", "true"], capture_output=True, check=False).returncode:
            return "user namespaces are refused"
        is_strange = any(folder.st_uid != os.geteuid() for folder in closed)  # there root is an ordinary user
        return "PostgreSQL itself lies below a closed folder of somebody else" if is_strange else ""
    if os.geteuid() != 0:
        return "only root may become somebody else"
    if way is servers.SETPRIV_WITH_PATHS:
        capabilities = re.search(r"CapEff:\t(\w+)", Path("/proc/self/status").read_text())
        assert capabilities is not None
        needed = 1 << 1 | 1 << 8  # CAP_DAC_OVERRIDE and CAP_SETPCAP, capabilities(7)
        return "" if int(capabilities[1], 16) & needed == needed else "root lacks capabilities"
    return "PostgreSQL itself lies below a closed folder" if closed else ""


@pytest.fixture
def without_user_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a user without a name. PostgreSQL refuses such a user, as it refuses root."""

    def name_of(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(servers.pwd, "getpwuid", name_of)


@pytest.mark.parametrize("way", servers.UNPRIVILEGED_WAYS, ids=["namespace", "setpriv with paths", "setpriv"])
def test_postgresql_runs_in_each_way_this_machine_allows(
    way: servers.UnprivilegedWay, without_user_data: None, cannot_try: CannotTry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "UNPRIVILEGED_WAYS", (way,))
    if reason := reason_against(way):
        with pytest.raises(ServerError, match="run this as an ordinary user, or set DATABASE_URL"):
            servers.find_unprivileged_way()
        cannot_try(f"PostgreSQL by {' '.join(way.prefix)} ({reason})")
        return
    # Not under tmp_path: pytest closes it to other users, and the last way passes no closed directory.
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        if way is servers.SETPRIV:
            place.chmod(0o755)
        else:  # everything is below a closed home, even PostgreSQL
            (place / "bin").symlink_to(servers.postgres_bin())
            monkeypatch.setattr(servers, "postgres_bin", lambda: place / "bin")
        start_and_query_servers(place / "var")
        start_and_query_servers(place / "var")  # again, on the data left by the first
        assert (place / "var" / "postgres" / "PG_VERSION").stat().st_uid == (way.owner or os.geteuid())


def test_way_that_cannot_reach_postgresql_is_rejected(
    without_user_data: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "bin").symlink_to(servers.postgres_bin())
    monkeypatch.setattr(servers, "postgres_bin", lambda: tmp_path / "bin")
    monkeypatch.setattr(servers, "UNPRIVILEGED_WAYS", (servers.SETPRIV,))
    with pytest.raises(ServerError, match="run this as an ordinary user, or set DATABASE_URL"):
        servers.find_unprivileged_way()


@pytest.mark.parametrize("n_refused", range(len(servers.UNPRIVILEGED_WAYS) + 1))
def test_next_way_is_tried_after_a_refused_one(
    n_refused: int, without_user_data: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stand-in programs refuse the first ways and allow the others, so the test works on every machine."""
    option = ("--map-group=65534", "--ambient-caps=+dac_override", "--reuid=65534")  # an option that no later way has
    refusals = [f'case "$*" in *{word}*) exit 1;; esac\n' for word in option[:n_refused]]
    for program in ("unshare", "setpriv"):
        (tmp_path / program).write_text("".join(["#!/bin/sh\n", *refusals]))
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    if n_refused < len(servers.UNPRIVILEGED_WAYS):
        assert servers.find_unprivileged_way() == servers.UNPRIVILEGED_WAYS[n_refused]
    else:
        with pytest.raises(ServerError, match="run this as an ordinary user, or set DATABASE_URL"):
            servers.find_unprivileged_way()


@pytest.mark.parametrize("uid", [0, 4_000_000])
def test_postgresql_refuses_root_and_a_user_without_a_name(uid: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    monkeypatch.setattr(servers, "UNPRIVILEGED_WAYS", (always := servers.UnprivilegedWay(("env",)),))
    assert servers.find_unprivileged_way() == always


def test_other_users_run_the_servers_as_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1)
    assert servers.find_unprivileged_way() == servers.UnprivilegedWay()


def test_data_changes_owner_when_the_way_changes(
    without_user_data: None, cannot_try: CannotTry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data has our user after a user namespace, or an unprivileged user: each allowed way accepts both."""
    if os.geteuid() != 0:
        with pytest.raises(ServerError, match="belongs to somebody else"):
            servers._make_private_dir(Path("/"))
        cannot_try("data that changes hands (only root may give it away)")
        return
    for way in [way for way in servers.UNPRIVILEGED_WAYS[:2] if not reason_against(way)]:
        monkeypatch.setattr(servers, "UNPRIVILEGED_WAYS", (way,))
        servers.find_unprivileged_way.cache_clear()
        for left_by in (0, servers.UNPRIVILEGED_ID):
            servers._make_private_dir(tmp_path / "postgres", left_by)
            start_and_query_servers(tmp_path)
            assert {path.stat().st_uid for path in (tmp_path / "postgres").rglob("*")} == {way.owner or 0}


def test_missing_binaries_are_reported_with_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "find_spec", lambda name: None)
    monkeypatch.setattr(servers.shutil, "which", lambda name: None)
    monkeypatch.setattr(servers, "_newest_version", lambda paths: None)
    for find in (servers.postgres_bin, servers.valkey_server):
        with pytest.raises(ServerError, match=r"DATABASE_URL.*REDIS_URL|REDIS_URL.*DATABASE_URL"):
            find()


def test_newest_installed_server_is_used_without_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [Path(f"/usr/lib/postgresql/{version}/bin/postgres") for version in (9, 15, 11)]
    assert servers._newest_version(iter(paths)) == paths[1]
    monkeypatch.setattr(servers, "find_spec", lambda name: None)
    monkeypatch.setattr(servers.shutil, "which", lambda name: "/usr/bin/redis-server" if "redis" in name else None)
    assert servers.valkey_server() == Path("/usr/bin/redis-server")


@pytest.mark.parametrize("url", ["mysql://app:secret@db.example/app", "sqlite:///db.sqlite3", "app:secret@db.example"])
def test_url_of_another_database_is_refused_in_a_sentence(url: str) -> None:
    with pytest.raises(ServerError, match=r"^DATABASE_URL .*postgres://") as refusal:
        check_given_database(url)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("url", ["memcached://:secret@cache.example", "localhost:6379"])
def test_url_of_another_broker_is_refused_in_a_sentence(url: str) -> None:
    with pytest.raises(ServerError, match=r"^REDIS_URL .*redis://") as refusal:
        check_given_redis(url)
    assert "secret" not in str(refusal.value)
