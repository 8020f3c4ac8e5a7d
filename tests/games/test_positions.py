"""The boards of a match, from before its first move to after its last."""

from itertools import pairwise
from typing import Any

import pytest
import yaml
from rest_framework.test import APIClient

from beadbox.rules.outcome import Side
from beadbox.rules.playthrough import random_game
from beadbox.rules.registry import GAMES
from games.live.play import match_play_move, match_resign
from games.live.rooms import room_create, room_join, room_reset, room_state_get
from games.models import Match, Ply
from tests.factories import NC, api_with, guest, play, room, user
from tests.schema import differences

pytestmark = pytest.mark.django_db

FRIENDS = guest(1), guest(2)


@pytest.fixture
def api() -> APIClient:
    return APIClient()


def room_of_friends(game: str) -> str:
    """Return the code of a room in which two people play."""
    code = room_create(person=FRIENDS[0], game=game, opponent="human", side=Side.FIRST).room.code
    room_join(code=code, person=FRIENDS[1])
    return code


def positions_of(api: APIClient, code: str, **query: Any) -> list[dict[str, Any]]:
    answer = api.get(f"/api/rooms/{code}/positions", query)
    assert answer.status_code == 200
    positions: list[dict[str, Any]] = answer.json()["positions"]
    return positions


@pytest.mark.parametrize("slug", [NC, "hexapawn", "romgon", "romgon-flip-turn-shape-shuttle"])
def test_boards_equal_the_states_at_each_ply(api: APIClient, slug: str) -> None:
    code = room_of_friends(slug)
    states = [room_state_get(code=code)]
    for move in random_game(GAMES[slug], seed=3)[:24]:
        states.append(match_play_move(code=code, person=FRIENDS[(len(states) + 1) % 2], move=move))
    positions = positions_of(api, code)
    for name in ("ply", "board", "captured", "notices"):
        assert [one[name] for one in positions] == [state[name] for state in states]
    paths = [before["paths"][after["last_move"]] for before, after in pairwise(states)]
    assert [one["last_cells"] for one in positions] == [[], *paths]


def test_only_missing_positions_are_sent_mid_match(api: APIClient) -> None:
    seat = room("human")
    assert [one["board"] for one in positions_of(api, seat.room.code)] == [[None] * 9], "the second seat is still free"
    room_join(code=seat.room.code, person=guest(2))
    play(seat, guest(1), "5")
    whole = positions_of(api, seat.room.code)
    assert [one["ply"] for one in whole] == [0, 1]
    assert positions_of(api, seat.room.code, after=0) == whole[1:]
    assert positions_of(api, seat.room.code, after=1) == positions_of(api, seat.room.code, after=10**30) == []
    play(seat, guest(2), "9")
    assert [one["last_cells"] for one in positions_of(api, seat.room.code, after=1)] == [["9"]]


def test_a_new_match_has_its_own_boards(api: APIClient) -> None:
    seat = room("human")
    room_join(code=seat.room.code, person=guest(2))
    play(seat, guest(1), "5")
    match_resign(code=seat.room.code, person=guest(1))
    assert len(positions_of(api, seat.room.code)) == 2
    room_reset(code=seat.room.code, person=guest(1))
    answer = api.get(f"/api/rooms/{seat.room.code}/positions").json()
    assert (answer["number"], [one["ply"] for one in answer["positions"]]) == (2, [0])


def test_number_of_queries_does_not_depend_on_the_length(api: APIClient, django_assert_num_queries: Any) -> None:
    code = room_of_friends("romgon")
    with django_assert_num_queries(3):
        assert len(positions_of(api, code)) == 1
    moves = max((random_game(GAMES["romgon"], seed) for seed in range(5)), key=len)
    match = Match.objects.get()
    Ply.objects.bulk_create(Ply(match=match, number=n, side=n % 2, move=move) for n, move in enumerate(moves))
    with django_assert_num_queries(3):
        assert len(positions_of(api, code)) == len(moves) + 1 > 50


def test_boards_need_only_the_code_like_the_state(api: APIClient) -> None:
    code = room_of_friends(NC)
    account = user()
    for scope, status in (("read", 200), ("play", 403)):
        program = api_with(account, scope)
        answers = [program.get(f"/api/rooms/{code}{end}").status_code for end in ("", "/positions")]
        assert answers[0] == answers[1] == status, scope
    assert api.post(f"/api/rooms/{code}/positions").status_code == 405
    answer = api.get(f"/api/rooms/{code}/positions?afer=1").json()
    assert answer["detail"] == "afer: This list has no such parameter. Did you mean after?"


@pytest.mark.parametrize("after", ["-1", "1.5", "x"])
def test_refusal_of_an_invalid_ply_names_the_field(api: APIClient, after: str) -> None:
    answer = api.get(f"/api/rooms/{room_of_friends(NC)}/positions", {"after": after})
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
    assert answer.json()["detail"].startswith("after")


def test_the_answer_agrees_with_the_schema(api: APIClient) -> None:
    seat = room("perfect")
    play(seat, guest(1), "5")
    schema = yaml.safe_load(api.get("/api/schema").content)
    operation = schema["paths"]["/api/rooms/{code}/positions"]["get"]
    assert [one["name"] for one in operation["parameters"]] == ["after", "code", "match"]
    answers = operation["responses"]["200"]["content"]["application/json"]["schema"]
    answer = api.get(f"/api/rooms/{seat.room.code}/positions").json()
    assert differences(answer, answers, schema["components"]["schemas"], "positions") == []


def test_an_unknown_room_is_not_found(api: APIClient) -> None:
    answer = api.get("/api/rooms/zzzzzz/positions")
    assert (answer.status_code, answer.json()["code"]) == (404, "room_not_found")
