"""The page of a machine that keeps values: its record, how strong it was when last measured, and how it learns."""

from __future__ import annotations

from typing import Any

from learning.core.exchange.values import MAX_VALUES
from learning.core.machines.presets import Q_PRESETS
from learning.core.machines.q_learning import QRule
from learning.kinds.values.words import sentences
from learning.models import Machine
from learning.selectors.machines import machine_brief
from learning.selectors.strength import CURVE_AGAINST, Strength
from learning.selectors.values import values_full


def context(machine: Machine, strength: Strength) -> dict[str, Any]:
    """What stands in the page."""
    rule = machine.rule
    assert isinstance(rule, QRule), "only a machine that keeps values has this page"
    preset, layout = Q_PRESETS.get(machine.preset), machine.game_rules.look.layout
    return {
        "machine": {
            **machine_brief(machine),
            "side_name": machine.get_side_display(),
            "description": machine.description,
            "owner_name": machine.owner.get_username() if machine.owner else "",
            "n_values": machine.n_values,
            "full": values_full(machine) if machine.learns else "",
            "rule_name": preset.name if preset else "a rule of its own",
            "rule_source": preset.source if preset else "",
            "rule_sentences": sentences(rule),
        },
        "roles": list(zip(layout.roles, layout.role_names, strict=True)),
        "strength": [(name, strength[slug]) for slug, name in CURVE_AGAINST.items() if slug in strength],
        "most_in_file": MAX_VALUES,
    }
