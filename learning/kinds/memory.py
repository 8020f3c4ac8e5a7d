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
    """What an audit of rows has counted, such as "304 boxes", and each error that it found, in a sentence."""

    counted: str
    errors: list[str]


class KindMemory(ABC):
    """Where the machines of a kind keep what they know."""

    ledger: ClassVar[Ledger]
    """The table of changes, and how it is folded up."""
    copies_rows: ClassVar[bool] = True
    """Whether a copy gets rows: then its original is locked while they are read, and ``n_values`` bounds copies."""
    grows: ClassVar[bool] = False
    """Whether the memory has no end, so that ``n_values`` bounds what trainings may add."""

    def fields_new(self, rule: Any) -> dict[str, object]:
        """Fields of the row of a machine that has learnt nothing yet, as far as they depend on its rule."""
        return {}

    def lay_out(self, machine: Machine) -> None:
        """Store what a machine has before its first game."""

    def fields_copied(self, original: Machine) -> dict[str, object]:
        """Fields of the row of a copy that this kind sets. The original is held until the transaction ends."""
        return {}

    def copy(self, original: Machine, copy: Machine) -> None:
        """Copy the original's memory into a new, empty machine; the copy's ledger begins there."""

    def unshare(self, machine: Machine) -> None:
        """Give other machines their own rows of what they share with a machine that is about to forget it."""

    @abstractmethod
    def forget(self, machine: Machine) -> None:
        """Delete the changes in the ledger, and the rows that would take long to delete with the machine's row."""

    def reset(self, machine: Machine) -> None:
        """Put a machine that has just forgotten back to its beginning."""

    @abstractmethod
    def load(self, machine: Machine, most: int | None = None) -> AnyMemory:
        """The machine's memory as it stands; one that grows has room for up to ``most`` entries. Needs no lock."""

    @abstractmethod
    def store(self, machine: Machine, memory: Any, lesson_id: int) -> Sequence[TouchedBox]:
        """Store what a memory has learnt since it was loaded, and the lesson's changes; returns the changed boxes."""

    def fields_learnt(self, machine: Machine, memory: Any) -> dict[str, Any]:
        """Fields of the machine's row as the memory leaves them, to be saved with the lesson."""
        return {}

    def lesson_give(self, machine: Machine, memory: Any, kind: LessonKind, cause: Cause) -> Sequence[TouchedBox]:
        """Write the machine's next lesson: what its memory has learnt. Returns the changed boxes.

        The transaction holds the machine's lock since the memory was loaded.

        Args:
            machine: the machine; its row is saved.
            memory: its memory, loaded under this lock and taught since.
            kind: what taught it.
            cause: the games that it was taught by, for its totals, and the match or the run.
        """
        for field, value in self.fields_learnt(machine, memory).items():
            setattr(machine, field, value)
        (lesson_id,) = lessons_open(machine, kind, [cause])
        return self.store(machine, memory, lesson_id)

    def audit(self) -> Audit:
        """Check the rows of all machines that share this ledger: each is what it began with plus its changes."""
        return Audit("", [])
