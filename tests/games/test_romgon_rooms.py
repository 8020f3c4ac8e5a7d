"""Romgon in rooms: levels of the engine, added rules, notices for players, and the engine's explanations."""

from collections import Counter
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from rest_framework.test import APIClient

from beadbox.policies.registry import ENGINES
from beadbox.rules.errors import UnknownGameError
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES, family_games, game_with
from beadbox.rules.romgon.pieces import START, WHITE
from beadbox.rules.romgon.rules import Romgon
from games.exceptions import MalformedError
from games.live import background_moves
from games.live.game_view import game_view
from games.live.play import match_play_move, match_resign
from games.live.rooms import room_create, room_state_get
from games.models import Match, Room, Seat
from learning.exceptions import RuleRefusedError
from learning.services.machines import machine_create
from tests.factories import NC, guest
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db

ALL_OPTIONS_SLUG = "romgon-flip-turn-shape-shuttle"
LADDERS = {
    (False, False): ("easy", "novice", "medium", "skilled", "veteran", "champion", "grandmaster", "legend"),
    (False, True): ("easy", "starter", "medium", "skilled", "veteran", "legend"),
    (True, False): ("easy", "novice", "medium", "expert", "master"),
    (True, True): ("easy", "starter", "medium", "expert", "master"),
}
"""The levels of a game, by two conditions: no value has been learnt for the game; pieces can be flipped."""


def romgon(slug: str = "romgon") -> Romgon:
    game = GAMES[slug]
    assert isinstance(game, Romgon)
    return game


def open_room(opponent: str, game: str = "romgon", side: Side = Side.FIRST) -> Room:
    return room_create(person=guest(), game=game, opponent=opponent, side=side).room


def play_moves(room: Room, *moves: str) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for move in moves:
        state = match_play_move(code=room.code, person=guest(), move=move)
    return state


class TestLevels:
    @pytest.mark.parametrize(
        ("level", "game"),
        [
            *(
                (level, game)
                for level in ("beginner", "easy", "medium", "hard")
                for game in ("romgon", ALL_OPTIONS_SLUG)
            ),
            *((level, game) for level in ("skilled", "legend") for game in ("romgon", "romgon-flip")),
        ],
    )
    def test_quick_levels_answer_with_the_move(self, level: str, game: str) -> None:
        state = play_moves(open_room(level, game), "2-7>3-6")
        assert (state["ply"], state["turn"], state["thinking"]) == (2, "Black", False)
        white = Seat.objects.get(side=Side.SECOND)
        assert (white.player, white.name) == (level, ENGINES[level].name)

    def test_small_games_have_their_own_opponents(self) -> None:
        for level, slug in {"easy": "random", "medium": "win-block", "hard": "perfect"}.items():
            room = room_create(person=guest(), game=NC, opponent=level).room
            assert Seat.objects.get(match__room=room, player=slug).name == SIMPLE_OPPONENTS[slug]

    @pytest.mark.parametrize(("game", "opponent"), [("romgon", "perfect"), ("romgon", "win-block"), (NC, "master")])
    def test_opponents_that_do_not_play_the_game_are_refused(self, game: str, opponent: str) -> None:
        with pytest.raises(MalformedError, match=f"opponent: '{opponent}' is not one of human, .* for {game}"):
            room_create(person=guest(), game=game, opponent=opponent)
        assert not Room.objects.exists()

    def test_the_house_machine_plays_only_the_basic_rules(self, client: Client) -> None:
        slugs_with_menace = []
        for one in family_games("romgon"):
            query = urlencode([("with", ""), *(("with", slug) for slug in one.added)])
            game = client.get(f"/play/romgon?{query}", follow=True).context["game"]
            assert game["slug"] == one.slug
            slugs = [opponent["slug"] for opponent in game["opponents"]]
            assert game["rivals"][0]["opponent"] in slugs
            slugs_with_menace += [one.slug] if "menace" in slugs else []
        assert slugs_with_menace == ["romgon"]
        form = {"game": "romgon", "opponent": "menace", "side": "0", "additions": ["flip"]}
        page = client.post("/rooms", form, follow=True).content.decode()
        assert "Q does not play Romgon with these rules. Choose another opponent." in page
        assert not Room.objects.exists()

    def test_the_lobby_offers_only_opponents_that_can_play(self) -> None:
        for game in family_games("romgon"):
            offered = [opponent["slug"] for opponent in game_view(game)["opponents"]]
            house_opponents = ["menace"] if game.slug == "romgon" else []
            assert offered == [
                "human",
                *house_opponents,
                *LADDERS[bool({"turn", "shape"} & set(game.added)), "flip" in game.added],
            ]
        assert [one["slug"] for one in game_view(GAMES[NC])["opponents"]][-4:] == [
            "random", "win-block", "perfect", "perfect-fast",
        ]  # fmt: skip

    def test_whole_matches_end_with_a_reason_in_words(self) -> None:
        for opponent in ("easy", "hard"):
            room = open_room(opponent, "romgon-flip")
            state = room_state_get(code=room.code)
            while state["status"] == "playing":
                captures = [move for move in state["legal_moves"] if _is_capture(state, move)]
                state = play_moves(room, (captures or state["legal_moves"])[state["ply"] % len(captures or [0])])
            assert state["outcome"]["reason"] in romgon().presentation.reasons.values()

    def test_no_box_machine_plays_romgon(self) -> None:
        with pytest.raises(RuleRefusedError, match="A machine of this kind cannot play Romgon"):
            machine_create(game="romgon", side=Side.FIRST, name="M", preset="michie-1961")


SIMPLE_OPPONENTS = {"random": "Random", "win-block": "Win or block", "perfect": "Perfect"}


def _is_capture(state: dict[str, Any], move: str) -> bool:
    cells = [cell.id for cell in romgon().presentation.layout.cells]
    path = state["paths"][move]
    return len(path) == 2 and state["board"][cells.index(path[1])] is not None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("level", ["expert", "master"])
def test_slow_levels_answer_later(level: str) -> None:
    room = open_room(level, ALL_OPTIONS_SLUG)
    state = play_moves(room, "2-7>3-6@1")
    assert (state["ply"], state["thinking"]) == (1, True)
    assert wait_until(background_moves.is_idle)
    state = room_state_get(code=room.code)
    assert (state["ply"], state["turn"], state["thinking"]) == (2, "Black", False)


class TestRuleOptions:
    def test_every_set_of_options_is_a_game(self) -> None:
        option_sets = [set(game.added) for game in family_games("romgon")]
        assert len(option_sets) == 16
        for added in option_sets:
            assert set(game_with("romgon", added).added) == added
        for family, added in (("romgon", ["fog"]), (NC, ["flip"]), ("go", [])):
            with pytest.raises(UnknownGameError):
                game_with(family, added)

    def test_a_room_is_opened_with_options_by_api_and_form(self, client: Client) -> None:
        api = APIClient()
        body = {"game": "romgon", "opponent": "easy", "additions": ["turn", "flip"]}
        code = api.post("/api/rooms", body).json()["code"]
        assert api.get(f"/api/rooms/{code}").json()["game"] == "romgon-flip-turn"
        form = {"game": "romgon", "opponent": "easy", "side": "0", "additions": ["flip", "shuttle"]}
        code = client.post("/rooms", form).url.rsplit("/", 1)[1]
        assert Room.objects.get(code=code).game == "romgon-flip-shuttle"
        refused = api.post("/api/rooms", {**body, "additions": ["fog"]})
        assert (refused.status_code, refused.json()["code"]) == (400, "malformed")

    def test_the_page_of_a_game_links_to_other_options(self, client: Client) -> None:
        assert client.get("/play/romgon", {"with": ["", "flip", "shape"]}).url == "/play/romgon-flip-shape"
        assert client.get("/play/romgon-flip-shape", {"with": ""}).url == "/play/romgon"
        assert client.get("/play/romgon", {"with": "fog"}).status_code == 404
        page = client.get("/play/romgon-flip-shape").content.decode()
        assert 'value="flip" checked' in page
        assert 'value="turn" checked' not in page


class TestStates:
    def test_every_piece_has_its_own_shape_and_name(self) -> None:
        pieces = game_view(romgon())["layout"]["pieces"]
        assert len(pieces) == 48
        assert pieces["T@1"] == {
            "name": "White triangle facing south-east", "shape": "triangle", "side": 1, "flipped": False, "angle": 60,
        }  # fmt: skip
        assert (pieces["t"]["name"], pieces["t"]["angle"]) == ("Black triangle facing west", 180)
        assert pieces["h@2"]["name"] == "Black hexgon from south-west to north-east"
        assert pieces["r~"]["name"] == "Black flipped rhombus"
        drawings = [(one["shape"], one["side"], one["flipped"], one["angle"]) for one in pieces.values()]
        assert len(set(drawings)) == len(drawings), "all pieces look different"

    def test_cells_have_zones_and_goals(self) -> None:
        cells = game_view(romgon())["layout"]["cells"]
        assert Counter(cell["zone"] for cell in cells) == {"dead": 3, "inner": 10, "middle": 16, "outer": 22}
        assert {cell["id"]: cell["goal"] for cell in cells if cell["goal"]} == {"3-0": "Black", "3-8": "White"}

    @pytest.mark.parametrize(
        ("option", "move", "name", "piece"),
        [
            ("flip", "3-8~", "Flip", "r~"),
            ("turn", "1-6@1", "Turn right", "t@1"),
            ("turn", "1-6@3", "Turn round", "t@3"),
            ("turn", "1-6@5", "Turn left", "t@5"),
            ("turn", "2-7>1-5@2", "Turn left", "h@2"),
        ],
    )
    def test_actions_describe_the_change_of_the_piece(self, option: str, move: str, name: str, piece: str) -> None:
        state = room_state_get(code=open_room("human", f"romgon-{option}").code)
        assert state["actions"] == {}, "no side is to move before the other seat is taken"
        state = room_state_get(code=open_room("easy", f"romgon-{option}").code)
        assert state["actions"][move] == {"kind": option, "name": name, "piece": piece}
        assert set(state["actions"]) <= set(state["legal_moves"])

    def test_captured_pieces_and_the_notice_of_a_race(self) -> None:
        game = romgon("romgon-flip")
        start = game.initial_position()
        assert game.presentation.captured(start) == ((), ())
        text = "6.7.8.R7r.8.7.6-b90"
        race = game.decode(text)
        assert game.presentation.captured(race) == (("s", "s", "t", "t", "h", "c"), ("S", "S", "T", "T", "C", "H"))
        assert list(game.presentation.notices(race)) == ["escape_race"]
        assert sum(map(len, game.presentation.captured(race))) == sum(1 for code in START if code) - 2

    def test_check_is_announced_while_the_match_goes_on(self) -> None:
        room = open_room("easy")
        match = Match.objects.get()
        match.position = "6.7.8.3r5.3S4.3R3.6-b90"
        match.n_plies = 90
        match.save()
        state = room_state_get(code=room.code)
        assert state["notices"] == {"check": "Black is in check"}
        state = match_resign(code=room.code, person=guest())
        assert (state["notices"], state["actions"], state["thinking"]) == ({}, {}, False)


class TestAdvice:
    def test_five_moves_best_first_with_their_cells_and_words(self, client: Client) -> None:
        room = open_room("hard")
        advice = client.get(f"/api/rooms/{room.code}/advice").json()
        # The example of section 11 of the rules.
        assert [(one["move"], one["value"]) for one in advice["candidates"]] == [
            ("4-7>4-6", 0), ("4-7>3-7", -2), ("3-8>3-6", -9), ("2-7>3-6", -25), ("6-5>5-5", -25.5),
        ]  # fmt: skip
        assert (advice["role"], advice["ply"], advice["words"], advice["share"]) == ("Black", 0, "even", 0.5)
        assert advice["candidates"][1]["path"] == ["4-7", "3-7"]
        assert advice["candidates"][4]["words"] == "White is better by 25.5"
        assert Match.objects.get().n_plies == 0, "nothing is played"

    @pytest.mark.parametrize(
        ("position", "words", "first_leads"),
        [
            ("6.7.8.R7r.8.7.6-b90", "even", None),
            ("6.7.8.1r6R.8.7.6-b90", "Black wins with this move", True),
            ("6.7.8.1r5R1.8.7.6-w91", "White wins with this move", False),
        ],
    )
    def test_values_are_put_into_words(
        self, client: Client, position: str, words: str, first_leads: bool | None
    ) -> None:
        room = open_room("human")
        Match.objects.update(position=position, status="playing")
        advice = client.get(f"/api/rooms/{room.code}/advice").json()
        if first_leads is not None:
            assert advice["words"] == words
            assert (advice["share"] > 0.99) is first_leads
        assert 0 <= advice["share"] <= 1
        assert advice["role"] == romgon().presentation.layout.roles[romgon().decode(position).side]

    def test_advice_is_refused_without_engine_or_after_the_end(self, client: Client) -> None:
        small = room_create(person=guest(), game=NC, opponent="random").room
        finished = open_room("easy")
        match_resign(code=finished.code, person=guest())
        for code, status, error in ((small.code, 404, "no_engine"), (finished.code, 409, "match_finished")):
            answer = client.get(f"/api/rooms/{code}/advice")
            assert (answer.status_code, answer.json()["code"]) == (status, error)
        assert client.get("/api/rooms/zzzzzz/advice").json()["code"] == "room_not_found"


def test_the_front_page_opens_romgon_with_one_click(client: Client) -> None:
    page = client.get("/")
    game = next(game for game in page.context["games"] if game["slug"] == "romgon")
    assert (game["rival"]["opponent"], game["rival"]["side"]) == ("novice", "0")
    rivals = client.get("/play/romgon").context["game"]["rivals"]
    assert [(one["opponent"], one["side"]) for one in rivals] == [("novice", "0"), ("novice", "1")]
    page = client.post("/rooms", {"game": "romgon", "opponent": "novice", "side": "1"}, follow=True)
    assert page.context["role"] == "White"
    assert Seat.objects.get(side=WHITE).guest is not None
    games_by_slug = {game["slug"]: game for game in client.get("/api/games").json()["results"]}
    notations = {slug: game["notation"]["position"] for slug, game in games_by_slug.items()}
    assert all(notations.values()), "each game describes the notation of its positions"
    assert ["one character a cell" in notations[slug] for slug in (NC, "hexapawn", "romgon")] == [True, True, False]
    assert [one["slug"] for one in games_by_slug["romgon"]["additions"]] == ["flip", "turn", "shape", "shuttle"]
    assert client.get("/rooms/" + Room.objects.get().code).status_code == 200
