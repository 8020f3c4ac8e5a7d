"""Archiving with pgBackRest, tested: a site in use is restored to a moment between two back-ups.

``make archiving``, as root on Debian. PostgreSQL is Debian's; it and ``pgbackrest`` run as its user. Commands and
settings are those of ``docs/backup.md``.
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
BIN = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), default=Path())
CONF = """\
[global]
repo1-path={place}/repository
repo1-retention-full=2
log-path={place}/log
lock-path={place}/lock
spool-path={place}/spool
log-level-console=warn
start-fast=y

[beadbox]
pg1-path={place}/data
pg1-socket-path={place}
pg1-user=postgres
"""
POSTGRESQL = """\
listen_addresses = ''
unix_socket_directories = '{place}'
archive_mode = on
archive_command = 'pgbackrest --config={place}/pgbackrest.conf --stanza=beadbox archive-push %p'
"""


class ArchivedServer:
    """Debian's PostgreSQL with its archive, and the site's commands on its data."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.running: subprocess.Popen[bytes] | None = None

    def run_as_postgres(self, *command: str | Path) -> None:
        subprocess.run(["runuser", "-u", USER, "--", *command], check=True, cwd="/")

    def archive(self, *command: str) -> None:
        """Run a command of pgBackRest, as in the document."""
        self.run_as_postgres("pgbackrest", f"--config={self.place}/pgbackrest.conf", f"--stanza={STANZA}", *command)

    def start(self) -> None:
        command = ["runuser", "-u", USER, "--", BIN / "postgres", "-D", self.place / "data"]
        with (self.place / "postgres.log").open("ab") as log:
            self.running = processes.spawn(command, output=log, death_signal=signal.SIGINT)
        ready = [BIN / "pg_isready", "--quiet", "--host", self.place]
        accepts = wait_until(lambda: subprocess.run(ready, check=False).returncode == 0)
        # After a point-in-time recovery the server is read-only for a while.
        writes = accepts and wait_until(lambda: self.query("SELECT pg_is_in_recovery()") == "f")
        assert writes, (self.place / "postgres.log").read_text()

    def stop(self) -> None:
        if self.running is not None:
            self.run_as_postgres(BIN / "pg_ctl", "stop", "--pgdata", self.place / "data", "--mode=fast", "--silent")
            processes.stop({self.running: signal.SIGTERM})
            self.running = None

    def query(self, statement: str) -> str:
        command = ["runuser", "-u", USER, "--", "psql", "--host", self.place, "--tuples-only", "--no-align"]
        return subprocess.run(
            [*command, "--command", statement], capture_output=True, text=True, check=False
        ).stdout.strip()

    def run_step(self, does: str, database: str = "app") -> tuple[int, int, str]:
        """Run a step of the site and audit it; return the numbers of matches and lessons, and the server's time."""
        matches, lessons, now = json.loads(self.run_python("-m", "tests.archived_site", does, database=database))
        return matches, lessons, now

    def run_python(self, *command: str | Path, database: str = "app") -> bytes:
        """Run the site's Python with that database and return its output."""
        place = f"postgres://postgres@/{database}?host={self.place}"
        env = {**os.environ, "DATABASE_URL": place, "DJANGO_SETTINGS_MODULE": "tests.settings"}
        return subprocess.run([sys.executable, *command], env=env, stdout=subprocess.PIPE, check=True).stdout

    def restore_dump(self) -> tuple[int, int, str]:
        """Restore a dump into another database of this server, and return its figures as :meth:`run_step` does.

        The dump must be readable although the site's client programs may be newer than this server.
        """
        self.run_as_postgres("createdb", "--host", self.place, "other")
        self.run_python("manage.py", "backup", self.place / "copies")
        (file,) = (self.place / "copies").glob("*.dump")
        self.run_python("manage.py", "restore", file, database="other")
        return self.run_step("count", database="other")


@contextlib.contextmanager
def archived_server() -> Iterator[ArchivedServer]:
    """Run an empty PostgreSQL that archives."""
    place = Path(tempfile.mkdtemp(prefix="beadbox-archiving-"))
    one = ArchivedServer(place)
    try:
        shutil.chown(place, USER)
        (place / "log").mkdir()
        shutil.chown(place / "log", USER)
        new = ("--auth=trust", "--encoding=UTF8", "--no-sync")
        one.run_as_postgres(
            BIN / "pg_ctl", "initdb", "--silent", "--pgdata", place / "data", "--options", " ".join(new)
        )
        (place / "pgbackrest.conf").write_text(CONF.format(place=place))
        with (place / "data" / "postgresql.conf").open("a") as conf:
            conf.write(POSTGRESQL.format(place=place))
        one.start()
        one.run_as_postgres("createdb", "--host", place, "app")
        yield one
    finally:
        one.stop()
        shutil.rmtree(place, ignore_errors=True)


def main() -> int:
    """Archive, back up, play, lose everything, restore; return 0 if the figures are those of the target time."""
    if os.geteuid() != 0 or not shutil.which("pgbackrest") or not BIN.parts:
        sys.stdout.write(
            "Debian's packages postgresql and pgbackrest are needed, and only root may run them as their users.\n"
        )
        return 1
    var = Path(os.environ["BEADBOX_VAR"])
    with servers.private_servers(var, database=False, redis=True), archived_server() as one:
        one.archive("stanza-create")
        one.archive("check")
        before = one.run_step("begin")
        one.archive("--type=full", "backup")
        between = one.run_step("play")
        after = one.run_step("play")
        assert before[:2] < between[:2] < after[:2], (before, between, after)
        one.query("SELECT pg_switch_wal()")
        one.archive("check")
        one.stop()
        one.archive("--delta", "--type=time", f"--target={between[2]}", "--target-action=promote", "restore")
        one.start()
        found = one.run_step("count")
        copied = one.restore_dump()
    sys.stdout.write(
        f"{before[:2]} in the back-up, {between[:2]} then, {after[:2]} when all was lost; {found[:2]} came back, "
        f"{copied[:2]} by a file\n"
    )
    return 0 if found[:2] == copied[:2] == between[:2] else 1


if __name__ == "__main__":
    import tests.settings  # noqa: F401 - chooses where throwaway servers keep their files

    sys.exit(main())
