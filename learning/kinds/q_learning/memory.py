"""The memory of a Q-learner: it reads what it meets."""

from __future__ import annotations

from functools import partial

from django.conf import settings

from beadbox.learners.q_learning.learner import QLearner, Values
from beadbox.learners.q_learning.memory import QMemory
from beadbox.learners.q_learning.rule import QRule
from learning.kinds.keyed_values.memory import KeyedMemory, _fetch_boards, values_fetch
from learning.models import Machine


def values_learner(machine: Machine, most: int | None = None) -> QLearner:
    """The machine as it stands, ready to look at positions; it reads what it meets.

    If it is to learn, ``most`` is the number of entries that it may come to have.
    """
    game, rule = machine.game_rules, machine.rule
    assert isinstance(rule, QRule), "only a machine that keeps values has them"
    room = None if most is None else max(most - machine.n_values, 0)
    values = Values(values_fetch(machine), room, partial(_fetch_boards, machine.pk))
    return QLearner(game, rule, values, machine.epsilon, learns=machine.learns)


class QLearningMemory(KeyedMemory):
    """None of it is read before it is met."""

    grows = True

    def fields_new(self, rule: QRule) -> dict[str, object]:
        return {"epsilon": rule.epsilon}

    def load(self, machine: Machine, most: int | None = None) -> QMemory:
        return QMemory(values_learner(machine, settings.VALUES_PER_MACHINE if most is None else most))


MEMORY = QLearningMemory()
