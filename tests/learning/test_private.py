"""A private machine is visible nowhere: every address of the site, requested by every kind of viewer.

``TABLE`` has every address; an address that is missing there fails the suite. Two private machines take part in
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
MISSING = 987650000
"""An id of no machine, for comparing answers."""
EMPTY = "........."


@dataclass(frozen=True, slots=True)
class Ask:
    """A request. ``named``: whether the response names the machines to permitted viewers (``None``: to some)."""

    path: str
    named: bool | None = False
    body: Any = None
    method: str = "get"


def post(path: str, body: Any = None, named: bool | None = False) -> Ask:
    return Ask(path, named, {} if body is None else body, "post")


def both(path: str, **options: Any) -> list[Ask]:
    """Return the requests for a page and for the form at the same address."""
    return [Ask(path, **options), post(path)]


PLACES = ["{live}", "{over}", "{show}", "{going}", "{seat}", "{deep}", "{fresh}", "{before}"]
"""Codes of the rooms with the machines, in every kind of seat."""

TABLE: dict[str, list[Ask]] = {
    "": [Ask("/", named=True)],
    "play": [Ask("/play")],
    "play/<slug:slug>/facts": [Ask(f"/play/{NC}/facts")],
    "play/<slug:slug>/facts.json": [Ask(f"/play/{NC}/facts.json")],
    "play/<slug:slug>": [
        Ask(f"/play/{NC}", named=True),
        Ask(f"/play/{NC}?machine={PK}", named=True),
        Ask("/play/romgon", named=True),
    ],
    "teach": [post("/teach", {"game": NC})],
    "lab": [Ask("/lab")],
    "learnt/<str:slug>": [Ask("/learnt/romgon-easy")],
    "learn": [Ask("/learn")],
    "learn/keep": [post("/learn/keep", {"address": "games=3"})],
    "learn/save": [Ask("/learn/save?games=3")],
    "learn/<str:slug>": [Ask("/learn/hexapawn?games=3")],
    "ai": [Ask("/ai")],
    "about": [Ask("/about")],
    "about/teachers": [Ask("/about/teachers")],
    "account": [Ask("/account", named=None)],
    # A private machine belongs to no class; tests/learning/views/test_classrooms.py asks for machines of classes
    "classes": [Ask("/classes")],
    "classes/new": both("/classes/new"),
    r"^api/classes/(?P<classroom_id>\d{1,18})/table/?$": [Ask("/api/classes/1/table")],
    "classes/privacy": [Ask("/classes/privacy")],
    "classes/help": [Ask("/classes/help")],
    "classes/plans/<int:minutes>": [Ask("/classes/plans/10")],
    "classes/<int:classroom_id>": [Ask("/classes/1")],
    "classes/<int:classroom_id>/try": [Ask("/classes/1/try")],
    "classes/<int:classroom_id>/results": [Ask("/classes/1/results")],
    "classes/<int:classroom_id>/results.csv": [Ask("/classes/1/results.csv")],
    "classes/<int:classroom_id>/results.pdf": [Ask("/classes/1/results.pdf")],
    "classes/<int:classroom_id>/<slug:action>": [post("/classes/1/pause")],
    "classes/<int:classroom_id>/pupils/<int:participant_id>/<slug:action>": [post("/classes/1/pupils/1/move")],
    "class": both("/class"),
    "class/me": [Ask("/class/me")],
    "class/play": [post("/class/play")],
    "class/leave": [post("/class/leave")],
    "class/join/<str:secret>": both("/class/join/none"),
    "class/try/<str:secret>": both("/class/try/none"),
    "class/screen/<str:secret>": [Ask("/class/screen/none")],
    "rooms": [post("/rooms", {"opponent": "machine", "machine": PK}), post("/rooms", {"opponent": PK})],
    "^rooms/join/?$": [post("/rooms/join", {"code": "{live}"})],
    r"^rooms/(?P<code>[^/]+)/matches/(?P<number>[^/]+)/?$": [
        Ask(f"/rooms/{code}/matches/1", named=None) for code in PLACES
    ],
    "rooms/<path:code>": [Ask(f"/rooms/{code}", named=True) for code in PLACES],
    # Pages of machines
    "machines": [Ask("/machines", named=True), Ask(f"/machines?game={NC}", named=True)],
    "machines/<int:machine_id>": [
        Ask(f"/machines/{PK}", named=True),
        Ask(f"/machines/{VALUES_PK}", named=True),
        *(Ask(path) for path in ("/machines/{open}", "/machines/{child}", "/machines/{theirs}")),
    ],
    "machines/<int:machine_id>/boxes/<str:position>": [
        Ask(f"/machines/{PK}/boxes/X........", named=True),
        Ask(f"/machines/{{open}}/boxes/{EMPTY}"),
    ],
    "machines/new": both("/machines/new"),
    "machines/compare": [
        Ask(f"/machines/compare?machine={PK}", named=True),
        Ask(f"/machines/compare?machine={{open}}&machine={SLUG}", named=True),
    ],
    "machines/compare.csv": [Ask(f"/machines/compare.csv?machine={PK}", named=True)],
    "machines/compare.json": [Ask(f"/machines/compare.json?machine={PK}", named=True)],
    "machines/<int:machine_id>/edit": both(f"/machines/{PK}/edit"),
    "machines/<int:machine_id>/share": both(f"/machines/{PK}/share"),
    "shared/<str:secret>": [Ask("/shared/none")],
    "machines/<int:machine_id>/set": [post(f"/machines/{PK}/set", {"learns": "off"})],
    "machines/<int:machine_id>/clone": [post(f"/machines/{PK}/clone")],
    "machines/<int:machine_id>/reset": both(f"/machines/{PK}/reset"),
    "machines/<int:machine_id>/delete": both(f"/machines/{PK}/delete"),
    "machines/<int:machine_id>/train": [*both(f"/machines/{PK}/train"), Ask("/machines/{theirs}/train")],
    "machines/<int:machine_id>/train-together": [
        post(f"/machines/{PK}/train-together", {"opponent": "{open}", "games": 5}),
        post("/machines/{theirs}/train-together", {"opponent": PK, "games": 5}),
    ],
    "machines/<int:machine_id>/boxes": [Ask(f"/machines/{PK}/boxes", named=True), Ask("/machines/{open}/boxes")],
    "machines/<int:machine_id>/boxes-at/<int:number>": [
        Ask(f"/machines/{PK}/boxes-at/1"),
        *(Ask(f"/machines/{{open}}/boxes-at/{number}") for number in (1, 2, 3)),
    ],
    "machines/<int:machine_id>/why": [Ask(f"/machines/{PK}/why", named=True)],
    "machines/<int:machine_id>/values": [Ask(f"/machines/{VALUES_PK}/values", named=True)],
    "machines/<int:machine_id>/drawings": [Ask(f"/machines/{PK}/drawings")],
    "machines/<int:machine_id>/boxes.csv": [Ask(f"/machines/{PK}/boxes.csv")],
    "machines/<int:machine_id>/print": [
        Ask(f"/machines/{PK}/print", named=True),
        Ask(f"/machines/{PK}/print?paper=a4&size=matchbox"),
    ],
    "machines/<int:machine_id>/snapshot": [post(f"/machines/{VALUES_PK}/snapshot", {"snapshot": "newest"})],
    "machines/<int:machine_id>/schedule": both(f"/machines/{PK}/schedule"),
    "machines/import": both("/machines/import"),
    # Runs, schedules, tournaments
    "runs/<int:run_id>": [Ask("/runs/{taught}", named=True), Ask("/runs/{own_run}", named=True)],
    "runs/<int:run_id>/cancel": [post("/runs/{taught}/cancel"), post("/runs/{own_run}/cancel")],
    "runs/<int:run_id>/curve.csv": [Ask("/runs/{taught}/curve.csv"), Ask("/runs/{own_run}/curve.csv")],
    "runs/<int:run_id>/run.json": [
        Ask("/runs/{taught}/run.json", named=True),
        Ask("/runs/{own_run}/run.json", named=True),
    ],
    "schedules": [Ask("/schedules", named=None)],
    "schedules/<int:schedule_id>": both("/schedules/{schedule}", named=None),
    "schedules/<int:schedule_id>/pause": [post("/schedules/{schedule}/pause", {"paused": "on"})],
    "schedules/<int:schedule_id>/delete": both("/schedules/{schedule}/delete"),
    "tournaments": [Ask("/tournaments", named=True)],
    "tournaments/new": [Ask("/tournaments/new", named=True), Ask(f"/tournaments/new?game={NC}", named=True)],
    "tournaments/<int:tournament_id>": [
        Ask("/tournaments/{cup}", named=True),
        Ask("/tournaments/{own_cup}", named=True),
    ],
    "tournaments/<int:tournament_id>/standings.csv": [Ask("/tournaments/{cup}/standings.csv", named=True)],
    "tournaments/<int:tournament_id>/pairings.csv": [Ask("/tournaments/{cup}/pairings.csv", named=True)],
    "tournaments/<int:tournament_id>/tournament.json": [
        Ask("/tournaments/{cup}/tournament.json", named=True),
        Ask("/tournaments/{own_cup}/tournament.json", named=True),
    ],
    "tournaments/<int:tournament_id>/entries/<int:number>.json": [
        Ask("/tournaments/{cup}/entries/1.json", named=True),
        Ask("/tournaments/{own_cup}/entries/1.json", named=True),
    ],
    "tournaments/<int:tournament_id>/cancel": [post("/tournaments/{cup}/cancel")],
    "tournaments/<int:tournament_id>/delete": both("/tournaments/{cup}/delete"),
    "experiments": [Ask("/experiments")],
    "experiments/<slug:slug>": [Ask("/experiments/gardner-24")],
    "experiments/runs/<int:run_id>/cancel": [post("/experiments/runs/1/cancel")],
    "experiments/runs/<int:run_id>/result.csv": [Ask("/experiments/runs/1/result.csv")],
    "experiments/runs/<int:run_id>/result.json": [Ask("/experiments/runs/1/result.json")],
    # The API
    "^api/?$": [Ask("/api")],
    "^api/health/?$": [Ask("/api/health")],
    "^api/health/live/?$": [Ask("/api/health/live")],
    "^api/health/ready/?$": [Ask("/api/health/ready")],
    "^api/schema/?$": [Ask("/api/schema")],
    "^api/docs/?$": [Ask("/api/docs")],
    "^api/games/?$": [Ask("/api/games")],
    "^api/games/(?P<slug>[-\\w]+)/?$": [Ask(f"/api/games/{NC}")],
    "^api/rooms/?$": [
        post("/api/rooms", {"opponent": "machine", "machine": SLUG}),
        post("/api/rooms", {"opponent": str(PK), "fresh": True}),
        post("/api/rooms", {"opponent": "random", "takes_over": str(PK)}),
        post("/api/rooms", {"first": "{open}", "second": SLUG}),
    ],
    "^api/rooms/(?P<code>[^/]+)/?$": [Ask(f"/api/rooms/{code}", named=True) for code in PLACES],
    "^api/rooms/(?P<code>[^/]+)/joined/?$": [Ask(f"/api/rooms/{code}/joined", named=True) for code in PLACES],
    r"^api/rooms/(?P<code>[^/]+)/matches/(?P<number>\d{1,9})/?$": [
        Ask(f"/api/rooms/{code}/matches/1", named=True) for code in PLACES
    ],
    "^api/rooms/(?P<code>[^/]+)/positions/?$": [Ask(f"/api/rooms/{code}/positions") for code in PLACES],
    "^api/rooms/(?P<code>[^/]+)/advice/?$": [Ask("/api/rooms/{deep}/advice")],
    "^api/rooms/(?P<code>[^/]+)/join/?$": [post(f"/api/rooms/{code}/join") for code in PLACES],
    "^api/rooms/(?P<code>[^/]+)/move/?$": [post(f"/api/rooms/{code}/move", {"move": "1"}) for code in PLACES],
    "^api/rooms/(?P<code>[^/]+)/step/?$": [post(f"/api/rooms/{code}/step") for code in PLACES],
    "^api/rooms/(?P<code>[^/]+)/draw/?$": [post(f"/api/rooms/{code}/draw") for code in PLACES],
    "^api/rooms/(?P<code>[^/]+)/resign/?$": [post(f"/api/rooms/{code}/resign") for code in PLACES],
    "^api/rooms/(?P<code>[^/]+)/reset/?$": [post(f"/api/rooms/{code}/reset") for code in PLACES],
    "^api/ai/move/?$": [
        post("/api/ai/move", {"game": NC, "board": "X........", "playerColor": "O", "machine": SLUG}),
        post("/api/ai/move", {"game": "romgon", "machine": VALUES_PK}),
    ],
    "^api/ai/evaluate/?$": [post("/api/ai/evaluate", {"game": NC, "board": EMPTY, "machine": SLUG})],
    "^api/ai/health/?$": [Ask("/api/ai/health")],
    "^api/machines/?$": [
        Ask("/api/machines", named=True),
        *(
            Ask(f"/api/machines?{query}", named=True)
            for query in ("search=Qxzsecret", "owner=owner", f"game={NC}", "side=O", "rule=scroggs", "learns=true")
        ),
        *(
            Ask(f"/api/machines?ordering={order}", named=True)
            for order in ("id", "-id", "name", "-games", "created_at")
        ),
        post("/api/machines", {"game": NC}),
    ],
    "^api/machines/(?P<ref>[-\\w]+)/?$": [
        Ask(f"/api/machines/{PK}", named=True),
        Ask(f"/api/machines/{SLUG}", named=True),
        Ask("/api/machines/{child}", named=True),
        Ask(f"/api/machines/{PK}", named=True, body={"name": "Mine"}, method="patch"),
        Ask(f"/api/machines/{PK}", method="delete"),
    ],
    "^api/machines/(?P<ref>[-\\w]+)/clone/?$": [post(f"/api/machines/{PK}/clone", named=True)],
    "^api/machines/(?P<ref>[-\\w]+)/reset/?$": [post(f"/api/machines/{PK}/reset")],
    "^api/machines/(?P<ref>[-\\w]+)/progress/?$": [Ask(f"/api/machines/{PK}/progress", named=None)],
    "^api/machines/(?P<ref>[-\\w]+)/strength/?$": [Ask(f"/api/machines/{PK}/strength")],
    "^api/machines/(?P<ref>[-\\w]+)/snapshots/?$": [Ask(f"/api/machines/{VALUES_PK}/snapshots")],
    "^api/machines/(?P<ref>[-\\w]+)/snapshots/choose/?$": [
        post(f"/api/machines/{VALUES_PK}/snapshots/choose", {"snapshot": "newest"})
    ],
    "^api/machines/(?P<ref>[-\\w]+)/snapshots/(?P<snapshot_id>\\d{1,18})/weights/?$": [
        Ask(f"/api/machines/{VALUES_PK}/snapshots/1/weights")
    ],
    "^api/machines/(?P<ref>[-\\w]+)/boxes/?$": [
        Ask(f"/api/machines/{PK}/boxes", named=True),
        Ask("/api/machines/{open}/boxes"),
    ],
    "^api/machines/(?P<ref>[-\\w]+)/boxes/(?P<position>[^/]+)/?$": [
        Ask(f"/api/machines/{PK}/boxes/X........", named=True),
        Ask(f"/api/machines/{{open}}/boxes/{EMPTY}"),
    ],
    "^api/machines/(?P<ref>[-\\w]+)/values/(?P<position>[^/]+)/?$": [Ask(f"/api/machines/{VALUES_PK}/values/x")],
    "^api/machines/(?P<ref>[-\\w]+)/export/?$": [
        *(Ask(f"/api/machines/{PK}/export?format={form}") for form in ("matchbox-ai", "csv")),
        Ask(f"/api/machines/{PK}/export", named=True),
        Ask("/api/machines/{child}/export"),
    ],
    "^api/machines/import/?$": [post("/api/machines/import", {"format": "beadbox-machine"})],
    "^api/training-runs/?$": [
        Ask("/api/training-runs", named=True),
        Ask(f"/api/training-runs?opponent={SLUG}", named=True),
        Ask(f"/api/training-runs?machine={PK}", named=True),
        Ask("/api/training-runs?opponent=machine"),
        post("/api/training-runs", {"machine": "{theirs}", "opponent": SLUG, "games": 5}),
        post("/api/training-runs", {"machine": SLUG, "opponent": "random", "games": 5}),
    ],
    "^api/training-runs/(?P<run_id>\\d{1,18})/?$": [
        Ask("/api/training-runs/{taught}", named=True),
        Ask("/api/training-runs/{own_run}", named=True),
    ],
    "^api/training-runs/(?P<run_id>\\d{1,18})/cancel/?$": [post("/api/training-runs/{taught}/cancel")],
    "^api/schedules/?$": [
        Ask("/api/schedules", named=None),
        Ask(f"/api/schedules?machine={PK}", named=None),
        post(
            "/api/schedules",
            {"machine": "{theirs}", "opponent": SLUG, "games": 5, "every": 1},
        ),
    ],
    "^api/schedules/(?P<schedule_id>\\d{1,18})/?$": [
        Ask("/api/schedules/{schedule}", named=None),
        Ask("/api/schedules/{schedule}", named=None, body={"paused": True}, method="patch"),
        Ask("/api/schedules/{schedule}", method="delete"),
    ],
    "^api/tournaments/?$": [
        Ask("/api/tournaments", named=True),
        post("/api/tournaments", {"entries": [SLUG, "random"], "games": 2}),
    ],
    "^api/tournaments/(?P<tournament_id>\\d{1,18})/?$": [
        Ask("/api/tournaments/{cup}", named=True),
        Ask("/api/tournaments/{own_cup}", named=True),
        Ask("/api/tournaments/{cup}", method="delete"),
    ],
    "^api/tournaments/(?P<tournament_id>\\d{1,18})/cancel/?$": [post("/api/tournaments/{cup}/cancel", named=None)],
    "^api/learn/?$": [Ask("/api/learn?games=3")],
    "^api/learn/graph/?$": [Ask("/api/learn/graph?game=hexapawn")],
    "^api/learn/keep/?$": [post("/api/learn/keep", {"address": "games=3"})],
    "^api/experiments/?$": [Ask("/api/experiments")],
    "^api/experiment-runs/?$": [Ask("/api/experiment-runs")],
    "^api/experiment-runs/(?P<run_id>\\d{1,18})/?$": [Ask("/api/experiment-runs/1")],
    "^api/experiment-runs/(?P<run_id>\\d{1,18})/cancel/?$": [post("/api/experiment-runs/1/cancel")],
    "^api(?:/|$)": [Ask("/api/nothing")],
    # Accounts: visible only to themselves
    "account/tokens": both("/account/tokens"),
    "account/tokens/<int:token_id>/revoke": [post("/account/tokens/1/revoke")],
    "signup": both("/signup"),
    "login": both("/login"),
    "logout": [post("/logout")],
    "password": both("/password"),
    "password/done": [Ask("/password/done")],
    "password/reset": both("/password/reset"),
    "password/reset/sent": [Ask("/password/reset/sent")],
    "password/reset/<uidb64>/<token>": [Ask("/password/reset/a/b")],
    "password/reset/done": [Ask("/password/reset/done")],
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
    hidden = machine(Side.SECOND, "scroggs", owner=owner, name=NAME, slug=SLUG, pk=PK)
    machine_create(game="romgon", side=None, name="Qxzsecret values", slug=VALUES_SLUG, pk=VALUES_PK, owner=owner)
    known, theirs = machine(Side.FIRST, owner=people["third"], name="Open"), machine(Side.FIRST, owner=other, name="T")
    taught = run_to_end(known, Stage(SLUG, 20, learns=True))
    own_run = run_to_end(hidden, Stage("random", 20))
    timing = Timing(crontab="0 3 * * *")
    schedule = schedule_create(user=other, machine=theirs.slug, stages=[Stage(SLUG, 10)], timing=timing)
    cup = tournament_id(other, known.slug, SLUG, "random")
    child = machine_copy(user=owner, machine_id=PK, name="Child")
    before = room("machine", person(other), machine=SLUG).room.code
    play_out(before, person(other))
    for pk in (PK, VALUES_PK):
        services.machine_update(user=owner, machine_id=pk, is_public=False)
    codes = {
        "live": room_code(owner, moves=1, opponent="machine", machine=SLUG),
        "over": room_code(owner, moves=9, opponent="machine", machine=SLUG),
        "seat": room_code(owner, moves=1, opponent="random", takes_over=SLUG),
        "deep": room_code(owner, moves=1, game="romgon", opponent="machine", machine=VALUES_SLUG),
        "fresh": room_code(owner, moves=1, opponent="machine", machine=SLUG, fresh=True),
        "show": exhibition_code(owner, known, plies=100),
        "going": exhibition_code(owner, known, plies=2),
        "before": before,
    }
    return {
        **codes,
        "open": known.pk,
        "theirs": theirs.pk,
        "child": child.pk,
        "taught": taught.pk,
        "own_run": own_run.pk,
        "schedule": schedule.pk,
        "cup": cup,
        "own_cup": tournament_id(owner, known.slug, SLUG, name="Qxzsecret cup"),
        "codes": list(codes.values()),
    }


def run_to_end(learner: Machine, *stages: Stage) -> TrainingRun:
    run = training_run_start(machine=learner.slug, stages=stages, seed=1, enqueue=False)
    claimed = RUNS.claim(run.pk)
    assert claimed is not None
    return run_execute(claimed)


def tournament_id(owner: Any, *entries: str, **options: Any) -> int:
    tournament = services_tournaments.tournament_start(
        user=owner, entries=entries, games=2, seed=1, enqueue=False, **options
    )
    tournament_play(tournament.pk)
    return tournament.pk


def room_code(owner: Any, *, moves: int, game: str = NC, **asked: Any) -> str:
    code = room_create(person=person(owner), game=game, side=Side.FIRST, **asked).room.code
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
    who, _, scope = viewer.partition("'s ")
    return api_with(people.get(who), *([scope] if scope else []))


def fill_placeholders(value: Any, world: dict[str, Any]) -> Any:
    if isinstance(value, str):
        return value.format_map(world)
    if isinstance(value, list):
        return [fill_placeholders(one, world) for one in value]
    return {key: fill_placeholders(one, world) for key, one in value.items()} if isinstance(value, dict) else value


def answer_to(api: APIClient, ask: Ask, world: dict[str, Any]) -> tuple[int, str]:
    """The status, headers and text of an answer; changes are rolled back."""
    path, body = fill_placeholders(ask.path, world), fill_placeholders(ask.body, world)
    is_api = path.startswith("/api/")
    with transaction.atomic():
        if ask.method == "get":
            answer = api.get(path)
        else:
            answer = getattr(api, ask.method)(path, body, format="json" if is_api else None)
        if getattr(answer, "streaming", False):
            text = b"".join(answer.streaming_content).decode("latin1")
        else:
            text = answer.content.decode()
        transaction.set_rollback(True)
    headers = "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
    return answer.status_code, f"{headers}\n{text}"


def without_request_values(text: str, ask: Ask, world: dict[str, Any]) -> str:
    """The text in lower case without values that the request itself contains."""
    said = [str(PK), str(VALUES_PK), SLUG] if ask.method != "get" or "Qxzsecret" in ask.path else []
    path = fill_placeholders(ask.path, world)
    for known in (path, quote(path), quote(path, safe=""), path.partition("?")[0], *(f"'{one}'" for one in said)):
        text = text.replace(known, "")
    for ref in (str(PK), str(VALUES_PK), SLUG):
        if ref in ask.path or ref in json.dumps(ask.body):
            text = text.replace(f"'{ref}'", "").replace(f"&#x27;{ref}&#x27;", "").replace(f"={ref}", "")
    return text.lower()


@pytest.mark.parametrize("viewer", VIEWERS)
@pytest.mark.sampled(5)
def test_hidden_machines_appear_in_no_answer(viewer: str, people: dict[str, Any], world: dict[str, Any]) -> None:
    api, faults = client_of(viewer, people), []
    for ask in (ask for asks in TABLE.values() for ask in asks):
        status, text = answer_to(api, ask, world)
        path, is_api = fill_placeholders(ask.path, world), ask.path.startswith("/api/")
        # Pages ignore tokens, so a program is a guest there.
        sees = viewer.partition("'s ")[0] in PERMITTED_VIEWERS and (is_api or "'s " not in viewer)
        said = without_request_values(text, ask, world)
        found = [secret for secret in SECRETS if secret in said]
        if status >= 500:
            faults.append((ask.method, path, status))
        elif not sees:
            request = path + json.dumps(fill_placeholders(ask.body, world))
            codes = [code for code in world["codes"] if code in said and code not in request]
            if found or codes:
                faults.append((ask.method, path, status, found, codes))
        elif (
            ask.named
            and (viewer in PERMITTED_VIEWERS or (viewer == "owner's read" and ask.method == "get"))
            and not found
        ):
            faults.append((ask.method, path, status, "should tell"))
    assert not faults, "\n".join(map(str, faults))


@pytest.mark.parametrize("viewer", ["guest", "other", "other's read", "other's play", "other's train"])
def test_private_machines_answer_like_missing_ones(viewer: str, people: dict[str, Any], world: dict[str, Any]) -> None:
    api = client_of(viewer, people)
    faults = []
    for ask in (ask for asks in TABLE.values() for ask in asks if f"/{PK}" in ask.path or f"={PK}" in ask.path):
        status, text = answer_to(api, ask, world)
        elsewhere = Ask(ask.path.replace(str(PK), str(MISSING)), body=ask.body, method=ask.method)
        status_there, text_there = answer_to(api, elsewhere, world)
        if (status, without_ids(text, PK)) != (status_there, without_ids(text_there, MISSING)):
            faults.append((ask.method, ask.path, without_ids(text, PK), without_ids(text_there, MISSING)))
    assert not faults, "\n".join(map(str, faults))


def without_ids(text: str, ref: int) -> str:
    """The text without ids, form tokens and moments, so that answers to equal requests are equal."""
    text = re.sub(r"^Expires: .*", "Expires: MOMENT", text, flags=re.MULTILINE)
    lines = [line for line in text.replace(str(ref), "ID").splitlines() if "csrf" not in line.lower()]
    return "\n".join(line for line in lines if not line.startswith(("Content-Length", "ETag", "Date")))


def test_every_address_of_the_site_is_in_the_table() -> None:
    routes = {route for route in routes_of(get_resolver().url_patterns) if not route.startswith("admin/")}
    assert routes == set(TABLE)


def test_every_method_of_an_operation_is_in_the_table() -> None:
    missing = []
    for route, view in routes_with_views(get_resolver().url_patterns):
        kind = getattr(view, "cls", None)
        if kind is None or route.startswith("admin/"):
            continue
        expected = {method for method in ("get", "post", "put", "patch", "delete") if hasattr(kind, method)}
        missing += [(route, method) for method in expected - {ask.method for ask in TABLE[route]}]
    assert sorted(missing) == [("^api/experiment-runs/?$", "post")], "it names no machine, and no machine it"


def routes_of(patterns: list[Any]) -> Iterator[str]:
    return (route for route, _ in routes_with_views(patterns))


def routes_with_views(patterns: list[Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from routes_with_views(pattern.url_patterns, route)
        else:
            yield route, pattern.callback


@pytest.mark.parametrize("viewer", VIEWERS)
def test_only_staff_reaches_the_admin(viewer: str, people: dict[str, Any], world: dict[str, Any]) -> None:
    api = client_of(viewer, people)
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        first = model._default_manager.order_by("-pk").first()
        urls = [reverse(f"{name}_changelist")]
        urls += [reverse(f"{name}_{act}", args=[first.pk]) for act in ("change", "history", "delete")] if first else []
        for url in urls:
            status, text = answer_to(api, Ask(url), world)
            if viewer != "staff":
                assert status == 302, url
                assert not any(secret in without_request_values(text, Ask(url), world) for secret in SECRETS)
    status, text = answer_to(api, Ask("/admin/learning/machine/"), world)
    assert (SLUG in text) == (viewer == "staff")


def test_both_access_checks_agree(people: dict[str, Any], world: dict[str, Any]) -> None:
    for account in (None, *people.values()):
        viewer = Principal.of(account)
        hidden = set(Machine.objects.filter(hidden_from(viewer)).values_list("pk", flat=True))
        for one in Machine.objects.all():
            assert (one.pk in hidden) is not may_see(viewer, one.audience)
            assert is_seen(account, one) is may_see(viewer, one.audience)


def test_account_decides_even_with_a_guest_number_present(people: dict[str, Any]) -> None:
    number, owner = UUID(int=7), people["owner"]
    machine(Side.FIRST, owner=owner, name="Of the account", is_public=False)
    machine(Side.FIRST, guest=number, name="Of the guest", is_public=False)
    signed_in, guest = Principal(user_id=owner.pk, guest=number), Principal(guest=number)
    for principal, own in ((signed_in, "Of the account"), (guest, "Of the guest")):
        seen = [one.name for one in Machine.objects.filter(is_public=False) if may_see(principal, one.audience)]
        assert seen == [own]
        assert [one.name for one in Machine.objects.filter(~hidden_from(principal), is_public=False)] == [own]
