"""The page of a machine with boxes: all boxes, the machine's results and its exact strength."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from beadbox.learners.boxes.presets import PRESETS, default_preset
from beadbox.learners.boxes.rule import BoxRule, OpenBoxes, Unfinished
from beadbox.learners.rule import RuleError
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from learning.exceptions import GameTooLargeError, RuleRefusedError
from learning.kinds.boxes.look import box_totals, box_wall, has_drawings, latest_draw, stop_sentence
from learning.kinds.boxes.progress import progress
from learning.kinds.boxes.text import TEXT, describe_rule
from learning.kinds.boxes.training import Visits, box_visits
from learning.kinds.page import KindPage, Page, machine_facts
from learning.models import Machine
from learning.selectors.experiments import experiments_about
from learning.selectors.strength import Strength


def box_gallery(machine: Machine) -> dict[str, Any]:
    """Return all boxes (:func:`~learning.kinds.boxes.look.box_wall`), each with its :func:`visit_figures`."""
    wall, visits = box_wall(machine), box_visits(machine)
    return {**wall, "boxes": [(*row, *visit_figures(machine, visits, row[0])) for row in wall["boxes"]]}


def visit_figures(machine: Machine, visits: Mapping[str, Visits] | None, position: str) -> tuple[float | None, ...]:
    """Return the chance that a game against random play opens a box.

    In a game with loops, the second figure is the average number of times that a game opens the box. Figures that
    cannot be computed are ``None``.
    """
    found = None if visits is None else visits.get(position, Visits(0.0, 0.0))
    chance, openings = (None, None) if found is None else found
    return (chance,) if machine.game_rules.always_ends else (chance, openings)


class BoxesPage(KindPage):
    """The page with all boxes, the machine's results and its exact strength."""

    presets = PRESETS
    text = TEXT
    rule_sentences = staticmethod(describe_rule)

    def usual_preset(self, game: AnyGame, side: Side | None) -> str:
        if side is None:
            raise RuleRefusedError("side: A machine that keeps boxes plays one side for good.")
        return default_preset(game, side)

    def usual_name(self, game: AnyGame, side: Side | None, preset: str) -> str:
        role = "" if side is None else game.presentation.layout.roles[side]
        return f"{PRESETS[preset].name if preset else game.name} {role}"

    def suited(self, game: AnyGame, rule: BoxRule) -> BoxRule:
        """Return the rule, with boxes opened when met if the game cannot be listed. This does not affect play."""
        return rule if game.listable else replace(rule, open_boxes=OpenBoxes.WHEN_MET)

    def rule_require(self, game: AnyGame, rule: BoxRule) -> None:
        if not game.listable and rule.open_boxes is OpenBoxes.IN_ADVANCE:
            raise GameTooLargeError(
                f"open_boxes: {game.name} {game.why_unlisted}, so the boxes cannot be laid out in advance."
                " They can be opened when met."
            )

    def rule_to_form(self, rule: BoxRule) -> dict[str, object]:
        return {**super().rule_to_form(rule), "initial": ", ".join(map(str, rule.initial))}

    def rule_from_form(self, values: dict[str, Any]) -> dict[str, Any]:
        try:
            initial = [int(number) for number in values["initial"].replace(",", " ").split()]
        except ValueError:
            problem = "Please give whole numbers with commas between them, such as 4, 3, 2, 1."
            raise RuleError("initial", problem) from None
        counts = {name: values[name] or 0 for name in ("win", "draw", "loss", "floor")}
        return {**values, "initial": initial, **counts}

    def content_phrase(self, machine: Machine) -> str:
        return f"{machine.boxes.count():,} boxes"

    def machine_page(self, machine: Machine, strength: Strength, query: Mapping[str, str]) -> Page:
        game, rule = machine.game_rules, machine.box_rule
        # If only endless games are drawn, a rule that learns nothing from endless games never learns from a draw.
        learns_draws = game.has_draws or (game.has_endless_draws and rule.unfinished is Unfinished.RESULT)
        rule_sentences = describe_rule(rule, has_draws=learns_draws)
        wall = box_wall(machine)
        n_boxes, n_beads = box_totals(machine, wall)
        box_facts = {
            "lesson": machine.n_lessons,  # read before the boxes, which may already be newer
            "stopped": stop_sentence(machine),
            "win_percent": f"{100 * machine.n_wins / machine.n_games:.0f}\u00a0%" if machine.n_games else "–",
            "counts_level": machine.box_rule.counts_level,
            "beads": n_beads,
            "n_boxes": n_boxes,
            "n_hung": len(wall["boxes"]),
            "why_unlisted": machine.game_rules.why_unlisted,
            "other_role": machine.game_rules.presentation.layout.roles[machine.cabinet.side.other],
        }
        facts = machine_facts(self, machine) | {"rule_sentences": rule_sentences}
        context = {
            "machine": facts | box_facts,
            "strength": strength,
            "packed": wall,
            "drawn": latest_draw(machine),
            "has_drawings": has_drawings(machine),
            "experiments": experiments_about(machine.preset),
        }
        return Page("learning/machine.html", context)

    progress = staticmethod(progress)
