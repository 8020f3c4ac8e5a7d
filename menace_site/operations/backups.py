"""Back-ups: all data of a site as one file, and the restore of such a file (``docs/backup.md``).

``pg_dump`` and ``pg_restore`` do the work. This module adds the checks that they lack: which version fits the server,
whether a file is complete, whether this release knows its migrations, and whether the target is empty.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import redis
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from menace_site.local import servers
from menace_site.local.errors import ServerError
from menace_site.local.given_servers import redis_answers
from menace_site.operations.postgres_programs import (
    BackupError,
    DatabaseAccess,
    database_access,
    environment_with_password,
    find_program,
    run_program,
)

FILE_NAME_FORMAT = "beadbox-%Y%m%dT%H%M%SZ.dump"
FILE_NAME_GLOB = f"beadbox-{'[0-9]' * 8}T{'[0-9]' * 6}Z.dump"
PORTABLE_OPTIONS = ("--no-owner", "--no-privileges")
"""Options that leave out owners and privileges: the target database decides on both."""
N_SETTINGS_LINES = 40
"""Lines at the head of a script of ``pg_restore`` that contain all of its ``SET`` statements."""
Key = TypeVar("Key")
Migration = tuple[str, str]
"""Label of an application and name of a migration."""


class BackupRunningError(BackupError):
    """Another back-up is being made in the same folder."""


@dataclass(frozen=True)
class BackupContents:
    """Metadata of a back-up: the major version of its server, and the applied migrations."""

    major: int
    migrations: frozenset[Migration]


# Backing up


def backup_make(folder: Path) -> Path:
    """Write a consistent copy of all data into a new file in ``folder``, and return its path.

    Live matches and trainings go on during the back-up. The file gets its name only once it is complete, and only its
    owner can read it. A second file holds the checksum in the format of ``sha256sum --check``.

    Raises:
        BackupError: the folder or database is unusable, space or ``pg_dump`` is missing, or the dump failed.
        BackupRunningError: another back-up is being made in the folder.
    """
    source = database_access()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _lock_folder(folder):
            _require_free_space(folder)
            return _write_backup(source, folder)
    except OSError as error:
        raise BackupError(f"No back-up was made in {folder}: {error.strerror}.") from error


def _write_backup(source: DatabaseAccess, folder: Path) -> Path:
    file = folder / datetime.now(UTC).strftime(FILE_NAME_FORMAT)
    part_file, digest_part_file = (folder / f".{file.name}{end}" for end in (".part", ".sha256.part"))
    try:
        os.close(os.open(part_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        dump = find_program("pg_dump", source.major)
        run_program(
            dump,
            *PORTABLE_OPTIONS,
            "--format=custom",
            "--file",
            part_file,
            "--dbname",
            source.address,
            password=source.password,
        )
        read_contents(part_file)
        with open(os.open(digest_part_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as digest:
            digest.write(f"{_sha256(part_file)}  {file.name}\n")
            digest.flush()
            os.fsync(digest.fileno())
        digest_part_file.rename(digest_path(file))
        part_file.rename(file)
        _sync_folder(folder)
    finally:
        for unfinished in (part_file, digest_part_file):
            unfinished.unlink(missing_ok=True)
    return file


@contextlib.contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock the folder against other back-ups, and delete the partial files of dead processes.

    The kernel releases the lock if this process dies.
    """
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupRunningError(f"Another back-up is being made in {folder}: wait for it.") from None
        for unfinished in folder.glob(".beadbox-*.part"):
            unfinished.unlink(missing_ok=True)
        yield


def _require_free_space(folder: Path) -> None:
    """Raise ``BackupError`` unless the folder's disk has a quarter of the database's size free.

    A back-up takes about a tenth of that size. It must never fill a disk that PostgreSQL writes to.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        needed_bytes = cursor.fetchone()[0] // 4
    if (free_bytes := shutil.disk_usage(folder).free) < needed_bytes:
        raise BackupError(
            f"No back-up was made in {folder}: it could take {needed_bytes / 1e6:,.0f} MB, and"
            f" {free_bytes / 1e6:,.1f} are free."
        )


def _sync_folder(folder: Path) -> None:
    """Sync the folder, so that the names of its files survive a power cut."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _sha256(file: Path) -> str:
    with file.open("rb") as opened_file:
        return hashlib.file_digest(opened_file, "sha256").hexdigest()


def digest_path(file: Path) -> Path:
    """Return the path of a back-up's checksum file."""
    return file.with_name(f"{file.name}.sha256")


def latest_backup_age(folder: Path) -> timedelta | None:
    """Return the age of the newest back-up in a folder, or ``None`` if the folder has no back-up."""
    now = datetime.now(UTC)
    ages = []
    for file in folder.glob(FILE_NAME_GLOB):
        with contextlib.suppress(ValueError):  # A name with an impossible date is no back-up.
            ages.append(now - datetime.strptime(file.name, FILE_NAME_FORMAT).replace(tzinfo=UTC))
    # Ignore a file dated in the future by a wrong clock: it would count as the newest until that date.
    return min((age for age in ages if age >= timedelta(0)), default=None)


def backup_daily(folder: Path, *, max_files: int, min_age: timedelta = timedelta(days=1)) -> Path | None:
    """Make a back-up if the newest is at least ``min_age`` old, then delete all but the newest ``max_files``.

    Returns:
        The new file, or ``None`` if no back-up was due.

    Raises:
        BackupError: no back-up was made, and no file was deleted.
        BackupRunningError: another back-up is being made.
    """
    if (age := latest_backup_age(folder)) is not None and age < min_age:
        return None
    file = backup_make(folder)
    for expired in sorted(backup for backup in folder.glob(FILE_NAME_GLOB) if backup.name <= file.name)[:-max_files]:
        expired.unlink(missing_ok=True)
        digest_path(expired).unlink(missing_ok=True)
    return file


# Restoring


def read_contents(file: Path) -> BackupContents:
    """Read the metadata of a back-up, and verify its checksum if there is one.

    Raises:
        BackupError: the file cannot be read, differs from its checksum, or holds no data of a Beadbox.
    """
    try:
        if digest_path(file).exists() and digest_path(file).read_bytes().split()[:1] != [_sha256(file).encode()]:
            raise BackupError(f"{file} is not what was written: its checksum differs. Take another copy.")
        reader = find_program("pg_restore")
        listing = run_program(reader, "--list", file)
        script = run_program(reader, "--data-only", "--table", "django_migrations", "--file", "-", file)
    except OSError as error:
        raise BackupError(f"{file} cannot be read: {error.strerror}.") from error
    version = re.search(r"Dumped from database version: (\d+)", listing)
    rows = re.search(r"^COPY \S*django_migrations \(id, app, name, .*?\n(.*?)^\\\.$", script, re.DOTALL | re.MULTILINE)
    if version is None or rows is None:
        raise BackupError(f"{file} holds no data of a Beadbox.")
    migrations = (tuple(row.split("\t")[1:3]) for row in rows[1].splitlines())
    return BackupContents(int(version[1]), frozenset((app, name) for app, name in migrations))


def unknown_migrations(applied: frozenset[Migration]) -> list[str]:
    """Return the migrations in ``applied`` that this release lacks, as sorted texts "app.name".

    Such migrations come from a newer release.
    """
    disk_migrations = MigrationLoader(None).disk_migrations
    known = set(disk_migrations) | {old for migration in disk_migrations.values() for old in migration.replaces}
    return sorted(".".join(migration) for migration in applied - known)


def backup_restore(file: Path) -> None:
    """Fill an empty database from a back-up in one transaction.

    Raises:
        BackupError: the file is damaged or from a newer release, the server too old, or the database not empty.
    """
    backup, target = read_contents(file), database_access()
    if unknown := unknown_migrations(backup.migrations):
        raise BackupError(
            f"{file} is from a newer release, with the migrations {', '.join(unknown)}: restore it with that release."
        )
    if backup.major > target.major:
        raise BackupError(
            f"{file} was made from PostgreSQL {backup.major}, and this server is PostgreSQL {target.major}: restore it "
            f"on PostgreSQL {backup.major} or newer."
        )
    if n_tables := _table_count():
        raise BackupError(
            f"The database is not empty ({n_tables} tables). Back it up, and set DATABASE_URL to an empty database; "
            "under make run, stop the site and move var/postgres away."
        )
    connection.close()
    _pipe_into_database(file, target)


def _pipe_into_database(file: Path, target: DatabaseAccess) -> None:
    """Pipe the script of ``pg_restore`` into ``psql``, in one transaction that commits only if both succeed.

    The pipe drops ``SET transaction_timeout``. Servers before version 17 refuse this statement, so ``pg_restore`` alone
    could not restore a file of a newer ``pg_dump`` to such a server.
    """
    quiet = ("--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", target.address)
    read_command: list[str | Path] = [find_program("pg_restore"), *PORTABLE_OPTIONS, "--file", "-", file]
    write_command: list[str | Path] = [find_program("psql"), *quiet]
    pipe, env = subprocess.PIPE, environment_with_password(target.password)
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(read_command, stdout=pipe, stderr=errors) as reader,
        subprocess.Popen(write_command, stdin=pipe, stdout=subprocess.DEVNULL, stderr=errors, env=env) as writer,
    ):
        assert reader.stdout is not None
        assert writer.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            writer.stdin.write(b"BEGIN;\n")
            head = itertools.islice(reader.stdout, N_SETTINGS_LINES)
            writer.stdin.writelines(line for line in head if not line.startswith(b"SET transaction_timeout"))
            shutil.copyfileobj(reader.stdout, writer.stdin)
            if reader.wait() == 0:
                writer.stdin.write(b"COMMIT;\n")
        with contextlib.suppress(BrokenPipeError):
            writer.stdin.close()
        reader.stdout.close()
        if writer.wait() or reader.wait():
            errors.seek(0)
            failed_program = "psql" if writer.returncode else "pg_restore"
            raise BackupError(f"{failed_program} failed: {errors.read().decode(errors='replace').strip()}")


def _table_count() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND relnamespace NOT IN"
            r" (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pg\_%' OR nspname = 'information_schema')"
            # Tables of an extension hold no data of the site.
            " AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid"
            " AND deptype = 'e')"
        )
        return int(cursor.fetchone()[0])


def accounts_log_out() -> int:
    """Delete the sessions of accounts and all unreadable sessions, and return their number.

    A restored session would log in an account that has logged out since the back-up. Sessions of visitors stay, since
    they are the only link to a visitor's machines and seats.
    """
    session_keys = (
        session.pk
        for session in Session.objects.iterator()
        if SESSION_KEY in (data := session.get_decoded()) or not data
    )
    return sum(Session.objects.filter(pk__in=batch).delete()[0] for batch in _batches(session_keys, 1000))


def cache_forget() -> None:
    """Delete this site's keys in Redis: caches of the data before the restore, and wake-ups, which are sent again."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        for batch in _batches(client.scan_iter(f"{settings.REDIS_PREFIX}:*", count=1000), 1000):
            client.unlink(*batch)


def _batches(keys: Iterator[Key], size: int) -> Iterator[list[Key]]:
    batch: list[Key] = []
    for key in keys:
        batch.append(key)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


@contextlib.contextmanager
def run_missing_servers() -> Iterator[None]:
    """In a local run, start each private server that does not answer, and stop it at the end of the block.

    A server that ``DATABASE_URL`` or ``REDIS_URL`` names is never started.

    Raises:
        ServerError: the servers cannot start, or the site is just starting or stopping.
    """
    missing_servers = {
        "database": not os.environ.get("DATABASE_URL") and not _database_answers(),
        "redis": not os.environ.get("REDIS_URL") and not redis_answers(settings.REDIS_URL),
    }
    if not settings.LOCAL or not any(missing_servers.values()):
        yield
        return
    var: Path = settings.VAR_DIR
    var.mkdir(parents=True, exist_ok=True)
    with (var / "supervisor.lock").open("w") as lock_file:
        try:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ServerError(f"Beadbox is just starting or stopping in {var}: try again.") from None
        with servers.private_servers(var, **missing_servers, is_durable=True):
            yield


def _database_answers() -> bool:
    try:
        connection.ensure_connection()
    except DatabaseError:
        return False
    connection.close()
    return True
