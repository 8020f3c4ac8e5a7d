"""The memory of a kind of machine: creating, loading, storing and deleting its rows, and the ledger of changes.

Methods that write must be called inside a transaction that holds the machine's lock.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from beadbox.learners.memory import AnyMemory, TouchedBox
from learning.models import LessonKind, Machine
from learning.storage.compaction import Ledger
from learning.storage.lessons import Cause, lessons_add


class Audit(NamedTuple):
    """The rows that an audit counted, such as "304 boxes", and a sentence for each error that it found."""

    counted: str
    errors: list[str]


class KindMemory(ABC):
    """Storage of the memory of a kind of machine: boxes, values or weights."""

    ledger: ClassVar[Ledger]
    """The table of changes, and how it is compacted."""
    copy_duplicates_rows: ClassVar[bool] = True
    """Whether copying a machine copies its rows.

    If so, the original is locked during the copy, and ``n_values`` counts against the quota.
    """
    grows: ClassVar[bool] = False
    """Whether the rule sets no limit to the memory, so that ``n_values`` limits the entries that training may add."""

    def fields_new(self, rule: Any) -> dict[str, object]:
        """Return the row fields of a new machine that depend on its rule."""
        return {}

    def create_memory(self, machine: Machine) -> None:
        """Store the memory of a machine before its first game."""

    def fields_copied(self, original: Machine) -> dict[str, object]:
        """Return the row fields of a copy that this kind sets. The original is locked until the transaction ends."""
        return {}

    def copy(self, original: Machine, copy: Machine) -> None:
        """Copy the original's memory into a new, empty machine; the copy's ledger begins with this memory."""

    def end_sharing(self, machine: Machine) -> None:
        """Give rows of their own to machines that share this machine's rows, before these rows are deleted."""

    @abstractmethod
    def clear_rows(self, machine: Machine) -> None:
        """Delete the changes in the ledger, and the rows that are slow to delete with the machine's row."""

    def store_initial_memory(self, machine: Machine) -> None:
        """Store the initial memory of a machine after :meth:`clear_rows`."""

    def begins_fresh(self, machine: Machine) -> bool:
        """Whether the ledger begins with the memory of a new machine, and the library can make such a machine."""
        return False

    @abstractmethod
    def load(self, machine: Machine, most: int | None = None) -> AnyMemory:
        """Return the machine's present memory. The method takes no lock.

        ``most`` limits the number of entries of a memory that grows.
        """

    @abstractmethod
    def store(self, machine: Machine, memory: Any, lesson_id: int) -> Sequence[TouchedBox]:
        """Store the changes of a memory since it was loaded, as changes of a lesson; return the changed boxes."""

    def fields_learnt(self, machine: Machine, memory: Any) -> dict[str, Any]:
        """Return the row fields of the machine that its memory has changed, to be saved with the lesson."""
        return {}

    def lesson_give(self, machine: Machine, memory: Any, kind: LessonKind, cause: Cause) -> Sequence[TouchedBox]:
        """Write the machine's next lesson from the changes in its memory; return the changed boxes.

        The transaction must have held the machine's lock since before the memory was loaded.

        Args:
            machine: the machine; its row is saved.
            memory: the machine's memory, which has learnt since it was loaded.
            kind: the kind of lesson.
            cause: the results of the games of the lesson, for the machine's totals, and the match or the run.
        """
        for field, value in self.fields_learnt(machine, memory).items():
            setattr(machine, field, value)
        (lesson_id,) = lessons_add(machine, kind, [cause])
        return self.store(machine, memory, lesson_id)

    def audit(self) -> Audit:
        """Check that each row of every machine of this kind equals its initial value plus its changes."""
        return Audit("", [])
