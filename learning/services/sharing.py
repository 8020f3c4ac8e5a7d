"""The secret link to a private machine, which only its owner creates and revokes."""

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
from learning.storage.locks import machine_lock, machines_locked


@transaction.atomic
def machine_share(*, user: AnyUser, machine_id: int) -> SharedLink:
    """Return the link of a private machine; create it if the machine has none.

    Raises:
        MachineNotFoundError, NotYourMachineError, MachinePublicError.
    """
    machine = _locked(user, machine_id)
    if machine.is_public:
        raise MachinePublicError
    if machine.share is None:
        machine.share = SharedLink.objects.create()
        machine.save(update_fields=["share"])
    return machine.share


@transaction.atomic
def machine_unshare(*, user: AnyUser, machine_id: int) -> None:
    """Revoke the link of a machine: it no longer shows the machine and the copies played through the link.

    Raises:
        MachineNotFoundError, NotYourMachineError.
    """
    links_end([_locked(user, machine_id)])


def links_end(machines: Iterable[Machine]) -> None:
    """Revoke the links of locked machines, and close the open pages that depend on them."""
    # Locks with the rows' keys: they wait for copies being made through the links, and such copies wait for them.
    links = SharedLink.objects.select_for_update().filter(pk__in=[machine.share_id for machine in machines])
    ended = [link.pk for link in links.order_by("pk")]
    SharedLink.objects.filter(pk__in=ended).update(ended_at=timezone.now())
    shown = machines_locked(Machine.objects.filter(share__in=ended).values_list("pk", flat=True))
    Machine.objects.filter(pk__in=shown).update(share=None)
    for machine in shown.values():
        machine.share = None
        transaction.on_commit(partial(events.audience_changed, machine))


def _locked(user: AnyUser, machine_id: int) -> Machine:
    (machine,) = machine_lock(machine_id)
    machine_require(user, machine, to="share")
    return machine
