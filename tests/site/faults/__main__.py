"""Faults injected into a whole site during play: no accepted move may be lost or doubled. ``make faults``.

    python -m tests.site.faults                     all of them, as root (a small file system and a network of its own)
    python -m tests.site.faults --only NAME         one fault, or some
    SMALL=1 python -m tests.site.faults             each for a moment, all during one play: as in ``make soak``

Twenty people move twice a second, and a machine learns without end: before each fault, during it and after it.
Afterwards exactly the answered moves are stored, and each ended match is counted once. The training, once stopped, has
the beads of an undisturbed one, and all beads have their cause. Each act also checks that its fault took effect: a
process died, the disk was full, the network was down. The exit status is the number of faults after which a check
failed.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import errno
import hashlib
import http.client
import os
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path
from typing import Any

from menace_site.local import processes
from menace_site.local.servers import BASE_DIR
from tests.bench.live_client import Case
from tests.bench.live_load import HOUSE_MACHINE, OPPONENTS, Result, idle_site, play
from tests.bench.live_site import Process, Site, our_processes
from tests.prober import Prober
from tests.sizes import IS_SMALL, sized
from tests.waiting import HANG_S, wait_until

N_PEOPLE, N_WATCHERS = sized((20, 8), (4, 2))
"""Enough watchers that both web processes have some."""
N_ENDLESS_GAMES = 1_000_000_000_000
"""Games of a training run that does not end by itself."""
GAME = "hexapawn"
"""The game of the training run: it has few boxes, so that their rows fit on the small disk."""
LOOK_S = 0.01
"""Seconds between two polls for a moment or a status."""
CALM_S = sized(2.0, 0.3)
"""Seconds without faults, before and after each."""
SHORT_S = sized(6.0, 2.0)
"""Seconds for which a process hangs: longer than any wait for an answer."""
ANSWERED_S, SHOWN_S, RETURNED_S, DEARER_MS = 3.0, 2.0, 4.0, 100.0
"""The limits: until an answer, until every page knows, until all play again; and extra time per move."""
MAX_STUCK_MS = 1000.0
"""Extra time that only a move blocked by a hung process takes."""
DISK_MB = 600
N_EXPIRED_SESSIONS = sized(100_000, 30_000)
"""Number of expired sessions, which retention needs a second to delete."""
CLOCK = Path(__file__).with_name("clock.c")
CLONE_NEWNET = 0x40000000


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@dataclass
class Scene:
    """A site under a fault, and the observations about it."""

    site: Site
    run: Any = None
    """The training run during the fault."""
    moments: list[float] = field(default_factory=list)
    """Times of the current fault's start and end, by ``time.perf_counter``."""
    notes: list[str] = field(default_factory=list)
    """Observations to print in the report."""
    ready_s: float = 0.0
    """Seconds until the site was ready again after a kill."""

    def note_now(self) -> None:
        """Record the start or the end of the fault."""
        self.moments.append(time.perf_counter())


Act = Callable[[Scene], None]
Bound = Callable[[Scene, Result], None]


# Faults


def find_processes(group: str, *, is_leader: bool | None = None) -> list[Process]:
    """Return the processes of a group of ``live_site.GROUPS``, busiest first; leaders or others by ``is_leader``."""
    of_group = [one for one in our_processes() if one.group == group and is_leader in {None, one.is_leader}]
    assert of_group, f"there is no {group}"
    return sorted(of_group, key=lambda one: -one.cpu_s)


def send(number: signal.Signals, pids: Sequence[int]) -> None:
    """Send a signal to all processes at once."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def kill_processes(
    scene: Scene, group: str, *, is_leader: bool | None = None, at_most: int = 99, seconds: float = SHORT_S
) -> None:
    """Kill processes at once; the site has to recover by itself."""
    pids = [one.pid for one in find_processes(group, is_leader=is_leader)[:at_most]]
    scene.note_now()
    send(signal.SIGKILL, pids)
    died = wait_until(lambda: not {one.pid for one in our_processes()} & set(pids))
    assert died, f"{group} has not died"
    time.sleep(seconds)


DEAD_STATES = ("Z", "")
"""States of a process that has died."""


def hang_processes(
    scene: Scene, group: str, *, is_leader: bool | None = None, at_most: int = 99, seconds: float = SHORT_S
) -> None:
    """Stop processes for a while. A web process that hangs may be replaced meanwhile, after 5 s."""
    pids = [one.pid for one in find_processes(group, is_leader=is_leader)[:at_most]]
    scene.note_now()
    send(signal.SIGSTOP, pids)
    # Sessions of PostgreSQL end at any time, so some may have ended before the signal.
    assert wait_until(lambda: all(_state(pid) in ("T", *DEAD_STATES) for pid in pids)), f"{group} did not hang"
    pids = [pid for pid in pids if _state(pid) == "T"]
    assert pids, f"{group} was gone before it could hang"
    time.sleep(seconds)
    assert all(_state(pid) in ("T", *(DEAD_STATES if group == "web" else ())) for pid in pids), f"{group} goes on"
    scene.note_now()
    send(signal.SIGCONT, pids)
    time.sleep(CALM_S)


def _state(pid: int) -> str:
    """Return the kernel's state of a process: T if stopped; empty if it does not exist."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


class Returning(threading.Thread):
    """Observes the return of killed processes, step by step, until the site is ready again."""

    def __init__(self, scene: Scene, group: str) -> None:
        import psycopg
        from django.db import connection

        super().__init__(daemon=True)
        self.site, self.group = scene.site, group
        self.session = psycopg.connect(**connection.get_connection_params(), autocommit=True)
        """A session opened before the kill: it ends even if PostgreSQL is away for a moment only."""
        self.before = {one.pid for one in find_processes(group)}
        self.answered: dict[str, float] = {}
        """Time of the first answer with each status, by ``time.perf_counter``."""
        self.recovered_at = 0.0
        """Time at which PostgreSQL accepted a session again."""

    def run(self) -> None:
        """Poll from before the kill until the site is ready."""
        while "200" not in self.answered:
            if self.group == "postgres" and not self.recovered_at and self._is_cut() and _now_there() is not None:
                self.recovered_at = time.perf_counter()
            status = self._asked()
            # Answers before the kill are 200 too, so 200 counts only after PostgreSQL was gone, or after another
            # status.
            if status != "200" or (self.recovered_at if self.group == "postgres" else self.answered):
                self.answered.setdefault(status, time.perf_counter())
            time.sleep(LOOK_S)
        self.session.close()

    def _is_cut(self) -> bool:
        """Whether the session from before the kill has ended."""
        import psycopg

        try:
            self.session.execute("SELECT 1")
        except psycopg.OperationalError:
            return True
        return False

    def _asked(self) -> str:
        """Return the status of the readiness check, or "none" without an answer."""
        connection = http.client.HTTPConnection(self.site.host, self.site.port, timeout=HANG_S)
        with contextlib.closing(connection):
            try:
                connection.request("GET", "/api/health/ready", headers={"Host": self.site.host})
                return str(connection.getresponse().status)
            except (OSError, http.client.HTTPException):
                return "none"

    def started(self) -> list[tuple[float, float]]:
        """Return the start of each new process of the group, by ``time.perf_counter``, and its processor seconds."""
        began = []
        for one in find_processes(self.group):
            with contextlib.suppress(OSError):  # a process that has ended since, as sessions of PostgreSQL do
                began += [(_began_at(one.pid), one.cpu_s)] if one.pid not in self.before else []
        return sorted(began)


def _began_at(pid: int) -> float:
    ticks = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    return ticks / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def watch_return(scene: Scene, group: str) -> Iterator[None]:
    """Note how the time splits up between a kill in the block and a ready site."""
    watch = Returning(scene, group)
    watch.start()
    yield
    watch.join(HANG_S)
    assert "200" in watch.answered, "the site does not come back"
    killed_at, ready_at, started = scene.moments[0], watch.answered["200"], watch.started()
    if group == "web":
        (leader_at, cpu_s), worker_at = started[0], started[1][0]
        stand_in_at = min(watch.answered.get("503", worker_at), worker_at)
        steps = {
            "noticed": leader_at,
            "Python and uvicorn started": stand_in_at,
            "application imported": worker_at,
            "processes and pools ready": ready_at,
        }
        scene.notes.append(f"{cpu_s:.1f} s of a processor for its parent")
    else:
        noticed = {"noticed": started[0][0]} if started and started[0][0] > killed_at else {}
        steps = {**noticed, "PostgreSQL recovered": watch.recovered_at, "pools ready": ready_at}
    at = [killed_at, *steps.values()]
    parts = (f"{what} {after - before:.2f}" for what, before, after in zip(steps, at, at[1:], strict=False))
    scene.notes.append(f"ready after {ready_at - killed_at:.1f} s ({', '.join(parts)})")
    scene.ready_s = ready_at - killed_at


def kill_all_web_processes(scene: Scene) -> None:
    """Kill all web processes. Requests must be answered within three seconds all the same."""
    with Prober(scene.site.host, scene.site.port) as prober, watch_return(scene, "web"):
        kill_processes(scene, "web", seconds=0)
        time.sleep(SHORT_S)
        served = prober.statuses["200"]
        assert wait_until(lambda: prober.statuses["200"] > served), "the site does not come back"
    scene.notes.append(f"{prober.longest_s:.1f} s without an answer, {dict(prober.statuses)}")
    assert prober.statuses["none"], "no request failed during the fault"
    assert prober.statuses["stand-in"], "nobody answered before the site was back"
    assert IS_SMALL or prober.longest_s <= ANSWERED_S, f"nobody answered for {prober.longest_s:.1f} s"


def lose_worker(scene: Scene, number: signal.Signals, *, with_all: bool = False) -> None:
    """Kill the worker with the training's lease, or let it hang beyond the lease: another worker takes over."""
    holder = _count_caught_up(scene)
    before = _row(scene)
    scene.note_now()
    send(number, [one.pid for one in find_processes("workers")] if with_all else [holder])
    assert wait_until(lambda: _row(scene).leased_by not in {"", before.leased_by}), "nobody took the training up"
    assert datetime.now(UTC) > before.lease_until, "it was taken up before the lease had run out"
    scene.notes.append(f"taken up after {time.perf_counter() - scene.moments[0]:.1f} s")
    if number != signal.SIGKILL:
        assert _state(holder) == "T", "the worker did not hang"
        send(signal.SIGCONT, [holder])


def _count_caught_up(scene: Scene) -> int:
    """Return the process with the training's lease, stopped between two of its transactions."""
    while True:
        if name := _row(scene).leased_by:
            pid = int(name.rpartition(" ")[2])
            send(signal.SIGSTOP, [pid])
            if _row(scene).leased_by == name and _is_free(scene):
                return pid
            send(signal.SIGCONT, [pid])
        time.sleep(LOOK_S)


def _is_free(scene: Scene) -> bool:
    """Whether the training's row is unlocked."""
    from django.db import OperationalError, transaction

    try:
        with transaction.atomic():
            type(scene.run).objects.select_for_update(nowait=True).get(pk=scene.run.pk)
    except OperationalError:
        return False
    return True


def _row(scene: Scene) -> Any:
    """Return the stored training run; retry while the database is away."""
    from django.db import Error, connection

    rows: list[Any] = []

    def is_read() -> bool:
        try:
            rows.append(type(scene.run).objects.get(pk=scene.run.pk))
        except Error:
            connection.close()
        return bool(rows)

    assert wait_until(is_read), "the database does not come back"
    return rows[0]


def kill_database(scene: Scene) -> None:
    """Kill PostgreSQL; it is started again."""
    with watch_return(scene, "postgres"):
        kill_processes(scene, "postgres", is_leader=True, seconds=0)
        assert wait_until(lambda: _now_there() is not None, poll_s=0.02), "PostgreSQL does not come back"
        scene.note_now()
    time.sleep(SHORT_S)


def kill_session(scene: Scene) -> None:
    """Kill a session of PostgreSQL, which then ends all others and recovers."""
    with watch_return(scene, "postgres"):
        kill_processes(scene, "postgres", is_leader=False, at_most=1, seconds=0)
    time.sleep(SHORT_S)


def _now_there() -> float | None:
    """Return PostgreSQL's time in seconds, or ``None`` while it is away."""
    import psycopg
    from django.db import connection

    try:
        with psycopg.connect(**connection.get_connection_params(), autocommit=True) as own:
            row = own.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()
            return float(row[0]) if row else None
    except psycopg.OperationalError:
        return None


def empty_broker(scene: Scene) -> None:
    """Empty the broker: counts of rate limits, messages to workers."""
    import redis
    from django.conf import settings

    n_forgotten = 0
    for _ in range(3):
        with redis.Redis.from_url(settings.REDIS_URL) as broker:
            n_forgotten += broker.dbsize()
            broker.flushall()
        time.sleep(CALM_S)
    assert n_forgotten, "there was nothing to forget"


def cut_sessions(scene: Scene) -> None:
    """End all sessions of PostgreSQL, as an operator may, again each time that some are back."""
    import psycopg
    from django.db import connection

    ended = "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity WHERE {}"
    others = "pid <> pg_backend_pid() AND backend_type = 'client backend'"
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as own:

        def some_ended() -> bool:
            row = own.execute(ended.format(others)).fetchone()
            return row is not None and row[0] > 0

        for _ in range(5):
            assert wait_until(some_ended), "there was no session"
            time.sleep(CALM_S)


def kill_program(words: Sequence[str], prepare: Callable[[], None], is_at_work: Callable[[], bool]) -> None:
    """Kill a ``manage.py`` command during its work, sooner and later, each time with work to do."""
    for after_s in sized((0.0, 0.02, 0.05, 0.1, 0.2), (0.0,)):

        def is_killed_at_work(after_s: float = after_s) -> bool:
            prepare()
            assert not is_at_work()
            process = processes.spawn([sys.executable, "manage.py", *words], cwd=BASE_DIR)
            try:
                assert wait_until(is_at_work, poll_s=0.002), f"{words[0]} does not begin"
                time.sleep(after_s)
            finally:
                processes.kill_group_and_wait(process)
            return is_at_work()

        assert wait_until(is_killed_at_work), f"{words[0]} is over before it is killed"


def kill_retention(scene: Scene) -> None:
    """Kill retention during its work; the next pass must delete the rest."""
    from django.contrib.sessions.models import Session
    from django.db import connection

    left = Session.objects.filter(session_key__startswith="left-")
    first, last = (left.filter(session_key=f"left-{number:06}") for number in (1, N_EXPIRED_SESSIONS))

    def prepare() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO django_session SELECT 'left-' || lpad(number::text, 6, '0'), '', now() - interval '1 day'"
                " FROM generate_series(1, %s) number ON CONFLICT DO NOTHING",
                [N_EXPIRED_SESSIONS],
            )

    words = [
        "shell",
        "--no-imports",
        "--command",
        "from learning.tasks import expired_delete\nwhile True: expired_delete()",
    ]
    kill_program(words, prepare, lambda: not first.exists() and last.exists())
    process = processes.spawn([sys.executable, "manage.py", *words], cwd=BASE_DIR)
    try:
        assert wait_until(lambda: not left.exists()), "what was left is not cleared"
    finally:
        processes.kill_group_and_wait(process)


def kill_backup(scene: Scene) -> None:
    """Kill a back-up during its work; it must leave no file that looks complete. The next one must succeed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def prepare() -> None:
            for part in folder.glob(".beadbox-*.part"):
                part.unlink()

        kill_program(["backup", name], prepare, lambda: any(folder.glob(".beadbox-*.dump.part")))
        assert not list(folder.glob("*.dump")), "something looks whole"
        subprocess.run([sys.executable, "manage.py", "backup", name], cwd=BASE_DIR, check=True, capture_output=True)
        (dump,) = folder.glob("*.dump")
        sum_of = Path(f"{dump}.sha256").read_text().split()[0]
        assert hashlib.sha256(dump.read_bytes()).hexdigest() == sum_of, dump
        assert not list(folder.glob(".beadbox-*.part")), "what was left in the middle stays"


def fill_disk(scene: Scene, folder: Path) -> None:
    """Fill the disk for a while, so that neither a file nor the database can be written."""
    import psycopg
    from django.db import connection

    ballast, n_full, n_refused = folder / "ballast", 0, 0
    end = time.monotonic() + SHORT_S
    with ballast.open("wb", buffering=0) as file:
        while time.monotonic() < end:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                n_full += 1
            try:
                with psycopg.connect(**connection.get_connection_params()) as own:  # never committed
                    own.execute("CREATE TABLE ballast AS SELECT repeat('x', 1000) FROM generate_series(1, 20000)")
                    own.rollback()
            except psycopg.OperationalError:
                n_refused += 1
            time.sleep(LOOK_S)
    ballast.unlink()
    scene.notes.append(f"full {n_full} times, {n_refused} writes of ours refused")
    assert n_refused, "the database found room"
    time.sleep(SHORT_S)


def move_clock(scene: Scene, clock: Path) -> None:
    """Set the clock an hour ahead, an hour back, and right again, for the database and the web processes."""
    health = urllib.request.Request(
        f"http://{scene.site.host}:{scene.site.port}/api/health", headers={"Host": scene.site.host}
    )
    for offset_s in (3600, -3600, 0):
        with clock.open("r+b") as file:
            file.write(struct.pack("l", offset_s))
        time.sleep(SHORT_S)
        with urllib.request.urlopen(health, timeout=HANG_S) as answer:  # our own server
            of_web = parsedate_to_datetime(answer.headers["Date"]).timestamp()
        of_database = _now_there()
        assert of_database is not None
        wrong_s = [clock_s - time.time() - offset_s for clock_s in (of_web, of_database)]
        assert all(abs(seconds) < 60 for seconds in wrong_s), f"{offset_s}: {wrong_s}"


def take_link_down(scene: Scene) -> None:
    """Take the network down for a while; connections stay open."""
    where = (scene.site.host, scene.site.port)
    scene.note_now()
    _link("down")
    try:
        time.sleep(SHORT_S)
        with contextlib.suppress(OSError), socket.create_connection(where, timeout=CALM_S):
            raise AssertionError("the link is not down")
    finally:
        _link("up")
    scene.note_now()
    with socket.create_connection(where, timeout=HANG_S):
        time.sleep(SHORT_S)


def _link(state: str) -> None:
    subprocess.run(["ip", "link", "set", "lo", state], check=True)


# Limits


def pages_informed(scene: Scene, result: Result) -> None:
    """Check that every open page knows within two seconds that the database is away, and that it is back."""
    broken_at, mended_at = scene.moments
    waits = [0.0]
    assert result.found["news"], "nobody watches"
    for news in result.found["news"]:
        for said, since in (("away", broken_at), ("ok", mended_at)):
            at = [moment for moment, how in news if how == said and moment >= broken_at]
            assert at or IS_SMALL, f"a page was not told: {said}"
            waits += [at[0] - since] if at else []
    scene.notes.append(f"pages were told within {max(waits):.1f} s")
    assert IS_SMALL or max(waits) <= SHOWN_S, f"a page was told after {max(waits):.1f} s"


def play_returned(scene: Scene, result: Result) -> None:
    """Check that all players have an answer, or are back in their room, within four seconds of the fault."""
    if IS_SMALL:  # these times include all other faults of this play
        return
    back_s = max([*result.found["away_s"], max(result.found["milliseconds"]) / 1000])
    scene.notes.append(f"play returned after {back_s:.1f} s, {back_s - scene.ready_s:.1f} s of it clients' back-off")
    assert back_s <= RETURNED_S, f"play returned after {back_s:.1f} s"


def informed_and_returned(scene: Scene, result: Result) -> None:
    """Check the pages, then the players."""
    pages_informed(scene, result)
    play_returned(scene, result)


def moves_no_dearer(scene: Scene, result: Result) -> None:
    """Check that a hung process delays moves by at most a tenth of a second, and blocks none of them."""
    begin, end = scene.moments
    found = result.found
    moves = list(zip(found["sent"], found["milliseconds"], strict=True))
    hanging = [ms for at, ms in moves if begin <= at < end]
    calm = [ms for at, ms in moves if not begin <= at < end]
    if IS_SMALL and len(hanging) < 2:
        return
    slow, usual = (statistics.quantiles(some, n=20)[-1] for some in (hanging, calm))
    scene.notes.append(f"95 % of moves within {slow:.0f} ms, otherwise {usual:.0f}; the slowest {max(hanging):.0f}")
    assert IS_SMALL or slow <= usual + DEARER_MS, f"95 % of moves within {slow:.0f} ms, and {usual:.0f} otherwise"
    assert IS_SMALL or max(hanging) <= max(calm) + MAX_STUCK_MS, f"a move took {max(hanging):.0f} ms"


ACTS: dict[str, Act] = {
    "a web process killed": partial(kill_processes, group="web", is_leader=False, at_most=1),
    "all web processes killed": kill_all_web_processes,
    "a worker killed": partial(lose_worker, number=signal.SIGKILL),
    "a worker hung": partial(lose_worker, number=signal.SIGSTOP),
    "the workers killed": partial(lose_worker, number=signal.SIGKILL, with_all=True),
    "the workers hung": partial(hang_processes, group="workers", seconds=sized(25.0, 1.0)),  # longer than a lease
    "PostgreSQL killed": kill_database,
    "a session of PostgreSQL killed": kill_session,
    "all sessions ended": cut_sessions,
    "PostgreSQL hung": partial(hang_processes, group="postgres"),
    "the broker killed": partial(kill_processes, group="valkey"),
    "the broker emptied": empty_broker,
    "the broker hung": partial(hang_processes, group="valkey"),
    "a web process hung": partial(hang_processes, group="web", is_leader=False, at_most=1),
    "the sweep killed": kill_retention,
    "a back-up killed": kill_backup,
}
ACTS_OF_ROOT = ("the link down", "the disk full", "the clock moved")
"""Faults that need root, for a network, a file system and a clock of their own."""
BOUNDS: dict[str, Bound] = {
    "all web processes killed": play_returned,
    "PostgreSQL killed": informed_and_returned,
    "a session of PostgreSQL killed": play_returned,
    "PostgreSQL hung": pages_informed,
    "the broker hung": moves_no_dearer,
}


# Players and training


def case_of(site: Site) -> Case:
    """Return a case of quick players that give up a socket after four seconds without an answer."""
    from learning.models import Machine

    return Case(
        port=site.port,
        n_matches=N_PEOPLE,
        body={"game": "noughts-and-crosses", **OPPONENTS["menace"]},
        think_s=0.5,
        seconds=HANG_S,
        silent_s=4.0,
        watched=Machine.objects.get(slug=HOUSE_MACHINE).pk,
        n_watchers=N_WATCHERS,
    )


def learning(n_games: int) -> Any:
    """Start a training run of a new machine; it is the same run each time, up to its length."""
    from beadbox.rules.outcome import Side
    from beadbox.rules.registry import game_get
    from learning import tasks
    from learning.services.machines import machine_create, preset_usual
    from learning.services.runs import Stage, run_store
    from learning.workers.runs import RUNS

    preset = preset_usual(game_get(GAME), Side.SECOND)
    trainee = machine_create(game=GAME, side=Side.SECOND, name="In training", preset=preset)
    run = run_store(trainee, [Stage("random", n_games)], [None], seed=1)  # longer than users may request
    tasks.wake_up(RUNS, [run.pk])
    return run


def run_acts(scene: Scene, acts: Mapping[str, Act], moments: dict[str, list[float]]) -> None:
    """Run the faults during play: a training run begins, continues before and after each fault, and is cancelled.

    The moments of each act are put into ``moments``.
    """
    from django.db import connection

    from learning.services.runs import training_run_cancel

    scene.run = learning(N_ENDLESS_GAMES)
    assert wait_until(lambda: _row(scene).games_done > 0), "the training does not begin"
    time.sleep(CALM_S)
    assert _row(scene).finished_at is None, "the training was over before anything happened"
    for name, act in acts.items():
        connection.close()  # opened before a server died
        scene.moments = moments[name] = []
        began = time.monotonic()
        try:
            act(scene)
            scene.notes += [f"{name} {time.monotonic() - began:.0f} s"] if IS_SMALL else []
        except Exception as error:
            error.add_note(name)
            raise
        time.sleep(CALM_S)
    done = _row(scene).games_done
    assert wait_until(lambda: _row(scene).games_done > done), "the training does not go on"
    training_run_cancel(run_id=scene.run.pk)
    assert wait_until(lambda: _row(scene).finished_at is not None), "the training does not stop"


def _mislearnt(scene: Scene) -> Iterator[str]:
    """Yield the differences, in words, from an undisturbed training of as many games."""
    run, twin = _row(scene), Scene(scene.site, learning(_row(scene).games_done))
    assert wait_until(lambda: _row(twin).finished_at is not None), "the undisturbed training does not end"
    taught, undisturbed = (
        list(one.machine.own_boxes.order_by("position").values_list("position", "beads", "visits"))
        for one in (run, _row(twin))
    )
    if run.status != "cancelled" or run.machine.n_games != run.games_done:
        yield f"the training is {run.status} after {run.games_done} games, its machine after {run.machine.n_games}"
    if not taught or taught != undisturbed or run.random_state != _row(twin).random_state:
        yield f"other beads than {run.games_done} undisturbed games teach"


def run_case(site: Site, name: str, acts: Mapping[str, Act]) -> bool:
    """Run faults during play and print the observations; return whether nothing was lost or doubled."""
    begin, scene = time.monotonic(), Scene(site)
    moments: dict[str, list[float]] = {}
    try:
        result = play(site, case_of(site), meanwhile=partial(run_acts, scene, acts, moments))
        wrong = [*result.found["faults"], *result.differences, *_mislearnt(scene)]
        for bounded in BOUNDS.keys() & acts.keys():
            scene.moments = moments[bounded]
            BOUNDS[bounded](scene, result)
    except Exception:  # report it and go on with the next fault
        seen = "; ".join(scene.notes)
        say(f"{name:32} WRONG; {seen}\n{traceback.format_exc()}\n{(site.var / 'supervisor.log').read_text()[-5000:]}")
        return False
    text = "; ".join([_summary(result), *scene.notes, f"{_row(scene).games_done:,} games learnt"])
    say(f"{name:32} {text}; {time.monotonic() - begin:.0f} s{'; WRONG' if wrong else ''}")
    for what in wrong[:10]:
        say(f"    {what}")
    return not wrong


def _summary(result: Result) -> str:
    slowest = max(result.found["milliseconds"]) / 1000
    breaks = ", ".join(f"{count} {what}" for what, count in sorted(result.found["errors"].items())) or "none"
    return f"{result.found['n_answered']} moves, the slowest {slowest:.1f} s; refusals and breaks: {breaks}"


# Program


def network_of_our_own() -> None:
    """Move this process and its children into a network of their own with a single link."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "no network of our own")
    _link("up")


@contextlib.contextmanager
def small_disk() -> Iterator[Path]:
    """Mount a file system of ``DISK_MB`` megabytes for the site's data."""
    folder = Path(tempfile.mkdtemp(prefix="beadbox-disk-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=1777", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
        folder.rmdir()


def missing_requirements() -> list[str]:
    """Return the reasons, as sentences, why the faults cannot all be tried."""
    said = []
    if shutil.which("cc") is None:
        said.append("There is no C compiler, for a clock that can be moved: apt install gcc libc6-dev.")
    if shutil.which("ip") is None:
        said.append("There is no ip, for a link that is down: apt install iproute2.")
    if os.geteuid():
        said.append("Only root may mount a small file system, and have a network of its own.")
    return said


def main(words: list[str]) -> int:
    """Run the selected faults; return the number of failures."""
    parser = argparse.ArgumentParser(prog="python -m tests.site.faults", description=__doc__)
    parser.add_argument("--only", choices=[*ACTS, *ACTS_OF_ROOT], action="append")
    options = parser.parse_args(words)
    if (said := missing_requirements()) and not IS_SMALL:
        say("\n".join(said))
        return 1
    with contextlib.ExitStack() as stack:
        faults, settings = dict(ACTS), dict[str, str]()
        if not said:
            network_of_our_own()
            disk = stack.enter_context(small_disk())
            clock, library = disk / "clock", disk / "clock.so"
            clock.write_bytes(struct.pack("l", 0))
            subprocess.run(["cc", "-shared", "-fPIC", "-O2", CLOCK, "-o", library], check=True)
            stack.callback(setattr, tempfile, "tempdir", tempfile.tempdir)
            tempfile.tempdir = str(disk)
            settings = {"LD_PRELOAD": str(library), "BEADBOX_CLOCK": str(clock)}
            faults |= {
                "the link down": take_link_down,
                "the disk full": partial(fill_disk, folder=disk),
                "the clock moved": partial(move_clock, clock=clock),
            }
        site = stack.enter_context(idle_site(**settings))
        chosen_faults = {name: faults[name] for name in options.only or faults}
        crowds = (
            {"all in one crowd": chosen_faults}
            if IS_SMALL
            else {name: {name: act} for name, act in chosen_faults.items()}
        )
        n_wrong = sum(not run_case(site, name, acts) for name, acts in crowds.items())
    if said:
        say(f"Not tried: {', '.join(ACTS_OF_ROOT)}. {' '.join(said)}")
    return n_wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
