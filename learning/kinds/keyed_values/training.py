"""Training of machines that keep a value for each key: earlier values are read from the ledger."""

from __future__ import annotations

from typing import ClassVar

from learning.exceptions import SnapshotFarError
from learning.kinds.keyed_values.memory import values_changed_since, values_store
from learning.kinds.training import KindTraining
from learning.models import Machine

PUT_BACK_MOST = 20_000
"""Maximum number of values put back at once: a match that ends with the machine waits for half a second or less."""


class KeyedTraining(KindTraining):
    """Training where a snapshot, or an entry of a tournament, is a place in the ledger."""

    levels: ClassVar[tuple[str, ...]] = ("random",)

    def put_back(self, machine: Machine, n_lessons: int, lesson_id: int) -> None:
        differ = values_changed_since(machine, n_lessons, PUT_BACK_MOST + 1)
        if len(differ) > PUT_BACK_MOST:
            raise SnapshotFarError
        values_store(machine, differ, lesson_id)

    def entry_fields(self, machine: Machine) -> dict[str, object]:
        """No values are copied, because there can be a million: earlier values are read from the ledger."""
        return {"epsilon": machine.epsilon, "n_lessons": machine.n_lessons}
