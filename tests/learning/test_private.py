"""A private machine is visible nowhere: every address of the site, requested by every kind of viewer.

``REQUESTS_BY_ROUTE`` has every address of the site; a missing one fails the suite. Two private machines take part in
everything possible, mostly while they were still public. Then each of :data:`VIEWERS` requests each address. Viewers
without permission find neither name, slug, id nor the code of a room with the machines; others find them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest
from django.contrib import admin
from django.db import transaction
from django.urls import get_resolver, reverse
from rest_framework.test import APIClient

from beadbox.rules.outcome import Side
from games.accounts.principal import Principal
from games.live.play import match_play_move, match_step
from games.live.rooms import room_create
from games.live.store import room_get
from learning.access import hidden_from, is_seen, may_see
from learning.models import Machine, TrainingRun
from learning.services import machines as services
from learning.services import tournaments as services_tournaments
from learning.services.copies import machine_copy
from learning.services.machines import machine_create
from learning.services.runs import Stage, training_run_start
from learning.services.schedules import Timing, schedule_create
from learning.workers.pairings import tournament_play
from learning.workers.runs import RUNS, run_execute
from tests.factories import NC, api_with, machine, person, play_out, room, room_view, user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("small_samples")]

NAME, SLUG, PK = "Qxzsecret", "qxzsecret", 918273645  # digits that appear in no other number of a page
VALUES_SLUG, VALUES_PK = "qxzsecret-values", 918273646
SECRETS = ("qxzsecret", "91827364")
"""The beginnings of names, slugs and ids, in lower case."""
MISSING_PK = 987650000
"""An id of no machine, for comparing answers."""
EMPTY_BOARD = "........."


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the site, and whether its response names the private machines.

    ``names_machines``: whether the response names the machines to permitted viewers (``None``: to some of them).
    """

    path: str
    names_machines: bool | None = False
    body: Any = None
    method: str = "get"


def post(path: str, body: Any = None, names_machines: bool | None = False) -> Request:
    return Request(path, names_machines, {} if body is None else body, "post")


def page_and_form(path: str, **options: Any) -> list[Request]:
    """Return the requests for a page and for the form at the same address."""
    return [Request(path, **options), post(path)]


CODE_PLACEHOLDERS = ["{live}", "{over}", "{show}", "{going}", "{seat}", "{deep}", "{fresh}", "{before}"]
"""Codes of the rooms with the machines, in every kind of seat."""

REQUESTS_BY_ROUTE: dict[str, list[Request]] = {
    "": [Request("/", names_machines=True)],
    "play": [Request("/play")],
    "play/<slug:slug>/facts": [Request(f"/play/{NC}/facts")],
    "play/<slug:slug>/facts.json": [Request(f"/play/{NC}/facts.json")],
    "play/<slug:slug>": [
        Request(f"/play/{NC}", names_machines=True),
        Request(f"/play/{NC}?machine={PK}", names_machines=True),
        Request("/play/romgon", names_machines=True),
    ],
    "teach": [post("/teach", {"game": NC})],
    "lab": [Request("/lab")],
    "learnt/<str:slug>": [Request("/learnt/romgon-easy")],
    "learn": [Request("/learn")],
    "learn/keep": [post("/learn/keep", {"address": "games=3"})],
    "learn/save": [Request("/learn/save?games=3")],
    "learn/<str:slug>": [Request("/learn/hexapawn?games=3")],
    "ai": [Request("/ai")],
    "about": [Request("/about")],
    "about/teachers": [Request("/about/teachers")],
    "account": [Request("/account", names_machines=None)],
    # A private machine belongs to no class; tests/learning/views/test_classrooms.py asks for machines of classes
    "classes": [Request("/classes")],
    "classes/new": page_and_form("/classes/new"),
    r"^api/classes/(?P<classroom_id>\d{1,18})/table/?$": [Request("/api/classes/1/table")],
    "classes/privacy": [Request("/classes/privacy")],
    "classes/help": [Request("/classes/help")],
    "classes/plans/<int:minutes>": [Request("/classes/plans/10")],
    "classes/<int:classroom_id>": [Request("/classes/1")],
    "classes/<int:classroom_id>/try": [Request("/classes/1/try")],
    "classes/<int:classroom_id>/results": [Request("/classes/1/results")],
    "classes/<int:classroom_id>/results.csv": [Request("/classes/1/results.csv")],
    "classes/<int:classroom_id>/results.pdf": [Request("/classes/1/results.pdf")],
    "classes/<int:classroom_id>/<slug:action>": [post("/classes/1/pause")],
    "classes/<int:classroom_id>/pupils/<int:participant_id>/<slug:action>": [post("/classes/1/pupils/1/move")],
    "class": page_and_form("/class"),
    "class/me": [Request("/class/me")],
    "class/play": [post("/class/play")],
    "class/leave": [post("/class/leave")],
    "class/join/<str:secret>": page_and_form("/class/join/none"),
    "class/try/<str:secret>": page_and_form("/class/try/none"),
    "class/screen/<str:secret>": [Request("/class/screen/none")],
    "rooms": [post("/rooms", {"opponent": "machine", "machine": PK}), post("/rooms", {"opponent": PK})],
    "^rooms/join/?$": [post("/rooms/join", {"code": "{live}"})],
    r"^rooms/(?P<code>[^/]+)/matches/(?P<number>[^/]+)/?$": [
        Request(f"/rooms/{code}/matches/1", names_machines=None) for code in CODE_PLACEHOLDERS
    ],
    "rooms/<path:code>": [Request(f"/rooms/{code}", names_machines=True) for code in CODE_PLACEHOLDERS],
    # Pages of machines
    "machines": [Request("/machines", names_machines=True), Request(f"/machines?game={NC}", names_machines=True)],
    "machines/<int:machine_id>": [
        Request(f"/machines/{PK}", names_machines=True),
        Request(f"/machines/{VALUES_PK}", names_machines=True),
        *(Request(path) for path in ("/machines/{open}", "/machines/{child}", "/machines/{theirs}")),
    ],
    "machines/<int:machine_id>/boxes/<str:position>": [
        Request(f"/machines/{PK}/boxes/X........", names_machines=True),
        Request(f"/machines/{{open}}/boxes/{EMPTY_BOARD}"),
    ],
    "machines/new": page_and_form("/machines/new"),
    "machines/compare": [
        Request(f"/machines/compare?machine={PK}", names_machines=True),
        Request(f"/machines/compare?machine={{open}}&machine={SLUG}", names_machines=True),
    ],
    "machines/compare.csv": [Request(f"/machines/compare.csv?machine={PK}", names_machines=True)],
    "machines/compare.json": [Request(f"/machines/compare.json?machine={PK}", names_machines=True)],
    "machines/<int:machine_id>/edit": page_and_form(f"/machines/{PK}/edit"),
    "machines/<int:machine_id>/share": page_and_form(f"/machines/{PK}/share"),
    "shared/<str:secret>": [Request("/shared/none")],
    "machines/<int:machine_id>/set": [post(f"/machines/{PK}/set", {"learns": "off"})],
    "machines/<int:machine_id>/clone": [post(f"/machines/{PK}/clone")],
    "machines/<int:machine_id>/reset": page_and_form(f"/machines/{PK}/reset"),
    "machines/<int:machine_id>/delete": page_and_form(f"/machines/{PK}/delete"),
    "machines/<int:machine_id>/train": [*page_and_form(f"/machines/{PK}/train"), Request("/machines/{theirs}/train")],
    "machines/<int:machine_id>/train-together": [
        post(f"/machines/{PK}/train-together", {"opponent": "{open}", "games": 5}),
        post("/machines/{theirs}/train-together", {"opponent": PK, "games": 5}),
    ],
    "machines/<int:machine_id>/boxes": [
        Request(f"/machines/{PK}/boxes", names_machines=True),
        Request("/machines/{open}/boxes"),
    ],
    "machines/<int:machine_id>/boxes-at/<int:number>": [
        Request(f"/machines/{PK}/boxes-at/1"),
        *(Request(f"/machines/{{open}}/boxes-at/{number}") for number in (1, 2, 3)),
    ],
    "machines/<int:machine_id>/why": [Request(f"/machines/{PK}/why", names_machines=True)],
    "machines/<int:machine_id>/values": [Request(f"/machines/{VALUES_PK}/values", names_machines=True)],
    "machines/<int:machine_id>/drawings": [Request(f"/machines/{PK}/drawings")],
    "machines/<int:machine_id>/boxes.csv": [Request(f"/machines/{PK}/boxes.csv")],
    "machines/<int:machine_id>/print": [
        Request(f"/machines/{PK}/print", names_machines=True),
        Request(f"/machines/{PK}/print?paper=a4&size=matchbox"),
    ],
    "machines/<int:machine_id>/snapshot": [post(f"/machines/{VALUES_PK}/snapshot", {"snapshot": "newest"})],
    "machines/<int:machine_id>/schedule": page_and_form(f"/machines/{PK}/schedule"),
    "machines/import": page_and_form("/machines/import"),
    # Runs, schedules, tournaments
    "runs/<int:run_id>": [
        Request("/runs/{taught}", names_machines=True),
        Request("/runs/{own_run}", names_machines=True),
    ],
    "runs/<int:run_id>/cancel": [post("/runs/{taught}/cancel"), post("/runs/{own_run}/cancel")],
    "runs/<int:run_id>/curve.csv": [Request("/runs/{taught}/curve.csv"), Request("/runs/{own_run}/curve.csv")],
    "runs/<int:run_id>/run.json": [
        Request("/runs/{taught}/run.json", names_machines=True),
        Request("/runs/{own_run}/run.json", names_machines=True),
    ],
    "schedules": [Request("/schedules", names_machines=None)],
    "schedules/<int:schedule_id>": page_and_form("/schedules/{schedule}", names_machines=None),
    "schedules/<int:schedule_id>/pause": [post("/schedules/{schedule}/pause", {"paused": "on"})],
    "schedules/<int:schedule_id>/delete": page_and_form("/schedules/{schedule}/delete"),
    "tournaments": [Request("/tournaments", names_machines=True)],
    "tournaments/new": [
        Request("/tournaments/new", names_machines=True),
        Request(f"/tournaments/new?game={NC}", names_machines=True),
    ],
    "tournaments/<int:tournament_id>": [
        Request("/tournaments/{cup}", names_machines=True),
        Request("/tournaments/{own_cup}", names_machines=True),
    ],
    "tournaments/<int:tournament_id>/standings.csv": [Request("/tournaments/{cup}/standings.csv", names_machines=True)],
    "tournaments/<int:tournament_id>/pairings.csv": [Request("/tournaments/{cup}/pairings.csv", names_machines=True)],
    "tournaments/<int:tournament_id>/tournament.json": [
        Request("/tournaments/{cup}/tournament.json", names_machines=True),
        Request("/tournaments/{own_cup}/tournament.json", names_machines=True),
    ],
    "tournaments/<int:tournament_id>/entries/<int:number>.json": [
        Request("/tournaments/{cup}/entries/1.json", names_machines=True),
        Request("/tournaments/{own_cup}/entries/1.json", names_machines=True),
    ],
    "tournaments/<int:tournament_id>/cancel": [post("/tournaments/{cup}/cancel")],
    "tournaments/<int:tournament_id>/delete": page_and_form("/tournaments/{cup}/delete"),
    "experiments": [Request("/experiments")],
    "experiments/<slug:slug>": [Request("/experiments/gardner-24")],
    "experiments/runs/<int:run_id>/cancel": [post("/experiments/runs/1/cancel")],
    "experiments/runs/<int:run_id>/result.csv": [Request("/experiments/runs/1/result.csv")],
    "experiments/runs/<int:run_id>/result.json": [Request("/experiments/runs/1/result.json")],
    # The API
    "^api/?$": [Request("/api")],
    "^api/health/?$": [Request("/api/health")],
    "^api/health/live/?$": [Request("/api/health/live")],
    "^api/health/ready/?$": [Request("/api/health/ready")],
    "^api/schema/?$": [Request("/api/schema")],
    "^api/docs/?$": [Request("/api/docs")],
    "^api/games/?$": [Request("/api/games")],
    "^api/games/(?P<slug>[-\\w]+)/?$": [Request(f"/api/games/{NC}")],
    "^api/rooms/?$": [
        post("/api/rooms", {"opponent": "machine", "machine": SLUG}),
        post("/api/rooms", {"opponent": str(PK), "fresh": True}),
        post("/api/rooms", {"opponent": "random", "takes_over": str(PK)}),
        post("/api/rooms", {"first": "{open}", "second": SLUG}),
    ],
    "^api/rooms/(?P<code>[^/]+)/?$": [Request(f"/api/rooms/{code}", names_machines=True) for code in CODE_PLACEHOLDERS],
    "^api/rooms/(?P<code>[^/]+)/joined/?$": [
        Request(f"/api/rooms/{code}/joined", names_machines=True) for code in CODE_PLACEHOLDERS
    ],
    r"^api/rooms/(?P<code>[^/]+)/matches/(?P<number>\d{1,9})/?$": [
        Request(f"/api/rooms/{code}/matches/1", names_machines=True) for code in CODE_PLACEHOLDERS
    ],
    "^api/rooms/(?P<code>[^/]+)/positions/?$": [Request(f"/api/rooms/{code}/positions") for code in CODE_PLACEHOLDERS],
    "^api/rooms/(?P<code>[^/]+)/advice/?$": [Request("/api/rooms/{deep}/advice")],
    "^api/rooms/(?P<code>[^/]+)/join/?$": [post(f"/api/rooms/{code}/join") for code in CODE_PLACEHOLDERS],
    "^api/rooms/(?P<code>[^/]+)/move/?$": [
        post(f"/api/rooms/{code}/move", {"move": "1"}) for code in CODE_PLACEHOLDERS
    ],
    "^api/rooms/(?P<code>[^/]+)/step/?$": [post(f"/api/rooms/{code}/step") for code in CODE_PLACEHOLDERS],
    "^api/rooms/(?P<code>[^/]+)/draw/?$": [post(f"/api/rooms/{code}/draw") for code in CODE_PLACEHOLDERS],
    "^api/rooms/(?P<code>[^/]+)/resign/?$": [post(f"/api/rooms/{code}/resign") for code in CODE_PLACEHOLDERS],
    "^api/rooms/(?P<code>[^/]+)/reset/?$": [post(f"/api/rooms/{code}/reset") for code in CODE_PLACEHOLDERS],
    "^api/ai/move/?$": [
        post("/api/ai/move", {"game": NC, "board": "X........", "playerColor": "O", "machine": SLUG}),
        post("/api/ai/move", {"game": "romgon", "machine": VALUES_PK}),
    ],
    "^api/ai/evaluate/?$": [post("/api/ai/evaluate", {"game": NC, "board": EMPTY_BOARD, "machine": SLUG})],
    "^api/ai/health/?$": [Request("/api/ai/health")],
    "^api/machines/?$": [
        Request("/api/machines", names_machines=True),
        *(
            Request(f"/api/machines?{query}", names_machines=True)
            for query in ("search=Qxzsecret", "owner=owner", f"game={NC}", "side=O", "rule=scroggs", "learns=true")
        ),
        *(
            Request(f"/api/machines?ordering={order}", names_machines=True)
            for order in ("id", "-id", "name", "-games", "created_at")
        ),
        post("/api/machines", {"game": NC}),
    ],
    "^api/machines/(?P<ref>[-\\w]+)/?$": [
        Request(f"/api/machines/{PK}", names_machines=True),
        Request(f"/api/machines/{SLUG}", names_machines=True),
        Request("/api/machines/{child}", names_machines=True),
        Request(f"/api/machines/{PK}", names_machines=True, body={"name": "Mine"}, method="patch"),
        Request(f"/api/machines/{PK}", method="delete"),
    ],
    "^api/machines/(?P<ref>[-\\w]+)/clone/?$": [post(f"/api/machines/{PK}/clone", names_machines=True)],
    "^api/machines/(?P<ref>[-\\w]+)/reset/?$": [post(f"/api/machines/{PK}/reset")],
    "^api/machines/(?P<ref>[-\\w]+)/progress/?$": [Request(f"/api/machines/{PK}/progress", names_machines=None)],
    "^api/machines/(?P<ref>[-\\w]+)/strength/?$": [Request(f"/api/machines/{PK}/strength")],
    "^api/machines/(?P<ref>[-\\w]+)/snapshots/?$": [Request(f"/api/machines/{VALUES_PK}/snapshots")],
    "^api/machines/(?P<ref>[-\\w]+)/snapshots/choose/?$": [
        post(f"/api/machines/{VALUES_PK}/snapshots/choose", {"snapshot": "newest"})
    ],
    "^api/machines/(?P<ref>[-\\w]+)/snapshots/(?P<snapshot_id>\\d{1,18})/weights/?$": [
        Request(f"/api/machines/{VALUES_PK}/snapshots/1/weights")
    ],
    "^api/machines/(?P<ref>[-\\w]+)/boxes/?$": [
        Request(f"/api/machines/{PK}/boxes", names_machines=True),
        Request("/api/machines/{open}/boxes"),
    ],
    "^api/machines/(?P<ref>[-\\w]+)/boxes/(?P<position>[^/]+)/?$": [
        Request(f"/api/machines/{PK}/boxes/X........", names_machines=True),
        Request(f"/api/machines/{{open}}/boxes/{EMPTY_BOARD}"),
    ],
    "^api/machines/(?P<ref>[-\\w]+)/values/(?P<position>[^/]+)/?$": [Request(f"/api/machines/{VALUES_PK}/values/x")],
    "^api/machines/(?P<ref>[-\\w]+)/export/?$": [
        *(Request(f"/api/machines/{PK}/export?format={form}") for form in ("matchbox-ai", "csv")),
        Request(f"/api/machines/{PK}/export", names_machines=True),
        Request("/api/machines/{child}/export"),
    ],
    "^api/machines/import/?$": [post("/api/machines/import", {"format": "beadbox-machine"})],
    "^api/training-runs/?$": [
        Request("/api/training-runs", names_machines=True),
        Request(f"/api/training-runs?opponent={SLUG}", names_machines=True),
        Request(f"/api/training-runs?machine={PK}", names_machines=True),
        Request("/api/training-runs?opponent=machine"),
        post("/api/training-runs", {"machine": "{theirs}", "opponent": SLUG, "games": 5}),
        post("/api/training-runs", {"machine": SLUG, "opponent": "random", "games": 5}),
    ],
    "^api/training-runs/(?P<run_id>\\d{1,18})/?$": [
        Request("/api/training-runs/{taught}", names_machines=True),
        Request("/api/training-runs/{own_run}", names_machines=True),
    ],
    "^api/training-runs/(?P<run_id>\\d{1,18})/cancel/?$": [post("/api/training-runs/{taught}/cancel")],
    "^api/schedules/?$": [
        Request("/api/schedules", names_machines=None),
        Request(f"/api/schedules?machine={PK}", names_machines=None),
        post(
            "/api/schedules",
            {"machine": "{theirs}", "opponent": SLUG, "games": 5, "every": 1},
        ),
    ],
    "^api/schedules/(?P<schedule_id>\\d{1,18})/?$": [
        Request("/api/schedules/{schedule}", names_machines=None),
        Request("/api/schedules/{schedule}", names_machines=None, body={"paused": True}, method="patch"),
        Request("/api/schedules/{schedule}", method="delete"),
    ],
    "^api/tournaments/?$": [
        Request("/api/tournaments", names_machines=True),
        post("/api/tournaments", {"entries": [SLUG, "random"], "games": 2}),
    ],
    "^api/tournaments/(?P<tournament_id>\\d{1,18})/?$": [
        Request("/api/tournaments/{cup}", names_machines=True),
        Request("/api/tournaments/{own_cup}", names_machines=True),
        Request("/api/tournaments/{cup}", method="delete"),
    ],
    "^api/tournaments/(?P<tournament_id>\\d{1,18})/cancel/?$": [
        post("/api/tournaments/{cup}/cancel", names_machines=None)
    ],
    "^api/learn/?$": [Request("/api/learn?games=3")],
    "^api/learn/graph/?$": [Request("/api/learn/graph?game=hexapawn")],
    "^api/learn/keep/?$": [post("/api/learn/keep", {"address": "games=3"})],
    "^api/experiments/?$": [Request("/api/experiments")],
    "^api/experiment-runs/?$": [Request("/api/experiment-runs")],
    "^api/experiment-runs/(?P<run_id>\\d{1,18})/?$": [Request("/api/experiment-runs/1")],
    "^api/experiment-runs/(?P<run_id>\\d{1,18})/cancel/?$": [post("/api/experiment-runs/1/cancel")],
    "^api(?:/|$)": [Request("/api/nothing")],
    # Accounts: visible only to themselves
    "account/tokens": page_and_form("/account/tokens"),
    "account/tokens/<int:token_id>/revoke": [post("/account/tokens/1/revoke")],
    "signup": page_and_form("/signup"),
    "login": page_and_form("/login"),
    "logout": [post("/logout")],
    "password": page_and_form("/password"),
    "password/done": [Request("/password/done")],
    "password/reset": page_and_form("/password/reset"),
    "password/reset/sent": [Request("/password/reset/sent")],
    "password/reset/<uidb64>/<token>": [Request("/password/reset/a/b")],
    "password/reset/done": [Request("/password/reset/done")],
}

VIEWERS = (
    *("guest", "other", "owner", "staff"),
    *("other's read", "other's play", "other's train", "owner's read", "owner's play", "owner's train"),
)
PERMITTED_VIEWERS = ("owner", "staff")


@pytest.fixture
def people() -> dict[str, Any]:
    return {
        "owner": user("owner"),
        "other": user("other"),
        "third": user("third"),
        "staff": user("staff", is_staff=True, is_superuser=True),
    }


@pytest.fixture
def world(people: dict[str, Any]) -> dict[str, Any]:
    """Two machines in everything that a machine can take part in; both are private in the end."""
    owner, other = people["owner"], people["other"]
    hidden_machine = machine(Side.SECOND, "scroggs", owner=owner, name=NAME, slug=SLUG, pk=PK)
    machine_create(game="romgon", side=None, name="Qxzsecret values", slug=VALUES_SLUG, pk=VALUES_PK, owner=owner)
    open_machine, others_machine = (
        machine(Side.FIRST, owner=people["third"], name="Open"),
        machine(Side.FIRST, owner=other, name="T"),
    )
    taught_run = run_to_end(open_machine, Stage(SLUG, 20, learns=True))
    own_run = run_to_end(hidden_machine, Stage("random", 20))
    timing = Timing(crontab="0 3 * * *")
    schedule = schedule_create(user=other, machine=others_machine.slug, stages=[Stage(SLUG, 10)], timing=timing)
    cup = tournament_id(other, open_machine.slug, SLUG, "random")
    child = machine_copy(user=owner, machine_id=PK, name="Child")
    code_before = room("machine", person(other), machine=SLUG).room.code
    play_out(code_before, person(other))
    for pk in (PK, VALUES_PK):
        services.machine_update(user=owner, machine_id=pk, is_public=False)
    codes = {
        "live": room_code(owner, moves=1, opponent="machine", machine=SLUG),
        "over": room_code(owner, moves=9, opponent="machine", machine=SLUG),
        "seat": room_code(owner, moves=1, opponent="random", takes_over=SLUG),
        "deep": room_code(owner, moves=1, game="romgon", opponent="machine", machine=VALUES_SLUG),
        "fresh": room_code(owner, moves=1, opponent="machine", machine=SLUG, fresh=True),
        "show": exhibition_code(owner, open_machine, plies=100),
        "going": exhibition_code(owner, open_machine, plies=2),
        "before": code_before,
    }
    return {
        **codes,
        "open": open_machine.pk,
        "theirs": others_machine.pk,
        "child": child.pk,
        "taught": taught_run.pk,
        "own_run": own_run.pk,
        "schedule": schedule.pk,
        "cup": cup,
        "own_cup": tournament_id(owner, open_machine.slug, SLUG, name="Qxzsecret cup"),
        "codes": list(codes.values()),
    }


def run_to_end(learner: Machine, *stages: Stage) -> TrainingRun:
    run = training_run_start(machine=learner.slug, stages=stages, seed=1, enqueue=False)
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    return run_execute(claimed_run)


def tournament_id(owner: Any, *entries: str, **options: Any) -> int:
    tournament = services_tournaments.tournament_start(
        user=owner, entries=entries, games=2, seed=1, enqueue=False, **options
    )
    tournament_play(tournament.pk)
    return tournament.pk


def room_code(owner: Any, *, moves: int, game: str = NC, **options: Any) -> str:
    code = room_create(person=person(owner), game=game, side=Side.FIRST, **options).room.code
    for _ in range(moves):
        state = room_view(room_get(code))
        if state["status"] == "playing":
            match_play_move(code=code, person=person(owner), move=state["legal_moves"][0])
    return code


def exhibition_code(owner: Any, first: Machine, *, plies: int) -> str:
    code = room_create(person=person(owner), game=NC, first=first.slug, second=SLUG).room.code
    match_step(code=code, person=person(owner), max_plies=plies)
    return code


def client_of(viewer: str, people: dict[str, Any]) -> APIClient:
    name, _, scope = viewer.partition("'s ")
    return api_with(people.get(name), *([scope] if scope else []))


def fill_placeholders(value: Any, world: dict[str, Any]) -> Any:
    if isinstance(value, str):
        return value.format_map(world)
    if isinstance(value, list):
        return [fill_placeholders(one, world) for one in value]
    return {key: fill_placeholders(one, world) for key, one in value.items()} if isinstance(value, dict) else value


def answer_to(api: APIClient, request: Request, world: dict[str, Any]) -> tuple[int, str]:
    """Return the status, headers and text of an answer; changes are rolled back."""
    path, body = fill_placeholders(request.path, world), fill_placeholders(request.body, world)
    is_api = path.startswith("/api/")
    with transaction.atomic():
        if request.method == "get":
            answer = api.get(path)
        else:
            answer = getattr(api, request.method)(path, body, format="json" if is_api else None)
        if getattr(answer, "streaming", False):
            text = b"".join(answer.streaming_content).decode("latin1")
        else:
            text = answer.content.decode()
        transaction.set_rollback(True)
    headers = "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
    return answer.status_code, f"{headers}\n{text}"


def without_request_values(text: str, request: Request, world: dict[str, Any]) -> str:
    """Return the text in lower case without values that the request itself contains."""
    refs = [str(PK), str(VALUES_PK), SLUG] if request.method != "get" or "Qxzsecret" in request.path else []
    path = fill_placeholders(request.path, world)
    for part in (path, quote(path), quote(path, safe=""), path.partition("?")[0], *(f"'{one}'" for one in refs)):
        text = text.replace(part, "")
    for ref in (str(PK), str(VALUES_PK), SLUG):
        if ref in request.path or ref in json.dumps(request.body):
            text = text.replace(f"'{ref}'", "").replace(f"&#x27;{ref}&#x27;", "").replace(f"={ref}", "")
    return text.lower()


@pytest.mark.parametrize("viewer", VIEWERS)
@pytest.mark.sampled(5)
def test_hidden_machines_appear_in_no_answer(viewer: str, people: dict[str, Any], world: dict[str, Any]) -> None:
    api, faults = client_of(viewer, people), []
    for request in (request for requests in REQUESTS_BY_ROUTE.values() for request in requests):
        status, text = answer_to(api, request, world)
        path, is_api = fill_placeholders(request.path, world), request.path.startswith("/api/")
        # Pages ignore tokens, so a program is a guest there.
        is_permitted = viewer.partition("'s ")[0] in PERMITTED_VIEWERS and (is_api or "'s " not in viewer)
        visible_text = without_request_values(text, request, world)
        found_secrets = [secret for secret in SECRETS if secret in visible_text]
        if status >= 500:
            faults.append((request.method, path, status))
        elif not is_permitted:
            request_text = path + json.dumps(fill_placeholders(request.body, world))
            found_codes = [code for code in world["codes"] if code in visible_text and code not in request_text]
            if found_secrets or found_codes:
                faults.append((request.method, path, status, found_secrets, found_codes))
        elif (
            request.names_machines
            and (viewer in PERMITTED_VIEWERS or (viewer == "owner's read" and request.method == "get"))
            and not found_secrets
        ):
            faults.append((request.method, path, status, "names no machine"))
    assert not faults, "\n".join(map(str, faults))


@pytest.mark.parametrize("viewer", ["guest", "other", "other's read", "other's play", "other's train"])
def test_private_machines_answer_like_missing_ones(viewer: str, people: dict[str, Any], world: dict[str, Any]) -> None:
    api = client_of(viewer, people)
    faults = []
    for request in (
        request
        for requests in REQUESTS_BY_ROUTE.values()
        for request in requests
        if f"/{PK}" in request.path or f"={PK}" in request.path
    ):
        status, text = answer_to(api, request, world)
        missing_request = Request(
            request.path.replace(str(PK), str(MISSING_PK)), body=request.body, method=request.method
        )
        missing_status, missing_text = answer_to(api, missing_request, world)
        if (status, without_ids(text, PK)) != (missing_status, without_ids(missing_text, MISSING_PK)):
            faults.append((request.method, request.path, without_ids(text, PK), without_ids(missing_text, MISSING_PK)))
    assert not faults, "\n".join(map(str, faults))


def without_ids(text: str, ref: int) -> str:
    """Return the text without ids, form tokens and moments, so that answers to equal requests are equal."""
    text = re.sub(r"^Expires: .*", "Expires: MOMENT", text, flags=re.MULTILINE)
    lines = [line for line in text.replace(str(ref), "ID").splitlines() if "csrf" not in line.lower()]
    return "\n".join(line for line in lines if not line.startswith(("Content-Length", "ETag", "Date")))


def test_every_address_of_the_site_is_in_the_table() -> None:
    routes = {route for route in routes_of(get_resolver().url_patterns) if not route.startswith("admin/")}
    assert routes == set(REQUESTS_BY_ROUTE)


def test_every_method_of_an_operation_is_in_the_table() -> None:
    missing = []
    for route, view in routes_with_views(get_resolver().url_patterns):
        view_class = getattr(view, "cls", None)
        if view_class is None or route.startswith("admin/"):
            continue
        expected = {method for method in ("get", "post", "put", "patch", "delete") if hasattr(view_class, method)}
        missing += [(route, method) for method in expected - {request.method for request in REQUESTS_BY_ROUTE[route]}]
    assert sorted(missing) == [("^api/experiment-runs/?$", "post")], "this operation has nothing to do with machines"


def routes_of(patterns: list[Any]) -> Iterator[str]:
    return (route for route, _ in routes_with_views(patterns))


def routes_with_views(patterns: list[Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from routes_with_views(pattern.url_patterns, route)
        else:
            yield route, pattern.callback


@pytest.mark.parametrize("viewer", VIEWERS)
def test_only_staff_reaches_the_admin(viewer: str, people: dict[str, Any], world: dict[str, Any]) -> None:
    api = client_of(viewer, people)
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        row = model._default_manager.order_by("-pk").first()
        urls = [reverse(f"{name}_changelist")]
        urls += [reverse(f"{name}_{page}", args=[row.pk]) for page in ("change", "history", "delete")] if row else []
        for url in urls:
            status, text = answer_to(api, Request(url), world)
            if viewer != "staff":
                assert status == 302, url
                assert not any(secret in without_request_values(text, Request(url), world) for secret in SECRETS)
    status, text = answer_to(api, Request("/admin/learning/machine/"), world)
    assert (SLUG in text) == (viewer == "staff")


def test_both_access_checks_agree(people: dict[str, Any], world: dict[str, Any]) -> None:
    for account in (None, *people.values()):
        viewer = Principal.of(account)
        hidden_ids = set(Machine.objects.filter(hidden_from(viewer)).values_list("pk", flat=True))
        for one in Machine.objects.all():
            assert (one.pk in hidden_ids) is not may_see(viewer, one.audience)
            assert is_seen(account, one) is may_see(viewer, one.audience)


def test_account_decides_even_with_a_guest_number_present(people: dict[str, Any]) -> None:
    number, owner = UUID(int=7), people["owner"]
    machine(Side.FIRST, owner=owner, name="Of the account", is_public=False)
    machine(Side.FIRST, guest=number, name="Of the guest", is_public=False)
    account_principal, guest_principal = Principal(user_id=owner.pk, guest=number), Principal(guest=number)
    for principal, expected_name in ((account_principal, "Of the account"), (guest_principal, "Of the guest")):
        visible_names = [
            one.name for one in Machine.objects.filter(is_public=False) if may_see(principal, one.audience)
        ]
        assert visible_names == [expected_name]
        assert [one.name for one in Machine.objects.filter(~hidden_from(principal), is_public=False)] == [expected_name]
