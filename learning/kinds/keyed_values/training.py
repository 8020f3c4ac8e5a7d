"""Training of machines that keep a value for each key: what they were is read from the ledger."""

from __future__ import annotations

from typing import ClassVar

from learning.exceptions import SnapshotFarError
from learning.kinds.keyed_values.memory import values_changed_since, values_store
from learning.kinds.training import KindTraining
from learning.models import Machine

PUT_BACK_MOST = 20_000
"""No more values are put back at once: whoever ends a match with the machine waits for them, half a second or less."""


class KeyedTraining(KindTraining):
    """A snapshot is a place in the ledger, and so is an entry of a tournament."""

    levels: ClassVar[tuple[str, ...]] = ("random",)

    def put_back(self, machine: Machine, n_lessons: int, lesson_id: int) -> None:
        differ = values_changed_since(machine, n_lessons, PUT_BACK_MOST + 1)
        if len(differ) > PUT_BACK_MOST:
            raise SnapshotFarError
        values_store(machine, differ, lesson_id)

    def entry_fields(self, machine: Machine) -> dict[str, object]:
        """Values can be a million, so they are not copied: what they were is read from the ledger."""
        return {"epsilon": machine.epsilon, "n_lessons": machine.n_lessons}
