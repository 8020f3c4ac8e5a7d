"""Functions of tests that compact the ledger of a machine."""

from collections.abc import Iterator

from learning.kinds.registry import kind_of
from learning.models import Machine
from learning.storage.compaction import compaction_point_set, compaction_steps


def compact_to(learner: Machine, place: int) -> Iterator[int]:
    """Return an iterator that compacts the ledger up to the lesson ``place``. Each of its steps is a transaction."""
    assert compaction_point_set(learner.pk, place)
    learner.refresh_from_db()
    return compaction_steps(learner, kind_of(learner).memory.ledger)


def compact(learner: Machine, place: int | None = None) -> Machine:
    """Compact the ledger up to the lesson ``place``, by default the last. Return the machine, read again."""
    learner.refresh_from_db()
    for _ in compact_to(learner, learner.n_lessons if place is None else place):
        pass
    learner.refresh_from_db()
    return learner
