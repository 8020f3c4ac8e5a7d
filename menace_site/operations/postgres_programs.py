"""Client programs of PostgreSQL: find the version that fits the server, and run a program."""

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

from games.transport.database_errors import error_summary
from menace_site.local import servers
from menace_site.local.errors import ServerError


class BackupError(Exception):
    """A back-up could not be made or restored; the message gives the reason in a sentence."""


@dataclass(frozen=True)
class DatabaseAccess:
    """How PostgreSQL's programs reach a database: connection string, password, and the server's major version."""

    address: str
    password: str
    major: int


def database_access() -> DatabaseAccess:
    """Return the access to this site's database.

    Raises:
        BackupError: the database does not accept a connection.
    """
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        raise BackupError(f"The database does not let us in: {error_summary(error)}.") from error
    info = connection.connection.info
    # Keep only the configured parameters, since older programs refuse some that the driver adds.
    parameters = {
        name: value for name, value in info.get_parameters().items() if name in connection.get_connection_params()
    }
    return DatabaseAccess(make_conninfo(**parameters), info.password, info.server_version // 10_000)


def find_program(name: str, major: int | None = None) -> Path:
    """Return the path of a program of PostgreSQL, in the lowest installed version that is at least ``major``.

    ``major`` is the version of the server, which refuses older programs. Without ``major``, return the newest program,
    which reads the files of every other version.

    Raises:
        BackupError: no such program is installed.
    """
    folders = [*Path("/usr/lib/postgresql").glob("*/bin"), *map(Path, os.get_exec_path())]
    with contextlib.suppress(ServerError):
        folders.append(servers.postgres_bin())
    programs = {_version(folder / name): folder / name for folder in folders if (folder / name).is_file()}
    suitable_versions = [version for version in programs if version >= (major or 1)]
    if not suitable_versions:
        requirement = (
            f"{name} of version {major} or newer: install postgresql-client-{major}" if major else f"{name} here"
        )
        raise BackupError(f"There is no {requirement}.")
    return programs[min(suitable_versions) if major else max(suitable_versions)]


def _version(file: Path) -> int:
    """Return the major version of a program of PostgreSQL; 0 if it is another program or cannot run here."""
    with contextlib.suppress(OSError):
        output = subprocess.run([file, "--version"], capture_output=True, text=True, check=False).stdout
        if match := re.search(r"\(PostgreSQL\) (\d+)", output):
            return int(match[1])
    return 0


def run_program(*command: str | Path, password: str = "") -> str:
    """Run a program and return its standard output.

    Raises:
        BackupError: the program ends with a status other than 0.
    """
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment_with_password(password)
    )
    if result.returncode:
        raise BackupError(f"{Path(command[0]).name} failed: {result.stderr.strip() or f'status {result.returncode}'}")
    return result.stdout


def environment_with_password(password: str) -> dict[str, str]:
    """Return this process's environment plus the password, which other users could read in a command line."""
    return {**os.environ, **({"PGPASSWORD": password} if password else {})}
