"""Training of machines that keep a value for each key. Earlier values are read from the ledger."""

from __future__ import annotations

from typing import ClassVar

from learning.exceptions import SnapshotFarError
from learning.kinds.keyed_values.memory import values_changed_since, values_store
from learning.kinds.training import KindTraining
from learning.models import Machine

MAX_RESTORED_VALUES = 20_000
"""Maximum number of values restored at once, so that a match of the machine waits for its lock at most 0.5 s."""


class KeyedTraining(KindTraining):
    """Training with snapshots and tournament entries that read the values after one of the machine's lessons."""

    levels: ClassVar[tuple[str, ...]] = ("random",)

    def restore_memory(self, machine: Machine, n_lessons: int, lesson_id: int) -> None:
        changes = values_changed_since(machine, n_lessons, MAX_RESTORED_VALUES + 1)
        if len(changes) > MAX_RESTORED_VALUES:
            raise SnapshotFarError
        values_store(machine, changes, lesson_id)

    def entry_fields(self, machine: Machine) -> dict[str, object]:
        """Return the exploration rate and number of lessons. The values, up to a million, stay in the ledger."""
        return {"epsilon": machine.epsilon, "n_lessons": machine.n_lessons}
