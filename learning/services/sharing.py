"""The secret link that shows a machine which is not public: made, and taken back, by its owner alone."""

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
    """The link of a machine; it is made if the machine has none.

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
    """Take the link of a machine back: it shows the machine and the copies played by it to nobody any more.

    Raises:
        MachineNotFoundError, NotYourMachineError.
    """
    links_end([_locked(user, machine_id)])


def links_end(machines: Iterable[Machine]) -> None:
    """End the links of machines that are locked, and close the open pages that look through them."""
    # With their keys the rows wait for copies that are being made by the links, and they for it.
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
