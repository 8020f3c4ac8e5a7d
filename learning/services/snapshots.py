"""Which of its snapshots a machine plays by, where its owner says so."""

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
"""What is asked for instead of an id, so that the machine goes on from where its last training ended."""


@transaction.atomic
def snapshot_choose(*, user: AnyUser, machine_id: int, wanted: str) -> Machine:
    """Let a machine play by one of its snapshots, and learn on from there. What came since stays in its ledger.

    Args:
        user: the account that asks, its owner or staff.
        machine_id: of the machine.
        wanted: the id of the snapshot, or :data:`NEWEST`.

    Raises:
        MachineNotFoundError, NotYourMachineError.
        SnapshotNotFoundError: it has no such snapshot.
        MachineBusyError: it is being trained.
        SnapshotFarError: it has learnt too much since to be put back at once.
    """
    (machine,) = machine_lock(machine_id)
    machine_require(user, machine, to="train")
    is_id = wanted.isascii() and wanted.isdigit() and len(wanted) < 19
    snapshots = machine.snapshots.filter(pk=wanted) if is_id else machine.snapshots.order_by("-pk")
    snapshot = snapshots.first() if is_id or wanted == NEWEST else None
    if snapshot is None:
        raise SnapshotNotFoundError
    if runs_teaching(machine).exists():
        raise MachineBusyError
    snapshot_play(machine, snapshot, by_hand=True)
    return machine
