"""Valid and invalid requests by the schema, sent to the whole site: nothing fails, and the schema covers each answer.

The cases are the same on every machine and in every order of tests: the seed is fixed, rows have the same ids, room and
token have the same text, and each case finds the same database. For this purpose the test calls the site as a WSGI
server does: the request runs in the thread and the transaction of the test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, MutableMapping
from itertools import count
from random import Random
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.apps import apps
from django.core.management.color import no_style
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, connection, transaction
from hypothesis import HealthCheck, Phase, assume, given
from hypothesis.internal.conjecture import providers
from hypothesis.strategies import one_of
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from games.accounts import tokens
from games.accounts.principal import token_hash
from games.live.play import match_play_move
from games.models import Room, Seat, TokenScope
from learning.services.machines import machine_create
from learning.services.runs import Stage
from learning.services.schedules import Timing, schedule_create
from learning.services.tournaments import tournament_start
from learning.workers.pairings import tournament_play
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.soak]

CASES = 1000
"""Minimum number of different cases for each of the two clients."""
CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
ROOM = "k7m2pq"
SEAT_TOKEN = "proves whose seat it is"
EMPTY = "........."
EXISTING_VALUES: dict[str, list[Any]] = {
    "ref": ["learner", "keeper", "1", "hidden"],
    "run_id": ["1", "2"],
    "schedule_id": ["1"],
    "tournament_id": ["1", "2"],
    "code": [ROOM, "m7m2pq"],
    "position": [EMPTY, "X...O...."],
    "slug": ["noughts-and-crosses", "hexapawn", "romgon"],
    "game": ["noughts-and-crosses", "noughts-and-crosses", "romgon", "hexapawn"],
    "machine": ["learner", "keeper", "hidden", "2"],
    "opponent": ["random", "human", "human", "perfect", "machine", "2"],
    "takes_over": ["learner", "menace", "keeper"],
    "first": ["random", "learner"],
    "second": ["random", "perfect", "keeper"],
    "entries": [["learner", "random"], ["random", "perfect", "win-block"], ["keeper", "easy"]],
    "games": [3],
    "side": ["0", "1", "random", "X"],
    "move": ["5", "1", "9"],
    "ply": [0, 1, 2],
    "search": ["X", EMPTY],
    "experiment": ["gardner"],
    "additions": [[], ["flip"]],
    "crontab": ["0 3 * * *"],
    "X-Seat-Token": [SEAT_TOKEN],
    "seat_token": [SEAT_TOKEN],
    "board": [EMPTY, "X...O...."],
}
"""Existing values by the name of their parameter or field, since random values would never match."""
VALID_BODIES: dict[str, list[dict[str, Any]]] = {
    "POST /api/rooms": [
        {"opponent": "human"},
        {"first": "random", "second": "perfect"},
        {"opponent": "random", "takes_over": "learner", "fresh": True},
    ],
    "POST /api/rooms/{code}/move": [{"move": "5", "ply": 0}],
    "POST /api/machines": [{"game": "noughts-and-crosses", "side": "0"}],
    "POST /api/machines/{ref}/clone": [{"name": "A copy"}],
    "PATCH /api/machines/{ref}": [{"learns": False}],
    "POST /api/training-runs": [{"machine": "learner", "opponent": "random", "games": 3}],
    "POST /api/schedules": [{"machine": "learner", "opponent": "random", "games": 3, "every": 2}],
    "PATCH /api/schedules/{schedule_id}": [{"paused": True}, {"crontab": "0 3 * * *"}],
    "POST /api/tournaments": [{"entries": ["learner", "random"], "games": 3}],
    "POST /api/experiment-runs": [{"experiment": "gardner"}],
    "POST /api/ai/move": [{"game": "noughts-and-crosses", "board": EMPTY, "machine": "learner"}],
    "POST /api/ai/evaluate": [{"game": "noughts-and-crosses", "board": EMPTY}],
}
"""Valid requests to begin with; some of their fields are then replaced."""


@pytest.fixture
def owner(settings: Any) -> Any:
    """Create the built-in data, and an account with one of everything."""
    settings.AI_TIME_BUDGET_S = 0.02
    with connection.cursor() as cursor:
        models = [model for name in ("games", "learning") for model in apps.get_app_config(name).get_models()]
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)
    factories.house_machines()
    owner = factories.user("owner")
    learner = factories.trained_machine(factories.machine(owner=owner, slug="learner"), games=50)
    q_machine = machine_create(game="romgon", side=None, name="Q", owner=owner, slug="keeper")
    factories.machine(owner=factories.user("another"), slug="hidden", is_public=False)
    factories.trained_machine(q_machine, games=2, opponent="easy")
    schedule_create(user=owner, machine=learner.slug, stages=[Stage("random", 3)], timing=Timing(every=3))
    for entries in ([learner.slug, "random", "perfect"], ["random", "perfect"]):
        tournament_start(entries=entries, game=factories.NC, user=owner, games=2, enqueue=False)
    tournament_play(1)
    factories.finished_experiment("gardner", machines=10)
    for code, opponent in ((ROOM, learner.slug), ("m7m2pq", "human")):
        seated = factories.room("machine" if code == ROOM else opponent, factories.person(owner), machine=learner.slug)
        Room.objects.filter(pk=seated.room.pk).update(code=code)
    Seat.objects.filter(user=owner).update(token_sha256=token_hash(SEAT_TOKEN))
    match_play_move(code=ROOM, person=factories.person(owner), move="5")
    return owner


@pytest.fixture
def application() -> Iterator[Any]:
    """Yield the WSGI application without the signals that would close the test's own connection."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield get_wsgi_application()
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture(autouse=True)
def no_constants_of_ours(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hide the constants of imported modules from Hypothesis, since the set of these modules varies."""
    monkeypatch.setattr(providers, "_get_local_constants", providers.Constants)
    providers.CONSTANTS_CACHE.cache.clear()
    yield
    providers.CONSTANTS_CACHE.cache.clear()


@pytest.mark.parametrize(
    ("who", "each", "seed", "answers"),
    [
        ("a guest", 36, 1, {200, 201, 400, 401, 404, 409}),
        ("an account", 23, 2, {200, 201, 202, 204, 400, 403, 404, 409}),
    ],
)
def test_every_api_response_matches_the_schema(
    who: str, each: int, seed: int, answers: set[int], owner: Any, application: Any
) -> None:
    schema = schemathesis.openapi.from_wsgi("/api/schema", application, config=schemathesis.Config())
    schema.config.generation.update(with_security_parameters=False)
    operations = [operation.ok() for operation in schema.get_all_operations()]
    headers = {"Accept-Encoding": "identity"}
    if who == "an account":
        token = tokens.token_make(user=owner, name="asks", scopes=list(TokenScope), lifetime=None)[1]
        headers["Authorization"] = f"Bearer {token}"
    statuses: dict[str, set[str]] = {operation.label: set() for operation in operations}
    answered: Counter[int] = Counter()
    faults: dict[str, str] = {}
    tries = count()

    def ask(case: schemathesis.Case) -> None:
        insert_existing_values(case, Random(f"{seed} {next(tries)}"))
        text = case.as_curl_command(headers={})
        assume(text not in statuses[case.operation.label])
        statuses[case.operation.label].add(text)
        with transaction.atomic():
            response = case.call(headers=headers)
            transaction.set_rollback(True)
        answered[response.status_code] += 1
        try:
            case.validate_response(response, checks=CHECKS)
        except FailureGroup as group:
            for failure in group.exceptions:
                key = f"{case.operation.label} {response.status_code} {type(failure).__name__}"
                faults.setdefault(key, f"{failure}\n{text}\n{response.text[:500]}")

    for operation in operations:
        cases = one_of([operation.as_strategy(mode) for mode in GenerationMode])
        # Endpoints for accounts only have one answer for guests.
        n_cases = each if may_be_called(operation, who) else each // 5
        how = hypothesis.settings(
            max_examples=n_cases,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        how(hypothesis.seed(seed)(given(cases)(ask)))()
    assert faults == {}
    assert sum(map(len, statuses.values())) >= CASES
    assert all(statuses.values())
    assert answered.keys() >= answers


def may_be_called(operation: schemathesis.APIOperation, who: str) -> bool:
    """Whether the operation needs no account by the schema, or the client has one."""
    return who == "an account" or {} in operation.definition.raw.get("security", [{}])


def insert_existing_values(case: schemathesis.Case, chance: Random) -> None:
    """Put existing values into no field, into some fields, or into all fields."""
    how = chance.choice(["nowhere", "somewhere", "everywhere"])
    if how == "everywhere" and case.operation.label in VALID_BODIES:
        case.body = {**chance.choice(VALID_BODIES[case.operation.label])}
        case.media_type = "application/json"
    for named in (case.path_parameters, case.query, case.headers, case.body):
        if how == "nowhere" or not isinstance(named, MutableMapping):
            continue
        for name in sorted(map(str, named)):
            is_meant = how == "everywhere" or named is case.path_parameters or chance.random() < 0.5
            if name in EXISTING_VALUES and is_meant:
                named[name] = chance.choice(EXISTING_VALUES[name])
            elif name not in EXISTING_VALUES and how == "everywhere" and named is case.query:
                named.pop(name)
