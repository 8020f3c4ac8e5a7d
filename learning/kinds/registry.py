"""The kinds of machine there are. A new one is a module of its own and a line in :func:`kinds_register`."""

from __future__ import annotations

from typing import Any

from beadbox.exchange.native import READERS
from beadbox.learners.presets import ALL_PRESETS, PRESETS_OF_KIND
from beadbox.learners.registry import RULES
from beadbox.learners.rule import Rule
from beadbox.rules.game import Game
from learning.kinds.base import Kind
from learning.kinds.boxes.kind import BoxKind
from learning.kinds.q_learning.kind import ValueKind
from learning.kinds.table_learner.kind import TableKind
from learning.kinds.value_learner.kind import WeightsKind
from learning.models import Machine

KINDS: dict[str, Kind] = {}
"""By the kind of their rules, in the order in which they are offered."""


def kind_register(kind: Kind) -> None:
    """Make a kind known, its rules, presets and files with it."""
    KINDS[kind.slug] = kind
    RULES[kind.slug] = kind.rule
    PRESETS_OF_KIND[kind.slug] = kind.presets
    ALL_PRESETS.update(kind.presets)
    READERS[kind.slug] = kind.read


def kinds_register() -> None:
    """Make every kind known; called when the app is ready."""
    kind_register(BoxKind())
    kind_register(ValueKind())
    kind_register(WeightsKind())
    kind_register(TableKind())


def kind_usual(game: Game[Any, Any]) -> Kind | None:
    """The kind of machine that plays a game when nobody says which; ``None``: none does."""
    return next((kind for kind in KINDS.values() if kind.rule.fits(game)), None)


def kind_of(machine: Machine) -> Kind:
    """The kind that a machine is of: who asks it what it can do need not know which."""
    return kind_of_rule(machine.rule)


def kind_of_rule(rule: Rule) -> Kind:
    """The kind that a rule makes a machine of."""
    return KINDS[rule.kind]
