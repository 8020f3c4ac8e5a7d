"""The whole site as ``make run`` serves it, in a separate directory, and its costs under load."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.environment import shell_environment
from tests.waiting import HANG_S, wait_until

# One cache for all sites that this module starts, because compiling takes half a minute.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[2] / "var" / "numba"))

SAMPLE_EVERY_S = 0.05
CLOCK_HZ = os.sysconf("SC_CLK_TCK")
GROUPS = {
    "postgres": "postgres",
    "valkey-server": "valkey",
    "redis-server": "valkey",
    "menace_site.web": "web",
    "celery": "workers",
    "live_client": "client",
    "caddy": "proxy",
}
"""Groups of processes, by a word of the command line. A process without such a word is in the group of its parent."""


@dataclass(frozen=True)
class Site:
    """A running site: its folder, its address, and its database as a libpq connection string."""

    var: Path
    port: int
    host: str
    database: str

    def log_statements(self, is_on: bool) -> None:
        """Turn the log of statements, with their durations, on or off in the server."""
        import psycopg

        with psycopg.connect(self.database, autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET log_min_duration_statement = {0 if is_on else -1}")
            connection.execute("SELECT pg_reload_conf()")

    @property
    def log(self) -> Path:
        """The log of the private PostgreSQL."""
        return self.var / "log" / "postgres.log"


@contextlib.contextmanager
def running_site(**settings: str) -> Iterator[Site]:
    """Run a whole site with worker and scheduler; ``settings`` are environment variables."""
    from menace_site.local import processes, servers
    from tests.bench.prepared import prepare

    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port = chosen.getsockname()[1]
    var = Path(tempfile.mkdtemp(prefix="beadbox-bench-"))
    prepare(var)
    env = {**shell_environment(), **settings, "BEADBOX_VAR": str(var), "BEADBOX_LOCAL": "1", "PORT": str(port)}
    with (var / "supervisor.log").open("wb") as log:
        site = processes.spawn(
            [sys.executable, "-m", "menace_site.local.supervisor"], death_signal=signal.SIGTERM, env=env, output=log
        )
        try:
            assert wait_until(lambda: answers_at("localhost", port)), (var / "supervisor.log").read_text()
            yield Site(var, port, "127.0.0.1", f"host={servers.socket_dir(var)} user=app dbname=app")
        finally:
            processes.stop({site: signal.SIGTERM}, timeout_s=HANG_S)
            shutil.rmtree(var, ignore_errors=True)


def answers_at(host: str, port: int) -> bool:
    """Whether a healthy site answers at the address."""
    try:
        request = urllib.request.Request(f"http://{host}:{port}/api/health", headers={"Host": "localhost"})
        with urllib.request.urlopen(request, timeout=5):  # our own server
            return True
    except OSError:
        return False


# Costs


@dataclass(frozen=True)
class Process:
    """A descendant of this process: its group (a value of ``GROUPS``) and its processor seconds so far.

    The seconds include the seconds of ended children.
    """

    pid: int
    group: str
    is_leader: bool
    """Whether the parent of the process is in another group."""
    cpu_s: float


def our_processes() -> list[Process]:
    """Return all descendants of this process."""
    parents, words, ticks = dict[int, int](), dict[int, str](), dict[int, int]()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                pid = int(entry.name)
                words[pid] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                parents[pid], ticks[pid] = int(fields[1]), sum(map(int, fields[11:15]))

    def group(pid: int) -> str:
        known = (GROUPS[word] for one in _lineage(pid, parents) for word in GROUPS if word in words[one])
        return next(known, "supervisor")

    return [
        Process(pid, group(pid), group(parents[pid]) != group(pid), ticks[pid] / CLOCK_HZ)
        for pid in words
        if os.getpid() in list(_lineage(pid, parents))[1:]
    ]


def cpu_seconds(watch_pid: int) -> Counter[str]:
    """Return the processor seconds so far of each group, without the session of the watch itself."""
    seconds: Counter[str] = Counter()
    for process in our_processes():
        if process.pid != watch_pid:
            seconds[process.group] += process.cpu_s
    return seconds


def web_megabytes() -> float:
    """Return the memory of the web processes in MB (PSS: shared pages are counted once)."""
    pss_kb = 0
    for process in our_processes():
        if process.group == "web":
            with contextlib.suppress(OSError):
                rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
                pss_kb += int(re.findall(r"\nPss: +(\d+)", rollup)[0])
    return pss_kb / 1000


def kill_in_turn(groups: Sequence[str], seconds: float) -> None:
    """Kill a process of each group twice, at even intervals: first a child process, then the group's leader."""
    pause_s = seconds / (2 * len(groups) + 1)
    for is_leader in (False, True):
        for group in groups:
            time.sleep(pause_s)
            of_group = [one for one in our_processes() if one.group == group]
            pids = [one.pid for one in of_group if one.is_leader == is_leader] or [one.pid for one in of_group]
            if pids:
                os.kill(random.choice(pids), signal.SIGKILL)


def kill_at_once(groups: Sequence[str]) -> None:
    """Kill all processes of some groups at the same moment, as when the computer fails."""
    for one in our_processes():
        if one.group in groups:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)


def _lineage(pid: int, parents: dict[int, int]) -> Iterator[int]:
    """Yield a process, its parent, and so on."""
    while pid in parents:
        yield pid
        pid = parents[pid]


@dataclass
class Sample:
    """PostgreSQL's activity from :meth:`Watch.begin` to :meth:`Watch.end`; sessions are means over the samples."""

    seconds: float = 0.0
    cpu_s: dict[str, float] = field(default_factory=dict)
    web_mb: float = 0.0
    """Memory of the web processes at the end."""
    n_transactions: int = 0
    """Committed and rolled-back transactions."""
    n_rolled_back: int = 0
    wal_bytes: int = 0
    """Write-ahead log, which a disk and a standby have to keep up with."""
    writing: float = 0.0
    """Sessions that have written or locked rows, and so hold locks."""
    idle_writing: float = 0.0
    """Sessions that hold locks while no statement runs: Python works, or waits to run."""
    waiting: float = 0.0
    """Sessions that wait for a lock."""
    busy: float = 0.0
    """Sessions that run a statement."""
    most_connections: int = 0


class Watch:
    """Samples the database's sessions twenty times a second during a measurement."""

    QUERY = """
        SELECT /* watch */ count(*),
               count(*) FILTER (WHERE backend_xid IS NOT NULL),
               count(*) FILTER (WHERE backend_xid IS NOT NULL AND state = 'idle in transaction'),
               count(*) FILTER (WHERE wait_event_type = 'Lock'),
               count(*) FILTER (WHERE state = 'active')
        FROM pg_stat_activity
        WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
    """
    COUNTS_QUERY = """
        SELECT xact_commit, xact_rollback, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint
        FROM pg_stat_database WHERE datname = current_database()
    """

    def __init__(self, site: Site) -> None:
        import psycopg

        self.connection = psycopg.connect(site.database, autocommit=True)

    def close(self) -> None:
        self.connection.close()

    def begin(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.is_over = threading.Event()
        self.counts_before = self._counts()
        self.cpu_s, self.began_at = cpu_seconds(self.connection.info.backend_pid), time.perf_counter()
        self.thread = threading.Thread(target=self._sample_sessions)
        self.thread.start()

    def end(self) -> Sample:
        """Stop sampling and return the sample since :meth:`begin`."""
        seconds, cpu_s = time.perf_counter() - self.began_at, cpu_seconds(self.connection.info.backend_pid)
        self.is_over.set()
        self.thread.join()
        n_own = len(self.rows)  # The queries of this watch are transactions too.
        committed, rolled_back, wal_bytes = (
            after - before for after, before in zip(self._counts(), self.counts_before, strict=True)
        )
        connections, *others = (list(column) for column in zip(*self.rows, strict=True))
        writing, idle_writing, waiting, busy = (sum(column) / len(column) for column in others)
        return Sample(
            seconds,
            {name: cpu_s[name] - self.cpu_s[name] for name in cpu_s},
            web_megabytes(),
            committed + rolled_back - n_own,
            rolled_back,
            wal_bytes,
            writing,
            idle_writing,
            waiting,
            busy,
            max(connections),
        )

    def _sample_sessions(self) -> None:
        while not self.is_over.wait(SAMPLE_EVERY_S):
            self.rows.append(self.connection.execute(self.QUERY).fetchone() or ())

    def _counts(self) -> tuple[int, ...]:
        # Sessions report their counts at most once a second; an idle session has reported within this time.
        time.sleep(1.1)
        row = self.connection.execute(self.COUNTS_QUERY).fetchone()
        assert row is not None
        return row


LOG_LINE = re.compile(r"LOG:  duration: ([\d.]+) ms  (?:statement|execute [^:]*): *(?:\n\t\s*)?(\S.*)")
OF_TRANSACTIONS = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")


def statements(log: str) -> dict[str, tuple[int, float]]:
    """Return the number of statements of each kind in a server's log, and their total milliseconds.

    A kind is the verb and the first table, or the verb alone for statements that begin or end a transaction.
    """
    by_kind: dict[str, tuple[int, float]] = {}
    for ms, text in LOG_LINE.findall(log):
        if "/* watch */" in text:
            continue
        kind = statement_kind(text)
        count, total_ms = by_kind.get(kind, (0, 0.0))
        by_kind[kind] = count + 1, total_ms + float(ms)
    return by_kind


def statement_kind(text: str) -> str:
    """Return a statement's kind: its verb, its first table, and whether it locks rows."""
    verb = text.split(maxsplit=1)[0].upper().rstrip(";")
    if verb in OF_TRANSACTIONS:
        return verb
    table = re.search(r'(?:FROM|INTO|UPDATE|COPY) "?(\w+)"?', text) or re.search(r"(\w+\()", text)
    locks = "FOR UPDATE" if re.search(r"FOR (NO KEY )?UPDATE|FOR KEY SHARE", text) else ""
    return " ".join(filter(None, [verb, table and table[1], locks]))
