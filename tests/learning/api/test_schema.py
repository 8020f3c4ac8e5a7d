"""Answers of the API equal the schema: every key, type, choice and null."""

import re
from typing import Any

import pytest
import yaml
from django.conf import settings
from drf_spectacular.validation import validate_schema
from rest_framework.test import APIClient
from rest_framework.throttling import SimpleRateThrottle

from beadbox.learners.value_learner.rule import ValueRule
from learning.api.ai_schema import START_BOARD
from learning.models import Machine
from learning.services.machines import machine_create
from learning.services.runs import Stage, training_run_start
from learning.services.schedules import Timing, schedule_create
from learning.services.tournaments import tournament_start
from learning.workers.pairings import tournament_play
from learning.workers.runs import RUNS, run_execute
from tests.factories import api_with, guest, machine, play_out, room, trained_machine, user
from tests.schema import differences

pytestmark = pytest.mark.django_db
COMPARED_ELSEWHERE = ("/api/classes", "/api/ai", "/api/experiment", "/api/games", "/api/rooms")


@pytest.fixture
def addresses() -> dict[str, str]:
    """For each path of the schema an address with data."""
    owner = user("owner")
    learner = trained_machine(machine(owner=owner))
    seated = room("machine", guest(), machine=learner.slug)
    play_out(seated.room.code, guest())
    schedule = schedule_create(user=owner, machine=learner.slug, stages=[Stage("random", 3)], timing=Timing(every=3))
    options = {"user": owner, "games": 3, "enqueue": False}
    finished_tournament, waiting_tournament = (
        tournament_start(entries=[learner.slug, "random", "perfect"], **options) for _ in range(2)
    )
    tournament_play(finished_tournament.pk)
    position = learner.boxes.filter(changes__lesson__kind="match")[0].position
    run = learner.runs.get()
    q_machine = machine_create(game="romgon", side=None, name="Q", owner=owner)
    long_tournament = tournament_start(entries=[f"{q_machine.pk}", "easy"], user=owner, games=1, enqueue=False)
    tournament_play(long_tournament.pk)
    value_machine = machine_create(
        game="romgon", side=None, name="V", owner=owner, rule=ValueRule(features="squares-1")
    )
    options = {"stages": [Stage(value_machine.slug, 1, learns=True)], "seed": 1, "enqueue": False}
    claimed_run = RUNS.claim(training_run_start(machine=value_machine.slug, measured=2, **options).pk)
    assert claimed_run is not None
    run_execute(claimed_run)
    start = q_machine.game_rules.encode(q_machine.game_rules.initial_position())
    return {
        "/api/machines": "",
        "/api/machines/{ref}": f"{learner.pk}",
        "/api/machines/{ref}/boxes": f"{learner.pk}/boxes",
        "/api/machines/{ref}/boxes/{position}": f"{learner.pk}/boxes/{position}",
        "/api/machines/{ref}/progress": f"{learner.pk}/progress",
        "/api/machines/{ref}/strength": f"{learner.pk}/strength",
        "/api/machines/{ref}/snapshots": f"{value_machine.pk}/snapshots",
        "/api/machines/{ref}/snapshots/{snapshot_id}/weights": " ".join(
            f"{value_machine.pk}/snapshots/{one.pk}/weights" for one in value_machine.snapshots.all()
        ),
        "/api/machines/{ref}/values/{position}": f"{q_machine.pk}/values/{start}",
        "/api/learn": "?beside=scroggs&win=x",
        "/api/learn/graph": "graph?game=hexapawn graph?game=hexapawn&reduce_symmetry=false",
        "/api/training-runs": "",
        "/api/training-runs/{run_id}": f"{run.pk}",
        "/api/schedules": "",
        "/api/schedules/{schedule_id}": f"{schedule.pk}",
        "/api/tournaments": "",
        "/api/tournaments/{tournament_id}": f"{finished_tournament.pk} {waiting_tournament.pk} {long_tournament.pk}",
    }


def test_answers_agree_with_the_schema(addresses: dict[str, str]) -> None:
    api = api_with(Machine.objects.all()[0].owner)
    schema = yaml.safe_load(api.get("/api/schema").content)
    faults = []
    for path, details in addresses.items():
        collection = "/".join(path.split("/")[:3])
        success = schema["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        for address in [f"{collection}/{detail}" for detail in details.split()] or [collection]:
            answer = api.get(address)
            assert answer.status_code == 200, address
            faults += differences(answer.json(), success, schema["components"]["schemas"], path)
    assert faults == []


def test_every_read_of_the_lab_is_compared(addresses: dict[str, str]) -> None:
    paths = yaml.safe_load(api_with(None).get("/api/schema").content)["paths"]
    lab = {path for path in paths if "get" in paths[path] and not path.startswith(COMPARED_ELSEWHERE)}
    assert lab - {"/api/machines/{ref}/export"} == set(addresses)


def test_the_schema_is_valid() -> None:
    validate_schema(yaml.safe_load(api_with(None).get("/api/schema").content))


MISSING_VALUES = {"code": "a2b3c4", "position": "nothing", "ref": "nobody", "slug": "nothing"}
"""Values without a row, by the name of the parameter in the path."""


@pytest.fixture
def schema() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(api_with(None).get("/api/schema").content)
    return document


def operations(schema: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Method, address and description of each operation, with parameters that name no existing row."""
    return [
        (method.upper(), re.sub(r"{(\w+)}", lambda name: MISSING_VALUES.get(name[1], "404"), path), operation)
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
    ]


def undocumented_refusals(
    schema: dict[str, Any], api: APIClient, status: int, *, query: str = "", **options: Any
) -> list[str]:
    """Request every operation such that ``status`` is expected; return the refusals that differ from the schema."""
    faults, n_refusals = [], 0
    for method, address, operation in operations(schema):
        answer = api.generic(method, address + query, **options)
        if answer.status_code != status:
            continue
        n_refusals += 1
        described_answer = operation["responses"].get(str(status), {}).get("content", {}).get("application/json")
        fault = (
            differences(answer.json(), described_answer["schema"], schema["components"]["schemas"], "")
            if described_answer
            else ""
        )
        faults += [] if fault == [] else [f"{method} {address} {status}: {fault}"]
    assert n_refusals > 10, "too few operations refused the request in this way"
    return faults


def test_the_schema_has_the_refusals_of_every_operation(
    schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    account = user("ada", is_staff=True)
    guest_api, reading_api, api_with_wrong_token = api_with(None), api_with(account, "read"), APIClient()
    api_with_wrong_token.credentials(HTTP_AUTHORIZATION="Bearer bead_nobody")
    browser = APIClient(enforce_csrf_checks=True)
    browser.force_login(account)
    full_api = api_with(account, "read", "play", "train")
    json_body = {"data": "{}", "content_type": "application/json"}
    faults = undocumented_refusals(schema, guest_api, 400, query="?limit=1&x=%00")
    assert [text for text in faults if "/api/ai/" not in text] == []  # the AI endpoints do not read the query
    assert undocumented_refusals(schema, guest_api, 401, **json_body) == []
    assert undocumented_refusals(schema, api_with_wrong_token, 401, **json_body) == []
    assert undocumented_refusals(schema, reading_api, 403, **json_body) == []
    assert undocumented_refusals(schema, browser, 403, **json_body) == []
    assert undocumented_refusals(schema, full_api, 404, **json_body) == []
    assert undocumented_refusals(schema, full_api, 406, headers={"Accept": "text/plain"}) == []
    assert undocumented_refusals(schema, full_api, 413, data=" " * 70_000, content_type="application/json") == []
    assert undocumented_refusals(schema, full_api, 415, data="a=1", content_type="text/plain") == []
    rates = dict.fromkeys(settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"], "1/day")
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", rates)
    assert undocumented_refusals(schema, full_api, 429, **json_body) == []


def test_refusal_without_csrf_token_names_the_header(schema: dict[str, Any]) -> None:
    browser = APIClient(enforce_csrf_checks=True)
    browser.force_login(user("ada"))
    write_operations = [
        (method, path) for method, path, _ in operations(schema) if method != "GET" and "/api/ai/" not in path
    ]
    assert len(write_operations) > 20
    for method, path in write_operations:
        refusal = browser.generic(method, path, "{}", "application/json")
        assert (refusal.status_code, refusal.json()["code"]) == (403, "permission_denied"), path
        assert "X-CSRFToken with the value of the cookie csrftoken" in refusal.json()["detail"], path


def test_operations_for_guests_need_no_credentials(schema: dict[str, Any]) -> None:
    open_to_all = {
        f"{method} {address}"
        for method, address, operation in operations(schema)
        if {} in operation.get("security", [{}])
    }
    assert {"POST /api/rooms", "POST /api/rooms/a2b3c4/move", "GET /api/machines"} <= open_to_all
    assert not {"POST /api/machines", "GET /api/schedules"} & open_to_all


def test_advice_agrees_with_its_schema() -> None:
    q_machine = machine_create(game="romgon", side=None, name="Q")
    api = api_with(None)
    schema = yaml.safe_load(api.get("/api/schema").content)
    answer_schema = schema["paths"]["/api/ai/move"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    box_question = {"game": "noughts-and-crosses", "board": "X........"}
    romgon_question = {"board": START_BOARD, "playerColor": "black"}
    for question in (
        romgon_question,
        {**romgon_question, "machine": q_machine.pk},
        box_question,
        {**box_question, "machine": machine().pk},
    ):
        answer = api.post("/api/ai/move", question, format="json")
        assert answer.status_code == 200
        assert differences(answer.json(), answer_schema, schema["components"]["schemas"], "move") == []
