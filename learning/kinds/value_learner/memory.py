"""Between rows and the weights of a machine that learns a value of positions.

Every function that writes must be called inside a transaction that holds the machine's lock, or of a machine that
nobody else knows yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from django.db import connection

from beadbox.learners.memory import TouchedBox
from beadbox.learners.value_learner import learner as core
from beadbox.learners.value_learner.learner import ValueLearner
from beadbox.learners.value_learner.memory import ValueMemory
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.game import AnyGame
from learning.exceptions import HistoryCompactedError
from learning.kinds.memory import KindMemory
from learning.models import Machine, Weights
from learning.storage.compaction import Ledger

_FLOATS = np.dtype("<f8")


def weights_begin(
    machine: Machine, weights: core.Weights, n_learnt: int = 0, average: core.Weights | None = None
) -> None:
    """Store what a machine knows before its first lesson; its mean is 0 unless there is one."""
    mean = np.zeros(len(weights)) if average is None else average
    Weights.objects.create(machine=machine, n_learnt=n_learnt, weights=_octets(weights), average=_octets(mean))


def weights_learner(machine: Machine) -> ValueLearner:
    """The same as it plays, frozen."""
    return _learner(machine.game_rules, machine.rule, _last(machine), learns=False)


def weights_played(machine: Machine) -> tuple[ValueLearner, int]:
    """The same, and after how many of its lessons."""
    row = machine.weights.select_related("lesson").order_by("-pk").first()
    learner = _learner(machine.game_rules, machine.rule, row, learns=False)
    return learner, 0 if row is None or row.lesson is None else row.lesson.last


def weights_learner_at(machine_id: int, n_lessons: int, game: AnyGame, rule: ValueRule) -> ValueLearner:
    """The machine as it was after so many of its lessons, frozen. That they can still be read has been seen to."""
    return _learner(game, rule, weights_row_at(machine_id, n_lessons), learns=False)


def weights_row_at(machine_id: int, n_lessons: int) -> Weights:
    """What a machine knew after so many of its lessons. That it was not reset since has been seen to.

    Raises:
        HistoryCompactedError: it was folded up with what came later.
    """
    rows = Weights.objects.filter(machine=machine_id).select_related("lesson")
    row = rows.filter(lesson__number__lte=n_lessons).order_by("-pk").first() or rows.get(lesson=None)
    if row.lesson is not None and row.lesson.last > n_lessons:
        raise HistoryCompactedError
    return row


def weights_around(row: Weights) -> tuple[core.Weights, core.Weights]:
    """The weights that a machine learns with, before and after a lesson: ``row`` is what it knew after it."""
    before = Weights.objects.filter(machine=row.machine_id, pk__lt=row.pk).latest("pk")
    return floats(before.weights), floats(row.weights)


def floats(octets: Any) -> core.Weights:
    """The weights that a row holds; the array is the caller's."""
    return np.frombuffer(octets, _FLOATS).astype(np.float64)


def _octets(weights: core.Weights) -> bytes:
    return weights.astype(_FLOATS).tobytes()


def _last(machine: Machine) -> Weights | None:
    return machine.weights.order_by("-pk").first()


def _learner(game: AnyGame, rule: Any, row: Weights | None, *, learns: bool) -> ValueLearner:
    """What a row says; one whose machine was deleted since it was read knows nothing."""
    if row is None:
        return ValueLearner(game, rule, core.weights_none(game, rule), learns=False)
    return ValueLearner(game, rule, floats(row.weights), row.n_learnt, floats(row.average), learns=learns)


class ValueLearnerMemory(KindMemory):
    """A list of weights, a row for each lesson."""

    ledger = Ledger(Weights, "machine_id", latest=("n_learnt", "weights", "average"), weight=100)

    def fields_new(self, rule: ValueRule) -> dict[str, object]:
        return {"epsilon": 0.0}

    def lay_out(self, machine: Machine) -> None:
        weights_begin(machine, core.weights_none(machine.game_rules, cast("ValueRule", machine.rule)))

    def copy(self, original: Machine, copy: Machine) -> None:
        """Give a machine that knows nothing yet what another knows; its ledger begins with it."""
        row = original.weights.latest("pk")
        Weights.objects.create(machine=copy, n_learnt=row.n_learnt, weights=row.weights, average=row.average)

    def forget(self, machine: Machine) -> None:
        """Delete all that a machine knows and ever knew."""
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM learning_thought WHERE machine_id = %s", [machine.pk])
            cursor.execute("DELETE FROM learning_weights WHERE machine_id = %s", [machine.pk])

    reset = lay_out

    def load(self, machine: Machine, most: int | None = None) -> ValueMemory:
        """What the machine knows now."""
        return ValueMemory(_learner(machine.game_rules, machine.rule, _last(machine), learns=machine.learns))

    def store(self, machine: Machine, memory: ValueMemory, lesson_id: int) -> Sequence[TouchedBox]:
        """Store what a memory has come to know in a lesson."""
        learner = memory.machine
        weights, average = _octets(learner.weights), _octets(learner.average)
        Weights.objects.create(
            machine=machine, lesson_id=lesson_id, n_learnt=learner.n_learnt, weights=weights, average=average
        )
        return ()


MEMORY = ValueLearnerMemory()
