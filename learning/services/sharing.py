"""Secret links to private machines. Only the owner of a machine creates and revokes its link."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from django.db import transaction
from django.utils import timezone

from games.accounts.principal import AnyUser
from learning import events
from learning.access import machine_require
from learning.exceptions import MachinePublicError
from learning.models import Machine, SharedLink
from learning.storage.locks import machine_lock, machine_lock_existing


@transaction.atomic
def machine_share(*, user: AnyUser, machine_id: int) -> SharedLink:
    """Return the link of a private machine; create it if the machine has none.

    Raises:
        MachineNotFoundError, NotYourMachineError, MachinePublicError.
    """
    machine = _lock_permitted(user, machine_id)
    if machine.is_public:
        raise MachinePublicError
    if machine.share is None:
        machine.share = SharedLink.objects.create()
        machine.save(update_fields=["share"])
    return machine.share


@transaction.atomic
def machine_unshare(*, user: AnyUser, machine_id: int) -> None:
    """Revoke the link of a machine, which also hides the copies played through the link.

    Raises:
        MachineNotFoundError, NotYourMachineError.
    """
    links_end([_lock_permitted(user, machine_id)])


def links_end(machines: Iterable[Machine]) -> None:
    """Revoke the links of locked machines, and close the open pages that depend on them."""
    # These row locks include the keys, so this transaction and copies being made through the links wait for each other.
    links = SharedLink.objects.select_for_update().filter(pk__in=[machine.share_id for machine in machines])
    ended = [link.pk for link in links.order_by("pk")]
    SharedLink.objects.filter(pk__in=ended).update(ended_at=timezone.now())
    linked_machines = machine_lock_existing(Machine.objects.filter(share__in=ended).values_list("pk", flat=True))
    Machine.objects.filter(pk__in=linked_machines).update(share=None)
    for machine in linked_machines.values():
        machine.share = None
        transaction.on_commit(partial(events.machine_changed, machine))


def _lock_permitted(user: AnyUser, machine_id: int) -> Machine:
    (machine,) = machine_lock(machine_id)
    machine_require(user, machine, to="share")
    return machine
