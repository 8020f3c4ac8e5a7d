"""The learning page's machines over the API: equal for every client, refused by field, bounded."""

import pytest
from django.http import QueryDict
from rest_framework.test import APIClient

from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.boxes.training_address import address_parse
from beadbox.rules.registry import GAMES
from beadbox.seeds import MAX_SEED
from games.accounts.throttles import LiveThrottle
from tests.factories import api_with, user

pytestmark = pytest.mark.django_db
GAME = GAMES["noughts-and-crosses"]


def parse_query(query):
    return address_parse(QueryDict(query))


def get_json(path, query=""):
    answer = APIClient().get(f"/api/learn{path}?{query}")
    assert answer.status_code == 200, answer.json()
    return answer.json()


def refusal_of_keep(query):
    answer = api_with(user("ada")).post("/api/learn/keep", {"address": query})
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
    return answer.json()


@pytest.mark.parametrize("preset", PRESETS)
def test_addresses_survive_a_round_trip(preset):
    game = "game=pong-hau-ki&" if preset == "circles" else ""
    options = f"cap=100&games=12&win=7&seed={MAX_SEED}&preset={preset}&side=second"
    query = f"{game}against=worst&beside={preset}&beside.win=9&{options}"
    first_reading = parse_query(query)
    second_reading = parse_query(first_reading.address)
    assert (first_reading, first_reading.problems) == (second_reading, ())
    assert first_reading.config.rule.win == 7
    assert first_reading.second.rule == BoxRule.from_json(PRESETS[preset].rule.to_json() | {"win": 9})
    comparison = parse_query(first_reading.second_address)
    assert comparison.config.rule == first_reading.second.rule
    assert comparison.config.seed == MAX_SEED


def test_the_default_address_is_empty_and_parts_are_ordered():
    assert parse_query("").address == ""
    assert parse_query("games=3&win=4&game=hexapawn").address == parse_query("win=4&game=hexapawn&games=3").address
    assert parse_query("side=first&teacher=random&preset=michie-1961&seed=1&games=0&win=3").address == ""


WRONG_QUERIES = {
    "game=chess": ("game", "game", "noughts-and-crosses"),
    "game=romgon": ("game", "game", "noughts-and-crosses"),
    "game=hexapawn-5x4": ("game", "game", "noughts-and-crosses"),
    "side=third": ("side", "side", "first"),
    "teacher=menace": ("teacher", "teacher", "random"),
    "preset=romgon-q": ("preset", "preset", "michie-1961"),
    "games=10000001": ("games", "games", 10_000_000),
    "games=-1": ("games", "games", 0),
    "games=1e3": ("games", "games", 0),
    "games=" + "9" * 9999: ("games", "games", 10_000_000),
    "seed=" + "7" * 400: ("seed", "seed", str(MAX_SEED)),
    "seed=x": ("seed", "seed", "1"),
    "games=5&games=9": ("games", "games", 5),
    "against=nobody": ("against", "against", "random"),
    "nonsense=1": ("'nonsense'", "games", 0),
    "kind=values": ("'kind'", "preset", "michie-1961"),
}


@pytest.mark.parametrize("query", WRONG_QUERIES, ids=[query[:24] for query in WRONG_QUERIES])
def test_unusable_option_is_reported_with_the_nearest_value(query):
    field, name, value = WRONG_QUERIES[query]
    answer = get_json("", query)
    assert [problem["field"] for problem in answer["problems"]] == [field]
    assert len(answer["problems"][0]["detail"]) < 600
    assert answer[name] == value
    if len(query) < 4000:
        answer = refusal_of_keep(query)
        assert answer["detail"].startswith(f"{field}: ")
        assert answer["fields"].keys() == {field}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("win=many", "win"),
        ("win=" + "9" * 199, "win"),
        ("initial=4,,2", "initial"),
        ("initial=0", "initial"),
        ("initial=" + ",".join("1" * 80), "initial"),
        ("cap=0", "cap"),
        ("when_empty=cry", "when_empty"),
        ("reduce_symmetry=yes", "reduce_symmetry"),
        ("reduce_symmetry=false", "merge_symmetric_moves"),
        ("final_win=sole", "cap"),
        ("beside=scroggs&beside.floor=-3", "beside.floor"),
        ("beside.win=x", "beside.win"),
    ],
)
def test_an_invalid_rule_is_reported_by_its_field(query, field):
    answer = get_json("", query)
    assert [problem["field"] for problem in answer["problems"]] == [field]
    assert parse_query(answer["address"]).problems == ()
    refusal_of_keep(query)


def test_the_graph_of_a_game_is_short_and_may_be_kept():
    answer = APIClient().get("/api/learn/graph?game=noughts-and-crosses")
    assert answer["Cache-Control"] == "public, max-age=3600"
    assert len(answer.json()["boards"]) == 627
    for reduced in ("true", "false"):
        path = f"/api/learn/graph?game=noughts-and-crosses&reduce_symmetry={reduced}"
        compressed_answer = APIClient().get(path, headers={"accept-encoding": "gzip"})
        assert compressed_answer["Content-Encoding"] == "gzip"
        assert len(compressed_answer.content) <= 40_000
    for query in ("", "game=chess", "game=hexapawn&reduce_symmetry=maybe"):
        answer = APIClient().get(f"/api/learn/graph?{query}")
        assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
        assert answer.json()["fields"]


def test_requests_are_limited_by_address(monkeypatch):
    monkeypatch.setattr(LiveThrottle, "THROTTLE_RATES", {"live": "2/min"})
    api = APIClient()
    assert [api.get("/api/learn").status_code for _ in range(3)] == [200, 200, 429]
