"""Helpers for tests: they compact the ledger of a machine."""

from collections.abc import Iterator

from learning.kinds.registry import kind_of
from learning.models import Machine
from learning.storage.compaction import compaction_point_set, compaction_steps


def compact_to(learner: Machine, lesson_number: int) -> Iterator[int]:
    """Return an iterator that compacts the ledger up to a lesson. Each of its steps is a transaction."""
    assert compaction_point_set(learner.pk, lesson_number)
    learner.refresh_from_db()
    return compaction_steps(learner, kind_of(learner).memory.ledger)


def compact(learner: Machine, lesson_number: int | None = None) -> Machine:
    """Compact the ledger up to a lesson, by default the last. Return the machine, read again."""
    learner.refresh_from_db()
    for _ in compact_to(learner, learner.n_lessons if lesson_number is None else lesson_number):
        pass
    learner.refresh_from_db()
    return learner
