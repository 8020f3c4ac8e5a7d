"""The states of rooms and games in the API agree with the schema in every field."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from beadbox.rules.outcome import Side
from games.live.play import match_play_move, match_resign, match_step
from games.live.rooms import room_create
from games.models import Room
from learning.services.machines import machine_create
from tests import factories
from tests.factories import NC, api_with
from tests.schema import differences

pytestmark = pytest.mark.django_db


@pytest.fixture
def schema() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(api_with(None).get("/api/schema").content)
    return document


def schema_differences(schema: dict[str, Any], path: str, address: str) -> list[str]:
    answer = api_with(None).get(address)
    assert answer.status_code == 200, address
    answer_schema = schema["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    return differences(answer.json(), answer_schema, schema["components"]["schemas"], path)


def test_games_agree_with_the_schema(schema: dict[str, Any]) -> None:
    assert schema_differences(schema, "/api/games", "/api/games") == []
    for slug in (NC, "hexapawn", "romgon"):
        assert schema_differences(schema, "/api/games/{slug}", f"/api/games/{slug}") == []


def rooms_in_every_state() -> list[Room]:
    """Return rooms: waiting, in play against boxes, finished, with a machine with values, and an exhibition."""
    person = factories.guest()
    waiting = factories.room("human", person)
    with_boxes = factories.room("machine", person, machine=factories.machine().slug)
    finished = factories.room("machine", person, machine=factories.machine().slug)
    q_machine = machine_create(game="romgon", side=None, name="Q")
    with_values = room_create(person=person, game="romgon", opponent="machine", machine=q_machine.slug, side=Side.FIRST)
    for seat in (with_boxes, finished, with_values):
        match_play_move(code=seat.room.code, person=person, move=first_move(seat.room))
    for seat in (finished, with_values):
        match_resign(code=seat.room.code, person=person)
    exhibition = room_create(person=person, game=NC, first="random", second="perfect")
    match_step(code=exhibition.room.code, person=person, max_plies=3)
    return [seat.room for seat in (waiting, with_boxes, finished, with_values, exhibition)]


def first_move(room: Room) -> str:
    game = room.game_rules
    return game.format_move(game.legal_moves(game.initial_position())[0])


def test_rooms_agree_with_the_schema(schema: dict[str, Any]) -> None:
    states = []
    for room in rooms_in_every_state():
        assert schema_differences(schema, "/api/rooms/{code}", f"/api/rooms/{room.code}") == []
        assert schema_differences(schema, "/api/rooms/{code}/positions", f"/api/rooms/{room.code}/positions") == []
        states.append(api_with(None).get(f"/api/rooms/{room.code}").json())
    assert [state["status"] for state in states] == ["waiting", "playing", "finished", "finished", "playing"]
    assert [state["learning"] is not None for state in states] == [False, True, True, True, False]
    assert states[2]["learning"]["lessons"]
    assert "values" in states[3]["learning"]
