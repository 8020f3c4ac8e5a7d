"""The public behaviour of the site equals the recordings in ``tests/data/recorded``.

After an intended change, ``RECORD=1 python -m pytest tests/site/test_recorded.py`` writes the recordings anew. Seeds
are fixed, ids begin at 1, and placeholders replace times, room codes and tokens.
"""

from __future__ import annotations

import json
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from channels.db import database_sync_to_async
from django.apps import apps
from django.core.cache import caches
from django.core.management.color import no_style
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from pypdf import PdfReader

from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from games.live.rooms import SeatResult, room_create
from learning.kinds.registry import KINDS
from learning.models import TrainingRun
from learning.services.machines import machine_create
from learning.services.runs import Stage, training_run_start
from learning.services.schedules import Timing, schedule_create
from learning.services.tournaments import tournament_start
from learning.workers.jobs import TurnEnd
from learning.workers.pairings import PAIRINGS, claimable_pairings, pairing_play, tournament_play
from learning.workers.runs import RUNS, run_execute
from menace_site.observability.metrics import BackupAgeCollector, SiteCollector, metrics_text
from tests.factories import (
    NC,
    api_with,
    finished_experiment,
    house_machines,
    machine,
    person,
    play,
    room,
    trained_machine,
    user,
)
from tests.recording import compare_with_recording
from tests.sockets import RunSocket, Socket
from tests.waiting import HANG_S

EXPORTS = Path(__file__).parents[1] / "data" / "exports"
in_db = database_sync_to_async
on_sockets = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _without_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "randbits", lambda bits: 7)
    monkeypatch.setattr(secrets, "randbelow", lambda limit: 7 % limit)
    # Without the limit of broadcasts, the result of each pairing is broadcast, even if the next follows at once.
    monkeypatch.setattr(type(caches["default"]), "add", lambda *args, **options: True)


def first_ids() -> None:
    """Restart the ids of all tables at 1, because earlier tests have used ids."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), apps.get_models()):
            cursor.execute(statement)


def routes(patterns: list[Any], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = f"{before}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield f"{route}  {pattern.name or ''}".rstrip()


def test_addresses_equal_the_recording() -> None:
    compare_with_recording("addresses.txt", "\n".join(routes(get_resolver().url_patterns)) + "\n")


def test_names_and_refusals_equal_the_recording() -> None:
    output = subprocess.run([sys.executable, "-m", "tests.recording"], capture_output=True, check=True, text=True)
    for name, names in json.loads(output.stdout).items():
        compare_with_recording(f"names/{name}.json", names)


@pytest.mark.django_db
def test_metrics_equal_the_recording() -> None:
    lines = metrics_text(BackupAgeCollector(), SiteCollector()).decode().splitlines()
    compare_with_recording("figures.txt", "\n".join(line for line in lines if line.startswith("#")) + "\n")


@pytest.mark.django_db
def test_schema_equals_the_recording() -> None:
    compare_with_recording("schema.yaml", api_with(None).get("/api/schema").content.decode())


@on_sockets
async def test_frames_of_a_match_equal_the_recording() -> None:
    def begin() -> SeatResult:
        first_ids()
        house_machines()
        return room("menace")

    seated = await in_db(begin)()
    frames: list[Any] = []

    async def record_frame(who: str, socket: Any) -> Any:
        frames.append({who: await socket.receive_json_from()})
        return frames[-1][who]["data"]

    async with (
        Socket(seated.room.code, seated.token) as player,
        Socket(seated.room.code) as spectator,
        RunSocket("/api/machines/2/ws") as page,
    ):
        state = (await record_frame("player", player))["state"]
        await record_frame("spectator", spectator)
        await record_frame("machine's page", page)
        for kind, data in (("ping", None), ("castle", None), ("move", {"move": "10"}), ("move", {})):
            await player.frame(kind, data)
            await record_frame("player", player)
        await spectator.frame("move", {"move": "1"})
        await record_frame("spectator", spectator)
        while state["status"] == "playing":
            await player.frame("move", {"move": state["legal_moves"][0], "ply": state["ply"]})
            state = await record_frame("player", player)
            await record_frame("spectator", spectator)
            await record_frame("machine's page", page)
        await player.frame("reset", {"swap": False})
        await record_frame("player", player)
        await record_frame("spectator", spectator)
    compare_with_recording("frames/match.json", frames)


@on_sockets
async def test_frames_of_a_training_run_equal_the_recording() -> None:
    def begin() -> TrainingRun:
        first_ids()
        stages = [Stage("random", 60), Stage("perfect", 30)]
        return training_run_start(machine=machine(Side.FIRST).slug, stages=stages, seed=1, enqueue=False)

    def turn() -> bool:
        claimed = RUNS.claim(run.pk)
        assert claimed is not None
        return run_execute(claimed, turn=TurnEnd(0)).finished_at is not None

    run = await in_db(begin)()
    frames: list[Any] = []
    async with (
        RunSocket(f"/api/training-runs/{run.pk}/ws") as runs,
        RunSocket(f"/api/machines/{run.machine_id}/ws") as machines,
    ):
        sockets = {"run": runs, "machine": machines}
        is_over = False
        while True:
            frames += [{who: await socket.receive_json_from()} for who, socket in sockets.items()]
            if is_over:
                break
            is_over = await in_db(turn)()
    compare_with_recording("frames/training.json", frames)


@on_sockets
async def test_frames_of_a_tournament_equal_the_recording() -> None:
    def begin() -> int:
        first_ids()
        learner = machine(Side.FIRST)
        entries = [learner.slug, "random", "perfect"]
        return tournament_start(entries=entries, game=NC, user=None, games=20, seed=1, enqueue=False).pk

    def play() -> None:
        pairing = PAIRINGS.claim(claimable_pairings(tournament)[0])
        assert pairing is not None
        pairing_play(pairing)

    tournament = await in_db(begin)()
    async with RunSocket(f"/api/tournaments/{tournament}/ws") as socket:
        frames = [await socket.receive_json_from()]
        while frames[-1]["data"]["status"] == "running":
            await in_db(play)()
            frames.append(await socket.receive_json_from())
    compare_with_recording("frames/tournament.json", frames)


@pytest.fixture
def quick_strength(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Make strength samples small, and searches long enough even on a busy machine."""
    settings.AI_TIME_BUDGET_S = settings.AI_QUICK_TIME_BUDGET_S = HANG_S
    for kind in KINDS.values():
        monkeypatch.setattr(type(kind.training), "sampling", replace(kind.training.sampling, n_games=1))


@pytest.fixture
def world(db: None, quick_strength: None) -> dict[str, Any]:
    """Create a machine of each kind, and one row of each other sort. Return these rows with the owner's client."""
    first_ids()
    house_machines()
    owner = user("owner")
    trained_machine(machine(Side.FIRST, owner=owner, slug="boxes", name="Boxes"), games=50)
    for slug, game, preset, opponent, games in (
        ("values", "romgon", "romgon-q", "easy", 2),
        ("weights", "romgon", "td-squares", "", 3),
        ("table", NC, "td-boards", "random", 50),
    ):
        one = machine_create(game=game, side=None, preset=preset, name=slug.title(), slug=slug, owner=owner)
        trained_machine(one, games=games, opponent=opponent or slug)
    trained_machine(machine_create(game="hexapawn", side=Side.SECOND, name="Hexapawn", slug="hexapawn"), games=20)
    timing = Timing(crontab="0 3 * * *")
    schedule_create(user=owner, machine="boxes", stages=[Stage("random", 3)], timing=timing)
    cup = tournament_start(entries=["boxes", "table", "random"], game=NC, user=owner, games=20, seed=1, enqueue=False)
    tournament_play(cup.pk)
    finished_experiment("gardner", machines=10)
    seated = room("machine", person(owner), machine="table")
    play(seated, person(owner), "1", "2")
    romgon = room_create(person=person(owner), game="romgon", opponent="machine", machine="values", side=Side.FIRST)
    first_ids()  # some ids were used and rolled back
    start = game_get("romgon").encode(game_get("romgon").initial_position())
    return {
        "code": seated.room.code,
        "romgon": romgon.room.code,
        "start": start,
        "owner": owner,
        "api": api_with(owner),
    }


GETS = """
/api /api/health /api/health/live /api/health/ready /api/ai/health
/api/games?limit=2 /api/games/noughts-and-crosses /api/games/hexapawn
/api/machines /api/machines/boxes /api/machines/values /api/machines/weights /api/machines/table
/api/machines/boxes/boxes?limit=2 /api/machines/boxes/boxes/.........
/api/machines/values/values/{start} /api/machines/table/values/......... /api/machines/weights/values/{start}
/api/machines/boxes/progress /api/machines/values/progress /api/machines/weights/progress /api/machines/table/progress
/api/machines/boxes/strength /api/machines/values/strength /api/machines/weights/strength /api/machines/table/strength
/api/machines/weights/snapshots /api/machines/values/snapshots
/api/training-runs /api/training-runs/1 /api/training-runs/2 /api/training-runs/3 /api/training-runs/4
/api/schedules /api/schedules/1 /api/tournaments /api/tournaments/1
/api/experiments /api/experiment-runs /api/experiment-runs/1
/api/learn?games=3 /api/learn/graph?game=hexapawn
/api/rooms/{code} /api/rooms/{code}/joined /api/rooms/{code}/matches/1 /api/rooms/{code}/positions
/api/rooms/{romgon} /api/rooms/{romgon}/advice
"""
WRITES: list[tuple[str, str, Any]] = [
    ("POST", "/api/rooms", {"opponent": "human", "side": 0}),
    ("POST", "/api/rooms", {"opponent": "machine", "machine": "boxes", "side": 1}),
    ("POST", "/api/rooms", {"first": "random", "second": "perfect"}),
    ("POST", "/api/rooms/{latest}/step", {"plies": 2}),
    ("POST", "/api/rooms/{code}/join", None),
    ("POST", "/api/rooms/{code}/move", {"move": "5", "ply": 4}),
    ("POST", "/api/rooms/{romgon}/resign", {}),
    ("POST", "/api/rooms/{romgon}/reset", {"swap": True}),
    ("POST", "/api/ai/move", {"game": NC, "board": "X........", "playerColor": "O", "difficulty": "hard"}),
    ("POST", "/api/ai/move", {"game": NC, "board": ".........", "machine": "boxes"}),
    ("POST", "/api/ai/move", {"game": NC, "board": ".........", "machine": "table"}),
    ("POST", "/api/ai/evaluate", {"game": NC, "board": "X...O...."}),
    ("POST", "/api/machines", {"game": "hexapawn", "side": 1, "preset": "hexapawn-rl", "name": "Made"}),
    ("PATCH", "/api/machines/boxes", {"name": "Renamed", "learns": False}),
    ("POST", "/api/machines/values/clone", {"name": "A copy"}),
    ("POST", "/api/machines/table/reset", None),
    ("DELETE", "/api/machines/table", None),
    ("POST", "/api/machines/weights/snapshots/choose", {"snapshot": "newest"}),
    ("POST", "/api/training-runs", {"machine": "values", "opponent": "easy", "games": 3, "seed": 1}),
    ("POST", "/api/training-runs/{latest}/cancel", None),
    ("POST", "/api/schedules", {"machine": "values", "opponent": "easy", "games": 3, "every": 2, "seed": 1}),
    ("PATCH", "/api/schedules/1", {"paused": True}),
    ("DELETE", "/api/schedules/1", None),
    ("POST", "/api/tournaments", {"entries": ["boxes", "random"], "games": 3, "seed": 1}),
    ("POST", "/api/tournaments/{latest}/cancel", None),
    ("DELETE", "/api/tournaments/{latest}", None),
    ("POST", "/api/experiment-runs", {"experiment": "gardner", "seed": 1}),
    ("POST", "/api/experiment-runs/{latest}/cancel", None),
    ("POST", "/api/machines/import", json.loads((EXPORTS / "hexapawn.json").read_text())),
    ("POST", "/api/learn/keep", {"address": "games=3", "name": "Kept"}),
]


def record_answer(world: dict[str, Any], method: str, path: str, body: Any = None) -> dict[str, Any]:
    answer = getattr(world["api"], method.lower())(path.format_map(world), body, format="json" if body else None)
    data = json.loads(answer.content) if answer.content else None
    request_line = f"{method} {path}"
    body = body if len(str(body)) < 200 else "<a file>"
    return {
        "asked": request_line if body is None else [request_line, body],
        "status": answer.status_code,
        "answer": data,
    }


def test_get_responses_equal_the_recording(world: dict[str, Any]) -> None:
    responses = [record_answer(world, "GET", path) for path in GETS.split()]
    (newest, *_) = next(one for one in responses if one["asked"].endswith("weights/snapshots"))["answer"]
    responses.append(record_answer(world, "GET", f"/api/machines/weights/snapshots/{newest['id']}/weights"))
    compare_with_recording("answers/get.json", responses)
    schema = yaml.safe_load(world["api"].get("/api/schema").content)
    forms = {path: re.sub(r"{\w+}", "[^/]+", path) for path, one in schema["paths"].items() if "get" in one}
    paths = [one["asked"].removeprefix("GET ").partition("?")[0] for one in responses]
    left_out = {path for path, form in forms.items() if not any(re.fullmatch(form, one) for one in paths)}
    # test_files_equal_the_recording covers the first, and tests/learning/test_class_table.py the second
    assert left_out == {"/api/machines/{ref}/export", "/api/classes/{classroom_id}/table"}


def test_write_responses_equal_the_recording(world: dict[str, Any]) -> None:
    responses = []
    for method, path, body in WRITES:
        responses.append(record_answer(world, method, path, body))
        if responses[-1]["status"] in (201, 202):
            answer = responses[-1]["answer"]
            world["latest"] = answer.get("code") or answer["id"]
    compare_with_recording("answers/write.json", responses)


DOWNLOADS = """
/machines/compare.csv?machine=3&machine=6 /machines/compare.json?machine=5 /runs/1/curve.csv /runs/3/curve.csv
/tournaments/1/standings.csv /tournaments/1/pairings.csv /experiments/runs/1/result.csv
"""
SHEETS = "/machines/7/print?paper=A4&width=53&height=36&beads=now"
ALSO_AT = {
    "/runs/3/run.json": "/api/training-runs/3",
    "/tournaments/1/tournament.json": "/api/tournaments/1",
    "/experiments/runs/1/result.json": "/api/experiment-runs/1",
}
"""Downloads with the same content as an address of the API."""
EXPORTED = [
    f"/api/machines/{ref}/export?format={form}"
    for ref in ("boxes", "values", "weights", "table")
    for form in ("native", "csv", "matchbox-ai", "hexapawn-rl")
]
HELD_ALREADY = ("/api/machines/boxes", "/api/machines/values", *ALSO_AT)
"""Files covered by ``tests/data/exports`` or by an API response: only their headers are recorded here."""


def test_files_equal_the_recording(world: dict[str, Any]) -> None:
    headers = {}
    for path in (*EXPORTED, *DOWNLOADS.split(), *ALSO_AT, SHEETS):
        answer = world["api"].get(path)
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        headers[path] = [answer.status_code, answer.get("Content-Type"), answer.get("Content-Disposition")]
        name = re.sub(r"\W+", "-", path.partition("?")[0].strip("/").removeprefix("api/"))
        if answer.status_code != 200:
            headers[path].append(json.loads(content))
        elif path == SHEETS:
            pages = [page.extract_text() for page in PdfReader(BytesIO(content)).pages]
            compare_with_recording(f"files/{name}.txt", "\n\n".join(pages) + "\n")
        elif not path.startswith(HELD_ALREADY):
            compare_with_recording(f"files/{name}.txt", content.decode().replace("\r\n", "\n"))
        elif path in ALSO_AT:
            assert json.loads(content) == json.loads(world["api"].get(ALSO_AT[path]).content)
    compare_with_recording("files/headers.json", headers)


PAGES = """
/ /?game=romgon /about /about/teachers /ai /ai?game=romgon&position={start} /teach /account /account/tokens /signup
/login /password /password/reset /password/reset/sent /play/menace /play/boxes /rooms/{code} /rooms/{romgon}
/rooms/{code}/matches/1 /learn /learn/hexapawn /learnt/romgon /lab /machines /machines/new /machines/import
/machines/compare?machine=3&machine=6 /machines/3 /machines/4 /machines/5 /machines/6 /machines/7 /machines/3/edit
/machines/4/edit /machines/3/boxes /machines/3/boxes/......... /machines/3/boxes-at/1 /machines/3/why /machines/4/values
/machines/6/values?position=......... /machines/3/drawings /machines/3/print /machines/7/print /machines/3/train
/runs/1 /runs/2 /runs/3 /runs/4 /schedules /schedules/1 /tournaments /tournaments/1 /experiments /experiments/gardner
/experiments/runs/1 /nowhere
"""
ADMIN = """
/admin/ /admin/queue/ /admin/usage/ /admin/games/room/ /admin/games/match/ /admin/games/room/1/change/
/admin/learning/machine/ /admin/learning/machine/3/change/ /admin/learning/box/ /admin/learning/lesson/
/admin/learning/trainingrun/ /admin/learning/trainingrun/1/change/ /admin/learning/tournament/ /admin/auth/user/
"""
CHANGING = re.compile(
    r'(?<=name="csrfmiddlewaretoken" value=")[^"]+|(?<=nonce=")[^"]+|(?<=\.)[0-9a-f]{12}(?=\.\w+")|(?<=/admin/r/)\d+'
    r"|\b(?:[A-Z][a-z]{2} )?\d\d? [A-Z][a-z]{2,8} \d{4}(?:, (?:[\d:]+|noon|midnight)(?:\s[ap]\.m\.)?)?"
    r"|\b(?:\d+|an?)\s(?:second|minute)s? ago|\bnow(?=</span>)|\b[A-Z][a-z]{2} \d\d? [A-Z][a-z]{2}(?=, \d\d:\d\d UTC)"
)
"""Parts of a page that differ by day or process."""


def test_pages_equal_the_recording(world: dict[str, Any]) -> None:
    browser, statuses = Client(), {}
    for account, paths in ((world["owner"], PAGES), (user("staff", is_staff=True, is_superuser=True), ADMIN)):
        browser.force_login(account)
        for path in paths.split():
            answer = browser.get(path.format_map(world), follow=True)
            name = re.sub(r"\W+", "-", path.strip("/")) or "start"
            statuses[path] = [answer.status_code, len(answer.redirect_chain)]
            page = CHANGING.sub("…", answer.content.decode())
            compare_with_recording(
                f"pages/{name}.html", page.replace(world["code"], "<code>").replace(world["romgon"], "<romgon>")
            )
    compare_with_recording("pages/statuses.json", statuses)
