"""Client programs of PostgreSQL: which version fits the server, and how they are run."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from django.db import Error as DatabaseError
from django.db import connection
from psycopg.conninfo import make_conninfo

from games.transport.database_errors import summary
from menace_site.local import servers
from menace_site.local.errors import ServerError


class BackupError(Exception):
    """A back-up could not be made or restored; the message says why in a sentence."""


@dataclass(frozen=True)
class Place:
    """A database for PostgreSQL's programs: connection string, password, and the server's major version."""

    address: str
    password: str
    major: int


def place() -> Place:
    """Return the database of this site.

    Raises:
        BackupError: the database does not accept a connection.
    """
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        raise BackupError(f"The database does not let us in: {summary(error)}.") from error
    info = connection.connection.info
    # Only the configured parameters: older programs refuse some of the driver's own.
    parameters = {
        name: value for name, value in info.get_parameters().items() if name in connection.get_connection_params()
    }
    return Place(make_conninfo(**parameters), info.password, info.server_version // 10_000)


def program(name: str, major: int | None = None) -> Path:
    """Return a program of PostgreSQL in the lowest installed version from ``major`` on; older ones refuse the server.

    Without ``major``, return the newest, which reads the output of every other version.

    Raises:
        BackupError: no such program is installed.
    """
    folders = [*Path("/usr/lib/postgresql").glob("*/bin"), *map(Path, os.get_exec_path())]
    with contextlib.suppress(ServerError):
        folders.append(servers.postgres_bin())
    found = {_version(folder / name): folder / name for folder in folders if (folder / name).is_file()}
    fitting = [version for version in found if version >= (major or 1)]
    if not fitting:
        which = f"{name} of version {major} or newer: install postgresql-client-{major}" if major else f"{name} here"
        raise BackupError(f"There is no {which}.")
    return found[min(fitting) if major else max(fitting)]


def _version(file: Path) -> int:
    """Return the major version of a program of PostgreSQL; 0 if it is another program or cannot run here."""
    with contextlib.suppress(OSError):
        output = subprocess.run([file, "--version"], capture_output=True, text=True, check=False).stdout
        if match := re.search(r"\(PostgreSQL\) (\d+)", output):
            return int(match[1])
    return 0


def program_run(*command: str | Path, password: str = "") -> str:
    """Run a program and return its standard output.

    Raises:
        BackupError: it fails.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=with_password(password))
    if done.returncode:
        raise BackupError(f"{Path(command[0]).name} failed: {done.stderr.strip() or f'status {done.returncode}'}")
    return done.stdout


def with_password(password: str) -> dict[str, str]:
    """Return the environment of a program with the password, which other users of the machine cannot read there."""
    return {**os.environ, **({"PGPASSWORD": password} if password else {})}
