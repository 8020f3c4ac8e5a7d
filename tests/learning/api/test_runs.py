"""The API and the socket of training runs: permission to start, watch and stop, and answers."""

import json
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient
from rest_framework.throttling import SimpleRateThrottle

from beadbox.rules.outcome import Side
from games.accounts import tokens
from games.models import ApiToken
from learning.kinds.boxes.memory import ledger_errors
from learning.models import JobStatus, Machine, TrainingRun
from learning.services.runs import training_run_cancel
from learning.workers.runs import RUNS, run_execute
from tests.conftest import StartWorker
from tests.factories import api_with, machine, trained_memory, user
from tests.learning.runs import execute_run, run_of
from tests.sockets import RunSocket, session_of
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db

URL = "/api/training-runs"
in_db = database_sync_to_async


@pytest.fixture
def learner(owner: Any) -> Machine:
    return machine(Side.FIRST, owner=owner, name="Learner")


def body(learner: Machine, **options: Any) -> dict[str, Any]:
    return {"machine": learner.slug, "opponent": "random", "games": 100, **options}


def code_of(response: Any) -> tuple[int, str]:
    return response.status_code, response.json().get("code", "")


START_ANSWERS = {
    "owner": ((201, ""), (201, "")),
    "owner's token": ((201, ""), (201, "")),
    "staff": ((201, ""), (201, "")),
    "other": ((403, "not_your_machine"), (404, "machine_not_found")),
    "guest": ((401, "not_authenticated"), (401, "not_authenticated")),
    "token without scope": ((403, "scope_missing"), (403, "scope_missing")),
}


@pytest.mark.parametrize("is_public", [True, False], ids=["public", "hidden"])
@pytest.mark.parametrize("caller", START_ANSWERS)
def test_permissions_to_start_a_run(people: dict[str, APIClient], owner: Any, caller: str, is_public: bool) -> None:
    response = people[caller].post(URL, body(machine(owner=owner, is_public=is_public)))
    assert code_of(response) == START_ANSWERS[caller][not is_public]
    assert TrainingRun.objects.count() == (response.status_code == 201)


WATCH_ANSWERS = {
    "owner": ((200, ""), (200, "")),
    "owner's token": ((200, ""), (200, "")),
    "staff": ((200, ""), (200, "")),
    "other": ((200, ""), (404, "run_not_found")),
    "guest": ((200, ""), (404, "run_not_found")),
    "token without scope": ((403, "scope_missing"), (403, "scope_missing")),
}


@pytest.mark.parametrize("is_public", [True, False], ids=["public", "hidden"])
@pytest.mark.parametrize("caller", WATCH_ANSWERS)
def test_permissions_to_watch_a_run(people: dict[str, APIClient], owner: Any, caller: str, is_public: bool) -> None:
    run = run_of(machine(owner=owner, is_public=is_public))
    assert code_of(people[caller].get(f"{URL}/{run.pk}")) == WATCH_ANSWERS[caller][not is_public]
    listing = people[caller].get(URL)
    if listing.status_code == 200:
        assert listing.json()["count"] == (WATCH_ANSWERS[caller][not is_public][0] == 200)
    else:
        assert code_of(listing) == (403, "scope_missing")


STOP_ANSWERS = {
    **WATCH_ANSWERS,
    "other": ((403, "not_your_machine"), (404, "run_not_found")),
    "guest": START_ANSWERS["guest"],
}


@pytest.mark.parametrize("is_public", [True, False], ids=["public", "hidden"])
@pytest.mark.parametrize("caller", STOP_ANSWERS)
def test_permissions_to_stop_a_run(people: dict[str, APIClient], owner: Any, caller: str, is_public: bool) -> None:
    run = run_of(machine(owner=owner, is_public=is_public))
    response = people[caller].post(f"{URL}/{run.pk}/cancel")
    assert code_of(response) == STOP_ANSWERS[caller][not is_public]
    run.refresh_from_db()
    assert run.cancel_requested == (response.status_code == 200)


@pytest.mark.parametrize("end", ["expired", "revoked"])
def test_an_ended_token_starts_no_run(people: dict[str, APIClient], learner: Machine, end: str) -> None:
    ApiToken.objects.update(**{"expires_at" if end == "expired" else "revoked_at": timezone.now()})
    assert code_of(people["owner's token"].post(URL, body(learner))) == (401, f"token_{end}")
    assert code_of(people["owner's token"].get(URL)) == (401, f"token_{end}")
    assert not TrainingRun.objects.exists()


# Starting


def test_a_new_run_has_its_stages_and_seed(people: dict[str, APIClient], learner: Machine) -> None:
    answer = people["owner"].post(URL, body(learner, machine=learner.pk, seed=1 << 62)).json()
    assert (answer["machine"], answer["seed"], answer["status"]) == (learner.pk, str(1 << 62), "queued")
    assert (answer["games"], answer["games_done"], answer["curve"]) == (100, 0, [])
    assert answer["opponents"] == [{"opponent": "random", "machine": None, "learns": False, "games": 100}]
    assert people["guest"].get(f"{URL}/{answer['id']}").json() == answer


def test_random_seed_is_reported_and_trains_the_same_again(people: dict[str, APIClient], learner: Machine) -> None:
    first, second = (people["owner"].post(URL, body(learner)).json() for _ in range(2))
    assert first["seed"] != second["seed"]
    execute_run(TrainingRun.objects.get(pk=first["id"]))
    run_json = people["guest"].get(f"{URL}/{first['id']}").json()
    assert (run_json["status"], run_json["games_done"]) == ("finished", 100)
    assert run_json["wins"] + run_json["draws"] + run_json["losses"] == 100
    assert [run_json["curve"][0]["games"], run_json["curve"][-1]["games"]] == [0, 100]
    assert set(run_json["curve"][0]["strength"]) == {"random", "win_block", "perfect", "worst"}
    expected_memory = trained_memory(machine(Side.FIRST), 100, first["seed"])
    for box in learner.boxes.all():
        assert (
            box.beads
            == expected_memory.beads[expected_memory.slots(expected_memory.table.keys.index(box.position))].tolist()
        )


def test_a_curriculum_and_a_machine_that_learns_too(people: dict[str, APIClient], owner: Any, learner: Machine) -> None:
    other = machine(Side.SECOND, owner=owner)
    stages = [{"opponent": "random", "games": 50}, {"opponent": other.slug, "games": 30, "learns": True}]
    answer = people["owner"].post(URL, {"machine": learner.slug, "opponents": stages}).json()
    assert answer["opponents"] == [
        {"opponent": "random", "machine": None, "learns": False, "games": 50},
        {"opponent": "machine", "machine": other.pk, "learns": True, "games": 30},
    ]
    answer_with_one_stage = (
        people["owner"].post(URL, body(learner, opponent=str(other.pk), opponent_learns=True)).json()
    )
    assert answer_with_one_stage["opponents"] == [
        {"opponent": "machine", "machine": other.pk, "learns": True, "games": 100}
    ]
    for run in TrainingRun.objects.order_by("pk"):
        execute_run(run)
    other.refresh_from_db()
    assert other.n_games == 130
    assert ledger_errors() == []


def test_foreign_machine_is_an_opponent_that_does_not_learn(people: dict[str, APIClient], learner: Machine) -> None:
    house_machine = machine(Side.SECOND)
    assert people["owner"].post(URL, body(learner, opponent=house_machine.slug)).status_code == 201
    refusal = people["owner"].post(URL, body(learner, opponent=house_machine.slug, opponent_learns=True))
    assert code_of(refusal) == (403, "not_your_machine")


@pytest.mark.parametrize(
    ("wrong_fields", "field"),
    [
        ({"games": 0}, "games"),
        ({"games": -5}, "games"),
        ({"games": 1.5}, "games"),
        ({"games": "many"}, "games"),
        ({"games": 1_000_000_001}, "games"),
        ({"games": 10**30}, "games"),
        ({"games": None}, "games"),
        ({"seed": -1}, "seed"),
        ({"seed": 1 << 63}, "seed"),
        ({"seed": "x"}, "seed"),
        ({"machine": ""}, "machine"),
        ({"machine": ["a"]}, "machine"),
        ({"opponent": "nobody"}, "opponent"),
        ({"opponent": "a\0b"}, "opponent"),
        ({"opponent": "x" * 81}, "opponent"),
        ({"opponent_learns": True}, "opponent_learns"),
        ({"opponents": [{"opponent": "random", "games": 5}]}, "opponents"),
        ({"game": 100}, "game"),
    ],
)
def test_refusal_of_a_run_names_the_field(
    people: dict[str, APIClient], learner: Machine, wrong_fields: dict[str, Any], field: str
) -> None:
    response = people["owner"].post(URL, body(learner, **wrong_fields))
    assert (response.status_code, response.json()["detail"].partition(":")[0]) == (400, field)
    assert not TrainingRun.objects.exists()


STAGE = {"opponent": "random", "games": 5}


@pytest.mark.parametrize(
    ("opponents", "field"),
    [
        ([], "opponents"),
        ({}, "opponents"),
        ("random", "opponents"),
        ([STAGE] * 21, "opponents"),
        ([{**STAGE, "games": 10**9}] * 2, "opponents"),
        ([STAGE, {"opponent": "random"}], "opponents.1.games"),
        ([{**STAGE, "games": 0}], "opponents.0.games"),
        ([{**STAGE, "learns": True}], "opponents.0.learns"),
        ([{**STAGE, "seed": 3}], "opponents.0.seed"),
        ([3], "opponents.0"),
        ([{**STAGE, "opponent": "nobody"}], "opponent"),
    ],
)
def test_refusal_of_a_curriculum_names_the_field(
    people: dict[str, APIClient], learner: Machine, opponents: Any, field: str
) -> None:
    response = people["owner"].post(URL, {"machine": learner.slug, "opponents": opponents})
    assert (response.status_code, response.json()["detail"].partition(":")[0]) == (400, field)
    assert not TrainingRun.objects.exists()


@pytest.mark.parametrize("missing", ["machine", "opponent", "games"])
def test_a_run_needs_a_machine_an_opponent_and_games(
    people: dict[str, APIClient], learner: Machine, missing: str
) -> None:
    incomplete_body = {name: value for name, value in body(learner).items() if name != missing}
    response = people["owner"].post(URL, incomplete_body)
    assert (response.status_code, set(response.json()["fields"])) == (400, {missing})


def test_machines_that_cannot_train_are_refused(people: dict[str, APIClient], owner: Any, learner: Machine) -> None:
    post = people["owner"].post
    assert code_of(post(URL, body(learner, machine="nowhere"))) == (404, "machine_not_found")
    assert code_of(post(URL, body(learner, opponent=learner.slug))) == (409, "machine_wrong_side")
    frozen = machine(owner=owner, learns=False)
    assert code_of(post(URL, body(frozen))) == (400, "training_refused")
    hidden_machine = machine(Side.SECOND, owner=user("third"), is_public=False)
    refusal = post(URL, body(learner, opponent=hidden_machine.slug))
    assert code_of(refusal) == (400, "training_refused")
    assert code_of(post(URL, body(learner, opponent="nowhere"))) == code_of(refusal)


def test_starting_runs_has_its_own_rate(people: dict[str, APIClient], learner: Machine, monkeypatch: Any) -> None:
    cache.clear()
    rates = {**SimpleRateThrottle.THROTTLE_RATES, "write": "2/min"}
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", rates)
    statuses = [people[caller].post(URL, body(learner)).status_code for caller in ("owner", "owner's token", "owner")]
    assert statuses == [201, 201, 429], "form and API share the rate of an account"
    refusal = people["owner"].post(URL, body(learner))
    assert (refusal.json()["code"], int(refusal["Retry-After"]) > 0) == ("throttled", True)
    assert people["owner"].get(URL).status_code == 200
    assert people["staff"].post(URL, body(learner)).status_code == 201
    cache.clear()


# Looking and stopping


def test_a_finished_run_cannot_be_stopped(people: dict[str, APIClient], learner: Machine) -> None:
    run = execute_run(run_of(learner))
    assert code_of(people["owner"].post(f"{URL}/{run.pk}/cancel")) == (409, "run_over")


@pytest.mark.parametrize("path", ["0", "999999999999999999", "12/cancel"])
def test_a_missing_run_is_not_found(people: dict[str, APIClient], path: str) -> None:
    method = people["owner"].post if path.endswith("cancel") else people["owner"].get
    assert code_of(method(f"{URL}/{path}")) == (404, "run_not_found")


def test_runs_are_listed_newest_first_and_filtered(people: dict[str, APIClient], owner: Any, learner: Machine) -> None:
    other = machine(Side.SECOND, owner=owner)
    first, second, third = run_of(learner), run_of(other, opponent="perfect"), run_of(learner, opponent=other.slug)
    execute_run(first)
    for query, runs in {
        "": [third, second, first],
        f"?machine={learner.slug}": [third, first],
        f"?machine={other.pk}": [second],
        "?status=finished": [first],
        "?opponent=perfect": [second],
        f"?opponent={other.slug}": [third],
        f"?opponent={other.pk}": [third],
        "?machine=nowhere": [],
        "?limit=1&offset=1": [second],
    }.items():
        answer = people["guest"].get(f"{URL}{query}").json()
        assert [entry["id"] for entry in answer["results"]] == [run.pk for run in runs], query
    refusal = people["guest"].get(f"{URL}?status=asleep")
    assert (refusal.status_code, refusal.json()["detail"].partition(":")[0]) == (400, "status")


def test_the_name_of_a_hidden_opponent_is_not_shown(people: dict[str, APIClient], owner: Any) -> None:
    hidden_machine = machine(Side.SECOND, owner=owner, is_public=False, slug="secret")
    run_of(machine(Side.FIRST, owner=owner), opponent=hidden_machine.slug)
    for caller, count in (("owner", 1), ("staff", 1), ("other", 0), ("guest", 0)):
        for ref in (hidden_machine.slug, hidden_machine.pk):
            assert people[caller].get(f"{URL}?opponent={ref}").json()["count"] == count


def test_number_of_queries_does_not_depend_on_the_length(people: dict[str, APIClient], learner: Machine) -> None:
    counts = []
    for _ in range(2):
        run_of(learner)
        with CaptureQueriesContext(connection) as queries:
            people["guest"].get(URL)
        counts.append(len(queries))
    assert counts == [3, 3]


def test_the_schema_describes_runs_without_a_warning(people: dict[str, APIClient]) -> None:
    schema = people["guest"].get("/api/schema", headers={"Accept": "application/vnd.oai.openapi+json"})
    paths = json.loads(schema.content)["paths"]
    assert set(paths) >= {
        "/api/machines",
        "/api/machines/{ref}",
        "/api/machines/{ref}/clone",
        "/api/machines/{ref}/reset",
        "/api/machines/{ref}/strength",
        "/api/machines/{ref}/boxes",
        "/api/machines/{ref}/boxes/{position}",
        URL,
        f"{URL}/{{run_id}}",
        f"{URL}/{{run_id}}/cancel",
    }
    listing = paths["/api/machines/{ref}/boxes"]["get"]
    names = {parameter["name"] for parameter in listing["parameters"]}
    assert names >= {"move_number", "ply", "visited", "removed", "search", "ordering", "limit", "offset"}
    assert {"bearer": []} in paths[URL]["post"]["security"]


@pytest.mark.django_db(transaction=True)
def test_a_worker_trains_a_run_of_the_api(start_worker: StartWorker) -> None:
    start_worker()
    account = user()
    learner = machine(Side.FIRST, owner=account)
    api = api_with(account, "read", "train")
    run_json = api.post(URL, body(learner, games=20_000, seed=5)).json()
    assert wait_until(lambda: api.get(f"{URL}/{run_json['id']}").json()["status"] == "finished")
    expected_memory = trained_memory(machine(Side.FIRST), 20_000, 5)
    for box in learner.boxes.all():
        assert (
            box.beads
            == expected_memory.beads[expected_memory.slots(expected_memory.table.keys.index(box.position))].tolist()
        )
    long_run = api.post(URL, body(learner, games=1_000_000_000)).json()
    assert wait_until(lambda: api.get(f"{URL}/{long_run['id']}").json()["games_done"] > 0)
    assert api.post(f"{URL}/{long_run['id']}/cancel").status_code == 200
    assert wait_until(lambda: api.get(f"{URL}/{long_run['id']}").json()["status"] == "cancelled")
    assert ledger_errors() == []


# The socket


@pytest.mark.django_db(transaction=True)
async def test_the_socket_sends_the_state_and_then_every_step() -> None:
    learner = await in_db(machine)(Side.FIRST)
    run = await in_db(run_of)(learner, games=500)
    async with RunSocket(f"{URL}/{run.pk}/ws") as socket:
        first_frame = await socket.expect("joined")
        assert (first_frame["id"], first_frame["status"], first_frame["games_done"], first_frame["curve"]) == (
            run.pk,
            "queued",
            0,
            [],
        )
        await in_db(execute_run)(run)
        state = await socket.expect("state")
        assert (state["status"], state["games_done"], state["points"][-1]["games"]) == ("finished", 500, 500)
        assert await socket.receive_nothing()
        await socket.send_json_to({"type": "ping"})
        await socket.expect("pong")
        await socket.send_json_to({"type": "cancel"})
        assert (await socket.expect("error"))["code"] == "unknown_frame"
    async with RunSocket(f"{URL}/{run.pk}/ws/") as socket:
        second_frame = await socket.expect("joined")
    assert second_frame["curve"] == state["points"]


@pytest.mark.django_db(transaction=True)
async def test_an_old_state_is_not_sent_after_a_newer_one() -> None:
    from channels.layers import get_channel_layer

    learner = await in_db(machine)(Side.FIRST)
    run = await in_db(run_of)(learner)
    async with RunSocket(f"{URL}/{run.pk}/ws") as socket:
        old_state = {**await socket.expect("joined"), "points": []}
        await in_db(execute_run)(run)
        await socket.expect("state")
        await get_channel_layer().group_send(f"run.{run.pk}", {"type": "run.state", "data": old_state})
        assert await socket.receive_nothing()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("caller", "code"),
    [
        ("guest", "run_not_found"),
        ("other", "run_not_found"),
        ("other's token", "run_not_found"),
        ("owner", ""),
        ("owner's token", ""),
        ("staff", ""),
        ("token without scope", "scope_missing"),
        ("expired", "token_expired"),
        ("revoked", "token_revoked"),
        ("nonsense", "token_invalid"),
    ],
)
async def test_permissions_to_listen_to_a_hidden_machines_run(caller: str, code: str) -> None:
    def prepare() -> tuple[TrainingRun, dict[str, str]]:
        owner, other, staff = user("owner"), user("other"), user("staff", is_staff=True)
        run = run_of(machine(owner=owner, is_public=False))
        account = other if caller.startswith("other") else staff if caller == "staff" else owner
        if caller in ("owner", "other", "staff"):
            return run, {"session": session_of(account)}
        if caller in ("guest", "nonsense"):
            return run, {"token": "nonsense"} if caller == "nonsense" else {}
        scopes = ["play"] if caller == "token without scope" else ["read"]
        token, text = tokens.token_make(user=account, name="x", scopes=scopes, lifetime=None)
        if caller in ("expired", "revoked"):
            end_fields = {"expires_at" if caller == "expired" else "revoked_at": timezone.now()}
            ApiToken.objects.filter(pk=token.pk).update(**end_fields)
        return run, {"token": text}

    run, credentials = await in_db(prepare)()
    for path in (f"{URL}/{run.pk}/ws", f"/api/machines/{run.machine_id}/ws"):
        async with RunSocket(path, **credentials) as socket:
            if not code:
                await socket.expect("joined")
                continue
            expected = code.replace("run_", "machine_") if "machines" in path else code
            assert (await socket.expect("error"))["code"] == expected
            assert (await socket.receive_output())["type"] == "websocket.close"


def test_repeated_requests_to_stop_have_one_effect(learner: Machine, people: dict[str, APIClient]) -> None:
    run = run_of(learner)
    RUNS.claim(run.pk)
    assert people["owner"].post(f"{URL}/{run.pk}/cancel").json()["status"] == JobStatus.RUNNING
    assert training_run_cancel(run_id=run.pk)
    run.refresh_from_db()
    assert run_execute(run).status == JobStatus.CANCELLED
    assert people["guest"].get(f"{URL}/{run.pk}").json()["games_done"] == 0
