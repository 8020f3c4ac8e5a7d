"""Games that differ from all games of the site work on every page. The tests give the site nothing but their rules."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from beadbox.rules.game import Game
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from games.live.play import match_step
from games.live.rooms import room_create
from games.live.store import room_get
from games.models import Match, Room
from learning.advice.any_game import alphabet
from learning.kinds.boxes.memory import ledger_errors
from learning.models import Machine
from learning.services.runs import Stage, training_run_request
from learning.services.schedules import Timing, schedule_create
from learning.services.tournaments import tournament_start
from learning.workers.pairings import tournament_play
from learning.workers.runs import RUNS, run_execute
from tests.factories import api_with, guest, play_out, room_view, user
from tests.games.test_consumers import Socket
from tests.toys import TOYS
from tests.toys.tug import Tug

LINK = re.compile(r'<a [^>]*href="(/[^"#]*)')
NO_PAGE = re.compile(r"/(admin|static|api|logout)\b|\.csv$")
OTHERS = "|".join(sorted({*GAMES, *(game.family for game in GAMES.values())}))
NOT_OF_TOYS = re.compile(rf"{NO_PAGE.pattern}|[/=]({OTHERS})\b")

every_toy = pytest.mark.parametrize("game", TOYS, ids=lambda game: game.slug)
with_boxes = pytest.mark.parametrize("game", [game for game in TOYS if game.supports_boxes], ids=lambda game: game.slug)
in_db = database_sync_to_async


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for game in TOYS:
        monkeypatch.setitem(GAMES, game.slug, game)


@pytest.fixture
def staff() -> Any:
    return user("staff", is_staff=True, is_superuser=True)


def create_machines(game: Game[Any, Any], account: Any) -> list[Machine]:
    """Create by the API a machine for each side of a game that has box machines."""
    machines = []
    for side in Side if game.supports_boxes else ():
        body = {"game": game.slug, "side": side.value, "name": f"{game.name} {side.value}"}
        answer = api_with(account).post("/api/machines", body, format="json")
        assert answer.status_code == 201, answer.json()
        machines.append(Machine.objects.get(pk=answer.json()["id"]))
    return machines


def train_machine(machine: Machine, account: Any, opponent: str = "random") -> None:
    run = training_run_request(user=account, machine=machine.slug, stages=[Stage(opponent, 20)], seed=1)
    claimed = RUNS.claim(run.pk)
    assert claimed is not None
    run_execute(claimed)
    run.refresh_from_db()
    assert (run.status, run.error) == ("finished", "")


def pages_from(client: Client, no_page: re.Pattern[str], *addresses: str) -> Iterator[tuple[str, str]]:
    """Yield every page reachable by links from these addresses, with its text; ``no_page`` finds links to omit."""
    waiting, known = list(addresses), set(addresses)
    while waiting:
        address = waiting.pop()
        response = client.get(address, follow=True)
        assert response.status_code == 200, address
        text = b"".join(response) if response.streaming else response.content
        page = text.decode(errors="replace")
        yield address, page
        links = {link.replace("&amp;", "&") for link in LINK.findall(page)}
        new = {link for link in links - known if not no_page.search(link)}
        known |= new
        waiting += sorted(new)


@pytest.mark.django_db
@every_toy
def test_lobby_offers_toy_games_and_starts_matches(client: Client, game: Game[Any, Any]) -> None:
    for side in Side:
        game_view = next(one for one in client.get("/play").context["games"] if one["slug"] == game.slug)
        assert (game_view["teach"] is not None, game_view["rival"] is not None) == (
            game.supports_boxes,
            not game.supports_boxes,
        )
        rivals = client.get(f"/play/{game.slug}").context["game"]["rivals"]
        opponent = next(one for one in rivals if one["side"] == str(side.value))
        body = {"game": game.slug, "opponent": opponent["opponent"], "side": opponent["side"]}
        page = client.post(reverse("room_create"), body, follow=True)
        assert page.status_code == 200
        room = Room.objects.latest("pk")
        assert page.redirect_chain == [(room.get_absolute_url(), 302)]
        assert room.game == game.slug


@pytest.mark.django_db
@pytest.mark.parametrize("no_page", [NOT_OF_TOYS, pytest.param(NO_PAGE, marks=pytest.mark.soak)], ids=["toys", "all"])
def test_every_linked_page_of_toy_games_loads(client: Client, staff: Any, no_page: re.Pattern[str]) -> None:
    client.force_login(staff)
    addresses = ["/", "/ai", "/machines", "/account"]
    for game in TOYS:
        machines = create_machines(game, staff)
        for machine in machines:
            train_machine(machine, staff)
        for opponent in [{"opponent": "random"}, *({"opponent": "machine", "machine": m.slug} for m in machines[1:])]:
            body = {"game": game.slug, "side": "0", **opponent}
            address = client.post(reverse("room_create"), body, follow=True).redirect_chain[-1][0]
            room = address.rpartition("/")[2]
            client.post(f"/api/rooms/{room}/move", {"move": room_view(room_get(room))["legal_moves"][0]})
            addresses.append(address)
        for machine in machines[:1]:
            stages = [Stage("random", 10)]
            schedule_create(user=staff, machine=machine.slug, timing=Timing("0 3 * * *"), stages=stages)
        addresses += [f"/play/{game.slug}", f"/machines?game={game.slug}", f"/tournaments/new?game={game.slug}"]
        addresses += [machine.get_absolute_url() for machine in machines]
    text_by_address = dict(pages_from(client, no_page, *addresses))
    assert {"/tournaments", "/machines/new", "/schedules"} <= text_by_address.keys()
    for game in TOYS:
        assert game.name in text_by_address["/"]
        assert (f'value="{game.slug}"' in text_by_address["/ai"]) == bool(alphabet(game))


@pytest.mark.django_db(transaction=True)
@every_toy
async def test_match_of_a_toy_game_is_played_over_a_socket(game: Game[Any, Any]) -> None:
    seated = await in_db(room_create)(person=guest(), game=game.slug, opponent="random", side=Side.FIRST)
    async with Socket(seated.room.code, seated.token) as socket:
        state = (await socket.expect("joined"))["state"]
        while state["status"] == "playing":
            assert list(state["paths"]) == state["legal_moves"]
            await socket.frame("move", {"move": state["legal_moves"][0], "ply": state["ply"]})
            state = await socket.expect("state")
    assert state["outcome"]["reason"] in game.presentation.reasons.values()
    cells = {cell.id for cell in game.presentation.layout.cells}
    assert all(set(move["path"]) <= cells and move["path"] for move in state["moves"])


@pytest.mark.django_db
@with_boxes
@pytest.mark.sampled(1)
def test_machines_learn_toy_games_in_matches_and_training(staff: Any, game: Game[Any, Any]) -> None:
    machines = create_machines(game, staff)
    first, second = (machine.slug for machine in machines)
    watched = room_create(person=guest(), game=game.slug, first=first, second=second)
    while (state := room_view(room_get(watched.room.code)))["status"] == "playing":
        match_step(code=watched.room.code, person=guest(), max_plies=2)
    assert {lesson["role"] for lesson in state["learning"]["lessons"]} == set(game.presentation.layout.roles)
    for draw in state["learning"]["draws"]:
        for slot in draw["slots"]:
            assert len(slot["paths"]) == len(slot["names"]) == len(slot["moves"])
    for machine, opponent in zip(machines, ("random", first), strict=True):
        train_machine(machine, staff, opponent)
        machine.refresh_from_db()
        assert machine.n_lessons >= 2
    assert ledger_errors() == []


@pytest.mark.django_db
@every_toy
def test_api_describes_and_plays_toy_games(game: Game[Any, Any]) -> None:
    api = APIClient()
    assert game.slug in [one["slug"] for one in api.get("/api/games").json()["results"]]
    view = api.get(f"/api/games/{game.slug}").json()
    assert (view["boxes"], view["has_engine"], view["has_actions"]) == (game.supports_boxes, False, False)
    room = api.post("/api/rooms", {"game": game.slug, "opponent": "random", "side": "0"}, format="json").json()
    address, headers = f"/api/rooms/{room['code']}", {"X-Seat-Token": room["seat_token"]}
    state = api.get(address).json()
    while state["status"] == "playing":
        answer = api.post(f"{address}/move", {"move": state["legal_moves"][-1]}, format="json", headers=headers)
        assert answer.status_code == 200, answer.json()
        state = answer.json()
    assert len(api.get(f"{address}/positions").json()["positions"]) == state["ply"] + 1
    assert api.get(f"{address}/advice").json()["code"] == "no_engine"
    assert api.get("/api/machines", {"game": game.slug}).json()["count"] == 0


@pytest.mark.django_db
@pytest.mark.parametrize(("endless_winner", "role"), [(None, None), (Side.SECOND, "E")])
def test_repeating_match_ends_at_the_ply_limit(
    monkeypatch: pytest.MonkeyPatch, endless_winner: Side | None, role: str | None
) -> None:
    monkeypatch.setattr(Tug, "ply_limit", 6)
    monkeypatch.setattr(Tug, "endless_winner", endless_winner)
    api = APIClient()
    room = api.post("/api/rooms", {"game": "tug", "opponent": "perfect", "side": "0"}, format="json").json()
    headers = {"X-Seat-Token": room["seat_token"]}
    for n_plies in (2, 4, 6):
        state = api.post(f"/api/rooms/{room['code']}/move", {"move": "pull west from 2"}, headers=headers).json()
        assert state["ply"] == n_plies
        assert state["status"] == ("finished" if n_plies == 6 else "playing")
    assert (state["outcome"]["termination"], state["outcome"]["winner"]) == ("move_limit", role)
    assert state["outcome"]["reason"] == "the game went on for too many moves"


@pytest.mark.django_db
@every_toy
def test_ai_api_gives_advice_on_toy_games(staff: Any, game: Game[Any, Any]) -> None:
    api = api_with(staff, "play")
    start = game.initial_position()
    body = {"game": game.slug, "board": game.encode(start)}
    move = api.post("/api/ai/move", body, format="json").json()
    legal = [game.format_move(one) for one in game.legal_moves(start)]
    assert sorted(one["move"] for one in move["candidateMoves"]) == sorted(legal)
    assert move["move"]["move"] in legal
    assert move["paths"].keys() == set(legal)
    assert len(api.post("/api/ai/evaluate", body, format="json").json()["legalMoves"]) == len(legal)
    for machine in create_machines(game, staff)[:1]:
        answer = api.post("/api/ai/move", {**body, "machine": machine.slug}, format="json").json()
        assert sum(one["probability"] for one in answer["candidateMoves"]) == pytest.approx(1)


@pytest.mark.django_db
def test_game_without_machines_refuses_one_with_a_sentence(client: Client, staff: Any) -> None:
    body = {"game": "heaps", "side": 0, "name": "Nobody"}
    answer = api_with(staff).post("/api/machines", body, format="json")
    assert answer.status_code == 400
    assert "Heaps" in json.dumps(answer.json())
    client.force_login(staff)
    page = client.post("/machines/new", {**body, "is_public": "on", "preset": "scroggs"})
    assert "game" in page.context["form"].errors
    assert not Machine.objects.exists()


@pytest.mark.django_db
@every_toy
def test_tournament_of_toy_games_is_played_or_refused(staff: Any, game: Game[Any, Any]) -> None:
    machines = create_machines(game, staff)
    entries = [machine.slug for machine in machines] or ["random", "easy"]
    body = {"game": game.slug, "entries": entries, "games": 10}
    if game.listable:
        tournament = tournament_start(user=staff, entries=entries, games=10, seed=1)
        tournament_play(tournament.pk)
        tournament.refresh_from_db()
        assert tournament.status == "finished"
        return
    answer = api_with(staff).post("/api/tournaments", body, format="json")
    assert answer.status_code == 400
    assert answer.json()["detail"]


@pytest.mark.django_db
def test_admin_shows_rows_of_toy_games(client: Client, staff: Any) -> None:
    client.force_login(staff)
    for game in TOYS:
        machines = create_machines(game, staff)
        for opponent in ({"opponent": "random"}, *({"opponent": "machine", "machine": m.slug} for m in machines[1:])):
            seated = room_create(person=guest(), game=game.slug, side=Side.FIRST, **opponent)
            play_out(seated.room.code, guest())
        match = Match.objects.filter(room__game=game.slug).latest("pk")
        page_text = client.get(reverse("admin:games_match_change", args=[match.pk])).content.decode()
        assert f'data-game="{game.slug}"' in page_text
    for model in admin.site._registry:
        at = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        assert client.get(reverse(f"{at}_changelist")).status_code == 200, at
        for row in model._default_manager.order_by("-pk")[:2] if model._meta.app_label in ("games", "learning") else ():
            assert client.get(reverse(f"{at}_change", args=[row.pk])).status_code == 200, at
