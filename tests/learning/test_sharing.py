"""The secret link of a private machine: what it shows, what it refuses, and how it ends."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone

from beadbox.rules.outcome import Side
from games.accounts.principal import Visitor
from games.limits.rates import Throttle
from games.live.room_state import HIDDEN_SEAT_NAME
from games.models import Room
from learning.access import is_seen, machines_visible
from learning.exceptions import LinkNotFoundError
from learning.kinds.boxes import progress
from learning.kinds.boxes.progress import CurveStrength
from learning.models import Lesson, Machine, Schedule, SharedLink, TrainingRun
from learning.routing import websocket_urlpatterns
from learning.selectors.sharing import machine_shared
from learning.services.accounts import account_close
from learning.services.machines import machine_delete
from learning.services.sharing import machine_unshare
from tests.factories import NC, api_with, machine, play_out, run_retention, trained_machine, user
from tests.learning.services.test_personal_machines import guest_of, press_teach
from tests.learning.test_private import routes_of
from tests.sockets import RunSocket

pytestmark = pytest.mark.django_db
in_db = database_sync_to_async


@pytest.fixture
def owner_browser() -> Client:
    """Return a browser without an account that has a machine of its own."""
    browser = Client()
    press_teach(browser)
    return browser


@pytest.fixture
def own_machine(owner_browser: Client) -> Machine:
    return Machine.objects.get(guest=guest_of(owner_browser).guest)


@pytest.fixture
def link(owner_browser: Client, own_machine: Machine) -> str:
    """Return the link that the owner sends to a friend."""
    page = f"/machines/{own_machine.pk}/share"
    assert owner_browser.get(page).context["share_url"] is None
    assert owner_browser.post(page).url == page  # type: ignore[attr-defined]
    address: str = owner_browser.get(page).context["share_url"]
    return address.removeprefix("http://testserver")


@pytest.fixture
def friend_browser(link: str, own_machine: Machine) -> Client:
    browser = Client()
    assert browser.get(f"/machines/{own_machine.pk}").status_code == 404
    assert browser.get(link).url == f"/machines/{own_machine.pk}"  # type: ignore[attr-defined]
    return browser


def test_a_friend_sees_boxes_beads_and_progress(friend_browser: Client, own_machine: Machine) -> None:
    page = friend_browser.get(f"/machines/{own_machine.pk}")
    assert page.status_code == 200
    assert b"A friend shared it with you by a secret link." in page.content
    for form in (b'id="train"', b'id="take-its-seat"', b'id="clone"', b'id="owner-menu"', b'id="share"', b"/print"):
        assert form not in page.content
    box = own_machine.boxes.first()
    for path in ("boxes", "boxes-at/0", "why", f"boxes/{box.position}"):
        assert friend_browser.get(f"/machines/{own_machine.pk}/{path}").status_code == 200, path
    for path in ("", "/progress", "/strength", "/boxes", f"/boxes/{box.position}"):
        assert friend_browser.get(f"/api/machines/{own_machine.pk}{path}").status_code == 200, path


def test_only_the_owner_is_addressed_as_opponent(
    owner_browser: Client, friend_browser: Client, own_machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = [(0, CurveStrength(0.66, 0.24)), (10, CurveStrength(0.61, 0.19))]
    monkeypatch.setattr(progress, "_curve", lambda machine: points)
    for browser, is_addressed in ((owner_browser, True), (friend_browser, False)):
        view = browser.get(f"/api/machines/{own_machine.pk}/progress").json()
        for sentence in (view["points_words"], view["curve_words"]):
            assert sentence.count(". It ") == 2, "the sentence reports the fall and explains it"
            assert ("you" in sentence) is is_addressed


def test_shared_pages_are_kept_from_search_engines_and_referrers(
    friend_browser: Client, link: str, own_machine: Machine
) -> None:
    redirect = friend_browser.get(link)
    assert redirect["X-Robots-Tag"] == "noindex, nofollow"
    assert redirect["Referrer-Policy"] == "no-referrer"
    assert "no-store" in redirect["Cache-Control"]
    assert friend_browser.get(f"/machines/{own_machine.pk}")["X-Robots-Tag"] == "noindex, nofollow"
    assert "X-Robots-Tag" not in Client().get("/")


def test_no_log_contains_the_secret(link: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        Client().get(link)
        Client().get(link[:-1] + ("a" if link[-1] != "a" else "b"))
    secret = link.rsplit("/", 1)[-1]
    assert secret[:20] not in caplog.text


def test_a_friend_plays_a_copy(friend_browser: Client, own_machine: Machine) -> None:
    n_lessons = Lesson.objects.filter(machine=own_machine).count()
    redirect = friend_browser.post(
        "/rooms", {"game": NC, "opponent": "machine", "machine": own_machine.pk, "side": "1", "fresh": "on"}
    )
    room = Room.objects.get(code=redirect.url.rsplit("/", 1)[-1])  # type: ignore[attr-defined]
    copy = Machine.objects.get(room=room)
    assert (copy.owner, copy.guest, copy.is_public, copy.copied_from) == (None, None, False, own_machine)
    state = friend_browser.get(f"/rooms/{room.code}").context["state"]
    assert state["seats"][0]["machine"]["id"] == copy.pk
    assert state["learning"]["draws"], "the box that the copy opened is shown"
    play_out(room.code, guest_of(friend_browser))
    assert friend_browser.get(f"/machines/{copy.pk}").status_code == 200
    assert Lesson.objects.filter(machine=own_machine).count() == n_lessons
    assert Lesson.objects.filter(machine=copy).exists()
    assert Client().get(f"/rooms/{room.code}").context["state"]["seats"][0]["name"] == HIDDEN_SEAT_NAME


@pytest.mark.parametrize("with_account", [False, True])
def test_a_link_gives_no_other_permission(friend_browser: Client, own_machine: Machine, with_account: bool) -> None:
    if with_account:
        hostile = user("hostile")
        friend_browser.force_login(hostile)
        friend_browser.get(
            f"/shared/{own_machine.share.secret if own_machine.share else SharedLink.objects.get().secret}"
        )
    row_before = Machine.objects.filter(pk=own_machine.pk).values().get()
    room_fields = {"game": NC, "opponent": "machine", "machine": own_machine.pk, "side": "1"}
    n_rooms = Room.objects.count()
    friend_browser.post("/rooms", room_fields)
    friend_browser.post("/rooms", {"game": NC, "opponent": "perfect", "takes_over": own_machine.pk})
    friend_browser.post("/rooms", {"game": NC, "first": own_machine.pk, "second": "random"})
    assert Room.objects.count() == n_rooms, "only its owner plays the machine itself"
    base = f"/machines/{own_machine.pk}"
    for path in ("edit", "reset", "delete", "share", "clone", "set", "train", "train-together", "schedule", "snapshot"):
        answer = friend_browser.post(
            f"{base}/{path}", {"name": "Mine", "learns": "off", "is_public": "on", "opponent": "random"}
        )
        assert answer.status_code in (302, 403), path
        assert answer.status_code == 403 or "/login" in answer.url or not with_account, path  # type: ignore[attr-defined]
    for path in (f"{base}/print", f"{base}/boxes.csv", f"/machines/compare.csv?machine={own_machine.pk}"):
        assert friend_browser.get(path).status_code == 403, path
    assert friend_browser.get(f"/api/machines/{own_machine.pk}/export").status_code == 403
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("patch", f"/api/machines/{own_machine.pk}", {"name": "Mine"}),
        ("delete", f"/api/machines/{own_machine.pk}", {}),
        ("post", f"/api/machines/{own_machine.pk}/clone", {}),
        ("post", f"/api/machines/{own_machine.pk}/reset", {}),
        ("post", "/api/training-runs", {"machine": own_machine.pk, "opponent": "random", "games": 1}),
        ("post", "/api/tournaments", {"entries": [own_machine.pk, "random"], "games": 2}),
        ("post", "/api/ai/move", {"game": NC, "board": ".........", "machine": own_machine.pk}),
        ("post", "/api/rooms", room_fields),
    ]
    for method, path, body in requests:
        answer = getattr(friend_browser, method)(path, body, content_type="application/json")
        assert 400 <= answer.status_code < 500, path
    assert Machine.objects.filter(pk=own_machine.pk).values().get() == row_before
    assert not TrainingRun.objects.exists()
    assert not Machine.objects.filter(copied_from=own_machine).exists()


def test_a_link_does_not_apply_to_tokens(link: str, own_machine: Machine) -> None:
    account = user("friend")
    browser = Client()
    browser.force_login(account)
    browser.get(link)
    assert browser.get(f"/machines/{own_machine.pk}").status_code == 200
    program = api_with(account, "read", "play", "train")
    assert program.get(f"/api/machines/{own_machine.pk}").status_code == 404
    room_fields = {"game": NC, "opponent": "machine", "machine": own_machine.pk, "side": "O", "fresh": True}
    assert program.post("/api/rooms", room_fields, format="json").status_code == 404
    assert not machines_visible(account).filter(pk=own_machine.pk).exists()
    assert not is_seen(account, own_machine)


def test_a_friend_cannot_train_the_copy(link: str, own_machine: Machine) -> None:
    account = user("friend")
    browser = Client()
    browser.force_login(account)
    browser.get(link)
    redirect = browser.post(
        "/rooms", {"game": NC, "opponent": "machine", "machine": own_machine.pk, "side": "1", "fresh": "on"}
    )
    room = Room.objects.get(code=redirect.url.rsplit("/", 1)[-1])  # type: ignore[attr-defined]
    copy = Machine.objects.get(room=room)
    assert copy.owner is None
    assert browser.get(f"/machines/{copy.pk}/train").status_code == 403
    assert browser.get(f"/api/machines/{copy.pk}/export").status_code == 403
    assert browser.post(f"/machines/{copy.pk}/clone").status_code == 403


def test_a_revoked_link_ends_at_once(
    owner_browser: Client, friend_browser: Client, link: str, own_machine: Machine
) -> None:
    redirect = friend_browser.post(
        "/rooms", {"game": NC, "opponent": "machine", "machine": own_machine.pk, "side": "1", "fresh": "on"}
    )
    code = redirect.url.rsplit("/", 1)[-1]  # type: ignore[attr-defined]
    copy = Machine.objects.get(room__code=code)
    owner_browser.post(f"/machines/{own_machine.pk}/share", {"end": "on"})
    for path in (
        f"/machines/{own_machine.pk}",
        f"/machines/{copy.pk}",
        f"/api/machines/{own_machine.pk}",
        f"/machines/{own_machine.pk}/boxes",
    ):
        assert friend_browser.get(path).status_code == 404, path
    assert friend_browser.get(f"/rooms/{code}").context["state"]["seats"][0]["name"] == HIDDEN_SEAT_NAME
    answer = friend_browser.get(link)
    assert (answer.status_code, b"This link has been taken back" in answer.content) == (404, True)
    play_out(code, guest_of(friend_browser))
    n_matches = Room.objects.get(code=code).matches.count()
    friend_browser.post(f"/api/rooms/{code}/reset", {}, content_type="application/json")
    assert Room.objects.get(code=code).matches.count() == n_matches, "the old link makes no other copy"
    owner_browser.post(f"/machines/{own_machine.pk}/share")
    assert friend_browser.get(f"/machines/{own_machine.pk}").status_code == 404, "a new link is another secret"


def play_copy(friend_browser: Client, own_machine: Machine) -> tuple[str, Machine]:
    """Return the code of a room in which the friend plays a copy, and the copy."""
    room_fields = {"game": NC, "opponent": "machine", "machine": own_machine.pk, "side": "1", "fresh": "on"}
    code = friend_browser.post("/rooms", room_fields).url.rsplit("/", 1)[-1]  # type: ignore[attr-defined]
    return code, Machine.objects.get(room__code=code)


def test_match_against_a_copy_continues_after_the_link_ends(
    owner_browser: Client, friend_browser: Client, own_machine: Machine
) -> None:
    code, copy = play_copy(friend_browser, own_machine)
    owner_browser.post(f"/machines/{own_machine.pk}/share", {"end": "on"})
    play_out(code, guest_of(friend_browser))
    assert Lesson.objects.filter(machine=copy).exists(), "the copy learns"
    assert not Lesson.objects.filter(machine=own_machine, match__room__code=code).exists()
    assert friend_browser.get(f"/api/rooms/{code}/joined").json()["role"] == "O", "the room is the friend's"
    assert owner_browser.get(f"/api/rooms/{code}/joined").json()["role"] is None
    assert owner_browser.get(f"/machines/{copy.pk}").status_code == 404


@pytest.mark.django_db(transaction=True)
async def test_pages_opened_by_a_link_close_when_it_ends(
    owner_browser: Client, friend_browser: Client, own_machine: Machine
) -> None:
    _, copy = await in_db(play_copy)(friend_browser, own_machine)
    friend_session, owner_session = friend_browser.cookies["sessionid"].value, owner_browser.cookies["sessionid"].value
    path = f"/api/machines/{own_machine.pk}/ws"
    async with (
        RunSocket(path, session=friend_session) as original_socket,
        RunSocket(f"/api/machines/{copy.pk}/ws", session=friend_session) as copy_socket,
        RunSocket(path, session=owner_session) as owner_socket,
    ):
        for socket in (original_socket, copy_socket, owner_socket):
            await socket.expect("joined")
        await in_db(owner_browser.post)(f"/machines/{own_machine.pk}/share", {"end": "on"})
        for socket in (original_socket, copy_socket):
            assert not await socket.receive_nothing(5), "no message about the end of the link came"
            assert (await socket.expect("error"))["code"] == "machine_not_found"
            assert (await socket.receive_output())["type"] == "websocket.close"
        await owner_socket.expect("boxes")
        await owner_socket.send_json_to({"type": "ping"})
        await owner_socket.expect("pong")


@pytest.mark.parametrize("with_heir", [False, True])
def test_a_link_ends_when_the_account_of_its_owner_is_closed(with_heir: bool) -> None:
    account, heir = user("owner"), user("heir") if with_heir else None
    boss = user("boss", is_staff=True, is_superuser=True)
    own_machine = machine(Side.FIRST, owner=account, is_public=False)
    browser, friend_browser = Client(), Client()
    browser.force_login(account)
    browser.post(f"/machines/{own_machine.pk}/share")
    link = SharedLink.objects.get().get_absolute_url()
    friend_browser.get(link)
    _, copy = play_copy(friend_browser, own_machine)
    account_close(staff=boss, account=account, heir=heir)
    page = friend_browser.get(link)
    assert (page.status_code, b"This link has been taken back" in page.content) == (404, True)
    for one in (own_machine, copy):
        assert friend_browser.get(f"/machines/{one.pk}").status_code == 404
    assert not Machine.objects.exclude(share=None).exists()


def open_link_of_another(browser: Client) -> None:
    """Open the link of another account's machine."""
    another = machine(owner=user("another"), is_public=False)
    another.share = SharedLink.objects.create()
    another.save()
    browser.get(another.share.get_absolute_url())


def browser_of_stranger(stranger_kind: str, link: str) -> Client:
    """Return a browser with its own machine and a link to another one, or with the link itself."""
    browser = Client()
    if "account" in stranger_kind:
        account = user("hostile")
        browser.force_login(account)
        machine(owner=account)
    else:
        press_teach(browser)
    open_link_of_another(browser)
    if "link" in stranger_kind:
        browser.get(link)
    return browser


FORM_FIELDS = {
    "name": "Mine",
    "learns": "off",
    "is_public": "on",
    "opponent": "random",
    "games": 5,
    "every": 1,
    "end": "on",
}
"""Fields of all forms and requests about a machine."""


def machine_addresses(own_machine: Machine) -> list[str]:
    """Return every address with a machine's id."""
    routes = [route for route in routes_of(get_resolver().url_patterns) if "machine_id" in route or "<ref>" in route]
    values = {
        r"<int:machine_id>": str(own_machine.pk),
        r"(?P<ref>[-\w]+)": str(own_machine.pk),
        r"<int:number>": "0",
        r"<str:position>": ".........",
        r"(?P<position>[^/]+)": ".........",
        r"(?P<snapshot_id>\d{1,18})": "1",
    }
    for form, value in values.items():
        routes = [route.replace(form, value) for route in routes]
    addresses = [f"/{route.strip('^$').removesuffix('/?')}" for route in routes if not route.startswith("admin/")]
    assert len(addresses) > 25
    assert not any(sign in address for address in addresses for sign in "<>()")
    return addresses


def status_of(browser: Client, method: str, path: str, body: dict[str, Any]) -> int | str:
    """Return the status of an answer, or ``log in`` or ``form`` for a redirect to one of these."""
    form = {"content_type": "application/json"} if path.startswith("/api/") else {}
    has_body = method == "post" or (form and method != "get")
    answer: Any = getattr(browser, method)(path, **({"data": body, **form} if has_body else {}))
    if answer.status_code != 302:
        return int(answer.status_code)
    return "log in" if answer.url.startswith("/login?") else "form" if method == "get" else answer.url


@pytest.mark.parametrize("stranger_kind", ["guest", "account", "guest with the link", "account with the link"])
def test_only_its_owner_changes_a_shared_machine(stranger_kind: str, link: str, own_machine: Machine) -> None:
    browser = browser_of_stranger(stranger_kind, link)
    row_before = Machine.objects.filter(pk=own_machine.pk).values().get()
    links, n_machines = list(SharedLink.objects.order_by("pk").values()), Machine.objects.count()
    faults = []
    for path in machine_addresses(own_machine):
        for method in ("get", "post", "put", "patch", "delete"):
            if method == "get" and "with the link" in stranger_kind:
                continue  # other tests cover what a friend may see
            answers = [status_of(browser, method, path, body) for body in (FORM_FIELDS, {"name": "Mine"})]
            # One of the two bodies is valid; addresses that check the body first answer 400 to the other.
            if not set(answers) - {400} or not set(answers) <= {400, 401, 403, 404, 405, "log in", "form"}:
                faults.append((method, path, answers))
    assert not faults, "\n".join(map(str, faults))
    assert Machine.objects.filter(pk=own_machine.pk).values().get() == row_before
    assert list(SharedLink.objects.order_by("pk").values()) == links
    assert Machine.objects.count() == n_machines
    assert not TrainingRun.objects.exists()
    assert not Schedule.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("stranger_kind", ["guest", "account"])
async def test_no_socket_shows_a_shared_machine_to_strangers(
    stranger_kind: str, link: str, own_machine: Machine
) -> None:
    browser = await in_db(browser_of_stranger)(stranger_kind, link)
    routes = [str(one.pattern) for one in websocket_urlpatterns if "machine_id" in str(one.pattern)]
    assert routes
    for route in routes:
        path = "/" + route.strip("^$").replace(r"(?P<machine_id>\d{1,18})", str(own_machine.pk))
        async with RunSocket(path, session=browser.cookies["sessionid"].value) as socket:
            assert (await socket.expect("error"))["code"] == "machine_not_found"
            assert (await socket.receive_output())["type"] == "websocket.close"


def test_only_the_owner_makes_and_ends_links(link: str, own_machine: Machine) -> None:
    page = f"/machines/{own_machine.pk}/share"
    new_browser = Client()
    press_teach(new_browser)
    for browser, status in ((new_browser, 404), (Client(), 302)):
        assert browser.post(page).status_code == status
        assert browser.post(page, {"end": "on"}).status_code == status
    staff_browser = Client()
    staff_browser.force_login(user("staff", is_staff=True, may=["change_machine"]))
    assert staff_browser.get(page).status_code == 403
    assert staff_browser.post(page, {"end": "on"}).status_code == 403
    assert SharedLink.objects.get().ended_at is None
    browser_without_token = Client(enforce_csrf_checks=True)
    answer = browser_without_token.post(page)
    assert answer.status_code == 403


def test_a_link_ends_with_its_machine(
    owner_browser: Client, friend_browser: Client, link: str, own_machine: Machine
) -> None:
    machine_delete(user=Visitor(own_machine.guest), machine_id=own_machine.pk)
    answer = friend_browser.get(link)
    assert (answer.status_code, b"does not exist any more" in answer.content) == (404, True)


def test_a_link_ends_with_a_machine_deleted_by_retention(
    friend_browser: Client, link: str, own_machine: Machine
) -> None:
    long_ago = timezone.now() - timedelta(days=100)
    Room.objects.update(changed_at=long_ago)
    Machine.objects.filter(pk=own_machine.pk).update(created_at=long_ago)
    run_retention()
    assert friend_browser.get(link).status_code == 404
    assert friend_browser.get(f"/machines/{own_machine.pk}").status_code == 404


def test_retention_deletes_ended_links(owner_browser: Client, link: str, own_machine: Machine) -> None:
    SharedLink.objects.update(created_at=timezone.now() - timedelta(days=1000))
    run_retention()
    assert SharedLink.objects.exists(), "the link still shows a machine"
    owner_browser.post(f"/machines/{own_machine.pk}/share", {"end": "on"})
    SharedLink.objects.update(ended_at=timezone.now() - timedelta(days=1000))
    run_retention()
    assert not SharedLink.objects.exists()


def test_wrong_links_count_as_guesses(link: str, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    secret = link.rsplit("/", 1)[-1]
    wrong_secret = ("a" if secret[0] != "a" else "b") + secret[1:]
    browser = Client()
    answer = browser.get(f"/shared/{wrong_secret}")
    assert (answer.status_code, b"not complete" in answer.content) == (404, True)
    monkeypatch.setattr(Throttle, "is_used_up", lambda self, request: True)
    monkeypatch.setattr(Throttle, "wait", lambda self: 30.0)
    assert browser.get(link).status_code == 429


@pytest.mark.parametrize("text", ["", "short", "x" * 300, "a\0b", "é" * 43, "' OR 1=1 --"])
def test_invalid_secrets_are_not_looked_up(text: str, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0), pytest.raises(LinkNotFoundError):
        machine_shared(text)


def test_secret_is_long_random_and_read_despite_a_full_stop(link: str, own_machine: Machine) -> None:
    secret = link.rsplit("/", 1)[-1]
    assert len(secret) == 43
    assert machine_shared(secret + ").") == own_machine


def test_a_machine_moved_to_an_account_keeps_its_link(
    owner_browser: Client, friend_browser: Client, own_machine: Machine
) -> None:
    owner_browser.post("/signup", {"username": "mia", "password1": "a good password", "password2": "a good password"})
    own_machine.refresh_from_db()
    assert (own_machine.owner.get_username(), own_machine.guest) == ("mia", None)  # type: ignore[union-attr]
    assert friend_browser.get(f"/machines/{own_machine.pk}").status_code == 200


def test_only_private_machines_are_shared_by_link(client: Client) -> None:
    account = user("owner")
    client.force_login(account)
    public_machine, private_machine = machine(owner=account), machine(owner=account, is_public=False)
    answer = client.post(f"/machines/{public_machine.pk}/share", follow=True)
    assert b"This machine is public" in answer.content
    assert not SharedLink.objects.exists()
    client.post(f"/machines/{private_machine.pk}/share")
    client.post(f"/machines/{private_machine.pk}/share")
    assert SharedLink.objects.count() == 1, "a second press finds the same link"
    machine_unshare(user=account, machine_id=private_machine.pk)
    machine_unshare(user=account, machine_id=private_machine.pk)
    assert SharedLink.objects.get().ended_at is not None


def test_a_guest_can_rename_a_machine(owner_browser: Client, own_machine: Machine) -> None:
    page = f"/machines/{own_machine.pk}/edit"
    assert {"name", "description"} == set(owner_browser.get(page).context["form"].fields)
    refusal = owner_browser.post(page, {"name": "x" * 200})
    assert b"Please use at most 80 characters." in refusal.content
    assert owner_browser.post(page, {"name": "Robbie", "is_public": "on", "learns": ""}).status_code == 302
    own_machine.refresh_from_db()
    assert (own_machine.name, own_machine.is_public, own_machine.learns) == ("Robbie", False, True)


def test_deletion_mentions_only_existing_rows(owner_browser: Client, own_machine: Machine) -> None:
    page = owner_browser.get(f"/machines/{own_machine.pk}/delete").content.decode()
    assert "You would lose:" in page
    assert "training run" not in page
    assert "copy the machine first" not in page, "only an account can"


def test_shared_pages_have_no_links_to_matches_and_runs(
    friend_browser: Client, own_machine: Machine, owner_browser: Client
) -> None:
    code = Room.objects.get(machine=str(own_machine.pk)).code
    play_out(code, guest_of(owner_browser))
    trained_machine(own_machine, 5)
    page = friend_browser.get(f"/machines/{own_machine.pk}")
    assert [line["url"] for line in page.context["recent"]] == [None, None]
    assert code.encode() not in page.content
    assert friend_browser.get(f"/runs/{TrainingRun.objects.get().pk}").status_code == 404
    assert owner_browser.get(f"/machines/{own_machine.pk}").context["recent"][-1]["url"] is not None
    assert friend_browser.get("/").status_code == friend_browser.get("/machines").status_code == 200
