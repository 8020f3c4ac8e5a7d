"""The services of docker-compose.yml on several hosts, built, used and broken. ``make hosts``.

    python -m tests.hosts                     network namespaces and Debian's packages, as root; Docker too, if there
    python -m tests.hosts --docker            docker compose alone
    python -m tests.hosts --only training     one act alone
    SMALL=1 python -m tests.hosts             all acts in their shortest form, as in make soak
    python -m tests.hosts --release [COMMIT]  an upgrade from an older commit to this one during play

Each act prints its result or its error; the exit status is the number of failed acts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from menace_site.local.servers import BASE_DIR
from tests.bench.live_client import Case
from tests.bench.live_load import play_during, set_up_with, totals, wrong_rows
from tests.hosts import docker
from tests.hosts.docker import Docker
from tests.hosts.machines import PACKAGES, Machines, postgres_programs
from tests.hosts.visitor import Visitor, hear
from tests.prober import Prober
from tests.sizes import IS_SMALL, sized
from tests.waiting import HANG_S, wait_until

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from learning.models import Job, Tournament

N_WEBS, N_WORKERS = 2, 3
WEBS = ("web-1", "web-2")
WORKERS = [f"worker-{number + 1}" for number in range(N_WORKERS)]
GAME = "noughts-and-crosses"
N_GAMES = sized(60_000_000, 5_000_000)
"""Games of each run: enough for many time slices of every worker, and to last while a host is away."""
BROKEN_WEBS = sized(WEBS, WEBS[:1])
"""The web hosts that are broken in turn."""
ENDLESS, N_ENDLESS = 1_000_000_000, 5
"""Games and number of runs that are cancelled before their end; the number is an account's limit.

One run alone could end within 80 s, sooner than a release.
"""
SCHEDULERS = ("beat-1", "beat-2")
HEALTHY_FIRST = (*WORKERS, *WEBS, "beat-1", "clerk-1", "proxy-1")
"""Hosts that must be healthy before an act begins; they wait for the others themselves."""
HOLD, FIRE = "learning.beat.house_tournament_hold", "learning.beat.schedule_fire"
"""Tasks that schedulers send: for the built-in tournament, and for a schedule."""
MIXED_S = sized(10, 1)
"""Seconds for which the old code runs on the new tables before its processes are replaced."""
HEAD_S, BODY_S = 10.0, 300.0
"""The proxy's limits ``read_header`` and ``read_body``, in seconds."""
PING_EVERY_S = 1.0
HELD_S = sized(610, 3)
"""Seconds for which a WebSocket is held open: longer than every limit of the proxy."""
ANSWERED_S = 3.0
"""Maximum seconds until an answer, be it the fallback page."""
FAIL_S = 10
"""The proxy's ``fail_duration``: seconds without requests to a web host that was still starting."""
AWAY_S = sized(12.5, 2.0)
"""Seconds for which a host is cut off: longer than its connections are kept."""
ARRIVED_S = 1.0
"""Seconds after which data that a host sent before the cut is stored."""
N_FIRED = sized(2, 1)
"""Number of times that a schedule comes due, once a minute, under two schedulers."""
BACK_S = 2.0
"""Maximum seconds for which a release may interrupt a player's socket."""


def print_now(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Acts:
    """The acts on a running cluster, all by one account."""

    def __init__(self, cluster: Machines | Docker) -> None:
        self.cluster = cluster
        self.visitor = Visitor(cluster)
        self.of_yesterday: dict[str, int] = {}
        """Length of each host's log, in characters, that the old code wrote."""
        self.visitor.sign_up("teacher")
        self.ask = self.visitor.ask

    # Acts

    def match(self) -> str:
        """Two people play by WebSocket over TLS and a third watches; every socket receives every move."""
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
                boards = []
                for one in sockets:
                    while (state := hear(one, "state"))["ply"] != ply + 1:
                        pass
                    boards.append(state["board"])
                assert boards[0] == boards[1] == boards[2], boards
            assert state["outcome"]["winner"] == "X", state["outcome"]
        return "five moves, told to three sockets"

    def training(self) -> str:
        """Check that machines get equal beads on three hosts, undisturbed or with vanishing hosts, and on one host."""
        self._finished_house_tournaments()
        before = self._time_slices("runs")
        together = self._train_machines()
        shares = self._new_time_slices("runs", before)
        disturbed = self._train_machines(self._lose_hosts_with_runs)
        assert disturbed == together, "hosts that vanished left other beads"
        if not IS_SMALL:
            assert min(shares) > 0, f"a host had no turn: {shares}"
            with self._only_workers(WORKERS[:1]):
                assert self._train_machines() == together, "three hosts taught other beads than one"
        return f"{len(together)} runs of {N_GAMES} games; turns by host {shares}; equal beads each time"

    def tournament(self) -> str:
        """Spread a tournament's pairings over the hosts, cut one off, and compare the table with that of one host."""
        machines = [self._make_machine(f"Entry {number}") for number in range(6)]
        with self._only_workers(WORKERS[: sized(1, N_WORKERS)]):
            undisturbed = self._tournament(machines)
        before = self._time_slices("pairings")
        spread = self._tournament(machines, self._lose_host_with_pairing)
        shares = self._new_time_slices("pairings", before)
        assert spread == undisturbed, "another table than that of the undisturbed tournament"
        assert IS_SMALL or sum(share > 0 for share in shares) > 1, f"one host alone had turns: {shares}"
        return f"{len(spread)} entries; turns by host {shares}; the same table"

    def web_hosts(self) -> str:
        """Cut off, kill and restart each web host during matches; no move may be lost or doubled."""
        summary = self._summary(self._play_during(lambda: self._break_each(BROKEN_WEBS, self._cut_kill_restart)))
        self._check_without_web_hosts()
        self._check_incomplete_requests()
        return summary

    def _check_incomplete_requests(self) -> None:
        """Check that the proxy closes connections with incomplete requests."""
        ways = (
            self.visitor.send_half_request,
            self.visitor.connect_without_tls,
            self.visitor.send_half_request_without_tls,
        )
        for sent in ways[: sized(len(ways), 1)]:
            began = time.monotonic()
            with sent() as came:
                came.settimeout(HANG_S)
                with contextlib.suppress(ConnectionError, ssl.SSLError):
                    while came.recv(4096):
                        pass
            took_s = time.monotonic() - began
            assert IS_SMALL or HEAD_S - 1 <= took_s <= HEAD_S + 5, f"{sent.__name__}: given up after {took_s:.1f} s"

    def limits(self) -> str:
        """Check the proxy's limits on large requests and slow bodies, and that a WebSocket outlives all of them."""
        head = f"POST /api/rooms HTTP/1.1\r\nHost: {self.cluster.site}\r\n"
        for more, status in (("Content-Length: 4000000", "413"), (f"X-Large: {'x' * 80_000}", "431")):
            with self.visitor.send_part(f"{head}{more}\r\n\r\n".encode()) as came:
                came.settimeout(HANG_S)
                assert came.recv(4096).startswith(f"HTTP/1.1 {status} ".encode()), status
        guest = Visitor(self.cluster)
        code = guest.ask("POST", "rooms", opponent="human", game=GAME)["code"]
        began, cut_s = time.monotonic(), 0.0
        with (
            guest.room(code) as room,
            self.visitor.send_part(f"{head}Content-Length: 1000000\r\n\r\n".encode()) as dripping,
        ):
            while time.monotonic() < began + HELD_S:
                room.send(json.dumps({"type": "ping"}))
                hear(room, "pong")
                time.sleep(PING_EVERY_S)
                try:
                    dripping.sendall(b" ")
                except OSError:
                    cut_s = cut_s or time.monotonic() - began
        assert IS_SMALL or BODY_S <= cut_s <= BODY_S + 15, f"a body that drips was cut after {cut_s:.0f} s"
        return f"a WebSocket held for {HELD_S} s; a body that drips was cut after {cut_s:.0f} s"

    def _check_without_web_hosts(self) -> None:
        """Check that without web hosts people get a page that reloads itself, and programs the API's refusal."""
        browser, at = self.visitor.browser, self.visitor.at
        for name in WEBS:
            self.cluster.kill(name)
        began = time.monotonic()
        page = browser.get(at, headers={"Accept": "text/html"}, timeout=HANG_S)
        took_s = time.monotonic() - began
        refused = browser.get(f"{at}/api/health", timeout=HANG_S)
        form = browser.post(at, headers={"Accept": "text/html"}, timeout=HANG_S)
        assert ("A short pause" in form.text, "http-equiv" in form.text) == (True, False), form.text
        for answer in (page, form, refused):
            assert (answer.status_code, answer.headers["X-Content-Type-Options"]) == (503, "nosniff"), answer.headers
        assert page.headers["Content-Type"].startswith("text/html"), page.headers
        assert 'http-equiv="refresh"' in page.text, page.text
        assert refused.json()["code"] == "unavailable", refused.text
        assert IS_SMALL or took_s <= ANSWERED_S, f"without a web host, an answer came after {took_s:.1f} s"
        for name in WEBS:
            self.cluster.start(name)
        assert all(wait_until(lambda name=name: self.cluster.is_listening(name), poll_s=1) for name in WEBS)

    def data_hosts(self) -> str:
        """Cut off, kill and restart each single host: broker, database, maintenance worker and proxy."""
        names = ("redis-1", "postgres-1", "clerk-1", "proxy-1")
        return self._summary(self._play_during(lambda: self._break_each(names, self._cut_kill_restart)))

    def schedulers(self) -> str:
        """Check that a second scheduler, started by mistake, starts no job twice, though both send every task."""
        from learning.models import Schedule

        self.cluster.start("beat-2")
        houses = self._finished_house_tournaments()
        machine = self._make_machine("By the clock")
        with self._scheduler_tasks() as heard:
            assert wait_until(lambda: min(heard(HOLD)) > 0, poll_s=1), "one of two says nothing"
            houses.delete()  # so that it is begun again under two schedulers
            held = heard(HOLD)
            schedule = self.ask(
                "POST", "schedules", machine=str(machine), opponent="random", games=10, every=1, period="minutes"
            )["id"]
            assert wait_until(lambda: self.ask("GET", f"schedules/{schedule}")["fired"] >= N_FIRED, poll_s=1)
            assert wait_until(lambda: min(heard(FIRE)) >= N_FIRED, poll_s=1), "one of two has not knocked"
            assert wait_until(
                lambda: houses.exists() and all(now >= then + 2 for now, then in zip(heard(HOLD), held, strict=True)),
                poll_s=1,
            )
            knocks = heard(FIRE)
        self.cluster.stop("beat-2")
        runs = self.ask("GET", f"training-runs?machine={machine}")["results"]
        fired = self.ask("GET", f"schedules/{schedule}")["fired"]
        minutes = {run["created_at"][:16] for run in runs}
        assert len(runs) == fired == len(minutes), (fired, [run["created_at"] for run in runs])
        assert houses.count() == 1, list(houses)
        Schedule.objects.all().delete()
        return f"{fired} moments, knocked for {knocks} times, {len(runs)} runs; one tournament of the house"

    @contextlib.contextmanager
    def _scheduler_tasks(self) -> Iterator[Callable[[str], list[int]]]:
        """Count the tasks that each scheduler sends, from the broker's monitor: their logs name no task."""
        import redis

        addresses = [self.cluster.address_of(name) for name in SCHEDULERS]
        sent: Counter[tuple[str, str]] = Counter()
        is_over = threading.Event()

        def listen() -> None:
            with redis.Redis(self.cluster.address_of("redis-1")).monitor() as monitor:
                for said in monitor.listen():
                    if is_over.is_set():
                        return
                    if said["command"].upper().startswith("LPUSH"):
                        sent.update((said["client_address"], task) for task in (HOLD, FIRE) if task in said["command"])

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield lambda task: [sent[where, task] for where in addresses]
        finally:
            is_over.set()
            thread.join()

    def release(self) -> str:
        """Run the old code on the new tables, then replace every process in turn, all during play."""
        assert isinstance(self.cluster, Machines)
        host, port = self.cluster.endpoint
        asked = Prober(host, port, self.cluster.site, str(self.cluster.authority))

        def replace_during_play() -> None:
            # Machines made now are not among those whose lessons must all be of matches.
            machines.extend(self._make_machine(f"Through a release {number}") for number in range(N_ENDLESS))
            begun.extend(self._run_start(machine, ENDLESS, seed) for seed, machine in enumerate(machines))
            with asked:
                self._replace_processes()
            assert self._read_run(begun[0])["status"] == "running", "the run was over before everything was renewed"
            for run in begun:
                self._stop_run(run)

        machines: list[int] = []
        begun: list[int] = []
        found = self._play_during(replace_during_play)
        alone = self._make_machine("Undisturbed")
        n_games = self._read_run(begun[0])["games_done"]
        undisturbed = self._run_start(alone, n_games, seed=0)
        assert wait_until(lambda: self._is_finished(undisturbed), poll_s=1)
        assert self.ask("GET", f"machines/{machines[0]}")["games"] == n_games
        assert self._beads(machines[0]) == self._beads(alone), "a release left other beads"
        text = f"{self._summary(found)}; {n_games:,} games learnt, asked beside: {dict(asked.statuses)}"
        assert not asked.faults, f"{asked.faults[:5]}; {text}"
        assert found["away_s"], f"no socket broke; {text}"
        assert IS_SMALL or max(found["away_s"]) <= BACK_S, f"a socket was away for {max(found['away_s']):.1f} s; {text}"
        return text

    def _replace_processes(self) -> None:
        """Follow the runbook: migrate the database, then replace each process once the previous one is healthy."""
        self.cluster.release(BASE_DIR)
        print_now("            the tables are today's")
        time.sleep(MIXED_S)
        for name in (*WEBS, *WORKERS, "clerk-1", "beat-1"):
            self.cluster.stop(name)
            self.cluster.start(name)
            assert wait_until(lambda name=name: self.cluster.is_healthy(name), poll_s=1), name
            if name.startswith("web"):
                time.sleep(FAIL_S)
            self.of_yesterday[name] = len(self.cluster.log(name))

    def audit(self) -> str:
        """Check that every bead still has its cause."""
        assert wait_until(lambda: not self._unfinished(), poll_s=1)
        for name in (*WEBS, *WORKERS, "clerk-1"):
            said = self.cluster.log(name)[self.of_yesterday.get(name, 0) :]
            assert "ProgrammingError" not in said, f"{name} asks the database what it does not know"
        return self.cluster.manage("audit").strip()

    # Machines

    def _make_machine(self, name: str) -> int:
        number: int = self.ask("POST", "machines", game=GAME, side="X", name=name)["id"]
        return number

    def _train_machines(self, meanwhile: Callable[[], None] = lambda: None) -> list[Any]:
        """Train fresh machines by runs with fixed seeds and return their beads."""
        machines = [self._make_machine(f"Pupil {number}") for number in range(sized(2 * N_WORKERS - 1, N_WORKERS))]
        runs = [self._run_start(machine, N_GAMES, seed) for seed, machine in enumerate(machines)]
        meanwhile()
        assert wait_until(lambda: all(self._is_finished(run) for run in runs), poll_s=1)
        beads = [self._beads(machine) for machine in machines]
        assert len({tuple(one) for one in beads}) == len(beads), "all seeds taught the same"
        return beads

    def _beads(self, machine: int) -> list[str]:
        boxes = self.ask("GET", f"machines/{machine}/export?format=native")["boxes"]
        assert boxes, "nothing was exported"
        return sorted(json.dumps(box, sort_keys=True) for box in boxes)

    def _run_start(self, machine: int, n_games: int, seed: int) -> int:
        number: int = self.ask(
            "POST", "training-runs", machine=str(machine), opponent="random", games=n_games, seed=seed
        )["id"]
        return number

    def _is_finished(self, run: int) -> bool:
        return bool(self._read_run(run)["status"] == "finished")

    def _stop_run(self, run: int) -> None:
        """Cancel a run and wait until it has stopped."""
        self.ask("POST", f"training-runs/{run}/cancel")
        assert wait_until(lambda: self._read_run(run)["status"] == "cancelled", poll_s=1)

    def _read_run(self, number: int) -> Any:
        return self.ask("GET", f"training-runs/{number}")

    def _unfinished(self) -> bool:
        runs = self.ask("GET", "training-runs")["results"]
        return any(run["status"] in {"queued", "running"} for run in runs)

    def _tournament(self, machines: list[int], meanwhile: Callable[[], None] = lambda: None) -> Any:
        entries = [str(machine) for machine in machines] + ["perfect"]
        number = self.ask("POST", "tournaments", entries=entries, games=1_000_000, seed=7, name="Spread")["id"]
        meanwhile()
        assert wait_until(lambda: self.ask("GET", f"tournaments/{number}")["status"] == "finished", poll_s=1)
        return self.ask("GET", f"tournaments/{number}")["standings"]

    # Hosts

    @contextlib.contextmanager
    def _only_workers(self, workers: list[str]) -> Iterator[None]:
        others = [name for name in WORKERS if name not in workers]
        for name in others:
            self.cluster.stop(name)
        yield
        for name in others:
            self.cluster.start(name)
        assert all(wait_until(lambda name=name: self.cluster.is_healthy(name), poll_s=1) for name in others)

    def _time_slices(self, kind: str) -> list[float]:
        """Return, for each worker host, the time slices of a kind with a job since its start."""
        return [self.cluster.figure(name, f'beadbox_turns_total{{kind="{kind}"}}') for name in WORKERS]

    def _new_time_slices(self, kind: str, before: list[float]) -> list[int]:
        return [int(now - then) for now, then in zip(self._time_slices(kind), before, strict=True)]

    def _cut_for_a_while(self, name: str) -> None:
        self.cluster.cut(name)
        time.sleep(AWAY_S)
        assert not self.cluster.is_reachable(name), f"{name} is not away"
        self.cluster.join(name)
        assert wait_until(lambda: self.cluster.is_reachable(name)), f"{name} is not back"

    def _lose_hosts_with_runs(self) -> None:
        """Kill one host during a run and cut off another during a run; other hosts must resume both runs.

        The small form kills one host.
        """
        from learning.models import TrainingRun

        left = [self._lose_host(TrainingRun, "worker-2", self.cluster.kill, self.cluster.start)]
        if not IS_SMALL:
            left.append(self._lose_host(TrainingRun, "worker-1", self.cluster.cut, self.cluster.join))
        assert wait_until(lambda: all(self._is_taken_over(one) for one in left)), "nobody took a run up"
        if not IS_SMALL:
            self._rejoin("worker-1")
        self.cluster.start("worker-2")
        assert wait_until(lambda: self.cluster.is_healthy("worker-2"), poll_s=1)

    def _lose_host_with_pairing(self) -> None:
        """Cut off a host during a pairing; another host must resume it."""
        from learning.models import Pairing

        left = self._lose_host(Pairing, "worker-2", self.cluster.cut, self.cluster.join)
        assert wait_until(lambda: self._is_taken_over(left)), "nobody took a pairing up"
        self._rejoin("worker-2")

    def _rejoin(self, name: str) -> None:
        """Connect a worker's host again.

        Celery 5.7 can lose the only slot of a worker whose job fails while the broker is away for more than 43 s. A
        slow machine takes that long, so the small form restarts the worker (docs/operating.md, "On a bad day").
        """
        self.cluster.join(name)
        if IS_SMALL:
            self.cluster.kill(name)
            self.cluster.start(name)
            assert wait_until(lambda: self.cluster.is_healthy(name), poll_s=1)

    def _lose_host(self, kind: type[Job], name: str, act: Callable[[str], None], undo: Callable[[str], None]) -> Job:
        """Break a host while it has a job; return the job with the lease that is lost."""
        waiting = kind._default_manager.filter(status__in=("queued", "running"))
        while True:
            assert wait_until(lambda: self._job_of(kind, name) is not None or not waiting.exists(), poll_s=0.01)
            assert waiting.exists(), f"all was over before {name} was lost with a job"
            act(name)
            time.sleep(ARRIVED_S)
            if (job := self._job_of(kind, name)) is not None:
                return job
            undo(name)  # the host had just released its job
            assert wait_until(lambda: self.cluster.is_healthy(name), poll_s=1)

    def _job_of(self, kind: type[Job], name: str) -> Job | None:
        """Return a job leased by a host."""
        held = {"status": "running", "leased_by__startswith": f"{self.cluster.hostname(name)} "}
        return kind._default_manager.filter(**held).first()

    def _is_taken_over(self, lost: Job) -> bool:
        """Whether another worker has taken over a lost job; it must not do so before the lease ends."""
        assert lost.lease_until is not None
        job = type(lost)._default_manager.get(pk=lost.pk)
        is_taken = job.leased_by != lost.leased_by
        assert not is_taken or datetime.now(UTC) > lost.lease_until, f"{job} was taken up too early"
        return is_taken

    def _break_each(self, names: tuple[str, ...], act: Callable[[str], None]) -> None:
        for name in names:
            time.sleep(N_WEBS)
            act(name)

    def _cut_kill_restart(self, name: str) -> None:
        self._cut_for_a_while(name)
        time.sleep(N_WEBS)
        self.cluster.kill(name)
        time.sleep(N_WEBS)
        assert not self.cluster.is_listening(name), f"{name} was not killed"
        self.cluster.start(name)
        assert wait_until(lambda: self.cluster.is_listening(name), poll_s=1)

    # People

    def _play_during(self, meanwhile: Callable[[], None]) -> dict[str, Any]:
        """Let people play until ``meanwhile`` returns, compare stored rows with their frames, return the results."""
        from django.db import connection

        host, port = self.cluster.endpoint
        case = Case(
            port=port,
            host=host,
            site=self.cluster.site,
            authority=str(self.cluster.authority),
            n_matches=20,
            body={"game": GAME, "opponent": "menace", "side": "X"},
            think_s=0.5,
            seconds=HANG_S,
            silent_s=4.0,
        )
        assert wait_until(self._is_idle, poll_s=1), "the house does not come to rest"
        before = totals()
        found = play_during(case, meanwhile)
        assert not found["faults"], found["faults"]
        connection.close()  # opened before a host was away
        wrong = wrong_rows(found["rooms"], before)
        assert not wrong, wrong[:10]
        return found

    def _finished_house_tournaments(self) -> QuerySet[Tournament]:
        """Wait for the end of the built-in tournament: its pairings compete with ours for time slices."""
        from learning.models import Tournament

        houses = Tournament.objects.filter(owner=None)
        assert wait_until(houses.filter(status="finished").exists, poll_s=1)
        return houses

    def _is_idle(self) -> bool:
        """Whether no run is unfinished and the built-in machines are trained: from now on only matches teach."""
        from learning.models import Tournament, TrainingRun

        is_learning = TrainingRun.objects.filter(finished_at=None).exists()
        return Tournament.objects.filter(owner=None).exists() and not is_learning

    def _summary(self, found: dict[str, Any]) -> str:
        slowest, away_s = max(found["milliseconds"]) / 1000, max(found["away_s"], default=0)
        return (
            f"{found['n_answered']} moves, the slowest answered after {slowest:.1f} s; sockets away for {away_s:.1f} s "
            f"at most; refusals and breaks {found['errors']}; none lost, none doubled"
        )


ACTS = ("match", "training", "tournament", "schedulers", "limits", "web_hosts", "data_hosts", "audit")


def missing_requirements() -> list[str]:
    """Return the reasons, as sentences, why this machine cannot run the hosts."""
    said = []
    if missing := sorted({package for program, package in PACKAGES.items() if shutil.which(program) is None}):
        said.append(f"There is no {', no '.join(missing)}: apt install them.")
    if not postgres_programs():
        said.append("There is no PostgreSQL of Debian's: apt install postgresql.")
    if os.geteuid():
        said.append("Only root may make network namespaces.")
    return said


def main(words: list[str]) -> int:
    """Run the acts that the command line selects; return the number of failed acts."""
    parser = argparse.ArgumentParser(prog="python -m tests.hosts", description=__doc__)
    parser.add_argument("--docker", action="store_true")
    parser.add_argument("--only", choices=ACTS, action="append")
    parser.add_argument("--release", nargs="?", const="", metavar="COMMIT", help="a release without a gap, from COMMIT")
    options = parser.parse_args(words)
    if options.release is not None:
        with older_code(options.release) as code:
            return perform(Machines(N_WEBS, N_WORKERS, code), ["release", "audit"])
    if not options.docker and (said := missing_requirements()):
        print_now("\n".join(said))
        return 1
    acts = options.only or ACTS
    n_wrong = 0 if options.docker else perform(Machines(N_WEBS, N_WORKERS), acts)
    if options.docker or docker.is_available():
        print_now("the same with docker compose")
        n_wrong += perform(Docker(N_WEBS, N_WORKERS), acts)
    else:
        print_now("There is no Docker that answers: docker compose itself was not tried.")
    return n_wrong


def perform(built: Machines | Docker, acts: Sequence[str]) -> int:
    """Build the cluster, run the acts and print their results; return the number of failed acts."""
    n_wrong, began = 0, time.monotonic()
    with built as cluster, tempfile.TemporaryDirectory() as here:
        assert wait_until(lambda: all(cluster.is_healthy(name) for name in HEALTHY_FIRST), poll_s=1)
        assert wait_until(cluster.authority.exists, poll_s=1)
        set_up_with(BEADBOX_VAR=here, DATABASE_URL=cluster.database)
        play = Acts(cluster)
        print_now(f"{N_WEBS} web hosts, {N_WORKERS} worker hosts, after {time.monotonic() - began:.0f} s")
        for act in acts:
            began = time.monotonic()
            try:
                said = getattr(play, act)()
            except Exception:  # report it and go on with the next act
                n_wrong, said = n_wrong + 1, f"WRONG\n{traceback.format_exc()}"
            print_now(f"{act:11} {time.monotonic() - began:4.0f} s  {said}")
    return n_wrong


@contextlib.contextmanager
def older_code(commit: str) -> Iterator[Path]:
    """Yield a folder with the code of a commit, by default the last commit before the latest migration."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], check=True, cwd=BASE_DIR, capture_output=True, text=True).stdout.strip()

    changed = git("log", "-1", "--format=%H", "--diff-filter=A", "--", "*/migrations/*.py")
    commit = commit or f"{changed}~1"
    folder = Path(tempfile.mkdtemp(prefix="beadbox-yesterday-", dir="/var/tmp"))
    git("worktree", "add", "--detach", str(folder), commit)
    print_now(f"yesterday: {git('log', '-1', '--format=%h %cs %s', commit)}")
    try:
        yield folder
    finally:
        git("worktree", "remove", "--force", str(folder))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
