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
def owner() -> Client:
    """A browser without an account that has a machine of its own."""
    browser = Client()
    press_teach(browser)
    return browser


@pytest.fixture
def own(owner: Client) -> Machine:
    return Machine.objects.get(guest=guest_of(owner).guest)


@pytest.fixture
def link(owner: Client, own: Machine) -> str:
    """The link that the owner sends to a friend."""
    page = f"/machines/{own.pk}/share"
    assert owner.get(page).context["share_url"] is None
    assert owner.post(page).url == page  # type: ignore[attr-defined]
    address: str = owner.get(page).context["share_url"]
    return address.removeprefix("http://testserver")


@pytest.fixture
def friend(link: str, own: Machine) -> Client:
    browser = Client()
    assert browser.get(f"/machines/{own.pk}").status_code == 404
    assert browser.get(link).url == f"/machines/{own.pk}"  # type: ignore[attr-defined]
    return browser


def test_a_friend_sees_boxes_beads_and_progress(friend: Client, own: Machine) -> None:
    page = friend.get(f"/machines/{own.pk}")
    assert page.status_code == 200
    assert b"A friend shared it with you by a secret link." in page.content
    for form in (b'id="train"', b'id="take-its-seat"', b'id="clone"', b'id="owner-menu"', b'id="share"', b"/print"):
        assert form not in page.content
    box = own.boxes.first()
    for path in ("boxes", "boxes-at/0", "why", f"boxes/{box.position}"):
        assert friend.get(f"/machines/{own.pk}/{path}").status_code == 200, path
    for path in ("", "/progress", "/strength", "/boxes", f"/boxes/{box.position}"):
        assert friend.get(f"/api/machines/{own.pk}{path}").status_code == 200, path


def test_only_the_owner_is_addressed_as_opponent(
    owner: Client, friend: Client, own: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    fallen = [(0, CurveStrength(0.66, 0.24)), (10, CurveStrength(0.61, 0.19))]
    monkeypatch.setattr(progress, "_curve", lambda machine: fallen)
    for browser, says in ((owner, True), (friend, False)):
        shown = browser.get(f"/api/machines/{own.pk}/progress").json()
        for words in (shown["points_words"], shown["curve_words"]):
            assert words.count(". It ") == 2, "the fall is told, and explained"
            assert ("you" in words) is says


def test_shared_pages_are_kept_from_search_engines_and_referrers(friend: Client, link: str, own: Machine) -> None:
    opened = friend.get(link)
    assert opened["X-Robots-Tag"] == "noindex, nofollow"
    assert opened["Referrer-Policy"] == "no-referrer"
    assert "no-store" in opened["Cache-Control"]
    assert friend.get(f"/machines/{own.pk}")["X-Robots-Tag"] == "noindex, nofollow"
    assert "X-Robots-Tag" not in Client().get("/")


def test_no_log_contains_the_secret(link: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        Client().get(link)
        Client().get(link[:-1] + ("a" if link[-1] != "a" else "b"))
    secret = link.rsplit("/", 1)[-1]
    assert secret[:20] not in caplog.text


def test_a_friend_plays_a_copy(friend: Client, own: Machine) -> None:
    lessons = Lesson.objects.filter(machine=own).count()
    started = friend.post("/rooms", {"game": NC, "opponent": "machine", "machine": own.pk, "side": "1", "fresh": "on"})
    room = Room.objects.get(code=started.url.rsplit("/", 1)[-1])  # type: ignore[attr-defined]
    copy = Machine.objects.get(room=room)
    assert (copy.owner, copy.guest, copy.is_public, copy.copied_from) == (None, None, False, own)
    state = friend.get(f"/rooms/{room.code}").context["state"]
    assert state["seats"][0]["machine"]["id"] == copy.pk
    assert state["learning"]["draws"], "the box that the copy opened is shown"
    play_out(room.code, guest_of(friend))
    assert friend.get(f"/machines/{copy.pk}").status_code == 200
    assert Lesson.objects.filter(machine=own).count() == lessons
    assert Lesson.objects.filter(machine=copy).exists()
    assert Client().get(f"/rooms/{room.code}").context["state"]["seats"][0]["name"] == HIDDEN_SEAT_NAME


@pytest.mark.parametrize("with_account", [False, True])
def test_a_link_gives_no_other_permission(friend: Client, own: Machine, with_account: bool) -> None:
    if with_account:
        hostile = user("hostile")
        friend.force_login(hostile)
        friend.get(f"/shared/{own.share.secret if own.share else SharedLink.objects.get().secret}")
    before = Machine.objects.filter(pk=own.pk).values().get()
    asked = {"game": NC, "opponent": "machine", "machine": own.pk, "side": "1"}
    n_rooms = Room.objects.count()
    friend.post("/rooms", asked)
    friend.post("/rooms", {"game": NC, "opponent": "perfect", "takes_over": own.pk})
    friend.post("/rooms", {"game": NC, "first": own.pk, "second": "random"})
    assert Room.objects.count() == n_rooms, "the machine itself plays nobody but its owner"
    base = f"/machines/{own.pk}"
    for path in ("edit", "reset", "delete", "share", "clone", "set", "train", "train-together", "schedule", "snapshot"):
        answer = friend.post(
            f"{base}/{path}", {"name": "Mine", "learns": "off", "is_public": "on", "opponent": "random"}
        )
        assert answer.status_code in (302, 403), path
        assert answer.status_code == 403 or "/login" in answer.url or not with_account, path  # type: ignore[attr-defined]
    for path in (f"{base}/print", f"{base}/boxes.csv", f"/machines/compare.csv?machine={own.pk}"):
        assert friend.get(path).status_code == 403, path
    assert friend.get(f"/api/machines/{own.pk}/export").status_code == 403
    sent: list[tuple[str, str, dict[str, Any]]] = [
        ("patch", f"/api/machines/{own.pk}", {"name": "Mine"}),
        ("delete", f"/api/machines/{own.pk}", {}),
        ("post", f"/api/machines/{own.pk}/clone", {}),
        ("post", f"/api/machines/{own.pk}/reset", {}),
        ("post", "/api/training-runs", {"machine": own.pk, "opponent": "random", "games": 1}),
        ("post", "/api/tournaments", {"entries": [own.pk, "random"], "games": 2}),
        ("post", "/api/ai/move", {"game": NC, "board": ".........", "machine": own.pk}),
        ("post", "/api/rooms", asked),
    ]
    for method, path, body in sent:
        answer = getattr(friend, method)(path, body, content_type="application/json")
        assert 400 <= answer.status_code < 500, path
    assert Machine.objects.filter(pk=own.pk).values().get() == before
    assert not TrainingRun.objects.exists()
    assert not Machine.objects.filter(copied_from=own).exists()


def test_a_link_does_not_apply_to_tokens(link: str, own: Machine) -> None:
    account = user("friend")
    browser = Client()
    browser.force_login(account)
    browser.get(link)
    assert browser.get(f"/machines/{own.pk}").status_code == 200
    program = api_with(account, "read", "play", "train")
    assert program.get(f"/api/machines/{own.pk}").status_code == 404
    asked = {"game": NC, "opponent": "machine", "machine": own.pk, "side": "O", "fresh": True}
    assert program.post("/api/rooms", asked, format="json").status_code == 404
    assert not machines_visible(account).filter(pk=own.pk).exists()
    assert not is_seen(account, own)


def test_a_friend_cannot_train_the_copy(link: str, own: Machine) -> None:
    account = user("friend")
    browser = Client()
    browser.force_login(account)
    browser.get(link)
    started = browser.post("/rooms", {"game": NC, "opponent": "machine", "machine": own.pk, "side": "1", "fresh": "on"})
    room = Room.objects.get(code=started.url.rsplit("/", 1)[-1])  # type: ignore[attr-defined]
    copy = Machine.objects.get(room=room)
    assert copy.owner is None
    assert browser.get(f"/machines/{copy.pk}/train").status_code == 403
    assert browser.get(f"/api/machines/{copy.pk}/export").status_code == 403
    assert browser.post(f"/machines/{copy.pk}/clone").status_code == 403


def test_a_revoked_link_ends_at_once(owner: Client, friend: Client, link: str, own: Machine) -> None:
    started = friend.post("/rooms", {"game": NC, "opponent": "machine", "machine": own.pk, "side": "1", "fresh": "on"})
    code = started.url.rsplit("/", 1)[-1]  # type: ignore[attr-defined]
    copy = Machine.objects.get(room__code=code)
    owner.post(f"/machines/{own.pk}/share", {"end": "on"})
    for path in (f"/machines/{own.pk}", f"/machines/{copy.pk}", f"/api/machines/{own.pk}", f"/machines/{own.pk}/boxes"):
        assert friend.get(path).status_code == 404, path
    assert friend.get(f"/rooms/{code}").context["state"]["seats"][0]["name"] == HIDDEN_SEAT_NAME
    asked = friend.get(link)
    assert (asked.status_code, b"This link has been taken back" in asked.content) == (404, True)
    play_out(code, guest_of(friend))
    before = Room.objects.get(code=code).matches.count()
    friend.post(f"/api/rooms/{code}/reset", {}, content_type="application/json")
    assert Room.objects.get(code=code).matches.count() == before, "no other copy by the old link"
    owner.post(f"/machines/{own.pk}/share")
    assert friend.get(f"/machines/{own.pk}").status_code == 404, "a new link is another secret"


def play_copy(friend: Client, own: Machine) -> tuple[str, Machine]:
    """The code of a room in which the friend plays a copy, and the copy."""
    asked = {"game": NC, "opponent": "machine", "machine": own.pk, "side": "1", "fresh": "on"}
    code = friend.post("/rooms", asked).url.rsplit("/", 1)[-1]  # type: ignore[attr-defined]
    return code, Machine.objects.get(room__code=code)


def test_match_against_a_copy_continues_after_the_link_ends(owner: Client, friend: Client, own: Machine) -> None:
    code, copy = play_copy(friend, own)
    owner.post(f"/machines/{own.pk}/share", {"end": "on"})
    play_out(code, guest_of(friend))
    assert Lesson.objects.filter(machine=copy).exists(), "the copy learns"
    assert not Lesson.objects.filter(machine=own, match__room__code=code).exists()
    assert friend.get(f"/api/rooms/{code}/joined").json()["role"] == "O", "the room is the friend's"
    assert owner.get(f"/api/rooms/{code}/joined").json()["role"] is None
    assert owner.get(f"/machines/{copy.pk}").status_code == 404


@pytest.mark.django_db(transaction=True)
async def test_pages_opened_by_a_link_close_when_it_ends(owner: Client, friend: Client, own: Machine) -> None:
    _, copy = await in_db(play_copy)(friend, own)
    session, owners = friend.cookies["sessionid"].value, owner.cookies["sessionid"].value
    path = f"/api/machines/{own.pk}/ws"
    async with (
        RunSocket(path, session=session) as original,
        RunSocket(f"/api/machines/{copy.pk}/ws", session=session) as copied,
        RunSocket(path, session=owners) as kept,
    ):
        for socket in (original, copied, kept):
            await socket.expect("joined")
        await in_db(owner.post)(f"/machines/{own.pk}/share", {"end": "on"})
        for socket in (original, copied):
            assert not await socket.receive_nothing(5), "nobody is told that it is over"
            assert (await socket.expect("error"))["code"] == "machine_not_found"
            assert (await socket.receive_output())["type"] == "websocket.close"
        await kept.expect("boxes")
        await kept.send_json_to({"type": "ping"})
        await kept.expect("pong")


@pytest.mark.parametrize("with_heir", [False, True])
def test_a_link_ends_when_the_account_of_its_owner_is_closed(with_heir: bool) -> None:
    account, heir = user("owner"), user("heir") if with_heir else None
    boss = user("boss", is_staff=True, is_superuser=True)
    own = machine(Side.FIRST, owner=account, is_public=False)
    browser, friend = Client(), Client()
    browser.force_login(account)
    browser.post(f"/machines/{own.pk}/share")
    link = SharedLink.objects.get().get_absolute_url()
    friend.get(link)
    _, copy = play_copy(friend, own)
    account_close(staff=boss, account=account, heir=heir)
    page = friend.get(link)
    assert (page.status_code, b"This link has been taken back" in page.content) == (404, True)
    for one in (own, copy):
        assert friend.get(f"/machines/{one.pk}").status_code == 404
    assert not Machine.objects.exclude(share=None).exists()


def open_link_of_another(browser: Client) -> None:
    """Open the link of another account's machine."""
    another = machine(owner=user("another"), is_public=False)
    another.share = SharedLink.objects.create()
    another.save()
    browser.get(another.share.get_absolute_url())


def stranger(who: str, link: str) -> Client:
    """A browser with its own machine and a link to another one, or with the link itself."""
    browser = Client()
    if "account" in who:
        account = user("hostile")
        browser.force_login(account)
        machine(owner=account)
    else:
        press_teach(browser)
    open_link_of_another(browser)
    if "link" in who:
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


def machine_addresses(own: Machine) -> list[str]:
    """Every address with a machine's id."""
    routes = [route for route in routes_of(get_resolver().url_patterns) if "machine_id" in route or "<ref>" in route]
    values = {
        r"<int:machine_id>": str(own.pk),
        r"(?P<ref>[-\w]+)": str(own.pk),
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
    """The status of an answer, or ``log in`` or ``form`` for a redirect to one of these."""
    form = {"content_type": "application/json"} if path.startswith("/api/") else {}
    has_body = method == "post" or (form and method != "get")
    answer: Any = getattr(browser, method)(path, **({"data": body, **form} if has_body else {}))
    if answer.status_code != 302:
        return int(answer.status_code)
    return "log in" if answer.url.startswith("/login?") else "form" if method == "get" else answer.url


@pytest.mark.parametrize("who", ["guest", "account", "guest with the link", "account with the link"])
def test_only_its_owner_changes_a_shared_machine(who: str, link: str, own: Machine) -> None:
    browser = stranger(who, link)
    before = Machine.objects.filter(pk=own.pk).values().get()
    links, n_machines = list(SharedLink.objects.order_by("pk").values()), Machine.objects.count()
    faults = []
    for path in machine_addresses(own):
        for method in ("get", "post", "put", "patch", "delete"):
            if method == "get" and "with the link" in who:
                continue  # other tests cover what a friend may see
            answers = [status_of(browser, method, path, body) for body in (FORM_FIELDS, {"name": "Mine"})]
            # One of the two bodies is valid; addresses that check the body first answer 400 to the other.
            if not set(answers) - {400} or not set(answers) <= {400, 401, 403, 404, 405, "log in", "form"}:
                faults.append((method, path, answers))
    assert not faults, "\n".join(map(str, faults))
    assert Machine.objects.filter(pk=own.pk).values().get() == before
    assert list(SharedLink.objects.order_by("pk").values()) == links
    assert Machine.objects.count() == n_machines
    assert not TrainingRun.objects.exists()
    assert not Schedule.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("who", ["guest", "account"])
async def test_no_socket_shows_a_shared_machine_to_strangers(who: str, link: str, own: Machine) -> None:
    browser = await in_db(stranger)(who, link)
    routes = [str(one.pattern) for one in websocket_urlpatterns if "machine_id" in str(one.pattern)]
    assert routes
    for route in routes:
        path = "/" + route.strip("^$").replace(r"(?P<machine_id>\d{1,18})", str(own.pk))
        async with RunSocket(path, session=browser.cookies["sessionid"].value) as socket:
            assert (await socket.expect("error"))["code"] == "machine_not_found"
            assert (await socket.receive_output())["type"] == "websocket.close"


def test_only_the_owner_makes_and_ends_links(link: str, own: Machine) -> None:
    page = f"/machines/{own.pk}/share"
    stranger = Client()
    press_teach(stranger)
    for browser, status in ((stranger, 404), (Client(), 302)):
        assert browser.post(page).status_code == status
        assert browser.post(page, {"end": "on"}).status_code == status
    staff = Client()
    staff.force_login(user("staff", is_staff=True, may=["change_machine"]))
    assert staff.get(page).status_code == 403
    assert staff.post(page, {"end": "on"}).status_code == 403
    assert SharedLink.objects.get().ended_at is None
    strict = Client(enforce_csrf_checks=True)
    teach_matches = strict.post(page)
    assert teach_matches.status_code == 403


def test_a_link_ends_with_its_machine(owner: Client, friend: Client, link: str, own: Machine) -> None:
    machine_delete(user=Visitor(own.guest), machine_id=own.pk)
    asked = friend.get(link)
    assert (asked.status_code, b"does not exist any more" in asked.content) == (404, True)


def test_a_link_ends_with_a_machine_deleted_by_retention(friend: Client, link: str, own: Machine) -> None:
    long_ago = timezone.now() - timedelta(days=100)
    Room.objects.update(changed_at=long_ago)
    Machine.objects.filter(pk=own.pk).update(created_at=long_ago)
    run_retention()
    assert friend.get(link).status_code == 404
    assert friend.get(f"/machines/{own.pk}").status_code == 404


def test_retention_deletes_ended_links(owner: Client, link: str, own: Machine) -> None:
    SharedLink.objects.update(created_at=timezone.now() - timedelta(days=1000))
    run_retention()
    assert SharedLink.objects.exists(), "it still shows a machine"
    owner.post(f"/machines/{own.pk}/share", {"end": "on"})
    SharedLink.objects.update(ended_at=timezone.now() - timedelta(days=1000))
    run_retention()
    assert not SharedLink.objects.exists()


def test_wrong_links_count_as_guesses(link: str, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    secret = link.rsplit("/", 1)[-1]
    wrong = ("a" if secret[0] != "a" else "b") + secret[1:]
    browser = Client()
    answer = browser.get(f"/shared/{wrong}")
    assert (answer.status_code, b"not complete" in answer.content) == (404, True)
    monkeypatch.setattr(Throttle, "is_used_up", lambda self, request: True)
    monkeypatch.setattr(Throttle, "wait", lambda self: 30.0)
    assert browser.get(link).status_code == 429


@pytest.mark.parametrize("text", ["", "short", "x" * 300, "a\0b", "é" * 43, "' OR 1=1 --"])
def test_invalid_secrets_are_not_looked_up(text: str, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0), pytest.raises(LinkNotFoundError):
        machine_shared(text)


def test_secret_is_long_random_and_read_despite_a_full_stop(link: str, own: Machine) -> None:
    secret = link.rsplit("/", 1)[-1]
    assert len(secret) == 43
    assert machine_shared(secret + ").") == own


def test_a_machine_moved_to_an_account_keeps_its_link(owner: Client, friend: Client, own: Machine) -> None:
    owner.post("/signup", {"username": "mia", "password1": "a good password", "password2": "a good password"})
    own.refresh_from_db()
    assert (own.owner.get_username(), own.guest) == ("mia", None)  # type: ignore[union-attr]
    assert friend.get(f"/machines/{own.pk}").status_code == 200


def test_only_private_machines_are_shared_by_link(client: Client) -> None:
    account = user("owner")
    client.force_login(account)
    public, private = machine(owner=account), machine(owner=account, is_public=False)
    answer = client.post(f"/machines/{public.pk}/share", follow=True)
    assert b"This machine is public" in answer.content
    assert not SharedLink.objects.exists()
    client.post(f"/machines/{private.pk}/share")
    client.post(f"/machines/{private.pk}/share")
    assert SharedLink.objects.count() == 1, "a second press finds the same link"
    machine_unshare(user=account, machine_id=private.pk)
    machine_unshare(user=account, machine_id=private.pk)
    assert SharedLink.objects.get().ended_at is not None


def test_a_guest_can_rename_a_machine(owner: Client, own: Machine) -> None:
    page = f"/machines/{own.pk}/edit"
    assert {"name", "description"} == set(owner.get(page).context["form"].fields)
    long = owner.post(page, {"name": "x" * 200})
    assert b"Please use at most 80 characters." in long.content
    assert owner.post(page, {"name": "Robbie", "is_public": "on", "learns": ""}).status_code == 302
    own.refresh_from_db()
    assert (own.name, own.is_public, own.learns) == ("Robbie", False, True)


def test_deletion_mentions_only_existing_rows(owner: Client, own: Machine) -> None:
    page = owner.get(f"/machines/{own.pk}/delete").content.decode()
    assert "You would lose:" in page
    assert "training run" not in page
    assert "copy the machine first" not in page, "only an account can"


def test_shared_pages_have_no_links_to_matches_and_runs(friend: Client, own: Machine, owner: Client) -> None:
    code = Room.objects.get(machine=str(own.pk)).code
    play_out(code, guest_of(owner))
    trained_machine(own, 5)
    page = friend.get(f"/machines/{own.pk}")
    assert [line["url"] for line in page.context["recent"]] == [None, None]
    assert code.encode() not in page.content
    assert friend.get(f"/runs/{TrainingRun.objects.get().pk}").status_code == 404
    assert owner.get(f"/machines/{own.pk}").context["recent"][-1]["url"] is not None
    assert friend.get("/").status_code == friend.get("/machines").status_code == 200
