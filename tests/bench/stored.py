"""Benchmarks of the whole site: a run with its boxes, a live move over a socket, the bytes of the match page.

PostgreSQL and Valkey write durably, as with ``make run``.
"""

from __future__ import annotations

import atexit
import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import socket
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin

from tests.bench.figures import Figure, spread
from tests.bench.prepared import prepare
from tests.sizes import sized
from tests.waiting import HANG_S, wait_until

N_RUNS = sized(7, 1)
N_MATCHES = sized(60, 1)


@cache
def site() -> str:
    """Start database, Valkey and web server once for all benchmarks of this module; return the site's address."""
    var = Path(tempfile.mkdtemp(prefix="beadbox-bench-"))
    os.environ.update(BEADBOX_VAR=str(var), BEADBOX_LOCAL="1", BEADBOX_DB_POOL="1")
    os.environ["DJANGO_SETTINGS_MODULE"] = "menace_site.settings"
    running = contextlib.ExitStack()
    atexit.register(running.close)
    running.callback(shutil.rmtree, var, ignore_errors=True)

    from menace_site.local import processes, servers

    prepare(var)
    missing = {"database": not os.environ.get("DATABASE_URL"), "redis": not os.environ.get("REDIS_URL")}
    running.enter_context(servers.private_servers(var, **missing, is_durable=True))

    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    call_command("warm_kernels")
    call_command("pretrain", stdout=open(os.devnull, "w"))  # noqa: SIM115  # closed with the process

    # A separate process, as in production. In one process, client and server would contend for the interpreter lock.
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port = chosen.getsockname()[1]
    arguments = f"uvicorn menace_site.asgi:application --port {port} --lifespan on --log-level warning"
    server = processes.spawn([sys.executable, "-m", *arguments.split()], env=dict(os.environ))
    running.callback(processes.stop, {server: signal.SIGTERM})
    address = f"http://localhost:{port}"
    assert wait_until(lambda: _answers(f"{address}/api/health")), "the site does not answer"
    return address


def _answers(url: str) -> bool:
    try:
        _fetch(url)
    except OSError:
        return False
    return True


def fifty_thousand_games() -> Iterator[Figure]:
    """Time the run of ``manage.py train``: load 304 boxes, play 50,000 games, store boxes, ledger and random state."""
    site()
    from learning.services.runs import Stage, training_run_start
    from learning.workers.runs import RUNS, run_execute

    seconds = []
    for seed in range(N_RUNS):
        begin = time.perf_counter()
        run = training_run_start(machine="menace-first", stages=[Stage("random", 50_000)], seed=seed, enqueue=False)
        claimed = RUNS.claim(run.pk)
        assert claimed is not None
        assert run_execute(claimed).games_done == 50_000
        seconds.append(time.perf_counter() - begin)
    yield Figure(
        "50,000 games, with loading and storing boxes",
        f"{spread(seconds, '{:.3f}')} s",
        "< 0.5 s",
        statistics.median(seconds) < 0.5,
    )


def api_run() -> Iterator[Figure]:
    """Time a run from the API call to the last stored box, with a real web server and an idle worker."""
    address = site()
    from menace_site.celery import app
    from menace_site.local import processes

    arguments = "-W ignore -m celery --quiet --app menace_site.celery worker --loglevel warning"
    worker = processes.spawn([sys.executable, *arguments.split()], env=dict(os.environ))
    try:
        assert wait_until(lambda: bool(app.control.ping(timeout=0.5))), "no worker answers"
        machine, token = _machine_and_token()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        for _ in range(sized(8, 1)):  # Each process of the pool imports and compiles its code.
            _run_by_api(address, headers, machine, 1000)
        for games, target_s in ((50_000, 0.5), (1_000_000, 1.0)):
            seconds = [_run_by_api(address, headers, machine, games) for _ in range(N_RUNS)]
            yield Figure(
                f"{games:,} games, from the API call to the last stored box",
                f"{spread(seconds, '{:.3f}')} s",
                f"< {target_s} s",
                statistics.median(seconds) < target_s,
            )
    finally:
        processes.stop({worker: signal.SIGTERM})


def _machine_and_token() -> tuple[str, str]:
    """Create a machine like the built-in MENACE; return its slug and a token of its owner."""
    from django.contrib.auth import get_user_model

    from games.accounts.tokens import token_make
    from learning.models import Machine
    from learning.services.machines import machine_create

    house = Machine.objects.get(slug="menace-first")
    # Staff may start more runs an hour.
    owner = get_user_model().objects.create_user(f"bench-{time.time_ns()}", is_staff=True)
    machine = machine_create(game=house.game, side=house.side, preset=house.preset, name="Benchmark", owner=owner)
    return machine.slug, token_make(user=owner, name="bench", scopes=("train",), lifetime=None)[1]


def _run_by_api(address: str, headers: dict[str, str], machine: str, games: int) -> float:
    """Return the seconds of a run requested over HTTP, until the database shows it as stored."""
    from learning.models import TrainingRun

    body = json.dumps({"machine": machine, "opponent": "random", "games": games}).encode()
    request = urllib.request.Request(f"{address}/api/training-runs", body, headers)
    begin = time.perf_counter()
    with urllib.request.urlopen(request) as response:  # our own server
        run_id = json.load(response)["id"]
    while TrainingRun.objects.filter(pk=run_id, finished_at__isnull=True).exists():
        time.sleep(0.002)
    seconds = time.perf_counter() - begin
    run = TrainingRun.objects.get(pk=run_id)
    assert run.games_done == games, f"the run is {run.status}: {run.error}"
    return seconds


def storing_boxes() -> Iterator[Figure]:
    """Time how 10,000 boxes are created, loaded and stored with a lesson and the change of each box."""
    site()
    from django.db import transaction

    from beadbox.rules.outcome import Side
    from beadbox.rules.registry import GAMES
    from learning.kinds.boxes.memory import MEMORY, boxes_store, table_of
    from learning.models import LessonKind
    from learning.services.machines import machine_create
    from learning.services.runs import Stage, training_run_start
    from learning.storage.lessons import Cause, lessons_add
    from learning.storage.locks import machine_lock
    from tests.beadbox.race import Race

    GAMES.setdefault(Race.slug, Race())
    create_s, load_s, store_s = list[float](), list[float](), list[float]()
    for _ in range(sized(4, 2)):
        begin = time.perf_counter()
        machine = machine_create(game=Race.slug, side=Side.SECOND, name="Ten thousand")
        create_s.append(time.perf_counter() - begin)
        run = training_run_start(machine=machine.slug, stages=[Stage("random", 1)], seed=1, enqueue=False)
        n_boxes = table_of(machine).n_boxes
        assert n_boxes >= N_BOXES
        for _again in range(2):  # The second pass updates rows that the first pass has changed.
            begin = time.perf_counter()
            memory = MEMORY.load(machine)
            load_s.append(time.perf_counter() - begin)
            memory.beads += 1
            memory.visits += 1
            begin = time.perf_counter()
            with transaction.atomic():
                (machine,) = machine_lock(machine.pk)
                (lesson,) = lessons_add(machine, LessonKind.TRAINING, [Cause(run_id=run.pk)])
                changes = memory.touched()
            boxes_store(machine, {lesson: changes})
            assert len(changes) == n_boxes
            store_s.append(time.perf_counter() - begin)
    for action, seconds in (("storing", store_s), ("creating", create_s[1:]), ("loading", load_s)):
        yield Figure(
            f"{action} {n_boxes:,} boxes",
            f"{spread(seconds, '{:.3f}')} s",
            "< 0.3 s",
            statistics.median(seconds) < 0.3,
        )


def live_move() -> Iterator[Figure]:
    """Time a move from its frame to the state with MENACE's answer, stored and broadcast to the room."""
    milliseconds = live_moves(site(), N_MATCHES)
    percentile = statistics.quantiles(milliseconds, n=20)[18]
    median = statistics.median(milliseconds)
    yield Figure(
        "live move with MENACE's answer",
        f"{median:.1f} ms (95th percentile {percentile:.1f})",
        "< 15 ms",
        median < 15,
    )


def live_moves(address: str, n_matches: int) -> list[float]:
    """Return the milliseconds of each human move in ``n_matches`` against MENACE, played one after the other."""
    from websockets.sync.client import connect

    milliseconds = []
    for _ in range(n_matches):
        body = json.dumps({"opponent": "menace", "side": "X"}).encode()
        request = urllib.request.Request(f"{address}/api/rooms", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as response:  # our own server
            room = json.load(response)
        url = f"{address.replace('http', 'ws')}/api/rooms/{room['code']}/ws?seat_token={room['seat_token']}"
        with connect(url, open_timeout=HANG_S) as ws:
            state = json.loads(ws.recv())["data"]["state"]
            while state["status"] == "playing":
                move = {"move": state["legal_moves"][0], "ply": state["ply"]}
                begin = time.perf_counter()
                ws.send(json.dumps({"type": "move", "data": move}))
                state = json.loads(ws.recv())["data"]
                milliseconds.append(1000 * (time.perf_counter() - begin))
    return milliseconds


N_BOXES = 10_000
N_PAGES = sized(25, 1)


def page_of_boxes() -> Iterator[Figure]:
    """Time a page of a machine's 10,000 boxes over HTTP: in order, by change, filtered, and deep in the list."""
    address = site()
    from django.db import connection
    from django.test.utils import CaptureQueriesContext
    from rest_framework.test import APIClient

    machine_id = _machine_of_many_boxes()
    for name, query in {
        "in order": "limit=50",
        "most changed": "limit=50&ordering=-change",
        "visited, none removed, most drawn": "limit=50&visited=true&removed=false&ordering=-draws",
        "200 boxes, at offset 1,000": "limit=200&offset=1000",
    }.items():
        path = f"/api/machines/{machine_id}/boxes?{query}"
        milliseconds = []
        for _ in range(N_PAGES):
            begin = time.perf_counter()
            page, _ = _fetch(f"{address}{path}")
            milliseconds.append(1000 * (time.perf_counter() - begin))
            assert len(json.loads(page)["results"]) == int(query.split("=")[1].partition("&")[0])
        with CaptureQueriesContext(connection) as queries:
            APIClient().get(path, headers={"Host": "localhost"})
        yield Figure(
            f"page of {N_BOXES:,} boxes: {name}",
            f"{spread(milliseconds, '{:.1f}')} ms, {len(queries)} queries",
            "< 50 ms, 3 queries",
            statistics.median(milliseconds) < 50 and len(queries) == 3,
        )


def _machine_of_many_boxes() -> int:
    """Create a trained machine with every position of its side, padded with box rows to 10,000; return its id.

    No game of the site has that many boxes. The padding rows are sorted, counted and filtered like other boxes. They
    come last, so that no requested page has to show their invalid positions.
    """
    from django.db import connection

    from beadbox.rules.outcome import Side
    from beadbox.rules.registry import GAMES
    from learning.services.machines import machine_create
    from learning.services.runs import Stage, training_run_start
    from learning.workers.runs import RUNS, run_execute

    machine = machine_create(game=next(iter(GAMES)), side=Side.SECOND, name="Many boxes", preset="apl-notebook")
    run = training_run_start(machine=machine.slug, stages=[Stage("random", 50_000)], seed=1, enqueue=False)
    claimed = RUNS.claim(run.pk)
    assert claimed is not None
    run_execute(claimed)
    n_missing = N_BOXES - machine.boxes.count()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO learning_box (machine_id, position, ply, move_number, start, beads, visits)"
            " SELECT %s, 'filler ' || n, 99, 50, ARRAY[20,20,20], ARRAY[20,20,20], ARRAY[1,0,0]::bigint[]"
            " FROM generate_series(1, %s) AS n",
            [machine.pk, n_missing],
        )
        cursor.execute("ANALYZE learning_box")
    assert machine.boxes.count() == N_BOXES
    return machine.pk


class _Resources(HTMLParser):
    """Collects the addresses of resources that a browser fetches for a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        address = values.get("src") or (values.get("href") if tag == "link" else None)
        if address:
            self.addresses.append(address)


def match_page() -> Iterator[Figure]:
    """Measure all bytes of the match page as a browser loads it: page, styles, modules and their imports."""
    address = site()
    body = json.dumps({"opponent": "menace", "side": "O"}).encode()
    request = urllib.request.Request(f"{address}/api/rooms", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:  # our own server
        code = json.load(response)["code"]
    page, size = _fetch(f"{address}/rooms/{code}")
    parser = _Resources()
    parser.feed(page)
    to_fetch = [urljoin(address, found) for found in parser.addresses]
    requested_urls: set[str] = set()
    n_foreign = 0
    while to_fetch:
        url = to_fetch.pop()
        if url in requested_urls:
            continue
        requested_urls.add(url)
        if not url.startswith(address):
            n_foreign += 1
            continue
        text, n_bytes = _fetch(url)
        size += n_bytes
        if ".js" in url:
            to_fetch += [urljoin(url, name) for name in _imports(text)]
    yield Figure(
        "size of the match page as sent",
        f"{size / 1000:.0f} kB in {len(requested_urls) + 1} requests, {n_foreign} to other sites",
        "<= 200 kB, 0 to other sites",
        size <= 200_000 and n_foreign == 0,
        is_fact=True,
    )


def _fetch(url: str) -> tuple[str, int]:
    request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})  # our own server
    with urllib.request.urlopen(request) as response:
        raw = response.read()
        is_compressed = response.headers.get("Content-Encoding") == "gzip"
        head = sum(len(name) + len(value) + 4 for name, value in response.headers.items())
    return (gzip.decompress(raw) if is_compressed else raw).decode(), len(raw) + head


def _imports(module: str) -> list[str]:
    return re.findall(r'(?:from|import)\s*\(?["\'](\.{0,2}/[^"\']+)["\']', module)
