"""Machines of one's own: made by one press, found again, seen by nobody else, taken along, swept, bounded."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from games.models import Room
from games.players import Viewer, Visitor
from games.rules.base import Side
from games.rules.registry import GAMES
from learning.access import is_master, is_seen, machines_visible
from learning.exceptions import MachineQuotaError, NoPupilError
from learning.models import Box, Machine
from learning.selectors.machines import pupils_of
from learning.services.machines import machine_quota_require, machine_reset
from learning.services.pupils import machines_claim, owner_fields, pupil_ensure, pupil_side, pupil_teach
from learning.tasks import KEEP_COPIES_DAYS, sweep
from tests.factories import NC, api_with, guest, play_out, user

pytestmark = pytest.mark.django_db


def visitor(number: int = 1) -> Visitor:
    return Visitor(UUID(int=number))


def pupil(number: int = 1, side: Side = Side.FIRST) -> Machine:
    return pupil_ensure(user=visitor(number), game=NC, side=side)


def taught(client: Client, **form: Any) -> tuple[Room, Machine]:
    """Press the button in a browser; the room and the machine."""
    response = client.post("/teach", {"game": NC, **form})
    room = Room.objects.get(code=response.url.rsplit("/", 1)[-1])
    return room, Machine.objects.get(pk=int(room.machine))


def test_one_press_makes_a_machine_that_knows_nothing_and_seats_its_owner(client: Client) -> None:
    room, machine = taught(client)
    assert (machine.n_games, machine.learns, machine.is_public, machine.owner) == (0, True, False, None)
    assert (machine.side, machine.name, machine.preset) == (Side.FIRST, "My MENACE", "michie-1961")
    state = client.get(f"/rooms/{room.code}").context["state"]
    assert (state["turn"], state["ply"], state["seats"][0]["machine"]["id"]) == ("O", 1, machine.pk)
    assert not Box.objects.filter(machine=machine).exists()  # it shares them all
    assert machine.boxes.count() == 304


def test_who_presses_again_gets_the_same_machine_and_the_match_that_goes_on(client: Client) -> None:
    room, machine = taught(client)
    assert taught(client) == (room, machine)
    play_out(room.code, guest_of(client))
    again, same = taught(client)
    assert (again != room, same) == (True, machine)
    assert taught(client, side="X")[1].side == Side.SECOND


def guest_of(client: Client) -> Any:
    return guest(int(UUID(client.session["guest"])))


def test_two_presses_before_the_first_answer_are_of_one_guest() -> None:
    client = Client()
    client.get("/")
    cookies = client.cookies["csrftoken"].value
    machines = set()
    for _ in range(2):
        press = Client()
        press.cookies["csrftoken"] = cookies
        machines.add(taught(press)[1])
    assert len(machines) == 1
    other = Client()
    other.get("/")
    assert taught(other)[1] not in machines


def test_what_is_there_once_is_there_once_in_the_database_too() -> None:
    machine = pupil()
    with pytest.raises(IntegrityError), transaction.atomic():
        Machine.objects.create(game=NC, side=0, name="Two", rule_json={}, guest=machine.guest, is_public=False,
                               is_pupil=True)  # fmt: skip
    with pytest.raises(IntegrityError), transaction.atomic():
        Machine.objects.filter(pk=machine.pk).update(is_public=True)


@pytest.mark.parametrize("game", [game for game in GAMES.values() if game.takes_boxes], ids=lambda game: game.slug)
def test_every_game_with_boxes_has_one_for_either_side(game: Any) -> None:
    for side in Side:
        seated = pupil_teach(person=guest(), game=game.slug, side=side)
        machine = Machine.objects.get(pk=int(seated.room.machine))
        assert (machine.game, machine.side, seated.side) == (game.slug, side, side.other)
    assert len(pupils_of(visitor())) == 2
    assert pupil_side(game) in Side


@pytest.mark.parametrize("form", [{}, {"game": "chess"}, {"game": "romgon"}, {"side": "Z"}, {"game": NC, "side": "9"}])
def test_what_cannot_be_taught_is_refused_in_a_sentence(client: Client, form: dict[str, str]) -> None:
    sent = {"game": NC, **form} if form else {}
    page = client.post("/teach", sent, follow=True)
    assert page.redirect_chain[-1][0] == "/"
    assert [str(message) for message in page.context["messages"]]
    assert not Room.objects.exists()
    with pytest.raises(NoPupilError):
        pupil_ensure(user=visitor(), game="romgon", side=Side.FIRST)


def test_it_learns_from_its_owner_and_forgets_when_it_is_told_to(client: Client) -> None:
    room, machine = taught(client)
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


def test_nobody_else_sees_it_whatever_number_they_ask_for(client: Client) -> None:
    room, machine = taught(client)
    play_out(room.code, guest_of(client))
    stranger, known, account = Client(), Client(), Client()
    taught(known)  # the hostile owner of another, in another browser
    account.force_login(user("mallory"))
    paths = [f"/machines/{machine.pk}{rest}" for rest in ("", "/boxes", "/boxes/.........", "/why", "/print")]
    paths += [f"/machines/compare?machine={machine.pk}"]
    api = [f"/api/machines/{machine.pk}{rest}" for rest in ("", "/boxes", "/boxes/.........", "/strength", "/export")]
    for path in [*paths, *api]:
        assert client.get(path).status_code == 200, path
        for other in (stranger, known, account, api_with(None)):
            answer = other.get(path)
            assert answer.status_code == 404 or machine.name.encode() not in answer.content, path
    for other in (known, account):
        for act in ("reset", "delete"):
            assert other.post(f"/machines/{machine.pk}/{act}").status_code == 404
        assert other.post("/rooms", {"game": NC, "opponent": "machine", "machine": machine.pk, "side": "O"}).url == "/"
        assert machine not in machines_visible(other.get("/about").wsgi_request.user)
    assert stranger.post(f"/machines/{machine.pk}/reset").url.startswith("/login")
    for method, rest in (("post", "/reset"), ("delete", ""), ("patch", "")):
        assert getattr(client, method)(f"/api/machines/{machine.pk}{rest}").status_code == 401
    state = known.get(f"/rooms/{room.code}").context["state"]
    assert [seat["machine"] for seat in state["seats"]] == [None, None]
    machine.refresh_from_db()
    assert machine.n_games == 1


def test_access_decides_by_the_browser() -> None:
    machine, ann = pupil(1), user("ann")
    assert [is_seen(one, machine) for one in (visitor(1), visitor(2), Visitor(), None, ann)] == [
        True, False, False, False, False,
    ]  # fmt: skip
    assert [is_master(one, machine) for one in (visitor(1), visitor(2), Visitor(), None, ann)] == [
        True, False, False, False, False,
    ]  # fmt: skip
    assert is_master(user("boss", is_staff=True), machine)
    assert Viewer.of(ann).guest is None


@pytest.mark.parametrize("way", ["signup", "login"])
def test_it_comes_along_to_an_account(client: Client, way: str) -> None:
    room, machine = taught(client)
    form = {"username": "ann", "password": "a good password"}
    if way == "signup":
        form = {"username": "ann", "email": "", "password1": "a good password", "password2": "a good password"}
    else:
        user("ann")
    assert client.post(f"/{way}", form).status_code == 302
    machine.refresh_from_db()
    assert (machine.owner.get_username(), machine.guest, machine.is_pupil) == ("ann", None, True)  # type: ignore[union-attr]
    assert taught(client) == (room, machine)
    assert machine.name in client.get("/account").content.decode()


def test_an_account_goes_on_teaching_its_own_and_gets_the_other_beside_it(settings: Any) -> None:
    ann = user("ann")
    own = pupil_ensure(user=ann, game=NC, side=Side.FIRST)
    first, second = pupil(1), pupil(1, Side.SECOND)
    assert machines_claim(ann.pk, UUID(int=1)) == 2
    assert pupils_of(ann) == [own, second]
    assert Machine.objects.get(pk=first.pk).owner == ann
    settings.MACHINES_PER_ACCOUNT = 3
    left = pupil(2)
    assert machines_claim(ann.pk, UUID(int=2)) == 0
    assert Machine.objects.get(pk=left.pk).guest == UUID(int=2)


def test_what_nobody_has_played_for_ninety_days_is_swept(client: Client) -> None:
    room, played = taught(client)
    play_out(room.code, guest_of(client))
    forgotten, new = pupil(2), pupil(3)
    long_ago = timezone.now() - timedelta(days=KEEP_COPIES_DAYS + 1)
    Machine.objects.filter(pk__in=[played.pk, forgotten.pk]).update(created_at=long_ago)
    sweep()
    assert set(Machine.objects.filter(is_pupil=True)) == {played, new}
    Room.objects.filter(pk=room.pk).update(changed_at=long_ago)
    sweep()
    assert list(Machine.objects.filter(is_pupil=True)) == [new]


def test_an_account_is_no_guest_and_its_machines_are_never_swept() -> None:
    machine = pupil_ensure(user=user("ann"), game=NC, side=Side.FIRST)
    Machine.objects.update(created_at=timezone.now() - timedelta(days=1000))
    sweep()
    assert Machine.objects.filter(pk=machine.pk).exists()


def test_a_browser_keeps_so_many_machines(settings: Any) -> None:
    settings.MACHINES_PER_GUEST = 1
    pupil()
    with pytest.raises(MachineQuotaError):
        pupil(side=Side.SECOND)
    with pytest.raises(MachineQuotaError), transaction.atomic():
        machine_quota_require(visitor())
    assert owner_fields(visitor()) == {"guest": UUID(int=1), "is_public": False}
    assert machine_reset(user=visitor(), machine_id=pupil().pk).n_games == 0
