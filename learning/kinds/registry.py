"""The kinds of machine that are known, and which of them a machine is of."""

from __future__ import annotations

from beadbox.learners.formats import READERS
from beadbox.learners.presets import ALL_PRESETS, PRESETS_OF_KIND
from beadbox.learners.registry import RULES
from beadbox.learners.rule import Rule
from beadbox.rules.game import AnyGame
from learning.kinds.kind import Kind
from learning.models import Machine

KINDS: dict[str, Kind] = {}
"""By the kind of their rules, in the order in which they are offered."""


def kind_register(kind: Kind) -> None:
    """Make a kind known, its rules, presets and files with it."""
    slug = kind.rule.kind
    KINDS[slug] = kind
    RULES[slug] = kind.rule
    PRESETS_OF_KIND[slug] = kind.page.presets
    ALL_PRESETS.update(kind.page.presets)
    READERS[slug] = kind.files.read


def kind_usual(game: AnyGame) -> Kind | None:
    """The kind of machine that plays a game when nobody says which; ``None``: none does."""
    return next((kind for kind in KINDS.values() if kind.rule.fits(game)), None)


def kind_of(machine: Machine) -> Kind:
    """The kind that a machine is of."""
    return KINDS[machine.rule.kind]


def kind_of_rule(rule: Rule) -> Kind:
    """The kind that a rule makes a machine of."""
    return KINDS[rule.kind]
