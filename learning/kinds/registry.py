"""The registered kinds of machine, and the look-up of a machine's kind."""

from __future__ import annotations

from beadbox.learners.formats import READERS
from beadbox.learners.presets import ALL_PRESETS, PRESETS_OF_KIND
from beadbox.learners.registry import RULES
from beadbox.learners.rule import Rule
from beadbox.rules.game import AnyGame
from learning.kinds.kind import Kind
from learning.kinds.live import LIVE
from learning.models import Machine

KINDS: dict[str, Kind] = {}
"""Kinds by name (``Rule.kind``), in the order in which the site offers them."""


def kind_register(kind: Kind) -> None:
    """Register a kind with its rules, presets and file reader."""
    slug = kind.rule.kind
    KINDS[slug] = kind
    RULES[slug] = kind.rule
    PRESETS_OF_KIND[slug] = kind.page.presets
    ALL_PRESETS.update(kind.page.presets)
    READERS[slug] = kind.files.read
    LIVE[slug] = kind.occupant_class


def usual_kind(game: AnyGame) -> Kind | None:
    """Return the default kind of machine for a game; ``None`` if no kind can play it."""
    return next((kind for kind in KINDS.values() if kind.rule.fits(game)), None)


def kind_of(machine: Machine) -> Kind:
    """Return the kind to which a machine belongs."""
    return KINDS[machine.rule.kind]


def kind_of_rule(rule: Rule) -> Kind:
    """Return the kind to which a rule belongs."""
    return KINDS[rule.kind]
