"""Personal machines (``is_pupil``), which start untrained and learn only from their owner, an account or a guest.

An owner has at most one personal machine for each game and side. The first press of a button creates the machine; later
presses find it. The new machine shares the boxes of a blank machine of the site (decision 0075). So a machine that has
learnt nothing costs one database row.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from beadbox.learners.built_in import HOUSE, HOUSE_OF, HouseMachine
from beadbox.learners.presets import ALL_PRESETS
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from games.accounts.claims import ClaimResult
from games.accounts.principal import AnyUser, Principal, Visitor
from games.limits.quotas import account_lock
from games.live.match_lists import room_in_play
from games.live.players import MACHINE
from games.live.rooms import SeatResult, room_create
from learning.exceptions import MachineNotFoundError, NoPersonalMachineError
from learning.models import Machine, MovedGuest
from learning.selectors.machines import personal_machine_of
from learning.services.copies import machine_clone
from learning.services.machine_quotas import guest_lock, machine_quota_require
from learning.services.machines import machine_create, preset_usual
from learning.storage.locks import machine_get_where, machine_lock_existing


def personal_machine_side(game: AnyGame) -> Side:
    """Return the default side of a personal machine: the side of the first built-in machine of the game's family."""
    house = next((each for each in HOUSE if each.game == game.family and each.side is not None), None)
    return Side.FIRST if house is None or house.side is None else house.side


def personal_machine_name(game: AnyGame, side: Side) -> str:
    """Return the name of a new machine: the name of the built-in machine ("MENACE"), else the game with the side."""
    house = _built_in_model(game, side)
    return house.name if house else f"{game.name} machine ({game.presentation.layout.role_names[side]})"


def personal_machine_offer(game: AnyGame, side: Side, machines: Iterable[Machine]) -> dict[str, object]:
    """Return the data of the button that starts a match against the viewer's personal machine of a game and side.

    Args:
        game: the game.
        side: the side of the machine.
        machines: the viewer's personal machines.

    Returns:
        ``name`` of a new machine; ``games`` played, ``None`` if the machine does not exist yet; ``side`` of the
        viewer; ``begins``: whether the machine moves first.
    """
    machine = next((candidate for candidate in machines if (candidate.game, candidate.side) == (game.slug, side)), None)
    return {
        "name": personal_machine_name(game, side),
        "games": machine.n_games if machine else None,
        "side": str(side.other.value),
        "begins": side is Side.FIRST,
    }


def _built_in_model(game: AnyGame, side: Side) -> HouseMachine | None:
    """Return the built-in machine that gives a new machine its name and rule; ``None`` if none with boxes fits."""
    house = HOUSE_OF.get((game.family, side))
    return house if house is not None and ALL_PRESETS[house.preset].rule.has_boxes else None


def personal_machine_play(*, person: Principal, game: str, side: Side | None = None) -> SeatResult:
    """Seat a player against their personal machine of a game; resume a match in progress.

    A missing machine is created. If retention deletes an unused machine at the same moment, a second attempt creates a
    new one.

    Args:
        person: the player; a visitor needs a guest number.
        game: slug of a game with boxes.
        side: the side that the machine plays; ``None`` for :func:`personal_machine_side`.

    Raises:
        UnknownGameError, NoPersonalMachineError, MachineQuotaError, RoomQuotaError.
    """
    try:
        return _seat_learner(person, game, side)
    except MachineNotFoundError:
        return _seat_learner(person, game, side)


def _seat_learner(person: Principal, game: str, side: Side | None) -> SeatResult:
    rules = game_get(game)
    side = personal_machine_side(rules) if side is None else side
    machine = personal_machine_ensure(user=owner_of(person), game=game, side=side)
    player_side, machine_ref = Side(machine.cabinet.side).other, str(machine.pk)
    open_room = (
        None if person.room_owner is None else room_in_play(person.room_owner, opponent=MACHINE, machine=machine_ref)
    )
    if open_room is not None:
        return SeatResult(open_room, player_side, "")
    return room_create(person=person, game=game, opponent=MACHINE, machine=machine_ref, side=player_side)


def owner_of(person: Principal) -> User | Visitor:
    """Return the account or visitor behind a principal; queries the database for an account."""
    if person.user_id is None:
        return Visitor(person.guest, person.address)
    return get_user_model().objects.get(pk=person.user_id)


def personal_machine_ensure(*, user: AnyUser, game: str, side: Side) -> Machine:
    """Return the personal machine of this game and side; create it if missing. Concurrent calls create only one.

    Raises:
        UnknownGameError, NoPersonalMachineError, MachineQuotaError.
    """
    rules = game_get(game)
    if not rules.supports_boxes:
        raise NoPersonalMachineError(f"game: No machine with boxes can learn {rules.name}.")
    machine = personal_machine_of(user, game, side)
    if machine is not None:
        return machine
    blank = _blank_machine(rules, side)
    try:
        with transaction.atomic():
            machine_quota_require(user)
            name = f"My {personal_machine_name(rules, side)}"
            return machine_clone(machine_id=blank.pk, name=name, is_pupil=True, **owner_fields(user))
    except IntegrityError:  # a concurrent request was faster
        machine = personal_machine_of(user, game, side)
        assert machine is not None, "only another personal machine violates the constraint"
        return machine


def owner_fields(user: AnyUser) -> dict[str, object]:
    """Return the fields of a machine that make it belong to this account, or to this visitor's guest number."""
    if isinstance(user, Visitor):
        return {"guest": user.guest, "made_from": user.address, "is_public": False}
    return {"owner": user}


def _blank_machine(rules: AnyGame, side: Side) -> Machine:
    """Return the blank machine of a game and side, created if missing.

    New personal machines share its boxes. The blank machine never learns or plays.
    """
    slug = f"blank-{rules.slug}-{side.value}"[:60]
    built_in = _built_in_model(rules, side)
    preset = built_in.preset if built_in else preset_usual(rules, side)
    if (blank := machine_get_where("slug = %s", slug)) is not None:
        return blank
    with contextlib.suppress(IntegrityError), transaction.atomic():  # a concurrent request was faster
        return machine_create(
            game=rules.slug,
            side=side,
            name=f"New {personal_machine_name(rules, side)}",
            preset=preset,
            slug=slug,
            is_public=False,
            learns=False,
        )
    return Machine.objects.get(slug=slug)


@transaction.atomic
def machines_claim(user_id: int, guest: UUID) -> ClaimResult:
    """Give a guest's machines to the account that the guest has created or logged in to.

    The account may then have as many machines as its own quota and the quota of one guest together. So creating an
    account loses no machine, and repeated log-ins cannot exceed that sum. Personal machines move first, then the
    machines with the most games. If the account already has a personal machine of the same game and side, the guest's
    becomes an ordinary machine. Once all machines have moved, no more can be created for the guest.

    Returns:
        The names of the machines that moved, and of the machines that did not.
    """
    user = get_user_model().objects.get(pk=user_id)
    account_lock(user)
    guest_lock(guest)
    account_machines = Machine.objects.filter(owner=user, room__isnull=True)
    taken_sides = set(account_machines.filter(is_pupil=True).values_list("game", "side"))
    n_fit = max(0, settings.MACHINES_PER_ACCOUNT + settings.MACHINES_PER_GUEST - account_machines.count())
    locked = machine_lock_existing(Machine.objects.filter(guest=guest).values_list("pk", flat=True)).values()
    # Retention may have deleted a machine while this transaction waited for the locks.
    guest_machines = [machine for machine in locked if machine.guest == guest]
    machines = sorted(guest_machines, key=lambda machine: (not machine.is_pupil, -machine.n_games, machine.pk))
    for machine in machines[:n_fit]:
        machine.owner, machine.guest, machine.made_from = user, None, ""
        machine.is_pupil = machine.is_pupil and (machine.game, machine.side) not in taken_sides
        machine.save(update_fields=["owner", "guest", "made_from", "is_pupil"])
    if len(machines) <= n_fit:
        MovedGuest.objects.get_or_create(guest=guest)
    return ClaimResult([machine.name for machine in machines[:n_fit]], [machine.name for machine in machines[n_fit:]])
