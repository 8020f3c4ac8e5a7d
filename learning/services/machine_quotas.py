"""Quotas of machines and of their values, for accounts, guests and addresses."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet, Sum

from games.accounts.principal import AnyUser, Visitor
from games.exceptions import GuestMovedError
from games.limits.quotas import count_lock, quota_require, site_require
from games.live.match_lists import MAX_CONCURRENT_TRANSACTIONS, open_rooms, rooms_of
from games.models import Room
from learning.exceptions import MachineQuotaError, ValueQuotaError
from learning.models import Machine, MovedGuest
from learning.storage.bounds import account_values_left


def guest_lock(guest: UUID | None) -> None:
    """Lock the creation and transfer of a guest's machines until the transaction ends. Call before locking machines."""
    count_lock(f"machines of guest {guest}")


def machine_quota_require(user: AnyUser) -> None:
    """Refuse an account or visitor that has used up its quota of machines. Copies made for rooms do not count.

    Call first in the transaction that creates a machine: the check takes locks.

    Raises:
        MachineQuotaError: the quota is used up.
        GuestMovedError: the guest's machines have moved to an account since the request began.
    """
    if isinstance(user, Visitor):
        site_require("learning_machine")
        max_machines = settings.MACHINES_PER_GUEST
        guest_lock(user.guest)
        if user.guest is not None and MovedGuest.objects.filter(guest=user.guest).exists():
            raise GuestMovedError
        n_machines = Machine.objects.filter(guest=user.guest).count()
        if n_machines >= max_machines:
            raise MachineQuotaError(
                f"A browser may keep {max_machines} machines, and yours has {n_machines}. Delete one first."
            )
        _address_quota_require(user.address)
        return
    site_require("learning_machine")
    max_machines, account = settings.MACHINES_PER_ACCOUNT, cast("User", user)
    quota_require(
        account,
        Machine.objects.filter(owner=account, room__isnull=True),
        max_machines,
        lambda n: MachineQuotaError(
            f"An account may have {max_machines} machines, and you have {n}. Delete one first."
        ),
    )


def _address_quota_require(address: str) -> None:
    """Refuse a guest if their address has used up its quota. Only near the limit, a lock makes the count exact.

    Raises:
        MachineQuotaError: the quota is used up.
    """
    max_machines = settings.MACHINES_PER_ADDRESS
    address_machines = Machine.objects.filter(made_from=address)
    n_machines = address_machines.count() if address else 0
    if address and n_machines + MAX_CONCURRENT_TRANSACTIONS > max_machines:
        count_lock(f"machines of address {address}")
        n_machines = address_machines.count()
    if n_machines >= max_machines:
        raise MachineQuotaError(
            f"Visitors where you are keep {max_machines:,} machines, as many as may be. Make an account or log in, and"
            " you have machines of your own."
        )


def values_quota_require(user: User, n_more: int) -> None:
    """Refuse ``n_more`` values if the account's machines together would exceed their limit.

    Call under the lock of the account.

    Raises:
        ValueQuotaError: the limit would be exceeded.
    """
    max_values = settings.VALUES_PER_ACCOUNT
    n_left = account_values_left(user.pk)
    if n_more > n_left:
        raise ValueQuotaError(
            f"The machines of an account may have {max_values:,} values together. There is room for {n_left:,},"
            f" this one has {n_more:,}. Delete or reset one first, or wait for a training to end."
        )


def _rooms_at(address: str) -> QuerySet[Room]:
    """Return the rooms opened from an address; none for an empty address."""
    return Room.objects.filter(opened_from=address) if address else Room.objects.none()


def _guests_copies(rooms: QuerySet[Room]) -> QuerySet[Machine]:
    """Return the copies made for these rooms, except copies of accounts, which have their own quota."""
    return Machine.objects.filter(room__in=rooms, owner__isnull=True)


def guests_values_require(guest: UUID | None, address: str, n_more: int | None = None) -> None:
    """Refuse a guest or an address if its copies together would have too many values.

    Only copies in open rooms count, since the others can be deleted (:func:`learning.services.copies.copies_clear`).
    Call with ``n_more``, the number of values to copy, before the copy. Call without ``n_more`` after the copy, to
    check again under locks.

    Raises:
        ValueQuotaError: the limit would be exceeded.
    """
    guest_rooms, address_rooms = rooms_of(user_id=None, guest=guest), _rooms_at(address)
    for name, rooms, max_values, description in (
        (f"values of address {address}", address_rooms, settings.VALUES_PER_ADDRESS, "played where you are"),
        (f"values of guest {guest}", guest_rooms, settings.VALUES_PER_GUEST, "that a guest plays"),
    ):
        if n_more is None:
            count_lock(name)
        in_use = _guests_copies(open_rooms(rooms))
        n_values = in_use.aggregate(n=Sum("n_values", default=0))["n"]
        if n_values + (n_more or 0) > max_values:
            raise ValueQuotaError(
                f"The copies {description} may have {max_values:,} values together, and with this game they would have"
                " more. Finish a game or give one up first, or play the machine itself."
            )
