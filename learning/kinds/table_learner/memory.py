"""The memory of a table learner: all values, in the table of its game."""

from __future__ import annotations

from typing import cast

from beadbox.learners.table_learner.memory import TableMemory
from beadbox.learners.table_learner.rule import TableRule
from learning.kinds.keyed_values.memory import KeyedMemory, values_rows
from learning.models import Machine


class TableLearnerMemory(KeyedMemory):
    """A memory of limited size, because the number of boards of its game is limited."""

    def fields_new(self, rule: TableRule) -> dict[str, object]:
        return {"epsilon": rule.exploring}

    def initial_value(self, rule: TableRule) -> float:
        return rule.start_value

    def load(self, machine: Machine, most: int | None = None) -> TableMemory:
        rule, epsilon = cast("TableRule", machine.rule), machine.epsilon or 0.0
        return TableMemory.load(machine.game_rules, rule, epsilon, values_rows(machine))


MEMORY = TableLearnerMemory()
