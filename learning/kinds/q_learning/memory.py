"""The memory of a Q-learner. An entry is read from the database when its position first occurs."""

from __future__ import annotations

from functools import partial

from django.conf import settings

from beadbox.learners.q_learning.learner import QLearner, Values
from beadbox.learners.q_learning.memory import QMemory
from beadbox.learners.q_learning.rule import QRule
from learning.kinds.keyed_values.memory import KeyedMemory, _fetch_boards, values_fetch
from learning.models import Machine


def values_learner(machine: Machine, most: int | None = None) -> QLearner:
    """Return the present machine. An entry is read from the database when its position first occurs.

    ``most`` is the maximum number of the machine's entries. Learning adds no entries beyond it.
    """
    game, rule = machine.game_rules, machine.rule
    assert isinstance(rule, QRule), "the machine is a Q-learner"
    max_new_entries = None if most is None else max(most - machine.n_values, 0)
    values = Values(values_fetch(machine), max_new_entries, partial(_fetch_boards, machine.pk))
    return QLearner(game, rule, values, machine.epsilon, learns=machine.learns)


class QLearningMemory(KeyedMemory):
    """A memory of values, of which only the needed ones are read."""

    grows = True

    def fields_new(self, rule: QRule) -> dict[str, object]:
        return {"epsilon": rule.epsilon}

    def load(self, machine: Machine, most: int | None = None) -> QMemory:
        return QMemory(values_learner(machine, settings.VALUES_PER_MACHINE if most is None else most))


MEMORY = QLearningMemory()
