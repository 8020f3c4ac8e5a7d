"""The page of a machine with boxes: all of them, its record and its exact strength."""

from __future__ import annotations

from typing import Any

from learning.core.machines.presets import PRESETS
from learning.kinds.boxes.words import sentences
from learning.models import Machine
from learning.selectors import boxes as selectors_boxes
from learning.selectors.experiments import experiments_about
from learning.selectors.machines import card_facts
from learning.selectors.strength import Strength


def context(machine: Machine, strength: Strength) -> dict[str, Any]:
    """What stands in the page."""
    wall = selectors_boxes.box_wall(machine)
    n_boxes, n_beads = selectors_boxes.box_totals(machine, wall)
    preset = PRESETS.get(machine.preset)
    return {
        "machine": {
            **card_facts(machine),
            "description": machine.description,
            "rule_name": preset.name if preset else "a rule of its own",
            "rule_source": preset.source if preset else "",
            "rule_sentences": sentences(machine.box_rule),
            "stopped": selectors_boxes.machine_stopped(machine),
            "wins": machine.n_wins,
            "draws": machine.n_draws,
            "losses": machine.n_losses,
            "owner_name": machine.owner.get_username() if machine.owner else "",
            "level": machine.level,
            "win_percent": f"{100 * machine.n_wins / machine.n_games:.0f}\u00a0%" if machine.n_games else "–",
            "beads": n_beads,
            "n_boxes": n_boxes,
            "n_hung": len(wall["boxes"]),
            "game": machine.game,
            "other_role": machine.game_rules.look.layout.roles[machine.cabinet.side.other],
        },
        "strength": strength,
        "packed": wall,
        "drawn": selectors_boxes.draw_last(machine),
        "has_drawings": selectors_boxes.has_drawings(machine),
        "experiments": experiments_about(machine.preset),
    }
