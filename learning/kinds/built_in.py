"""The kinds of machine of this site. A new kind is a folder and a line here."""

from learning.kinds.boxes.kind import BOXES
from learning.kinds.q_learning.kind import Q_LEARNING
from learning.kinds.registry import kind_register
from learning.kinds.table_learner.kind import TABLE_LEARNER
from learning.kinds.value_learner.kind import VALUE_LEARNER

BUILT_IN = (BOXES, Q_LEARNING, VALUE_LEARNER, TABLE_LEARNER)
"""All kinds, in the order in which the site offers them."""


def kinds_register() -> None:
    """Register every kind; called when the app is ready."""
    for kind in BUILT_IN:
        kind_register(kind)
