"""The memory of a kind of machine: its rows from the first to the last, and the ledger of their changes.

Methods that write are called inside a transaction that holds the machine's lock.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from beadbox.learners.memory import AnyMemory, TouchedBox
from learning.models import LessonKind, Machine
from learning.storage.compaction import Ledger
from learning.storage.lessons import Cause, lessons_open


class Audit(NamedTuple):
    """The rows that an audit counted, such as "304 boxes", and a sentence for each error that it found."""

    counted: str
    errors: list[str]


class KindMemory(ABC):
    """Storage of the memory of a kind of machine: boxes, values or weights."""

    ledger: ClassVar[Ledger]
    """The table of changes, and how it is compacted."""
    copies_rows: ClassVar[bool] = True
    """Whether a copy gets rows. If so, its original is locked while they are read, and ``n_values`` limits copies."""
    grows: ClassVar[bool] = False
    """Whether the memory grows without limit, so that ``n_values`` limits the entries that trainings may add."""

    def fields_new(self, rule: Any) -> dict[str, object]:
        """Fields of the row of a machine that has learnt nothing yet, where they depend on its rule."""
        return {}

    def lay_out(self, machine: Machine) -> None:
        """Store the memory of a machine before its first game."""

    def fields_copied(self, original: Machine) -> dict[str, object]:
        """Fields of the row of a copy that this kind sets. The original is held until the transaction ends."""
        return {}

    def copy(self, original: Machine, copy: Machine) -> None:
        """Copy the original's memory into a new, empty machine; the copy's ledger begins there."""

    def unshare(self, machine: Machine) -> None:
        """Give machines that share this machine's rows their own, before this machine forgets them."""

    @abstractmethod
    def forget(self, machine: Machine) -> None:
        """Delete the changes in the ledger, and the rows that are slow to delete with the machine's row."""

    def reset(self, machine: Machine) -> None:
        """Reset a machine that has just forgotten to its beginning."""

    @abstractmethod
    def load(self, machine: Machine, most: int | None = None) -> AnyMemory:
        """The machine's memory as it stands; one that grows has room for up to ``most`` entries. Needs no lock."""

    @abstractmethod
    def store(self, machine: Machine, memory: Any, lesson_id: int) -> Sequence[TouchedBox]:
        """Store a memory's learning since it was loaded, and the lesson's changes; return the changed boxes."""

    def fields_learnt(self, machine: Machine, memory: Any) -> dict[str, Any]:
        """Fields of the machine's row as the memory leaves them, to be saved with the lesson."""
        return {}

    def lesson_give(self, machine: Machine, memory: Any, kind: LessonKind, cause: Cause) -> Sequence[TouchedBox]:
        """Write the machine's next lesson from the changes in its memory. Return the changed boxes.

        The transaction must have held the machine's lock since the memory was loaded.

        Args:
            machine: the machine; its row is saved.
            memory: its memory, loaded under this lock and taught since.
            kind: the kind of lesson.
            cause: the games that it was taught by, for its totals, and the match or the run.
        """
        for field, value in self.fields_learnt(machine, memory).items():
            setattr(machine, field, value)
        (lesson_id,) = lessons_open(machine, kind, [cause])
        return self.store(machine, memory, lesson_id)

    def audit(self) -> Audit:
        """Check the rows of all machines with this ledger: each equals its start plus its changes."""
        return Audit("", [])
