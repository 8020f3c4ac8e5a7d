"""A test of archiving with pgBackRest: a site in use is restored to a moment between two back-ups.

``make archiving`` runs this program, as root on Debian. PostgreSQL and pgBackRest come from Debian's packages, and run
as the user ``postgres``. Commands and settings are the same as in ``docs/backup.md``.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from menace_site.local import processes, servers
from tests.waiting import wait_until

STANZA = "beadbox"
USER = "postgres"
POSTGRES_BIN = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), default=Path())
PGBACKREST_CONF = """\
[global]
repo1-path={folder}/repository
repo1-retention-full=2
log-path={folder}/log
lock-path={folder}/lock
spool-path={folder}/spool
log-level-console=warn
start-fast=y

[beadbox]
pg1-path={folder}/data
pg1-socket-path={folder}
pg1-user=postgres
"""
POSTGRESQL_CONF = """\
listen_addresses = ''
unix_socket_directories = '{folder}'
archive_mode = on
archive_command = 'pgbackrest --config={folder}/pgbackrest.conf --stanza=beadbox archive-push %p'
"""


class ArchivedServer:
    """Debian's PostgreSQL with its archive, and the site's commands on its data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None

    def run_as_postgres(self, *command: str | Path) -> None:
        subprocess.run(["runuser", "-u", USER, "--", *command], check=True, cwd="/")

    def archive(self, *command: str) -> None:
        """Run a command of pgBackRest, as ``docs/backup.md`` describes it."""
        self.run_as_postgres("pgbackrest", f"--config={self.folder}/pgbackrest.conf", f"--stanza={STANZA}", *command)

    def start(self) -> None:
        command = ["runuser", "-u", USER, "--", POSTGRES_BIN / "postgres", "-D", self.folder / "data"]
        with (self.folder / "postgres.log").open("ab") as log:
            self.process = processes.spawn(command, output=log, death_signal=signal.SIGINT)
        ready = [POSTGRES_BIN / "pg_isready", "--quiet", "--host", self.folder]
        accepts_connections = wait_until(lambda: subprocess.run(ready, check=False).returncode == 0)
        # After a point-in-time recovery the server is read-only for a while.
        accepts_writes = accepts_connections and wait_until(lambda: self.query("SELECT pg_is_in_recovery()") == "f")
        assert accepts_writes, (self.folder / "postgres.log").read_text()

    def stop(self) -> None:
        if self.process is not None:
            self.run_as_postgres(
                POSTGRES_BIN / "pg_ctl", "stop", "--pgdata", self.folder / "data", "--mode=fast", "--silent"
            )
            processes.stop({self.process: signal.SIGTERM})
            self.process = None

    def query(self, statement: str) -> str:
        command = ["runuser", "-u", USER, "--", "psql", "--host", self.folder, "--tuples-only", "--no-align"]
        return subprocess.run(
            [*command, "--command", statement], capture_output=True, text=True, check=False
        ).stdout.strip()

    def run_step(self, step: str, database: str = "app") -> tuple[int, int, str]:
        """Run a step of the site and audit it; return the numbers of matches and lessons, and the server's time."""
        matches, lessons, now = json.loads(self.run_python("-m", "tests.archived_site", step, database=database))
        return matches, lessons, now

    def run_python(self, *command: str | Path, database: str = "app") -> bytes:
        """Run a Python program of the site with this database, and return its output."""
        url = f"postgres://postgres@/{database}?host={self.folder}"
        env = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "tests.settings"}
        return subprocess.run([sys.executable, *command], env=env, stdout=subprocess.PIPE, check=True).stdout

    def restore_dump(self) -> tuple[int, int, str]:
        """Restore a dump into another database of this server, and return its figures as :meth:`run_step` does.

        The dump must be readable although the site's client programs may be newer than this server.
        """
        self.run_as_postgres("createdb", "--host", self.folder, "other")
        self.run_python("manage.py", "backup", self.folder / "copies")
        (file,) = (self.folder / "copies").glob("*.dump")
        self.run_python("manage.py", "restore", file, database="other")
        return self.run_step("count", database="other")


@contextlib.contextmanager
def archived_server() -> Iterator[ArchivedServer]:
    """Run an empty PostgreSQL that archives."""
    folder = Path(tempfile.mkdtemp(prefix="beadbox-archiving-"))
    server = ArchivedServer(folder)
    try:
        shutil.chown(folder, USER)
        (folder / "log").mkdir()
        shutil.chown(folder / "log", USER)
        options = ("--auth=trust", "--encoding=UTF8", "--no-sync")
        server.run_as_postgres(
            POSTGRES_BIN / "pg_ctl", "initdb", "--silent", "--pgdata", folder / "data", "--options", " ".join(options)
        )
        (folder / "pgbackrest.conf").write_text(PGBACKREST_CONF.format(folder=folder))
        with (folder / "data" / "postgresql.conf").open("a") as conf:
            conf.write(POSTGRESQL_CONF.format(folder=folder))
        server.start()
        server.run_as_postgres("createdb", "--host", folder, "app")
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """Archive, back up, play, lose everything, restore; return 0 if the restored figures are from the target time."""
    if os.geteuid() != 0 or not shutil.which("pgbackrest") or not POSTGRES_BIN.parts:
        sys.stdout.write(
            "Debian's packages postgresql and pgbackrest are needed, and only root may run them as their users.\n"
        )
        return 1
    var = Path(os.environ["BEADBOX_VAR"])
    with servers.private_servers(var, database=False, redis=True), archived_server() as server:
        server.archive("stanza-create")
        server.archive("check")
        before = server.run_step("begin")
        server.archive("--type=full", "backup")
        between = server.run_step("play")
        after = server.run_step("play")
        assert before[:2] < between[:2] < after[:2], (before, between, after)
        server.query("SELECT pg_switch_wal()")
        server.archive("check")
        server.stop()
        server.archive("--delta", "--type=time", f"--target={between[2]}", "--target-action=promote", "restore")
        server.start()
        restored = server.run_step("count")
        from_dump = server.restore_dump()
    sys.stdout.write(
        f"{before[:2]} in the back-up, {between[:2]} then, {after[:2]} when all was lost; {restored[:2]} came back, "
        f"{from_dump[:2]} by a file\n"
    )
    return 0 if restored[:2] == from_dump[:2] == between[:2] else 1


if __name__ == "__main__":
    import tests.settings  # noqa: F401 - chooses where throwaway servers keep their files

    sys.exit(main())
