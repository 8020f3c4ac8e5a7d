"""What the API answers is what its schema says: every key, type, choice and null."""

from typing import Any

import pytest
import yaml
from drf_spectacular.validation import validate_schema

from learning.api.ai_schema import START_BOARD
from learning.models import Machine
from learning.referee import tournament_play
from learning.services import Stage, machine_create
from learning.services_schedules import Timing, schedule_create
from learning.services_tournaments import tournament_start
from tests.factories import api_with, guest, machine, play_out, room, trained, user

pytestmark = pytest.mark.django_db
ELSEWHERE = ("/api/ai", "/api/experiment", "/api/games", "/api/rooms")
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}


def differences(value: Any, schema: dict[str, Any], known: dict[str, Any], where: str) -> list[str]:
    """Where a value is not what a schema says."""
    while "$ref" in schema:
        schema = known[schema["$ref"].rpartition("/")[2]]
    if "oneOf" in schema:
        found = [differences(value, one, known, where) for one in schema["oneOf"]]
        return [] if [] in found or (value is None and schema.get("nullable")) else found[0]
    if "allOf" in schema:
        return [text for one in schema["allOf"] for text in differences(value, one, known, where)]
    if value is None:
        return [] if schema.get("nullable") or "type" not in schema else [f"{where} is null"]
    if not isinstance(value, TYPES.get(schema.get("type", ""), object)):
        return [f"{where} is no {schema['type']}: {value!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where} is none of {schema['enum']}: {value!r}"]
    if isinstance(value, list):
        return [text for item in value[:20] for text in differences(item, schema["items"], known, f"{where}[]")]
    fields = schema.get("properties")
    if not isinstance(value, dict) or fields is None:
        return []
    odd = [f"{where}.{name}" for name in ({*value} - {*fields}) | ({*schema.get("required", ())} - {*value})]
    return odd + [
        text
        for name in value.keys() & fields.keys()
        for text in differences(value[name], fields[name], known, f"{where}.{name}")
    ]


@pytest.fixture
def addresses() -> dict[str, str]:
    """For each path of the schema an address where there is something to see."""
    owner = user("owner")
    learner = trained(machine(owner=owner))
    seated = room("machine", guest(), machine=learner.slug)
    play_out(seated.room.code, guest())
    schedule = schedule_create(user=owner, machine=learner.slug, stages=[Stage("random", 3)], timing=Timing(every=3))
    options = {"user": owner, "games": 3, "enqueue": False}
    over, waiting = (tournament_start(entries=[learner.slug, "random", "perfect"], **options) for _ in range(2))
    tournament_play(over.pk)
    position = learner.boxes.filter(changes__lesson__kind="match")[0].position
    run = learner.runs.get()
    keeper = machine_create(game="romgon", side=None, name="Q", owner=owner)
    played_long = tournament_start(entries=[f"{keeper.pk}", "easy"], user=owner, games=1, enqueue=False)
    tournament_play(played_long.pk)
    start = keeper.rules.encode(keeper.rules.initial_position())
    return {
        "/api/machines": "",
        "/api/machines/{ref}": f"{learner.pk}",
        "/api/machines/{ref}/boxes": f"{learner.pk}/boxes",
        "/api/machines/{ref}/boxes/{position}": f"{learner.pk}/boxes/{position}",
        "/api/machines/{ref}/strength": f"{learner.pk}/strength",
        "/api/machines/{ref}/values/{position}": f"{keeper.pk}/values/{start}",
        "/api/training-runs": "",
        "/api/training-runs/{run_id}": f"{run.pk}",
        "/api/schedules": "",
        "/api/schedules/{schedule_id}": f"{schedule.pk}",
        "/api/tournaments": "",
        "/api/tournaments/{tournament_id}": f"{over.pk} {waiting.pk} {played_long.pk}",
    }


def test_answers_are_what_the_schema_says(addresses: dict[str, str]) -> None:
    api = api_with(Machine.objects.all()[0].owner)
    schema = yaml.safe_load(api.get("/api/schema").content)
    found = []
    for path, details in addresses.items():
        collection = "/".join(path.split("/")[:3])
        success = schema["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        for address in [f"{collection}/{detail}" for detail in details.split()] or [collection]:
            answer = api.get(address)
            assert answer.status_code == 200, address
            found += differences(answer.json(), success, schema["components"]["schemas"], path)
    assert found == []


def test_every_way_to_look_at_the_lab_is_compared(addresses: dict[str, str]) -> None:
    paths = yaml.safe_load(api_with(None).get("/api/schema").content)["paths"]
    lab = {path for path in paths if "get" in paths[path] and not path.startswith(ELSEWHERE)}
    assert lab - {"/api/machines/{ref}/export"} == set(addresses)


def test_the_schema_is_valid() -> None:
    validate_schema(yaml.safe_load(api_with(None).get("/api/schema").content))


def test_advice_is_what_its_schema_says() -> None:
    keeper = machine_create(game="romgon", side=None, name="Q")
    api = api_with(None)
    schema = yaml.safe_load(api.get("/api/schema").content)
    answers = schema["paths"]["/api/ai/move"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    boxed = {"game": "noughts-and-crosses", "board": "X........"}
    romgon = {"board": START_BOARD, "playerColor": "black"}
    for question in (romgon, {**romgon, "machine": keeper.pk}, boxed, {**boxed, "machine": machine().pk}):
        answer = api.post("/api/ai/move", question, format="json")
        assert answer.status_code == 200
        assert differences(answer.json(), answers, schema["components"]["schemas"], "move") == []
