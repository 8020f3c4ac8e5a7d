"""Copies of machines: copies for an account, and copies for a room, of which only the latest are kept."""

from __future__ import annotations

from functools import partial
from itertools import accumulate
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef

from beadbox.names import name_problem
from games.accounts.principal import AnyUser, RoomOwner
from games.exceptions import MalformedError
from games.limits.quotas import account_lock, site_require
from games.live.match_lists import open_rooms
from games.models import Room
from learning.access import machine_for
from learning.exceptions import MachineNotFoundError, ValueQuotaError
from learning.kinds.registry import kind_of
from learning.models import Machine, SharedLink
from learning.selectors.machines import copies_of
from learning.selectors.runs import runs_teaching
from learning.services.machine_quotas import guests_values_require, machine_quota_require, values_quota_require
from learning.services.machines import machine_remove
from learning.storage.locks import deletion_lock, machine_hold_get, machine_lock
from learning.storage.standings import stats_create


@transaction.atomic
def machine_clone(*, machine_id: int, name: str, **details: Any) -> Machine:
    """Copy a machine in its current state: same rule, same beads, and a new ledger that begins with these beads.

    ``details`` are fields of the copy. By default the copy is public if the original is.

    Raises:
        MachineNotFoundError.
    """
    copy = _copy_create(_hold_original(machine_id), name, **details)
    stats_create(copy)
    return copy


def _copy_create(original: Machine, name: str, **details: Any) -> Machine:
    """Create a copy of a machine held by :func:`_hold_original`. Lists show it after ``stats_create``."""
    memory = kind_of(original).memory
    fields: dict[str, object] = {"n_removed": original.n_removed, "is_public": original.is_public}
    fields |= memory.fields_copied(original) | details
    copy = Machine.objects.create(
        name=name,
        copied_from=original,
        game=original.game,
        side=original.side,
        preset=original.preset,
        rule_json=original.rule_json,
        epsilon=original.epsilon,
        n_values=original.n_values,
        **fields,
    )
    memory.copy(original, copy)
    return copy


def _hold_original(machine_id: int) -> Machine:
    """Return the machine to copy. Until the transaction ends, it can be neither deleted nor reset.

    The machine is locked only if its copy gets rows of its own. A copy that shares boxes needs no lock, so copying
    and teaching do not wait for each other.

    Raises:
        MachineNotFoundError.
    """
    machine = machine_hold_get(pk=machine_id)
    if machine is None:
        raise MachineNotFoundError
    if kind_of(machine).memory.copy_duplicates_rows:
        (machine,) = machine_lock(machine_id)
    return machine


@transaction.atomic
def machine_copy(*, user: AnyUser, machine_id: int, name: str = "", is_public: bool | None = None) -> Machine:
    """Copy a machine that the account may export, as :func:`machine_clone`; the copy belongs to the account.

    Raises:
        MachineNotFoundError, NotYourMachineError, MachineQuotaError.
    """
    if name and (problem := name_problem(name)):
        raise MalformedError(f"name: {problem}")
    machine_quota_require(user)
    (original,) = machine_lock(machine_for(user, machine_id, to="export").pk)
    values_quota_require(cast("User", user), original.n_values)
    copy = machine_clone(machine_id=original.pk, name=name or f"{original.name[:70]} (copy)", owner=user)
    if is_public is not None and copy.is_public != is_public:
        copy.is_public = is_public
        copy.save(update_fields=["is_public"])
    return copy


def room_copy(
    *, machine_id: int, room: Room, owner: User | None, guest: UUID | None, through_link: bool = False
) -> Machine:
    """Copy a machine for a room, as :func:`machine_clone`, but without an entry in any list.

    The copy belongs to ``owner``, or counts for ``guest`` if there is no account. ``through_link`` says that the player
    sees the machine only through a shared link. The copy then has no owner, and the same link shows it.

    Call inside the transaction that stores the room's match. After the commit, surplus older copies of the same
    account, guest or address are deleted.

    Raises:
        MachineNotFoundError, ValueQuotaError.
    """
    site_require("learning_machine")
    user_id = None if owner is None else owner.pk
    if owner is not None:
        account_lock(owner)
    original = _hold_original(machine_id)
    if kind_of(original).memory.copy_duplicates_rows:
        max_values = settings.VALUES_PER_ROOM_COPY
        if original.n_values > max_values:
            raise ValueQuotaError(
                f"{original.name} has {original.n_values:,} values, and a machine copied for a game may have"
                f" {max_values:,}. Play it itself, or copy it on its page."
            )
        if owner is not None:
            values_quota_require(owner, original.n_values)
        else:  # an early check, repeated under locks when everything is stored
            guests_values_require(guest, room.opened_from, n_more=original.n_values)
    clear_surplus = partial(copies_clear, user_id=user_id, guest=guest, address=room.opened_from)
    transaction.on_commit(clear_surplus, robust=True)  # the room is stored even if clearing fails
    name = f"{original.name[:70]} (copy)"
    if not through_link:
        return _copy_create(original, name, room=room, owner=owner)
    # The lock keeps the link from being revoked before the copy refers to it.
    link = SharedLink.objects.select_for_update(no_key=True).filter(pk=original.share_id or 0, ended_at=None).first()
    if link is None:
        raise MachineNotFoundError
    return _copy_create(original, name, room=room, share=link)


def copies_clear(*, user_id: int | None, guest: UUID | None, address: str) -> None:
    """Delete the copies made for rooms beyond the limits of an account, a guest and an address.

    The most recently played copies are kept, up to a number of copies and a total number of values. A copy in a match
    in progress, or in training, is never deleted. Call outside any transaction: each deletion takes its own.
    """
    limits: list[tuple[RoomOwner, int, int]] = []
    if user_id is not None:
        limits.append((("account", user_id), settings.COPIES_PER_ACCOUNT, settings.VALUES_PER_ACCOUNT))
    elif guest is not None:
        limits.append((("guest", guest), settings.COPIES_PER_GUEST, settings.VALUES_PER_GUEST))
    if address:
        limits.append((("address", address), settings.COPIES_PER_ADDRESS, settings.VALUES_PER_ADDRESS))
    for owner, max_copies, max_values in limits:
        # Read anew for each limit, because the limit before may have deleted copies.
        copies = copies_of(owner, guests_alone=owner[0] == "address")
        running_totals = accumulate(n_values for _, n_values in copies)
        n_kept = min(max_copies, sum(n <= max_values for n in running_totals))
        surplus = Machine.objects.filter(pk__in=[pk for pk, _ in copies[n_kept:]])
        # Most of these copies may be in use, so a query skips them; _copy_delete checks the others again under locks.
        in_use = Exists(open_rooms(Room.objects.filter(pk=OuterRef("room_id"))))
        for copy_id in surplus.exclude(in_use).values_list("pk", flat=True):
            _copy_delete(copy_id)


@transaction.atomic
def _copy_delete(copy_id: int) -> None:
    """Delete a copy made for a room, unless a match or training uses it."""
    deletion_lock(copy_id)
    copy = Machine.objects.filter(pk=copy_id).first()
    if copy is None or runs_teaching(copy).exists() or open_rooms(Room.objects.filter(fresh_machines=copy)).exists():
        return
    machine_remove(copy)
