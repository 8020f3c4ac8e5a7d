"""Controls of *Watch it learn*. Fields are named as in the page's address, which ``training_address`` validates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_type_hints

from django import forms

from beadbox.learners.boxes.presets import presets_for
from beadbox.learners.registry import rule_read
from beadbox.learners.rule import Rule
from beadbox.rules.game import AnyGame
from beadbox.seeds import MAX_SEED
from learning.forms.rule_words import rule_field
from learning.kinds.registry import kind_of_rule

FIRST_FIELDS = ("initial", "win", "draw", "loss", "when_empty", "reduce_symmetry", "merge_symmetric_moves")
"""Fields of a rule shown at first; the others are behind *More of the rule*."""

TEACHERS = {
    "random": "Random play",
    "win-block": "Win or block",
    "perfect": "Perfect play",
    "perfect-fast": "Perfect and fast play",
}
SPEEDS = {"move": "a move", "game": "a game", "ten": "10 a second", "thousand": "1,000 a second", "full": "full speed"}
AGAINST = {slug: TEACHERS[slug] for slug in ("random", "win-block", "perfect")} | {
    "worst": "The opponent that beats it most often"
}


class LearnForm(forms.Form):
    """Rule, teacher, seed and measurement of a machine."""

    teacher = forms.ChoiceField(
        label="Its teacher", choices=[*TEACHERS.items(), ("machine", "A second machine that also learns")]
    )
    preset = forms.ChoiceField(label="Its rule")
    side = forms.ChoiceField(label="It plays", choices=[("first", "first"), ("second", "second")])
    seed = forms.IntegerField(
        label="Random seed",
        min_value=0,
        max_value=MAX_SEED,
        localize=False,
        help_text="The same seed always gives the same games.",
    )
    against = forms.ChoiceField(label="Measured against", choices=AGAINST.items())
    beside = forms.ChoiceField(label="A second rule", required=False)

    def __init__(self, game: AnyGame, rule: Rule, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        words, hints = kind_of_rule(rule).page.text.words, get_type_hints(type(rule))
        self.rule_fields = [field.name for field in fields(rule)]
        for name in self.rule_fields:
            self.fields[name] = rule_field(words[name], hints[name])
            self.fields[name].widget.attrs["data-rule"] = ""
        presets = [(slug, preset.name) for slug, preset in presets_for(game).items()]
        self.fields["preset"].choices = presets  # type: ignore[attr-defined]
        self.fields["beside"].choices = [("", "none"), *presets]  # type: ignore[attr-defined]
        roles = game.presentation.layout.role_names
        self.fields["side"].choices = [("first", f"first, {roles[0]}"), ("second", f"second, {roles[1]}")]  # type: ignore[attr-defined]

    def first(self) -> list[Any]:
        """Return the fields of the rule shown at first."""
        return [self[name] for name in FIRST_FIELDS]

    def more(self) -> list[Any]:
        """Return the fields of the rule behind *More of the rule*."""
        return [self[name] for name in self.rule_fields if name not in FIRST_FIELDS]


def learn_form(game: AnyGame, reading: Mapping[str, Any]) -> LearnForm:
    """Return the form with the values of a parsed address; ``reading`` is its JSON."""
    second_rule, rule = reading["beside"], rule_read(reading["rule"])
    copied = {name: reading[name] for name in ("teacher", "preset", "side", "seed", "against")}
    values = (
        kind_of_rule(rule).page.rule_to_form(rule) | copied | {"beside": second_rule["preset"] if second_rule else ""}
    )
    return LearnForm(game, rule, initial=values)
