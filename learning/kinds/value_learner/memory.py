"""Load and store the weights of a value learner: a row for its beginning, and a row for each lesson.

Every function that writes must be called inside a transaction that holds the machine's lock, or that has created the
machine.
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
    """Store the weights of a machine before its first lesson.

    Args:
        machine: a machine without rows of weights.
        weights: the weights that the machine's learning changes.
        n_learnt: the number of games from which these weights were learnt.
        average: the mean of the weights over the machine's games; by default all 0.
    """
    mean = np.zeros(len(weights)) if average is None else average
    Weights.objects.create(machine=machine, n_learnt=n_learnt, weights=_octets(weights), average=_octets(mean))


def weights_learner(machine: Machine) -> ValueLearner:
    """Return the present machine, which does not learn."""
    return _learner(machine.game_rules, machine.rule, _latest_row(machine), learns=False)


def learner_and_lessons(machine: Machine) -> tuple[ValueLearner, int]:
    """Return the present machine, which does not learn, and the number of its lessons."""
    row = machine.weights.select_related("lesson").order_by("-pk").first()
    learner = _learner(machine.game_rules, machine.rule, row, learns=False)
    return learner, 0 if row is None or row.lesson is None else row.lesson.last


def weights_learner_at(machine_id: int, n_lessons: int, game: AnyGame, rule: ValueRule) -> ValueLearner:
    """Return the machine as it was after ``n_lessons`` of its lessons; it does not learn.

    It raises the errors of :func:`weights_row_at`.
    """
    return _learner(game, rule, weights_row_at(machine_id, n_lessons), learns=False)


def weights_row_at(machine_id: int, n_lessons: int) -> Weights:
    """Return a machine's weights after ``n_lessons`` of its lessons.

    The caller has checked that the machine was not reset since.

    Raises:
        HistoryCompactedError: the row was compacted with later rows.
        Weights.DoesNotExist: the machine was deleted.
    """
    rows = Weights.objects.filter(machine=machine_id).select_related("lesson")
    row = rows.filter(lesson__number__lte=n_lessons).order_by("-pk").first() or rows.get(lesson=None)
    if row.lesson is not None and row.lesson.last > n_lessons:
        raise HistoryCompactedError
    return row


def weights_around(row: Weights) -> tuple[core.Weights, core.Weights]:
    """Return a machine's weights before and after a lesson; ``row`` holds the weights after the lesson."""
    before = Weights.objects.filter(machine=row.machine_id, pk__lt=row.pk).latest("pk")
    return floats(before.weights), floats(row.weights)


def floats(octets: Any) -> core.Weights:
    """Return the weights in a row, as an array that the caller may change."""
    return np.frombuffer(octets, _FLOATS).astype(np.float64)


def _octets(weights: core.Weights) -> bytes:
    return weights.astype(_FLOATS).tobytes()


def _latest_row(machine: Machine) -> Weights | None:
    return machine.weights.order_by("-pk").first()


def _learner(game: AnyGame, rule: Any, row: Weights | None, *, learns: bool) -> ValueLearner:
    """Return the learner of a row. If the row is missing because the machine was deleted, all weights are 0."""
    if row is None:
        return ValueLearner(game, rule, core.zero_weights(game, rule), learns=False)
    return ValueLearner(game, rule, floats(row.weights), row.n_learnt, floats(row.average), learns=learns)


class ValueLearnerMemory(KindMemory):
    """The memory of a value learner: a row with all weights for each lesson."""

    ledger = Ledger(Weights, "machine_id", latest_columns=("n_learnt", "weights", "average"), changes_per_row=100)

    def fields_new(self, rule: ValueRule) -> dict[str, object]:
        return {"epsilon": 0.0}

    def create_memory(self, machine: Machine) -> None:
        weights_begin(machine, core.zero_weights(machine.game_rules, cast("ValueRule", machine.rule)))

    def copy(self, original: Machine, copy: Machine) -> None:
        """Copy the original's latest weights into a new, empty machine; the copy's ledger begins with them."""
        row = original.weights.latest("pk")
        Weights.objects.create(machine=copy, n_learnt=row.n_learnt, weights=row.weights, average=row.average)

    def begins_fresh(self, machine: Machine) -> bool:
        row, rule = machine.weights.filter(lesson=None).first(), cast("ValueRule", machine.rule)
        none = _octets(core.zero_weights(machine.game_rules, rule))
        return row is not None and row.n_learnt == 0 and bytes(row.weights) == none

    def clear_rows(self, machine: Machine) -> None:
        """Delete all weights and thoughts of a machine."""
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM learning_thought WHERE machine_id = %s", [machine.pk])
            cursor.execute("DELETE FROM learning_weights WHERE machine_id = %s", [machine.pk])

    store_initial_memory = create_memory

    def load(self, machine: Machine, most: int | None = None) -> ValueMemory:
        return ValueMemory(_learner(machine.game_rules, machine.rule, _latest_row(machine), learns=machine.learns))

    def store(self, machine: Machine, memory: ValueMemory, lesson_id: int) -> Sequence[TouchedBox]:
        """Store the weights of a memory after a lesson."""
        learner = memory.machine
        weights, average = _octets(learner.weights), _octets(learner.average)
        Weights.objects.create(
            machine=machine, lesson_id=lesson_id, n_learnt=learner.n_learnt, weights=weights, average=average
        )
        return ()


MEMORY = ValueLearnerMemory()
