"""A game with history and several kinds of action, in a room: the stored rows and the players' view."""

import pytest
from rest_framework.test import APIClient

from beadbox.rules.registry import GAMES
from games.models import Match, Ply

pytestmark = pytest.mark.django_db

GAME = GAMES["romgon-flip-turn-shape-shuttle"]


@pytest.fixture
def api() -> APIClient:
    return APIClient()


def test_match_with_flip_turn_and_check(api: APIClient) -> None:
    room = api.post("/api/rooms", {"opponent": "random", "game": GAME.slug}).json()
    assert room["role"] == "Black"
    api.credentials(HTTP_X_SEAT_TOKEN=room["seat_token"])
    state = api.get(f"/api/rooms/{room['code']}").json()
    assert (state["turn"], state["notices"]) == ("Black", {})
    assert state["actions"]["3-8~"] == {"kind": "flip", "name": "Flip", "piece": "r~"}
    assert state["actions"]["1-6>1-5@2"] == {"kind": "turn", "name": "Turn right twice", "piece": "t@2"}
    assert "1-6>1-5" not in state["actions"]
    assert state["paths"]["1-6>1-5"] == state["paths"]["1-6>1-5@2"] == ["1-6", "1-5"]
    for action in ("3-8~", "1-6>1-5@2"):
        state = api.post(f"/api/rooms/{room['code']}/move", {"move": action}).json()
    assert state["ply"] == 4
    assert [row["name"] for row in state["moves"][::2]] == [
        "rhombus 3-8 flips over",
        "triangle 1-6 to 1-5, turns right twice",
    ]
    assert [row["piece"] for row in state["moves"][::2]] == ["r", "t"]
    position = GAME.decode(state["position"])
    assert state["notices"] == GAME.presentation.notices(position)
    assert [GAME.encode(GAME.decode(text)) for text in Ply.objects.values_list("position", flat=True)]


def test_the_longest_game_can_be_stored(api: APIClient) -> None:
    room = api.post("/api/rooms", {"opponent": "human", "game": "romgon-flip"}).json()
    assert room["code"]
    match = Match.objects.get()
    match.position = "x" * 900
    match.save()
    match.refresh_from_db()
    assert len(match.position) == 900
