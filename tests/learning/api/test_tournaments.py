"""The API, the socket, the pages and the admin of tournaments: answers and permissions."""

from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.conf import settings
from django.test import Client
from rest_framework.test import APIClient

from beadbox.rules.outcome import Side
from games.accounts import tokens
from games.accounts.principal import UNKNOWN_PRINCIPAL as GUEST_VIEWER
from games.accounts.principal import Principal
from learning.models import JobStatus, Machine, Tournament
from learning.selectors.tournaments import tournament_view, tournament_whole
from learning.services.tournaments import tournament_cancel, tournament_start
from learning.workers import pairings as pairing_worker
from learning.workers.pairings import PAIRINGS, claimable_pairings, pairing_play, tournament_play, tournament_tell
from tests.factories import machine, user
from tests.sockets import RunSocket, session_of, tournament_after

pytestmark = pytest.mark.django_db
URL = "/api/tournaments"
in_db = database_sync_to_async


def start_tournament(owner: Any, entrant: Machine, **options: Any) -> Tournament:
    return tournament_start(
        user=owner, entries=[entrant.slug, "random", "perfect"], games=50, seed=3, enqueue=False, **options
    )


def code_of(response: Any) -> tuple[int, str]:
    return response.status_code, response.json().get("code", "") if response.content else ""


PERMITTED, NOT_FOUND, NOT_YOURS = (200, ""), (404, "tournament_not_found"), (403, "not_your_tournament")
NOT_LOGGED_IN, NO_SCOPE = (401, "not_authenticated"), (403, "scope_missing")
START_ANSWERS = {
    "owner": ((201, ""), (201, "")),
    "owner's token": ((201, ""), (201, "")),
    "staff": ((201, ""), (201, "")),
    "other": ((201, ""), (404, "machine_not_found")),
    "guest": (NOT_LOGGED_IN, NOT_LOGGED_IN),
    "token that may only read": (NO_SCOPE, NO_SCOPE),
    "token that may only play": (NO_SCOPE, NO_SCOPE),
}
WATCH_ANSWERS = {
    "owner": (PERMITTED, PERMITTED),
    "owner's token": (PERMITTED, PERMITTED),
    "staff": (PERMITTED, PERMITTED),
    "token that may only read": (PERMITTED, PERMITTED),
    "other": (PERMITTED, NOT_FOUND),
    "guest": (PERMITTED, NOT_FOUND),
    "token that may only play": (NO_SCOPE, NO_SCOPE),
}
WRITE_ANSWERS = {
    **WATCH_ANSWERS,
    "token that may only read": (NO_SCOPE, NO_SCOPE),
    "other": (NOT_YOURS, NOT_FOUND),
    "guest": (NOT_LOGGED_IN, NOT_LOGGED_IN),
}
each_visibility = pytest.mark.parametrize("is_public", [True, False], ids=["public", "hidden"])


@each_visibility
@pytest.mark.parametrize("caller", START_ANSWERS)
def test_permissions_to_enter_a_machine(people: dict[str, APIClient], owner: Any, caller: str, is_public: bool) -> None:
    entrant = machine(owner=owner, is_public=is_public)
    response = people[caller].post(URL, {"entries": [entrant.slug, "random"], "games": 5})
    assert code_of(response) == START_ANSWERS[caller][not is_public]
    assert Tournament.objects.count() == (response.status_code == 201)


@each_visibility
@pytest.mark.parametrize("caller", WATCH_ANSWERS)
def test_permissions_to_watch(people: dict[str, APIClient], owner: Any, caller: str, is_public: bool) -> None:
    tournament = start_tournament(owner, machine(owner=owner, is_public=is_public))
    assert code_of(people[caller].get(f"{URL}/{tournament.pk}")) == WATCH_ANSWERS[caller][not is_public]
    listing = people[caller].get(URL)
    assert listing.json().get("count", 0) == (WATCH_ANSWERS[caller][not is_public] == PERMITTED)


@each_visibility
@pytest.mark.parametrize("action", ["cancel", "delete"])
@pytest.mark.parametrize("caller", WRITE_ANSWERS)
def test_permissions_to_cancel_and_delete(
    people: dict[str, APIClient], owner: Any, caller: str, action: str, is_public: bool
) -> None:
    tournament = start_tournament(owner, machine(owner=owner, is_public=is_public))
    address = f"{URL}/{tournament.pk}"
    response = people[caller].post(f"{address}/cancel") if action == "cancel" else people[caller].delete(address)
    is_permitted = WRITE_ANSWERS[caller][not is_public] == PERMITTED
    assert code_of(response) == (
        (204, "") if is_permitted and action == "delete" else WRITE_ANSWERS[caller][not is_public]
    )
    is_running = Tournament.objects.filter(pk=tournament.pk, status=JobStatus.RUNNING).exists()
    assert is_running != is_permitted


def test_a_tournament_has_all_its_fields(people: dict[str, APIClient], owner: Any) -> None:
    first, second = machine(Side.FIRST, name="A"), machine(Side.SECOND, name="B")
    request_body = {"entries": [first.slug, str(second.pk), "perfect"], "games": 20, "seed": 5, "name": "The cup"}
    answer = people["owner"].post(URL, request_body).json()
    assert (answer["status"], answer["name"], answer["seed"], answer["owner"]) == ("running", "The cup", 5, "owner")
    assert [entry["name"] for entry in answer["entries"]] == ["A", "B", "Perfect"]
    assert [(p["first"], p["second"], p["status"]) for p in answer["pairings"]] == [
        (0, 1, "queued"),
        (0, 2, "queued"),
        (2, 1, "queued"),
    ]
    tournament_play(answer["id"])
    finished_json = people["guest"].get(f"{URL}/{answer['id']}").json()
    assert (finished_json["status"], finished_json["pairings_done"], finished_json["pairings_total"]) == (
        "finished",
        3,
        3,
    )
    assert sum(row["points"] for row in finished_json["standings"]) == 60
    assert all(abs(sum(pairing["expected"]) - 1) < 1e-9 for pairing in finished_json["pairings"])
    assert {(row["entry"], cell["entry"]) for row in finished_json["crosstable"] for cell in row["against"]} == {
        (a, b) for a in range(3) for b in range(3) if a != b
    }
    assert people["owner"].post(f"{URL}/{answer['id']}/cancel").json() == finished_json, (
        "a finished tournament cannot be cancelled"
    )


def test_swiss_tournament_by_the_api(people: dict[str, APIClient]) -> None:
    entrant = machine(Side.FIRST)
    request_body = {
        "entries": [entrant.slug, "random", "perfect", "win-block"],
        "games": 5,
        "format": "swiss",
        "rounds": 3,
    }
    answer = people["owner"].post(URL, request_body).json()
    assert (answer["format"], answer["rounds"], answer["round"]) == ("swiss", 3, 1)
    assert {pairing["round"] for pairing in answer["pairings"]} == {1}
    tournament_play(answer["id"])
    assert {p["round"] for p in people["owner"].get(f"{URL}/{answer['id']}").json()["pairings"]} == {1, 2, 3}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"entries": ["m"]}, "malformed"),
        ({"entries": ["m", "nobody"]}, "machine_not_found"),
        ({"entries": ["m", "m"]}, "tournament_refused"),
        ({"entries": ["random", "perfect"]}, "tournament_refused"),
        ({"games": 0}, "malformed"),
        ({"games": 1_000_001}, "malformed"),
        ({"format": "knock-out"}, "malformed"),
        ({"rounds": 3}, "tournament_refused"),
        ({"seed": 1 << 63}, "malformed"),
        ({"machines": ["m"]}, "malformed"),
    ],
)
def test_impossible_tournaments_are_refused(people: dict[str, APIClient], change: dict[str, Any], code: str) -> None:
    machine(Side.FIRST, slug="m")
    response = people["owner"].post(URL, {"entries": ["m", "random"], "games": 5, **change})
    assert response.json()["code"] == code
    assert response.status_code in (400, 404)
    assert not Tournament.objects.exists()


def test_too_many_tournaments_are_refused(people: dict[str, APIClient], owner: Any) -> None:
    entrant = machine()
    for _ in range(settings.OPEN_TOURNAMENTS_PER_ACCOUNT):
        start_tournament(owner, entrant)
    response = people["owner"].post(URL, {"entries": [entrant.slug, "random"], "games": 5})
    assert code_of(response) == (409, "tournament_quota")


def test_lists_are_filtered_by_a_fixed_number_of_queries(
    people: dict[str, APIClient], owner: Any, django_assert_max_num_queries: Any
) -> None:
    entrant = machine()
    for _ in range(3):
        tournament_cancel(user=owner, tournament_id=start_tournament(owner, entrant).pk)
    start_tournament(owner, entrant, format="swiss")
    for query, count in (
        ("status=cancelled", 3),
        ("format=swiss", 1),
        ("owner=owner", 4),
        ("owner=nobody", 0),
        (f"game={entrant.game}", 4),
    ):
        assert people["guest"].get(f"{URL}?{query}").json()["count"] == count, query
    assert people["guest"].get(f"{URL}?limit=1").json()["results"][0]["format"] == "swiss", "newest first"
    with django_assert_max_num_queries(2):
        people["guest"].get(URL)


# The socket


def tournament_socket(tournament: Tournament, token: str = "") -> RunSocket:
    return RunSocket(f"/api/tournaments/{tournament.pk}/ws", token)


@pytest.mark.django_db(transaction=True)
async def test_the_socket_sends_the_state_and_the_end() -> None:
    tournament = await in_db(start_tournament)(None, await in_db(machine)())
    async with tournament_socket(tournament) as page:
        state = await page.expect("joined")
        assert state["pairings_done"] == 0
        await in_db(tournament_play)(tournament.pk)
        versions = [0]
        while state["status"] != "finished":
            state = tournament_after(state, await page.expect("state"))
            versions.append(state["version"])
        assert versions == sorted(set(versions))
        assert state["pairings_done"] == state["pairings_total"]
        assert state["standings"][0]["place"] == 1
        await page.send_json_to({"type": "ping"})
        await page.expect("pong")


@pytest.mark.django_db(transaction=True)
async def test_changes_give_watchers_the_complete_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """After each pairing, each watcher's state equals a fresh view of the tournament with its hidden machine."""
    monkeypatch.setattr(pairing_worker, "TELL_EVERY_S", 0)
    owner = await in_db(user)("owner")
    tournament = await in_db(start_tournament_of_two)(owner)
    path = f"{URL}/{tournament.pk}/ws"
    session = await in_db(session_of)(owner)
    async with RunSocket(path) as stranger, RunSocket(path, session=session) as editor:
        viewers = {stranger: GUEST_VIEWER, editor: Principal.of(owner)}
        states = {page: await page.expect("joined") for page in viewers}
        n_pairings = len(states[editor]["pairings"])
        for n, pairing in enumerate(await in_db(claimable_pairings)(tournament.pk)):
            await in_db(lambda number=pairing: pairing_play(PAIRINGS.claim(number)))()
            await in_db(tournament.refresh_from_db)()
            for page, viewer in viewers.items():
                change = await page.expect("state")
                assert [one["number"] for one in change["pairings"]] == [n], "a change has one pairing"
                assert len(change["crosstable"]) == 2
                assert change["entries"] == []
                states[page] = tournament_after(states[page], change)
                assert states[page] == await in_db(tournament_view)(tournament, viewer)
            assert "Hidden" not in str(states[stranger])
            assert "Hidden" in str(states[editor])
        assert (n + 1, tournament.status) == (n_pairings, "finished")


def start_tournament_of_two(owner: Any) -> Tournament:
    entrants = machine(Side.FIRST, owner=owner, name="Hidden"), machine(Side.SECOND, owner=owner, name="Open")
    entries = [*(entrant.slug for entrant in entrants), "random", "perfect"]
    tournament = tournament_start(user=owner, entries=entries, games=50, seed=3, enqueue=False)
    Machine.objects.filter(name="Hidden").update(is_public=False)
    return tournament


@pytest.mark.django_db(transaction=True)
async def test_no_message_is_built_without_listeners(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers: list[int] = []

    def record_view(tournament: Tournament) -> Any:
        numbers.append(tournament.version)
        return tournament_whole(tournament)

    monkeypatch.setattr(pairing_worker, "tournament_whole", record_view)
    monkeypatch.setattr(pairing_worker, "TELL_EVERY_S", 0)
    tournament = await in_db(start_tournament)(None, await in_db(machine)())
    await in_db(tournament_tell)(tournament)
    assert numbers == []
    async with tournament_socket(tournament) as page:
        await page.expect("joined")
        await in_db(tournament_play)(tournament.pk)
        await page.expect("state")
    assert numbers


@pytest.mark.django_db(transaction=True)
async def test_permissions_to_listen() -> None:
    owner = await in_db(user)("owner")
    hidden_tournament = await in_db(start_tournament)(owner, await in_db(machine)(owner=owner, is_public=False))
    async with tournament_socket(hidden_tournament) as guest_page:
        assert (await guest_page.expect("error"))["code"] == "tournament_not_found"
        assert (await guest_page.receive_output())["code"] == 4404
    _, text = await in_db(tokens.token_make)(user=owner, name="t", scopes=("read",), lifetime=None)
    async with tournament_socket(hidden_tournament, text) as owner_page:
        await owner_page.expect("joined")


# Pages


@pytest.fixture
def browser(owner: Any) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def form(*entries: Machine, **options: Any) -> dict[str, Any]:
    machine_ids = [entrant.pk for entrant in entries]
    return {"machines": machine_ids, "opponents": ["random"], "format": "round-robin", "games": 20, **options}


def test_tournament_is_held_cancelled_and_deleted_on_its_pages(browser: Client, owner: Any) -> None:
    entrant = machine(Side.FIRST, name="Ada's machine")
    page = browser.get("/tournaments/new")
    assert "Ada&#x27;s machine, plays first" in page.content.decode()
    answer = browser.post("/tournaments/new", form(entrant, name="The cup"))
    tournament = Tournament.objects.get()
    address = f"/tournaments/{tournament.pk}"
    assert answer.headers["Location"] == address
    assert (tournament.owner, tournament.pairings.count()) == (owner, 1)
    page = browser.get(address).content.decode()
    assert "The cup" in page
    assert 'id="cancel"' in page
    assert "The cup" in browser.get("/tournaments").content.decode()
    assert browser.post(f"{address}/cancel").headers["Location"] == address
    assert 'id="cancel"' not in browser.get(address).content.decode()
    assert b"will be lost" in browser.get(f"{address}/delete").content
    assert Tournament.objects.exists(), "the page asks before the deletion"
    browser.post(f"{address}/delete")
    assert not Tournament.objects.exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"opponents": []}, "2 to 32 players"),
        ({"machines": ["999999"]}, "“999999” is not one of the choices"),
        ({"games": 0}, "Please give at least 1"),
    ],
)
def test_a_refused_form_is_shown_again(browser: Client, options: dict[str, Any], sentence: str) -> None:
    response = browser.post("/tournaments/new", form(machine(), **options))
    assert response.status_code == 200
    assert sentence in response.content.decode()
    assert not Tournament.objects.exists()


def test_players_that_never_learn_play_the_game_of_the_page(browser: Client) -> None:
    browser.post("/tournaments/new?game=hexapawn", form(opponents=["random", "perfect"]))
    assert Tournament.objects.get().game == "hexapawn"


def test_pages_for_other_accounts(owner: Any) -> None:
    public_tournament = start_tournament(owner, machine(name="Open"))
    hidden_tournament = start_tournament(owner, machine(owner=owner, is_public=False))
    client = Client()
    assert client.get("/tournaments/new").headers["Location"].startswith("/login")
    assert client.get(f"/tournaments/{public_tournament.pk}").status_code == 200
    assert client.get(f"/tournaments/{hidden_tournament.pk}").status_code == 404
    client.force_login(user("other"))
    page = client.get(f"/tournaments/{public_tournament.pk}").content.decode()
    assert 'id="cancel"' not in page
    for action in ("cancel", "delete"):
        assert client.post(f"/tournaments/{public_tournament.pk}/{action}").status_code == 403
        assert client.post(f"/tournaments/{hidden_tournament.pk}/{action}").status_code == 404
    assert f"/tournaments/{hidden_tournament.pk}" not in client.get("/tournaments").content.decode()
    assert Tournament.objects.filter(status=JobStatus.RUNNING).count() == 2


def test_a_list_takes_a_fixed_number_of_queries(owner: Any, django_assert_max_num_queries: Any) -> None:
    for _ in range(3):
        start_tournament(owner, machine())
    with django_assert_max_num_queries(2):
        assert b"0 of 4 pairings played" in Client().get("/tournaments").content
