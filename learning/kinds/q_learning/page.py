"""The page of a Q-learner: its values and its exploration rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from django.conf import settings

from beadbox.engines.registry import engine_of
from beadbox.learners.exchange.values import MAX_VALUES
from beadbox.learners.q_learning.presets import Q_PRESETS
from beadbox.learners.q_learning.rule import QRule
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from learning.kinds.keyed_values.page import KeyedPage
from learning.kinds.page import Page, format_percent
from learning.kinds.q_learning.live import EXPLAINER
from learning.kinds.q_learning.text import TEXT, sentences
from learning.models import Machine, Value
from learning.selectors.strength import Strength
from learning.storage.bounds import machine_values_limit


def value_limit_sentence(machine: Machine) -> str:
    """Return a sentence for a machine that has reached the limit of its values; else an empty text."""
    limit = machine_values_limit(machine)
    if machine.n_values < limit:
        return ""
    reason = f"a machine may have {settings.VALUES_PER_MACHINE:,}"
    if limit < settings.VALUES_PER_MACHINE:
        reason = f"the machines of its account may have {settings.VALUES_PER_ACCOUNT:,} together"
    return f"It learns no new values, for {reason}. Its present values go on learning."


class QLearningPage(KeyedPage):
    """The pages of a Q-learner, with its number of values and its exploration rate."""

    presets = Q_PRESETS
    text = TEXT
    rule_sentences = staticmethod(sentences)
    explainer = EXPLAINER

    def usual_name(self, game: AnyGame, side: Side | None, preset: str) -> str:
        return f"{game.name} Q"

    def machine_page(self, machine: Machine, strength: Strength, query: Mapping[str, str]) -> Page:
        page = super().machine_page(machine, strength, query)
        limit_sentence = value_limit_sentence(machine) if machine.learns else ""
        facts = page.context["machine"] | {"n_values": machine.n_values, "full": limit_sentence}
        added = {"machine": facts, "most_in_file": MAX_VALUES, "tries": format_percent(machine.epsilon or 0.0)}
        return Page("learning/machine_values.html", page.context | added)

    def position_page(self, machine: Machine, text: str) -> Page:
        rule, page = machine.rule, super().position_page(machine, text)
        assert isinstance(rule, QRule), "the machine is of this kind"
        added = {"takes_wins": rule.take_wins, "avoids_repetition": rule.avoid_repetition}
        return replace(page, context=page.context | added)

    def entry_position(self, entry: Value) -> str:
        game = entry.machine.game_rules
        engine = engine_of(game)
        assert engine is not None, "a Q-learner plays only games with an engine"
        position, _ = engine.entry_read(entry.key)
        return game.encode(position)
