"""The rules of every kind of learner."""

from collections.abc import Mapping

from beadbox import field_text
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.q_learning.rule import QRule
from beadbox.learners.rule import Rule, RuleError

RULES: dict[str, type[Rule]] = {BoxRule.kind: BoxRule, QRule.kind: QRule}
"""By kind. Which kind of learner a machine is follows from its rule; one that does not say keeps beads in boxes.

Those of kinds that are not of the core stand here too, once they are registered (``learning/kinds``)."""


def rule_read(data: object) -> Rule:
    """The rule that a JSON object describes, of the kind that it names.

    Raises:
        RuleError: there is no such kind, or a field is wrong; it is named.
    """
    if not isinstance(data, Mapping):
        raise RuleError("rule", field_text.OBJECT)
    kind = data.get("kind", BoxRule.kind)
    if not isinstance(kind, str) or kind not in RULES:
        raise RuleError("kind", field_text.one_of(RULES))
    if kind == BoxRule.kind:
        data = {name: value for name, value in data.items() if name != "kind"}
    return RULES[kind].from_json(data)
