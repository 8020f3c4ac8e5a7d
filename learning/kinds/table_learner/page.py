"""The page of a table learner: its exact strength on each side, and its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from beadbox.learners.table_learner.presets import TABLE_PRESETS
from beadbox.rules.outcome import Side
from learning.kinds.keyed_values.page import KeyedPage
from learning.kinds.page import Page, format_percent
from learning.kinds.table_learner.live import EXPLAINER
from learning.kinds.table_learner.text import TEXT, sentences
from learning.kinds.table_learner.training import TableLearnerTraining, seat_key, strength_by_seat
from learning.models import Machine, Value
from learning.selectors.strength import Strength


class TableLearnerPage(KeyedPage):
    """The pages of a table learner, with its strength on each side and its exploration rate."""

    presets = TABLE_PRESETS
    text = TEXT
    rule_sentences = staticmethod(sentences)
    explainer = EXPLAINER

    def machine_page(self, machine: Machine, strength: Strength, query: Mapping[str, str]) -> Page:
        page, by_seat = super().machine_page(machine, strength, query), strength_by_seat(machine)
        layout = machine.game_rules.presentation.layout
        seats = [
            {
                "role": layout.roles[side],
                "name": layout.role_names[side],
                "strength": {slug: by_seat[seat_key(slug, side)] for slug in TableLearnerTraining.sampling.against},
            }
            for side in Side
        ]
        exploration_rate = (machine.epsilon or 0.0) if machine.learns else 0.0
        added = {"seats": seats, "n_values": machine.n_values, "tries": format_percent(exploration_rate)}
        return Page("learning/machine_table.html", page.context | added)

    def position_page(self, machine: Machine, text: str) -> Page:
        page = super().position_page(machine, text)
        return page if machine.learns else replace(page, context=page.context | {"epsilon": 0.0})

    def entry_position(self, entry: Value) -> str:
        return entry.key.rpartition("#")[2]
