"""The private servers: where they are found, where they live, and what they survive."""

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from menace_site import processes, servers


@pytest.fixture(autouse=True)
def _forget_how_to_run() -> Iterator[None]:
    servers.unprivileged.cache_clear()
    yield
    servers.unprivileged.cache_clear()


def serve_and_ask(var: Path) -> None:
    """Start both, ask both, and stop them."""
    with servers.throwaway_servers(var, database=True, redis=True):
        with psycopg.connect(servers.private_database_url(var)) as database:
            assert database.execute("SELECT 1").fetchone() == (1,)
        with redis.Redis.from_url(servers.private_redis_url(var)) as valkey:
            assert valkey.ping()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ``var`` whose PostgreSQL has its data and is not running."""
    var = tmp_path_factory.mktemp("servers")
    servers.prepare_postgres(var)
    return var


def test_data_and_sockets_are_private(prepared: Path) -> None:
    for directory in (prepared / "postgres", servers.socket_dir(prepared)):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700


@pytest.mark.parametrize("pid", ["dead", "zombie", "another program"])
def test_a_stale_pid_file_does_not_stop_the_server(pid: str, prepared: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    assert processes.wait_until(lambda: processes.is_dead(child), timeout_s=20)  # a zombie until it is waited for
    if pid == "dead":
        child.wait()
    number = os.getpid() if pid == "another program" else child.pid
    (prepared / "postgres" / "postmaster.pid").write_text(f"{number}\n{prepared / 'postgres'}\n")
    serve_and_ask(prepared)
    child.wait()


def test_a_server_that_is_still_stopping_is_waited_for(prepared: Path) -> None:
    data = prepared / "postgres"
    old = subprocess.Popen([sys.executable, "-c", "input()"], cwd=data, stdin=subprocess.PIPE)
    (data / "postmaster.pid").write_text(f"{old.pid}\n{data}\n")
    assert servers._is_running_on(old.pid, data)
    assert old.stdin is not None
    old.stdin.close()  # it ends now, in its own time
    servers.prepare_postgres(prepared)
    assert not (data / "postmaster.pid").exists()
    old.wait()


def test_data_of_another_version_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("9\n")
    with pytest.raises(servers.ServerError, match=r"written by PostgreSQL 9, and this is PostgreSQL \d+.*pg_dump"):
        servers.prepare_postgres(tmp_path)


def test_an_interrupted_initdb_begins_again(tmp_path: Path) -> None:
    (tmp_path / "postgres" / "base").mkdir(parents=True)
    (tmp_path / "postgres" / "postgresql.conf").write_text("half")
    serve_and_ask(tmp_path)


@pytest.mark.parametrize("name", ["long" * 30, "a path with spaces, ümlauts & 100%"])
def test_a_path_that_no_socket_could_have_gets_a_short_one(name: str, tmp_path: Path) -> None:
    var = tmp_path / name
    socket = servers.socket_dir(var) / servers.POSTGRES_SOCKET
    assert var not in socket.parents
    assert len(os.fsencode(socket)) <= servers.SOCKET_PATH_BYTES
    assert servers.socket_dir(var) != servers.socket_dir(tmp_path / f"{name}r")
    serve_and_ask(var)
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    for left in socket.parent.iterdir():
        left.unlink()
    socket.parent.rmdir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to become somebody else")
@pytest.mark.parametrize("way", servers.WAYS, ids=["namespace", "setpriv with paths", "setpriv"])
def test_root_runs_postgresql_in_each_way(way: servers.Unprivileged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "WAYS", (way,))
    # Not under tmp_path: pytest closes that to others, and the last way gets through no closed directory.
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        place.chmod(0o755 if way is servers.SETPRIV else 0o700)
        serve_and_ask(place / "var")
        serve_and_ask(place / "var")  # and again, on what it left
        assert (place / "var" / "postgres" / "PG_VERSION").stat().st_uid == (way.owner or 0)


@pytest.mark.parametrize(("uid", "way"), [(1, servers.Unprivileged()), (4_000_000, servers.NAMESPACE)])
def test_postgresql_refuses_a_user_without_a_name_too(
    uid: int, way: servers.Unprivileged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    assert servers.unprivileged() == way


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to become somebody else")
def test_data_changes_hands_when_the_way_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for way in (servers.NAMESPACE, servers.SETPRIV_WITH_PATHS, servers.NAMESPACE):
        monkeypatch.setattr(servers, "WAYS", (way,))
        servers.unprivileged.cache_clear()
        serve_and_ask(tmp_path)


def test_without_any_binary_the_errors_name_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "find_spec", lambda name: None)
    monkeypatch.setattr(servers.shutil, "which", lambda name: None)
    monkeypatch.setattr(servers, "_newest", lambda paths: None)
    for find in (servers.postgres_bin, servers.valkey_server):
        with pytest.raises(servers.ServerError, match=r"DATABASE_URL.*REDIS_URL|REDIS_URL.*DATABASE_URL"):
            find()


def test_without_wheels_the_newest_of_the_machine_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [Path(f"/usr/lib/postgresql/{version}/bin/postgres") for version in (9, 15, 11)]
    assert servers._newest(iter(paths)) == paths[1]
    monkeypatch.setattr(servers, "find_spec", lambda name: None)
    monkeypatch.setattr(servers.shutil, "which", lambda name: "/usr/bin/redis-server" if "redis" in name else None)
    assert servers.valkey_server() == Path("/usr/bin/redis-server")
