"""The oldest servers that ``DATABASE_URL`` and ``REDIS_URL`` may name: those of Debian 12."""

import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import redis

from menace_site.local import servers
from tests.conftest import CannotTry
from tests.environment import shell_environment
from tests.site.test_supervisor import Run
from tests.site.visitor_by_address import visit

POSTGRES = Path("/usr/lib/postgresql/15/bin")
TRAIN = """
from tests.site.faults.__main__ import learning
from tests.waiting import wait_until
run = learning(2000)
def is_over():
    run.refresh_from_db()
    return run.finished_at is not None
assert wait_until(is_over)
print(run.status, run.games_done)
"""
pytestmark = pytest.mark.soak


def test_site_runs_on_postgresql_15_and_redis_7(
    tmp_path: Path, cannot_try: CannotTry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The site starts, plays, trains and audits on the oldest supported servers."""
    redis_server = shutil.which("redis-server")
    if redis_server is None or not (POSTGRES / "initdb").exists():
        cannot_try("the oldest servers (on Debian 12, apt install postgresql-15 redis-server)")
        return
    monkeypatch.setattr(servers, "postgres_bin", lambda: POSTGRES)
    monkeypatch.setattr(servers, "valkey_server", lambda: Path(redis_server))
    servers.find_unprivileged_way.cache_clear()
    own = tmp_path / "servers"
    urls = {"DATABASE_URL": servers.private_database_url(own), "REDIS_URL": servers.private_redis_url(own)}
    with servers.private_servers(own, database=True, redis=True):
        with psycopg.connect(urls["DATABASE_URL"]) as database:
            assert database.info.server_version // 10_000 == 15
        with redis.Redis.from_url(urls["REDIS_URL"]) as broker:
            assert broker.info()["redis_version"].startswith("7.0.")
        run = Run(tmp_path / "var", **urls)
        try:
            run.wait_until_serving()
            assert not {"postgres", "valkey"} & set(run.children())
            visit(f"http://localhost:{run.port}", "oldest")
            env = {**shell_environment(), **urls, "BEADBOX_VAR": str(run.var), "BEADBOX_LOCAL": "1"}
            for words, output in ((["shell", "--no-imports", "--command", TRAIN], "finished 2000"), (["audit"], "")):
                command = [sys.executable, "manage.py", *words]
                process = subprocess.run(
                    command, cwd=servers.BASE_DIR, env=env, capture_output=True, text=True, check=False
                )
                assert process.returncode == 0, process.stdout + process.stderr
                assert output in process.stdout
        finally:
            run.process.terminate()
            run.wait_for_end()
    servers.find_unprivileged_way.cache_clear()
