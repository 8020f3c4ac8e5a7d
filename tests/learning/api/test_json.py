"""JSON of other programs: byte order marks, and integers that some readers round."""

import json
from typing import Any

import pytest
import yaml
from channels.db import database_sync_to_async
from django.core.management import call_command

from beadbox.rules.outcome import Side
from beadbox.seeds import MAX_SEED
from games.live.rooms import room_join
from learning.kinds.machines import machine_export
from learning.models import Machine, TrainingRun
from learning.services.runs import Stage, training_run_start
from tests.factories import api_with, guest, machine, room, user
from tests.sockets import RunSocket, Socket

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
JSON_TYPE = "application/json"
SMALL_SEED, MAX_NUMBER_SEED, MIN_TEXT_SEED = 7, 1 << 53, (1 << 53) + 1


def operations_with_body(schema: dict[str, Any]) -> list[tuple[str, str]]:
    """Method and address of each operation in the schema with a JSON body."""
    return [
        (method, path)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if JSON_TYPE in operation.get("requestBody", {}).get("content", {})
    ]


@pytest.mark.django_db
def test_every_endpoint_reads_a_byte_order_mark() -> None:
    owner = user()
    api = api_with(owner, "read", "play", "train")
    learner = machine(owner=owner)
    values = {"ref": learner.slug, "code": room("random", guest()).room.code}
    operations = operations_with_body(yaml.safe_load(api.get("/api/schema").content))
    assert len(operations) > 15
    for method, path in operations:
        address = path
        for name in [part[1:-1] for part in path.split("/") if part.startswith("{")]:
            address = address.replace(f"{{{name}}}", str(values.get(name, 1)))
        plain_answer, marked_answer = (
            getattr(api, method)(address, data=mark + b"{}", content_type=JSON_TYPE) for mark in (b"", BYTE_ORDER_MARK)
        )
        assert (marked_answer.status_code, b"JSON" in marked_answer.content) == (
            plain_answer.status_code,
            b"JSON" in plain_answer.content,
        ), path
        assert b"BOM" not in marked_answer.content, path


@pytest.mark.django_db
def test_requests_after_a_byte_order_mark_take_effect() -> None:
    owner = user()
    api = api_with(owner, "read", "play", "train")
    learner = machine(owner=owner)

    def post(path: str, body: Any, status: int, method: str = "post") -> Any:
        answer = getattr(api, method)(path, data=BYTE_ORDER_MARK + json.dumps(body).encode(), content_type=JSON_TYPE)
        assert answer.status_code == status, answer.content
        return answer.json()

    code = post("/api/rooms", {"opponent": "random"}, 201)["code"]
    post(f"/api/rooms/{code}/move", {"position": 5}, 200)
    post("/api/ai/move", {"game": learner.game, "board": "........."}, 200)
    assert post(f"/api/machines/{learner.pk}", {"name": "Ärger"}, 200, "patch")["name"] == "Ärger"
    post("/api/machines/import", json.loads(machine_export(learner).text), 201)
    post("/api/training-runs", {"machine": learner.slug, "opponent": "random", "games": 3}, 201)


@pytest.mark.django_db
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_refusal_of_utf_16_explains_the_encoding(encoding: str) -> None:
    body = ("\ufeff" * (encoding != "utf-16") + "{}").encode(encoding)
    answer = api_with(user()).post("/api/rooms", data=body, content_type=JSON_TYPE)
    assert (answer.status_code, answer.json()["detail"]) == (400, "The body is UTF-16. Send it as UTF-8.")
    assert api_with(None).post("/api/ai/move", data=body, content_type=JSON_TYPE).json()["error"] == "Invalid JSON"


@pytest.mark.django_db
def test_files_for_commands_may_begin_with_a_mark(tmp_path: Any) -> None:
    file = tmp_path / "machine.json"
    file.write_bytes(BYTE_ORDER_MARK + machine_export(machine()).text.encode())
    call_command("import_machine", str(file))
    games = tmp_path / "games.json"
    games.write_bytes(BYTE_ORDER_MARK + b'{"games": [{"moves": ["b1b2"], "winner": 1}]}')
    rules = {"first": "gardner-her", "second": "gardner-her"}
    call_command("replay", str(games), game="hexapawn", out=tmp_path / "out", **rules)
    assert (tmp_path / "out" / "second.json").exists()


@pytest.mark.django_db(transaction=True)
async def test_a_frame_may_begin_with_a_mark() -> None:
    code, token = await database_sync_to_async(_room_with_seat)()
    async with Socket(code, token) as socket:
        await socket.expect("joined")
        await socket.send_to(text_data='\ufeff{"type": "move", "data": {"position": 5}}')
        assert (await socket.expect("state"))["ply"] == 1


def _room_with_seat() -> tuple[str, str]:
    seated = room("human", guest(), side=Side.FIRST)
    room_join(code=seated.room.code, person=guest(2))
    return seated.room.code, seated.token


@pytest.mark.django_db
@pytest.mark.parametrize("form", [int, str])
@pytest.mark.parametrize("seed", [0, SMALL_SEED, MAX_NUMBER_SEED, MIN_TEXT_SEED, MAX_SEED])
def test_seeds_beyond_2_53_are_text_and_both_forms_are_read(seed: int, form: type) -> None:
    owner = user()
    api = api_with(owner, "read", "play", "train")
    learner = machine(owner=owner)
    shown_seed = str(seed) if seed > MAX_NUMBER_SEED else seed
    training = {"machine": learner.slug, "opponent": "random", "games": 1, "seed": form(seed)}
    requests = [
        ("/api/training-runs", training),
        ("/api/schedules", {**training, "every": 3}),
        ("/api/tournaments", {"entries": [learner.slug, "random"], "games": 1, "seed": form(seed)}),
        ("/api/experiment-runs", {"experiment": "gardner", "seed": form(seed)}),
    ]
    for path, body in requests:
        answer = api.post(path, body, format="json")
        assert answer.status_code in (201, 202), answer.content
        assert answer.json()["seed"] == shown_seed, path
        assert type(answer.json()["seed"]) is type(shown_seed), path
        address = f"{path}/{answer.json()['id']}"
        assert api.get(address).json()["seed"] == shown_seed, path
        assert shown_seed in [each["seed"] for each in api.get(path).json()["results"]], path
    answer_to_change = api.patch(address_of_first(api, "/api/schedules"), {"seed": form(seed)}, format="json")
    assert answer_to_change.json()["seed"] == shown_seed
    assert TrainingRun.objects.get(machine=learner).seed == seed


def address_of_first(api: Any, path: str) -> str:
    return f"{path}/{api.get(path).json()['results'][0]['id']}"


@pytest.mark.django_db
@pytest.mark.parametrize("seed", [MAX_SEED + 1, str(MAX_SEED + 1), -1, "-1", "seven", 1.5, True, [], "1e3"])
def test_invalid_seeds_are_refused(seed: Any) -> None:
    owner = user()
    training = {"machine": machine(owner=owner).slug, "opponent": "random", "games": 1, "seed": seed}
    answer = api_with(owner, "read", "train").post("/api/training-runs", training, format="json")
    assert (answer.status_code, "seed" in json.dumps(answer.json())) == (400, True)


@pytest.mark.django_db
def test_the_schema_says_that_a_seed_is_a_number_or_text() -> None:
    schema = yaml.safe_load(api_with(None).get("/api/schema").content)["components"]["schemas"]
    fields = [
        (name, one["properties"]["seed"])
        for name, one in schema.items()
        if "seed" in one.get("properties", {}) and name != "Address"
    ]
    assert len(fields) > 8
    for name, field in fields:
        assert [one["type"] for one in field["oneOf"]] == ["integer", "string"], name


def _run_with_long_seed() -> tuple[Machine, TrainingRun]:
    learner = machine()
    run = training_run_start(machine=learner.slug, stages=[Stage("random", 1)], seed=MAX_SEED, enqueue=False)
    return learner, run


@pytest.mark.django_db(transaction=True)
async def test_sockets_send_long_seeds_as_text() -> None:
    _, run = await database_sync_to_async(_run_with_long_seed)()
    async with RunSocket(f"/api/training-runs/{run.pk}/ws") as socket:
        assert (await socket.expect("joined"))["seed"] == str(MAX_SEED)
