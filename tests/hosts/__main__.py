"""Several machines, for real: what docker-compose.yml describes is built, used and broken. ``make hosts``.

    python -m tests.hosts                     network namespaces and Debian's packages, as root; Docker too, if there
    python -m tests.hosts --docker            docker compose itself alone
    python -m tests.hosts --only training     one act alone
    python -m tests.hosts --release [COMMIT]  from yesterday's program to today's, while people play

Each act says what it found, or what is wrong; the exit status is the number of those that went wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from menace_site.servers import BASE_DIR
from tests.bench.live_client import Case
from tests.hosts import docker
from tests.hosts.docker import Docker
from tests.hosts.machines import PACKAGES, Machines, postgres_programs
from tests.hosts.visitor import Visitor, hear
from tests.waiting import wait_until

N_WEBS, N_WORKERS = 2, 3
WORKERS = [f"worker-{number + 1}" for number in range(N_WORKERS)]
GAME = "noughts-and-crosses"
N_GAMES = 60_000
"""Of each run: some turns of every worker."""
MIXED_S = 10
"""How long yesterday's program is on today's tables before its processes are renewed."""
FAIL_S = 10
"""The proxy's ``fail_duration``: for so long it sends nobody to a web host that it found starting."""
AWAY_S = 25
"""How long a host is away: longer than a lease."""


def say(text: str) -> None:
    """Tell whoever waits."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Play:
    """The acts, on a cluster that stands; all of them by one account."""

    def __init__(self, cluster: Machines | Docker) -> None:
        self.cluster = cluster
        self.visitor = Visitor(cluster)
        self.visitor.sign_up("teacher")
        self.ask = self.visitor.ask

    # Acts

    def match(self) -> str:
        """Two people play each other by WebSocket over TLS, a third looks on; every socket is told of every move."""
        guests = [Visitor(self.cluster) for _ in range(3)]
        code = guests[0].ask("POST", "rooms", opponent="human", game=GAME)["code"]
        seat = guests[1].ask("POST", f"rooms/{code}/join")["seat_token"]
        with (
            guests[0].room(code) as first,
            guests[1].room(code, seat_token=seat) as second,
            guests[2].room(code) as third,
        ):
            sockets = (first, second, third)
            roles = [hear(one, "joined")["role"] for one in sockets]
            assert roles == ["X", "O", None], roles
            for ply, position in enumerate((1, 4, 2, 5, 3)):
                sockets[ply % 2].send(json.dumps({"type": "move", "data": {"position": position, "ply": ply}}))
                told = []
                for one in sockets:
                    while (state := hear(one, "state"))["ply"] != ply + 1:
                        pass
                    told.append(state["board"])
                assert told[0] == told[1] == told[2], told
            assert state["outcome"]["winner"] == "X", state["outcome"]
        return "five moves, told to three sockets"

    def training(self) -> str:
        """Six machines learn on three hosts, undisturbed, then with hosts that vanish, then on one: equal beads."""
        with self._only(WORKERS[:1]):
            alone = self._trained()
        before = self._turns()
        together = self._trained()
        shares = self._shares(before)
        assert min(shares) > 0, f"a host had no turn: {shares}"
        assert together == alone, "three hosts taught other beads than one"
        disturbed = self._trained(self._vanishing)
        assert disturbed == alone, "hosts that vanished left other beads"
        return f"{len(alone)} runs of {N_GAMES} games; turns by host {shares}; equal thrice, the third time disturbed"

    def tournament(self) -> str:
        """A tournament's pairings are spread over the hosts, one of which vanishes: the same table as by one host."""
        machines = [self._machine(f"Entry {number}") for number in range(6)]
        with self._only(WORKERS[:1]):
            alone = self._tournament(machines)
        before = self._turns()
        spread = self._tournament(machines, lambda: self._away("worker-2", AWAY_S))
        shares = self._shares(before)
        assert spread == alone, "another table than of one host"
        assert sum(share > 0 for share in shares) > 1, f"one host alone had turns: {shares}"
        return f"{len(alone)} entries; turns by host {shares}; the same table"

    def web_hosts(self) -> str:
        """Matches go on while each web host vanishes, is killed and comes back; no move is lost or doubled."""
        found = self._crowd(90, lambda: self._each(("web-1", "web-2"), self._web_away))
        return self._told(found)

    def data_hosts(self) -> str:
        """The hosts of the database, the broker and the proxy are killed and start again; nothing is lost."""
        found = self._crowd(60, lambda: self._each(("redis-1", "postgres-1", "proxy-1"), self._restarted))
        return self._told(found)

    def schedulers(self) -> str:
        """A second scheduler, started by mistake, starts nothing twice."""
        self.cluster.start("beat-2")
        machine = self._machine("By the clock")
        schedule = self.ask(
            "POST", "schedules", machine=str(machine), opponent="random", games=10, every=1, period="minutes"
        )
        assert wait_until(lambda: self.ask("GET", f"schedules/{schedule['id']}")["fired"] >= 2, poll_s=1)
        self.cluster.stop("beat-2")
        runs = self.ask("GET", f"training-runs?machine={machine}")["results"]
        fired = self.ask("GET", f"schedules/{schedule['id']}")["fired"]
        minutes = {run["created_at"][:16] for run in runs}
        assert len(runs) == fired == len(minutes), (fired, [run["created_at"] for run in runs])
        house = [one for one in self.ask("GET", "tournaments")["results"] if one["owner"] is None]
        assert len(house) <= 1, house
        self.cluster.manage(
            "shell", "--command", "from learning.models import Schedule; Schedule.objects.all().delete()"
        )
        return f"{fired} moments, {len(runs)} runs"

    def release(self) -> str:
        """Yesterday's program meets today's tables, then every process is renewed in turn; people play on meanwhile."""
        assert isinstance(self.cluster, Machines)
        machine = self._machine("Through a release")
        run = self.ask("POST", "training-runs", machine=str(machine), opponent="random", games=300_000, seed=3)["id"]
        found = self._crowd(120, self._renew)
        assert wait_until(lambda: self._run(run)["status"] == "finished", poll_s=1)
        assert self.ask("GET", f"machines/{machine}")["games"] == 300_000
        return self._told(found)

    def _renew(self) -> None:
        """As the runbook says: the database first, then each process when the one before it is well."""
        self.cluster.release(BASE_DIR)
        say("            the tables are today's")
        time.sleep(MIXED_S)
        for name in ("web-1", "web-2", *WORKERS, "clerk-1", "beat-1"):
            self.cluster.stop(name)
            self.cluster.start(name)
            assert wait_until(lambda name=name: self.cluster.is_well(name), poll_s=1), name
            if name.startswith("web"):
                time.sleep(FAIL_S)

    def audit(self) -> str:
        """After all that every bead has its cause."""
        assert wait_until(lambda: not self._unfinished(), poll_s=1)
        return self.cluster.manage("audit").strip()

    # Machines

    def _machine(self, name: str) -> int:
        number: int = self.ask("POST", "machines", game=GAME, side="X", name=name)["id"]
        return number

    def _trained(self, meanwhile: Callable[[], None] = lambda: None) -> list[Any]:
        """The beads of fresh machines after runs of the same seeds."""
        machines = [self._machine(f"Pupil {number}") for number in range(2 * N_WORKERS - 1)]
        runs = [
            self.ask("POST", "training-runs", machine=str(machine), opponent="random", games=N_GAMES, seed=seed)["id"]
            for seed, machine in enumerate(machines)
        ]
        meanwhile()
        assert wait_until(lambda: all(self._run(run)["status"] == "finished" for run in runs), poll_s=1)
        beads = []
        for machine in machines:
            boxes = self.ask("GET", f"machines/{machine}/export?format=native")["boxes"]
            assert boxes, "nothing was exported"
            beads.append(sorted(json.dumps(box, sort_keys=True) for box in boxes))
        assert len({tuple(one) for one in beads}) == len(beads), "all seeds taught the same"
        return beads

    def _run(self, number: int) -> Any:
        return self.ask("GET", f"training-runs/{number}")

    def _unfinished(self) -> bool:
        runs = self.ask("GET", "training-runs")["results"]
        return any(run["status"] in {"queued", "running"} for run in runs)

    def _tournament(self, machines: list[int], meanwhile: Callable[[], None] = lambda: None) -> Any:
        entries = [str(machine) for machine in machines] + ["perfect"]
        number = self.ask("POST", "tournaments", entries=entries, games=100_000, seed=7, name="Spread")["id"]
        meanwhile()
        assert wait_until(lambda: self.ask("GET", f"tournaments/{number}")["status"] == "finished", poll_s=1)
        return self.ask("GET", f"tournaments/{number}")["standings"]

    # Hosts

    @contextlib.contextmanager
    def _only(self, workers: list[str]) -> Iterator[None]:
        others = [name for name in WORKERS if name not in workers]
        for name in others:
            self.cluster.stop(name)
        yield
        for name in others:
            self.cluster.start(name)
        assert all(wait_until(lambda name=name: self.cluster.is_well(name), poll_s=1) for name in others)

    def _turns(self) -> list[int]:
        """How often each worker host has taken a turn."""
        return [self.cluster.log(name).count("learning.tasks.jobs_work") for name in WORKERS]

    def _shares(self, before: list[int]) -> list[int]:
        return [now - then for now, then in zip(self._turns(), before, strict=True)]

    def _away(self, name: str, seconds: float) -> None:
        self.cluster.cut(name)
        time.sleep(seconds)
        self.cluster.join(name)

    def _vanishing(self) -> None:
        """The cable of one host is pulled for longer than a lease lasts, another is killed."""
        self.cluster.cut("worker-1")
        self.cluster.kill("worker-2")
        time.sleep(AWAY_S)
        self.cluster.join("worker-1")
        self.cluster.start("worker-2")

    def _each(self, names: tuple[str, ...], act: Callable[[str], None]) -> None:
        for name in names:
            time.sleep(N_WEBS)
            act(name)

    def _web_away(self, name: str) -> None:
        self._away(name, AWAY_S / 2)
        time.sleep(N_WEBS)
        self._restarted(name)
        assert wait_until(lambda: self.cluster.is_well(name), poll_s=1)

    def _restarted(self, name: str) -> None:
        self.cluster.kill(name)
        time.sleep(N_WEBS)
        self.cluster.start(name)

    # People

    def _crowd(self, seconds: float, meanwhile: Callable[[], None]) -> dict[str, Any]:
        """What people find who play while something happens."""
        host, port = self.cluster.endpoint
        case = Case(
            port=port,
            host=host,
            site=self.cluster.site,
            authority=str(self.cluster.authority),
            n_matches=20,
            body={"game": GAME, "opponent": "menace", "side": "X"},
            think_s=0.5,
            seconds=seconds,
            silent_s=4.0,
        )
        command = [sys.executable, "-m", "tests.bench.live_client"]
        client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert client.stdin is not None
        assert client.stdout is not None
        json.dump(asdict(case), client.stdin)
        client.stdin.close()
        assert client.stdout.readline() == "begin\n"
        meanwhile()  # in this thread, with which whatever it starts would die
        assert client.stdout.readline() == "end\n"
        found: dict[str, Any] = json.load(client.stdout)
        assert client.wait() == 0
        assert not found["faults"], found["faults"]
        return found

    def _told(self, found: dict[str, Any]) -> str:
        slowest = max(found["milliseconds"]) / 1000
        audit = self.cluster.manage("audit").strip()
        return (
            f"{found['n_answered']} moves, the slowest answered after {slowest:.1f} s; "
            f"refusals and breaks {found['errors']}; none lost; {audit}"
        )


ACTS = ("match", "training", "tournament", "schedulers", "web_hosts", "data_hosts", "audit")


def lacking() -> list[str]:
    """What keeps this machine from being several, in sentences."""
    said = []
    if os.geteuid():
        said.append("Only root may make network namespaces.")
    if missing := sorted({package for program, package in PACKAGES.items() if shutil.which(program) is None}):
        said.append(f"There is no {', no '.join(missing)}: apt install them.")
    if not postgres_programs():
        said.append("There is no PostgreSQL of Debian's: apt install postgresql.")
    return said


def main(words: list[str]) -> int:
    """Build, play, say."""
    parser = argparse.ArgumentParser(prog="python -m tests.hosts", description=__doc__)
    parser.add_argument("--docker", action="store_true")
    parser.add_argument("--only", choices=ACTS, action="append")
    parser.add_argument("--release", nargs="?", const="", metavar="COMMIT", help="a release without a gap, from COMMIT")
    options = parser.parse_args(words)
    if options.release is not None:
        with yesterday(options.release) as code:
            return perform(Machines(N_WEBS, N_WORKERS, code), ["release", "audit"])
    if not options.docker and (said := lacking()):
        say("\n".join(said))
        return 1
    acts = options.only or ACTS
    n_wrong = 0 if options.docker else perform(Machines(N_WEBS, N_WORKERS), acts)
    if options.docker or docker.is_there():
        say("the same with docker compose")
        n_wrong += perform(Docker(N_WEBS, N_WORKERS), acts)
    else:
        say("There is no Docker that answers: docker compose itself was not tried.")
    return n_wrong


def perform(built: Machines | Docker, acts: Sequence[str]) -> int:
    """Build it and play the acts; how many went wrong."""
    n_wrong, began = 0, time.monotonic()
    with built as cluster:
        assert wait_until(
            lambda: all(cluster.is_well(name) for name in (*WORKERS, "web-1", "web-2", "beat-1")), poll_s=1
        )
        assert wait_until(cluster.authority.exists, poll_s=1)
        play = Play(cluster)
        say(f"{N_WEBS} web hosts, {N_WORKERS} worker hosts, after {time.monotonic() - began:.0f} s")
        for act in acts:
            began = time.monotonic()
            try:
                said = getattr(play, act)()
            except Exception:  # the next act may tell more
                n_wrong, said = n_wrong + 1, f"WRONG\n{traceback.format_exc()}"
            say(f"{act:11} {time.monotonic() - began:4.0f} s  {said}")
    return n_wrong


@contextlib.contextmanager
def yesterday(commit: str) -> Iterator[Path]:
    """A folder with the program of a commit: without one the last before which the tables were others."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], check=True, cwd=BASE_DIR, capture_output=True, text=True).stdout.strip()

    changed = git("log", "-1", "--format=%H", "--diff-filter=A", "--", "*/migrations/*.py")
    commit = commit or f"{changed}~1"
    folder = Path(tempfile.mkdtemp(prefix="beadbox-yesterday-", dir="/var/tmp"))
    git("worktree", "add", "--detach", str(folder), commit)
    say(f"yesterday: {git('log', '-1', '--format=%h %cs %s', commit)}")
    try:
        yield folder
    finally:
        git("worktree", "remove", "--force", str(folder))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
