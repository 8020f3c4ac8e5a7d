"""The page of a machine with boxes: all of them, its record and its exact strength."""

from __future__ import annotations

from typing import Any

from learning.models import Machine
from learning.selectors import boxes as selectors_boxes
from learning.selectors.experiments import experiments_about
from learning.selectors.strength import Strength


def context(machine: Machine, facts: dict[str, Any], strength: Strength) -> dict[str, Any]:
    """What stands in the page; ``facts`` are those of every machine."""
    wall = selectors_boxes.box_wall(machine)
    n_boxes, n_beads = selectors_boxes.box_totals(machine, wall)
    own = {
        "lesson": machine.n_lessons,  # as the row was read, before the boxes
        "stopped": selectors_boxes.machine_stopped(machine),
        "win_percent": f"{100 * machine.n_wins / machine.n_games:.0f}\u00a0%" if machine.n_games else "–",
        "counts_level": machine.box_rule.counts_level,
        "beads": n_beads,
        "n_boxes": n_boxes,
        "n_hung": len(wall["boxes"]),
        "why_unlisted": machine.game_rules.why_unlisted,
        "other_role": machine.game_rules.look.layout.roles[machine.cabinet.side.other],
    }
    return {
        "machine": facts | own,
        "strength": strength,
        "packed": wall,
        "drawn": selectors_boxes.draw_last(machine),
        "has_drawings": selectors_boxes.has_drawings(machine),
        "experiments": experiments_about(machine.preset),
    }
