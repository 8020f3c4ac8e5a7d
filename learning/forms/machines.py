"""Machines: made from a preset or field by field, and changed."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_type_hints

from django import forms

from games.rules.base import Game, Side
from games.rules.registry import GAMES
from learning.core.machines.presets import ALL_PRESETS, DEFAULT_PRESETS, presets_of
from learning.core.machines.registry import RULES, rule_read
from learning.core.machines.rule import BoxRule, RuleError
from learning.forms.base import PLAIN, PlainForm, say_plainly
from learning.forms.rule_words import RULE_GROUPS, rule_field, rule_to_form


def game_label(game: Game[Any, Any]) -> str:
    """The game as a list names it: variants of one name are told apart."""
    return f"{game.name} {game.variant}".strip() if game.additions else game.name


def machine_kinds() -> dict[str, str]:
    """The kind of machine that plays a game, by the game's slug."""
    fitting = {game.slug: next(iter(presets_of(game)), None) for game in GAMES.values()}
    return {slug: ALL_PRESETS[preset].rule.kind for slug, preset in fitting.items() if preset}


class MachineForm(PlainForm):
    """A new machine: a preset, or a rule of its own with every field."""

    game = forms.ChoiceField(
        label="Game", choices=lambda: [(game.slug, game_label(game)) for game in GAMES.values() if presets_of(game)]
    )
    side = forms.TypedChoiceField(
        label="It plays",
        coerce=lambda side: Side(int(side)),
        choices=[(0, "first"), (1, "second")],
        initial=0,
        help_text="A machine without boxes plays either side, whatever is chosen here.",
    )
    name = forms.CharField(label="Its name", max_length=80)
    description = forms.CharField(
        label="What you want to say about it", max_length=2000, required=False, widget=forms.Textarea({"rows": 3})
    )
    is_public = forms.BooleanField(
        label="Everybody may look at it and play it", required=False, initial=True, help_text="Its games teach it."
    )
    preset = forms.ChoiceField(label="Its rule", required=False)
    own_rule = forms.BooleanField(label="Use the rule as it is set below", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [(slug, preset.name) for slug, preset in ALL_PRESETS.items()]
        self.fields["preset"].choices = known  # type: ignore[attr-defined]
        self.fields["preset"].initial = DEFAULT_PRESETS[Side.FIRST]
        for rule in RULES.values():
            start, hints = rule_to_form(rule()), get_type_hints(rule)
            for field in fields(rule):
                self.fields[field.name] = rule_field(field.name, hints[field.name])
                self.fields[field.name].initial = start[field.name]
                say_plainly(self.fields[field.name])

    def kinds(self) -> list[dict[str, Any]]:
        """The kinds of machine, each with the games it plays, its presets, and the fields of its rule in groups."""
        kinds: dict[str, dict[str, Any]] = {}
        for slug, kind in machine_kinds().items():
            game = GAMES[slug]
            of_kind = kinds.setdefault(
                kind, {"kind": kind, "games": [], "presets": presets_of(game).values(), "groups": self._groups(kind)}
            )
            if slug == game.family:
                of_kind["games"].append(game.name)
        return list(kinds.values())

    def _groups(self, kind: str) -> list[dict[str, Any]]:
        """The fields of a kind of rule in their groups, each with its exact term."""
        return [
            {
                "name": group.name,
                "exactly": group.exactly,
                "fields": [{"field": self[name], "term": name} for name in group.fields],
            }
            for group in RULE_GROUPS[kind]
        ]

    def clean(self) -> dict[str, Any]:
        """Put the fields of the rule together; whatever the rule refuses is told at its own field."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        rule = None
        game = GAMES.get(cleaned.get("game", ""))
        kind = machine_kinds().get(game.slug, "") if game else ""
        if kind:
            self._keep(kind, cleaned)
        slug = cleaned.get("preset")
        if game is not None and slug and not cleaned["own_rule"] and slug not in presets_of(game):
            names = ", ".join(preset.name for preset in presets_of(game).values())
            self.add_error("preset", f"This rule cannot play {game.name}. Choose one of these: {names}.")
        if kind and cleaned.get("own_rule") and not self.errors:
            try:
                rule = rule_read(self._rule_json(kind, cleaned))
            except RuleError as error:
                where = error.field if error.field in self.fields else None
                self.add_error(where, str(error).removeprefix(f"{error.field}: "))
        cleaned["rule"] = rule
        return cleaned

    def _keep(self, kind: str, cleaned: dict[str, Any]) -> None:
        """What is not asked of a machine of this kind cannot be wrong: another rule's fields, a side without boxes."""
        for field in (field for rule in RULES.values() if rule.kind != kind for field in fields(rule)):
            self.errors.pop(field.name, None)
        if kind != BoxRule.kind:
            self.errors.pop("side", None)
            cleaned["side"] = None

    def _rule_json(self, kind: str, cleaned: dict[str, Any]) -> dict[str, Any]:
        data: dict[str, Any] = {field.name: cleaned[field.name] for field in fields(RULES[kind])}
        if kind == BoxRule.kind:
            try:
                data["initial"] = [int(number) for number in cleaned["initial"].replace(",", " ").split()]
            except ValueError:
                problem = "write whole numbers with commas between them, such as 4, 3, 2, 1"
                raise RuleError("initial", problem) from None
            for name in ("win", "draw", "loss", "floor"):
                data[name] = data[name] or 0
        elif empty := [name for name, value in data.items() if value is None]:
            raise RuleError(empty[0], PLAIN["required"])
        return {"kind": kind, **data}


class MachineDetailsForm(PlainForm):
    """What may be changed about a machine that exists; its rule may not, for its beads follow from it."""

    name = forms.CharField(label="Its name", max_length=80)
    description = forms.CharField(
        label="What you want to say about it", max_length=2000, required=False, widget=forms.Textarea({"rows": 3})
    )
    is_public = forms.BooleanField(label="Everybody may look at it and play it", required=False)
    learns = forms.BooleanField(
        label="It learns from its games", required=False, help_text="A machine that does not learn is frozen."
    )
