"""Personal machines: created by one press, found again, private, moved to the account, deleted when idle, limited."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from games.accounts.claims import ClaimResult
from games.accounts.principal import Principal, Visitor
from games.exceptions import GuestMovedError
from games.live.rooms import room_create
from games.models import Room
from learning.access import can_edit, is_seen, machines_visible
from learning.exceptions import MachineNotFoundError, MachineQuotaError, NoPersonalMachineError, NotYourMachineError
from learning.models import Box, Lesson, Machine, MovedGuest
from learning.players.port import Machines
from learning.selectors.machines import personal_machines_of
from learning.services import personal_machines
from learning.services.machine_quotas import machine_quota_require
from learning.services.machines import machine_delete, machine_reset
from learning.services.personal_machines import (
    machines_claim,
    owner_fields,
    personal_machine_ensure,
    personal_machine_play,
    personal_machine_side,
)
from tests.factories import NC, api_with, guest, play_out, run_retention, user
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def visitor(number: int = 1) -> Visitor:
    return Visitor(UUID(int=number))


def personal_machine(number: int = 1, side: Side = Side.FIRST) -> Machine:
    return personal_machine_ensure(user=visitor(number), game=NC, side=side)


def press_teach(client: Client, **form: Any) -> tuple[Room, Machine]:
    """Press the button in a browser; return the room and the machine."""
    response = client.post("/teach", {"game": NC, **form})
    room = Room.objects.get(code=response.url.rsplit("/", 1)[-1])
    return room, Machine.objects.get(pk=int(room.machine))


def test_one_press_makes_an_untaught_machine_and_seats_its_owner(client: Client) -> None:
    room, machine = press_teach(client)
    assert (machine.n_games, machine.learns, machine.is_public, machine.owner) == (0, True, False, None)
    assert (machine.side, machine.name, machine.preset) == (Side.FIRST, "My MENACE", "michie-1961")
    state = client.get(f"/rooms/{room.code}").context["state"]
    assert (state["turn"], state["ply"], state["seats"][0]["machine"]["id"]) == ("O", 1, machine.pk)
    assert not Box.objects.filter(machine=machine).exists()  # all boxes are shared
    assert machine.boxes.count() == 304


def test_machine_deleted_as_its_owner_returns_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    deleted_machine, create_room = personal_machine(), room_create

    def delete_then_create(**options: Any) -> Any:
        machine_delete(user=visitor(), machine_id=deleted_machine.pk)
        monkeypatch.setattr(personal_machines, "room_create", create_room)
        return create_room(**options)

    monkeypatch.setattr(personal_machines, "room_create", delete_then_create)
    seated = personal_machine_play(person=guest(), game=NC)
    assert Machine.objects.get(guest=guest().guest).pk == int(seated.room.machine) != deleted_machine.pk


def test_second_press_returns_the_same_machine_and_match(client: Client) -> None:
    room, machine = press_teach(client)
    assert press_teach(client) == (room, machine)
    play_out(room.code, guest_of(client))
    second_room, same_machine = press_teach(client)
    assert (second_room != room, same_machine) == (True, machine)
    assert press_teach(client, side="X")[1].side == Side.SECOND


def guest_of(client: Client) -> Any:
    return guest(int(UUID(client.session["guest"])))


def test_two_concurrent_presses_belong_to_one_guest() -> None:
    client = Client()
    client.get("/")
    cookies = client.cookies["csrftoken"].value
    machines = set()
    for _ in range(2):
        second_client = Client()
        second_client.cookies["csrftoken"] = cookies
        machines.add(press_teach(second_client)[1])
    assert len(machines) == 1
    other_client = Client()
    other_client.get("/")
    assert press_teach(other_client)[1] not in machines


def test_the_database_allows_one_personal_machine_of_a_kind() -> None:
    machine = personal_machine()
    with pytest.raises(IntegrityError), transaction.atomic():
        Machine.objects.create(game=NC, side=0, name="Two", rule_json={}, guest=machine.guest, is_public=False,
                               is_pupil=True)  # fmt: skip
    with pytest.raises(IntegrityError), transaction.atomic():
        Machine.objects.filter(pk=machine.pk).update(is_public=True)


@pytest.mark.parametrize("game", [game for game in GAMES.values() if game.supports_boxes], ids=lambda game: game.slug)
def test_every_game_with_boxes_has_a_machine_for_either_side(game: Any) -> None:
    for side in Side:
        seated = personal_machine_play(person=guest(), game=game.slug, side=side)
        machine = Machine.objects.get(pk=int(seated.room.machine))
        assert (machine.game, machine.side, seated.side) == (game.slug, side, side.other)
    assert len(personal_machines_of(visitor())) == 2
    assert personal_machine_side(game) in Side


@pytest.mark.parametrize("form", [{}, {"game": "chess"}, {"game": "romgon"}, {"side": "Z"}, {"game": NC, "side": "9"}])
def test_refusals_have_a_sentence(client: Client, form: dict[str, str]) -> None:
    fields = {"game": NC, **form} if form else {}
    page = client.post("/teach", fields, follow=True)
    assert page.redirect_chain[-1][0] == "/"
    assert [str(message) for message in page.context["messages"]]
    assert not Room.objects.exists()
    with pytest.raises(NoPersonalMachineError):
        personal_machine_ensure(user=visitor(), game="romgon", side=Side.FIRST)


def test_a_personal_machine_learns_and_forgets_on_request(client: Client) -> None:
    room, machine = press_teach(client)
    play_out(room.code, guest_of(client))
    machine.refresh_from_db()
    assert machine.n_games == 1
    assert client.get(f"/machines/{machine.pk}").status_code == 200
    assert client.get(f"/machines/{machine.pk}/reset").status_code == 200
    assert client.post(f"/machines/{machine.pk}/reset").status_code == 302
    machine.refresh_from_db()
    assert machine.n_games == 0
    assert client.post(f"/machines/{machine.pk}/delete").status_code == 302
    assert not Machine.objects.filter(pk=machine.pk).exists()


def test_other_visitors_cannot_see_the_machine(client: Client) -> None:
    room, machine = press_teach(client)
    play_out(room.code, guest_of(client))
    new_client, guest_client, account_client = Client(), Client(), Client()
    press_teach(guest_client)  # a hostile visitor with a machine of its own
    account_client.force_login(user("mallory"))
    paths = [f"/machines/{machine.pk}{rest}" for rest in ("", "/boxes", "/boxes/.........", "/why", "/print")]
    paths += [f"/machines/compare?machine={machine.pk}"]
    api_paths = [
        f"/api/machines/{machine.pk}{rest}" for rest in ("", "/boxes", "/boxes/.........", "/strength", "/export")
    ]
    for path in [*paths, *api_paths]:
        assert client.get(path).status_code == 200, path
        for other_client in (new_client, guest_client, account_client, api_with(None)):
            answer = other_client.get(path)
            assert answer.status_code == 404 or machine.name.encode() not in answer.content, path
    for other_client in (guest_client, account_client):
        for action in ("reset", "delete"):
            assert other_client.post(f"/machines/{machine.pk}/{action}").status_code == 404
        assert (
            other_client.post("/rooms", {"game": NC, "opponent": "machine", "machine": machine.pk, "side": "O"}).url
            == "/"
        )
        assert machine not in machines_visible(other_client.get("/about").wsgi_request.user)
    assert new_client.post(f"/machines/{machine.pk}/reset").url.startswith("/login")
    for method, rest in (("post", "/reset"), ("delete", ""), ("patch", "")):
        assert getattr(client, method)(f"/api/machines/{machine.pk}{rest}").status_code == 401
    state = guest_client.get(f"/rooms/{room.code}").context["state"]
    assert [seat["machine"] for seat in state["seats"]] == [None, None]
    machine.refresh_from_db()
    assert machine.n_games == 1


def test_access_follows_the_browser() -> None:
    machine, ann = personal_machine(1), user("ann")
    assert [is_seen(one, machine) for one in (visitor(1), visitor(2), Visitor(), None, ann)] == [
        True, False, False, False, False,
    ]  # fmt: skip
    assert [can_edit(one, machine) for one in (visitor(1), visitor(2), Visitor(), None, ann)] == [
        True, False, False, False, False,
    ]  # fmt: skip
    assert can_edit(user("boss", is_staff=True), machine)
    assert Principal.of(ann).guest is None


LOGIN = {"username": "ann", "password": "a good password"}
SIGNUP = {"username": "ann", "email": "", "password1": "a good password", "password2": "a good password"}


@pytest.mark.parametrize("path", ["signup", "login"])
def test_the_machine_moves_to_the_account(client: Client, path: str) -> None:
    room, machine = press_teach(client)
    if path == "login":
        user("ann")
    answer = client.post(f"/{path}", SIGNUP if path == "signup" else LOGIN)
    assert answer.status_code == 302
    assert messages(client) == ["These are now in your account: My MENACE."]
    machine.refresh_from_db()
    assert (machine.owner.get_username(), machine.guest, machine.is_pupil) == ("ann", None, True)  # type: ignore[union-attr]
    assert press_teach(client) == (room, machine)
    assert machine.name in client.get("/account").content.decode()


def test_account_keeps_its_machine_and_gains_the_guests_other(settings: Any) -> None:
    """Beyond the account's limit, machines stay with the guest."""
    ann = user("ann")
    own_machine = personal_machine_ensure(user=ann, game=NC, side=Side.FIRST)
    first, second = personal_machine(1), personal_machine(1, Side.SECOND)
    assert machines_claim(ann.pk, UUID(int=1)) == ClaimResult([first.name, second.name], [])
    assert personal_machines_of(ann) == [own_machine, second]
    assert Machine.objects.get(pk=first.pk).owner == ann
    settings.MACHINES_PER_ACCOUNT, settings.MACHINES_PER_GUEST = 2, 2
    third, left_machine = personal_machine(2, Side.SECOND), personal_machine(2)
    assert machines_claim(ann.pk, UUID(int=2)) == ClaimResult([third.name], [left_machine.name])
    assert Machine.objects.get(pk=left_machine.pk).guest == UUID(int=2)
    assert machines_claim(ann.pk, UUID(int=2)) == ClaimResult([], [left_machine.name])
    assert personal_machine(2, Side.SECOND).guest == UUID(int=2), (
        "a guest whose machines did not all move remains a guest"
    )


def messages(client: Client) -> list[str]:
    return [str(message) for message in client.get("/account").context["messages"]]


def test_machines_beyond_the_quota_stay_with_the_guest(client: Client, settings: Any) -> None:
    ann = user("ann")
    own_machine = personal_machine_ensure(user=ann, game="hexapawn", side=Side.FIRST)
    settings.MACHINES_PER_ACCOUNT, settings.MACHINES_PER_GUEST = 0, 1
    room, machine = press_teach(client)
    client.post("/login", LOGIN)
    assert "no room for these: My MENACE. They stay in this browser" in messages(client)[0]
    assert Room.objects.get(pk=room.pk).matches.get().seats.filter(user=ann).exists(), "the match moves to the account"
    client.post("/logout")
    machine.refresh_from_db()
    assert (machine.guest, machine.owner) == (guest_of(client).guest, None)
    assert client.get(f"/machines/{machine.pk}").status_code == 200
    own_machine.delete()
    client.post("/login", LOGIN)
    machine.refresh_from_db()
    assert (machine.guest, machine.owner) == (None, ann)
    assert "guest" not in client.session


@pytest.mark.parametrize("path", ["signup", "login"])
def test_a_failed_move_to_an_account_changes_nothing(client: Client, path: str, monkeypatch: Any) -> None:
    room, machine = press_teach(client)
    if path == "login":
        user("ann")

    def fail(_: Machines, user_id: int, guest: UUID) -> ClaimResult:
        machines_claim(user_id, guest)
        raise RuntimeError

    monkeypatch.setattr(Machines, "guest_claim", fail)
    client.raise_request_exception = False
    assert client.post(f"/{path}", SIGNUP if path == "signup" else LOGIN).status_code == 500
    assert get_user_model().objects.filter(username="ann").exists() is (path == "login")
    assert press_teach(client) == (room, machine)
    assert machine.owner is None
    monkeypatch.undo()
    assert client.post(f"/{path}", SIGNUP if path == "signup" else LOGIN).status_code == 302
    machine.refresh_from_db()
    assert machine.owner.get_username() == "ann"  # type: ignore[union-attr]


def test_a_moved_guest_number_makes_no_machine(client: Client) -> None:
    """A late request with the moved guest number is refused, and a new session gets a new number."""
    press_teach(client)
    number, old_client = guest_of(client).guest, Client()
    old_client.cookies.update(client.cookies)
    old_session = old_client.session
    client.post("/signup", SIGNUP)
    with pytest.raises(GuestMovedError):
        personal_machine_ensure(user=Visitor(number), game=NC, side=Side.FIRST)
    assert "guest" not in old_session.load(), "its session has ended"
    second_client = Client()
    press_teach(second_client)
    session = second_client.session
    session["guest"] = number.hex
    session.save()
    answer = second_client.post("/teach", {"game": NC}, follow=True)
    assert "You have logged in, and your machines" in str(next(iter(answer.context["messages"])))
    assert press_teach(second_client)[1].guest not in (None, number)
    MovedGuest.objects.update(moved_at=timezone.now() - timedelta(days=2))
    run_retention()
    assert not MovedGuest.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_concurrent_claims_leave_no_machine_without_an_owner() -> None:
    """Claims by two accounts, a new machine and a deletion run at the same time."""
    ann, bob = user("ann"), user("bob")
    personal_machine_ensure(user=visitor(99), game=NC, side=Side.FIRST)  # creates the blank original
    personal_machine_ensure(user=visitor(99), game=NC, side=Side.SECOND)
    for number in range(1, 5):
        first = personal_machine(number)
        faults = at_once(
            lambda n=number: machines_claim(ann.pk, UUID(int=n)),
            lambda n=number: personal_machine(n, Side.SECOND),
            lambda n=number: machines_claim(bob.pk, UUID(int=n)),
            lambda n=number, pk=first.pk: machine_delete(user=visitor(n), machine_id=pk),
        )
        # The machine has moved or is gone already, so the visitor can neither delete nor create it.
        assert all(isinstance(one, (GuestMovedError, MachineNotFoundError, NotYourMachineError)) for one in faults)
        assert not Machine.objects.filter(guest=UUID(int=number)).exists()
    assert not Machine.objects.filter(owner=None, guest=None).exclude(slug__startswith="blank-").exists()


def test_machines_idle_for_90_days_are_deleted(client: Client) -> None:
    room, played_machine = press_teach(client)
    play_out(room.code, guest_of(client))
    idle_machine, new_machine = personal_machine(2), personal_machine(3)
    long_ago = timezone.now() - timedelta(days=91)
    Machine.objects.filter(pk__in=[played_machine.pk, idle_machine.pk]).update(created_at=long_ago)
    run_retention()
    assert set(Machine.objects.filter(is_pupil=True)) == {played_machine, new_machine}
    Room.objects.filter(pk=room.pk).update(changed_at=long_ago)
    run_retention()
    assert set(Machine.objects.filter(is_pupil=True)) == {played_machine, new_machine}, "its last lesson is recent"
    Lesson.objects.update(created_at=long_ago)
    run_retention()
    assert list(Machine.objects.filter(is_pupil=True)) == [new_machine]


def test_machines_of_accounts_are_not_deleted() -> None:
    machine = personal_machine_ensure(user=user("ann"), game=NC, side=Side.FIRST)
    Machine.objects.update(created_at=timezone.now() - timedelta(days=1000))
    run_retention()
    assert Machine.objects.filter(pk=machine.pk).exists()


def test_browsers_at_an_address_share_a_machine_limit(settings: Any) -> None:
    settings.MACHINES_PER_ADDRESS = 2
    first, second, third = Client(), Client(), Client()
    for browser in (first, second):
        press_teach(browser)
    answer = third.post("/teach", {"game": NC}, follow=True)
    assert "Visitors where you are keep 2 machines, as many as may be." in str(next(iter(answer.context["messages"])))
    client_elsewhere = Client(REMOTE_ADDR="192.0.2.7")
    assert press_teach(client_elsewhere)[1].made_from != ""
    assert "192.0.2.7" not in Machine.objects.exclude(guest=None).latest("pk").made_from
    ann = user("ann")
    machines_claim(ann.pk, guest_of(first).guest)
    assert ann.machines.get().made_from == ""
    press_teach(third)
    assert personal_machine_ensure(user=ann, game=NC, side=Side.SECOND), "an account has its own limit"


@pytest.mark.django_db(transaction=True)
def test_the_limit_of_an_address_holds_for_concurrent_requests(settings: Any) -> None:
    settings.MACHINES_PER_ADDRESS = 3
    personal_machine(99)
    calls = [
        lambda n=n: personal_machine_ensure(user=Visitor(UUID(int=n), "here"), game=NC, side=Side.FIRST)
        for n in range(6)
    ]
    assert [type(one) for one in at_once(*calls)] == [MachineQuotaError] * 3
    assert Machine.objects.filter(made_from="here").count() == 3


def test_a_browser_has_a_limit_of_machines(settings: Any) -> None:
    settings.MACHINES_PER_GUEST = 1
    personal_machine()
    with pytest.raises(MachineQuotaError):
        personal_machine(side=Side.SECOND)
    with pytest.raises(MachineQuotaError), transaction.atomic():
        machine_quota_require(visitor())
    assert owner_fields(visitor()) == {"guest": UUID(int=1), "made_from": "", "is_public": False}
    assert machine_reset(user=visitor(), machine_id=personal_machine().pk).n_games == 0
