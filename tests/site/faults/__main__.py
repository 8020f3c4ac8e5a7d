"""A whole site, and people who play on it while it is broken: nothing accepted is lost or doubled. ``make faults``.

    python -m tests.site.faults                     all of them, as root (a small file system has to be mounted)
    python -m tests.site.faults --short             those that ``make test`` does, all in one crowd
    python -m tests.site.faults --only NAME         one alone, or some

Twenty people move twice a second, and a machine learns 300,000 games meanwhile. Afterwards every move that was
answered is stored, and no other; each match that ended was counted once; the run has learnt its games, each once; all
beads have their cause. The exit status is the number of faults after which that was not so.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from menace_site import processes
from menace_site.servers import BASE_DIR
from tests.bench.live_client import Case
from tests.bench.live_load import HOUSE_MACHINE, OPPONENTS, UNBOUNDED, Result, idle_site, play, set_up_here
from tests.bench.live_site import Process, Site, our_processes, running_site
from tests.waiting import HANG_S, wait_until

N_PEOPLE = 20
N_GAMES = 300_000
CALM_S = 2.0
"""How long all is well, before and after."""
SHORT_S, LONG_S = 6.0, 25.0
"""How long something hangs: longer than anything waits for an answer, and longer than a lease."""
DISK_MB = 600
CLOCK = Path(__file__).with_name("clock.c")


def say(text: str) -> None:
    """Tell whoever waits."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


# What happens to it


def found(group: str, *, is_leader: bool | None = None) -> list[Process]:
    """Processes of the site, the busiest first: of a group of ``live_site.GROUPS``, those that lead or that are led."""
    of_group = [one for one in our_processes() if one.group == group and is_leader in {None, one.is_leader}]
    return sorted(of_group, key=lambda one: -one.cpu_s)


def send(number: signal.Signals, of: list[Process]) -> None:
    """Send all of them a signal at once."""
    for process in of:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)


def killed(group: str, *, is_leader: bool | None = None, at_most: int = 99) -> None:
    """They die, without a word, and the site has to help itself."""
    of = found(group, is_leader=is_leader)[:at_most]
    assert of, f"there is no {group}"
    send(signal.SIGKILL, of)
    time.sleep(SHORT_S)


def hung(group: str, seconds: float, *, is_leader: bool | None = None, at_most: int = 99) -> None:
    """They live, and do nothing for a while."""
    of = found(group, is_leader=is_leader)[:at_most]
    assert of, f"there is no {group}"
    send(signal.SIGSTOP, of)
    time.sleep(seconds)
    send(signal.SIGCONT, of)
    time.sleep(CALM_S)


def emptied() -> None:
    """The broker forgets everything: counts of rates, messages to workers."""
    import redis
    from django.conf import settings

    for _ in range(3):
        with redis.Redis.from_url(settings.REDIS_URL) as broker:
            broker.flushall()
        time.sleep(CALM_S)


def sessions_cut() -> None:
    """PostgreSQL ends every session that it has, as an operator may, again and again."""
    import psycopg
    from django.db import connection

    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as own:
        for _ in range(5):
            own.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
            time.sleep(CALM_S)


def cut_short(*words: str) -> None:
    """A command of ``manage.py`` is killed after less and more of its time."""
    for after_s in (1.0, 1.5, 2.0, 2.5, 3.0):
        process = processes.spawn([sys.executable, "manage.py", *words], cwd=BASE_DIR)
        time.sleep(after_s)
        send(signal.SIGKILL, [Process(process.pid, "", True, 0)])
        processes.bury(process)


def sweep_killed() -> None:
    """The sweep dies in the middle, wherever that is."""
    cut_short("shell", "--no-imports", "--command", "from learning.tasks import sweep\nwhile True: sweep()")


def backup_killed() -> None:
    """A back-up dies in the middle; what looks whole is whole."""
    with tempfile.TemporaryDirectory() as folder:
        cut_short("backup", folder)
        for dump in Path(folder).glob("*.dump"):
            sum_of = Path(f"{dump}.sha256").read_text().split()[0]
            assert hashlib.sha256(dump.read_bytes()).hexdigest() == sum_of, dump


def disk_full(folder: Path) -> None:
    """There is no byte left for a while."""
    ballast = folder / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))
    time.sleep(SHORT_S)
    ballast.unlink()
    time.sleep(SHORT_S)


def clock_moved(clock: Path) -> None:
    """It is an hour later, then an hour earlier than it was, then right again."""
    for offset_s in (3600, -3600, 0):
        with clock.open("r+b") as file:
            file.write(struct.pack("l", offset_s))
        time.sleep(SHORT_S)


ALL: dict[str, Callable[[], None]] = {
    "a web process killed": partial(killed, "web", is_leader=False, at_most=1),
    "all web processes killed": partial(killed, "web"),
    "the workers killed": partial(killed, "workers"),
    "PostgreSQL killed": partial(killed, "postgres", is_leader=True),
    "a session of PostgreSQL killed": partial(killed, "postgres", is_leader=False, at_most=1),
    "all sessions ended": sessions_cut,
    "the broker killed": partial(killed, "valkey"),
    "the broker emptied": emptied,
    "a web process hung": partial(hung, "web", SHORT_S, is_leader=False, at_most=1),
    "PostgreSQL hung": partial(hung, "postgres", SHORT_S),
    "the broker hung": partial(hung, "valkey", SHORT_S),
    "the workers hung": partial(hung, "workers", LONG_S),
    "the sweep killed": sweep_killed,
    "a back-up killed": backup_killed,
}


def short() -> None:
    """Of everything that dies or hangs one, within seconds."""
    send(signal.SIGKILL, found("web", is_leader=False)[:1])
    time.sleep(CALM_S)
    hung("valkey", CALM_S)
    send(signal.SIGKILL, found("postgres", is_leader=True))
    time.sleep(CALM_S)


# Who plays meanwhile


def case_of(site: Site, n_people: int) -> Case:
    """People who do not think for long, and give a site up that says nothing for four seconds."""
    return Case(
        port=site.port,
        n_matches=n_people,
        body={"game": "noughts-and-crosses", **OPPONENTS["menace"]},
        think_s=0.5,
        seconds=HANG_S,
        silent_s=4.0,
    )


def learning() -> Any:
    """A run that goes on meanwhile, of a machine of its own."""
    from learning.models import Machine
    from learning.services.machines import machine_create
    from learning.services.runs import Stage, training_run_start

    house = Machine.objects.get(slug=HOUSE_MACHINE)
    pupil = machine_create(game=house.game, side=house.side, name="In training", preset=house.preset)
    return training_run_start(machine=pupil.slug, stages=[Stage("random", N_GAMES)], seed=1)


def has_learnt(run: Any) -> bool:
    """Whether a run is over; with the database away nobody can tell."""
    from django.db import Error, connection

    try:
        run.refresh_from_db()
    except Error:
        connection.close()
        return False
    return run.finished_at is not None


def tried(site: Site, name: str, act: Callable[[], None], n_people: int = N_PEOPLE) -> bool:
    """Break the site in one way while people play; whether nothing was lost or doubled. Says what was seen."""
    begin = time.monotonic()

    def meanwhile() -> None:
        runs.append(learning())
        time.sleep(CALM_S)
        act()
        time.sleep(CALM_S)

    runs: list[Any] = []
    try:
        result = play(site, case_of(site, n_people), meanwhile=meanwhile)
        assert wait_until(partial(has_learnt, runs[0])), "the run does not end"
        runs[0].machine.refresh_from_db()
        wrong = [*result.found["faults"], *result.wrong]
        if runs[0].status != "finished" or runs[0].machine.n_games != N_GAMES:
            wrong.append(f"the run is {runs[0].status} after {runs[0].machine.n_games} of {N_GAMES} games")
    except Exception:  # the next fault may tell more
        say(f"{name:32} WRONG\n{traceback.format_exc()}\n{(site.var / 'supervisor.log').read_text()[-5000:]}")
        return False
    say(f"{name:32} {_told(result)}; {time.monotonic() - begin:.0f} s{'; WRONG' if wrong else ''}")
    for what in wrong[:10]:
        say(f"    {what}")
    return not wrong


def _told(result: Result) -> str:
    slowest = max(result.found["milliseconds"]) / 1000
    breaks = ", ".join(f"{count} {what}" for what, count in sorted(result.found["errors"].items())) or "none"
    return f"{result.found['n_answered']} moves, the slowest {slowest:.1f} s; refusals and breaks: {breaks}"


# The whole


@contextlib.contextmanager
def small_disk() -> Iterator[Path]:
    """A file system of so many megabytes, in which the site has its data."""
    folder = Path(tempfile.mkdtemp(prefix="beadbox-disk-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=1777", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
        folder.rmdir()


def lacking() -> list[str]:
    """What keeps these from being tried, in sentences."""
    said = []
    if os.geteuid():
        said.append("Only root may mount a small file system.")
    if shutil.which("cc") is None:
        said.append("There is no C compiler, for a clock that can be moved: apt install gcc libc6-dev.")
    return said


def main(words: list[str]) -> int:
    """Build, break, say."""
    parser = argparse.ArgumentParser(prog="python -m tests.site.faults", description=__doc__)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", choices=[*ALL, "the disk full", "the clock moved"], action="append")
    options = parser.parse_args(words)
    if options.short:
        with running_site(**UNBOUNDED) as site:
            set_up_here(site)
            return int(not tried(site, "in short", short, n_people=8))
    if said := lacking():
        say("\n".join(said))
        return 1
    with contextlib.ExitStack() as stack:
        disk = stack.enter_context(small_disk())
        clock, library = disk / "clock", disk / "clock.so"
        clock.write_bytes(struct.pack("l", 0))
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", CLOCK, "-o", library], check=True)
        stack.callback(setattr, tempfile, "tempdir", tempfile.tempdir)
        tempfile.tempdir = str(disk)
        site = stack.enter_context(idle_site(LD_PRELOAD=str(library), BEADBOX_CLOCK=str(clock)))
        faults = {**ALL, "the disk full": partial(disk_full, disk), "the clock moved": partial(clock_moved, clock)}
        return sum(not tried(site, name, faults[name]) for name in options.only or faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
