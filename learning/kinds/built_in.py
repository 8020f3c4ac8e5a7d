"""The kinds of machine that the site has. A new one is a folder, and a line here."""

from learning.kinds.boxes.kind import BOXES
from learning.kinds.q_learning.kind import Q_LEARNING
from learning.kinds.registry import kind_register
from learning.kinds.table_learner.kind import TABLE_LEARNER
from learning.kinds.value_learner.kind import VALUE_LEARNER

BUILT_IN = (BOXES, Q_LEARNING, VALUE_LEARNER, TABLE_LEARNER)
"""In the order in which they are offered."""


def kinds_register() -> None:
    """Make every kind known; called when the app is ready."""
    for kind in BUILT_IN:
        kind_register(kind)
