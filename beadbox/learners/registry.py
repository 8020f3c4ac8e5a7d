"""The rules of every kind of learner."""

from collections.abc import Mapping

from beadbox import field_text
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.boxes.state import BoxState, OpenBoxState
from beadbox.learners.q_learning.rule import QRule
from beadbox.learners.q_learning.state import QState
from beadbox.learners.rule import Rule, RuleError
from beadbox.learners.state import LearnerState
from beadbox.learners.table_learner.rule import TableRule
from beadbox.learners.table_learner.state import TableState
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.learners.value_learner.state import WeightState
from beadbox.rules.game import AnyGame

STATES: dict[str, type[LearnerState]] = {
    BoxRule.kind: BoxState,
    QRule.kind: QState,
    ValueRule.kind: WeightState,
    TableRule.kind: TableState,
}
"""The states of the library's learners by the kind of their rule, in games that can be listed."""
RULES: dict[str, type[Rule]] = {rule.kind: rule for rule in (BoxRule, QRule, ValueRule, TableRule)}
"""Rule classes by kind. The kind of a machine follows from its rule; a rule without a kind is a rule of boxes.

A kind outside the library adds its rule when it is registered (``learning/kinds``)."""


def state_class(game: AnyGame, rule: Rule) -> type[LearnerState]:
    """Return the class of the state of a machine with this rule."""
    return OpenBoxState if rule.has_boxes and not game.listable else STATES[rule.kind]


def rule_read(data: object) -> Rule:
    """Return the rule that a JSON object describes, of the kind that it names.

    Raises:
        RuleError: there is no such kind, or a field is invalid; the field is named.
    """
    if not isinstance(data, Mapping):
        raise RuleError("rule", field_text.OBJECT)
    kind = data.get("kind", BoxRule.kind)
    if not isinstance(kind, str) or kind not in RULES:
        raise RuleError("kind", field_text.one_of(RULES))
    if kind == BoxRule.kind:
        data = {name: value for name, value in data.items() if name != "kind"}
    return RULES[kind].from_json(data)
