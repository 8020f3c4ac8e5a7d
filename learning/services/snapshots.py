"""The owner's choice of the snapshot by which a machine plays."""

from __future__ import annotations

from django.db import transaction

from games.accounts.principal import AnyUser
from learning.access import machine_require
from learning.exceptions import MachineBusyError, SnapshotNotFoundError
from learning.kinds.snapshots import snapshot_play
from learning.models import Machine
from learning.selectors.runs import runs_teaching
from learning.storage.locks import machine_lock

NEWEST = "newest"
"""Value of ``choice`` for the newest snapshot: the machine continues from the end of its last training."""


@transaction.atomic
def snapshot_choose(*, user: AnyUser, machine_id: int, choice: str) -> Machine:
    """Restore one of a machine's snapshots. The machine continues to play and to learn from the snapshot.

    Later lessons remain in the ledger.

    Args:
        user: the requesting account; the machine's owner, or staff that may change machines.
        machine_id: id of the machine.
        choice: the id of the snapshot, or :data:`NEWEST`.

    Raises:
        MachineNotFoundError, NotYourMachineError.
        SnapshotNotFoundError: the machine has no such snapshot.
        MachineBusyError: the machine is being trained.
        SnapshotFarError: the machine has learnt too much since then to be restored within one request.
    """
    (machine,) = machine_lock(machine_id)
    machine_require(user, machine, to="train")
    is_id = choice.isascii() and choice.isdigit() and len(choice) < 19
    snapshots = machine.snapshots.filter(pk=choice) if is_id else machine.snapshots.order_by("-pk")
    snapshot = snapshots.first() if is_id or choice == NEWEST else None
    if snapshot is None:
        raise SnapshotNotFoundError
    if runs_teaching(machine).exists():
        raise MachineBusyError
    snapshot_play(machine, snapshot, by_hand=True)
    return machine
