"""Forms to create a machine, from a preset or field by field, and to change a machine."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_type_hints

from django import forms

from beadbox.learners.presets import ALL_PRESETS, FEATURED_PRESETS, presets_of
from beadbox.learners.registry import rule_read
from beadbox.learners.rule import RuleError, UnsuitedRuleError
from beadbox.rules.errors import UnknownGameError
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES, family_games, game_with
from games.live.game_view import game_picture
from games.validators import name_validate
from learning.forms.rule_words import rule_field
from learning.kinds.kind import Kind
from learning.kinds.registry import KINDS, kind_of_rule, usual_kind

FROZEN_HELP = "Without this, the machine is frozen: it plays but does not learn."
PUBLIC_LABEL = "Public: anyone may view and play it, and it learns from those games."


def game_label(game: AnyGame) -> str:
    """Return the name of a game in lists, with its variant where several games share a name."""
    return f"{game.name} {game.variant}".strip() if game.additions else game.name


def game_choices() -> list[tuple[str, str]]:
    """Return the games that a machine can play, as choices of a form."""
    return [(game.slug, game_label(game)) for game in GAMES.values() if presets_of(game)]


def machine_kinds() -> dict[str, str]:
    """Return the usual kind of machine of each game, by the game's slug."""
    return {game.slug: kind.rule.kind for game in GAMES.values() if (kind := usual_kind(game)) is not None}


def games_with() -> dict[str, dict[str, str]]:
    """Return the slugs of games with extra rules: by family, then by the slugs of the rules, joined with commas."""
    families = [game for game in GAMES.values() if game.slug == game.family and game.additions]
    return {
        game.slug: {",".join(variant.added): variant.slug for variant in family_games(game.slug)} for game in families
    }


def usual_presets() -> dict[str, list[str]]:
    """Return the usual presets of the first and second side, by the game's slug."""
    kinds = {game: usual_kind(game) for game in GAMES.values()}
    return {game.slug: [kind.page.usual_preset(game, side) for side in Side] for game, kind in kinds.items() if kind}


def _why_unsuited(game: AnyGame, preset: str) -> str:
    """Return the reason for which a rule that fits the game still cannot learn it; empty if there is no such reason."""
    rule = ALL_PRESETS[preset].rule
    if rule.fits(game):
        try:
            rule.require_suited(game)
        except UnsuitedRuleError as error:
            return error.problem
    return ""


class MachineForm(forms.Form):
    """A new machine, with a preset or with every field of a rule of its own."""

    game = forms.ChoiceField(label="Game", choices=game_choices, initial=lambda: game_choices()[0][0])
    board = forms.ChoiceField(label="Board", choices=game_choices, required=False)
    added = forms.MultipleChoiceField(
        label="Extra rules",
        choices=lambda: [(slug, one.name) for game in GAMES.values() for slug, one in game.additions.items()],
        required=False,
    )
    side = forms.TypedChoiceField(
        label="It plays",
        coerce=lambda side: Side(int(side)),
        choices=[(0, "first"), (1, "second")],
        initial=0,
        help_text="A machine without boxes plays both sides.",
    )
    name = forms.CharField(label="Name", max_length=80, validators=[name_validate])
    description = forms.CharField(
        label="Description", max_length=2000, required=False, widget=forms.Textarea({"rows": 3})
    )
    is_public = forms.BooleanField(label=PUBLIC_LABEL, required=False, initial=True)
    preset = forms.ChoiceField(label="Rule", required=False)
    own_rule = forms.BooleanField(label="Use the rule below", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        preset_choices = [(slug, preset.name) for slug, preset in ALL_PRESETS.items()]
        self.fields["preset"].choices = preset_choices  # type: ignore[attr-defined]
        self.fields["preset"].initial = next(iter(ALL_PRESETS))
        for kind in KINDS.values():
            initial_values, hints = kind.page.rule_to_form(kind.rule()), get_type_hints(kind.rule)
            for field in fields(kind.rule):
                self.fields[field.name] = rule_field(kind.page.text.words[field.name], hints[field.name])
                self.fields[field.name].initial = initial_values[field.name]

    def kinds(self) -> list[dict[str, object]]:
        """Return the kinds of machine, each with its games, its presets, and its rule's fields in groups."""
        return [
            {
                "kind": kind.rule.kind,
                "noun": kind.page.text.noun,
                "games": [game.name for game in GAMES.values() if game.slug == game.family and kind.rule.fits(game)],
                "plays": self._plays(kind),
                "presets": kind.page.presets.values(),
                "first": self._presets(kind, shown_first=True),
                "others": self._presets(kind, shown_first=False),
                "groups": self._groups(kind),
            }
            for kind in KINDS.values()
        ]

    def _presets(self, kind: Kind, *, shown_first: bool) -> list[dict[str, object]]:
        """Return presets of a kind, each with the games for which it is offered.

        The list of games is empty if the preset is offered for all games of the kind.
        """
        found = []
        for slug, preset in kind.page.presets.items():
            plays = [game.slug for game in GAMES.values() if slug in presets_of(game)]
            if (slug in FEATURED_PRESETS) is shown_first:
                found.append({"preset": preset, "plays": plays if plays != self._plays(kind) else []})
        return found

    def _plays(self, kind: Kind) -> list[str]:
        return [game.slug for game in GAMES.values() if kind.rule.fits(game)]

    def families(self) -> list[dict[str, object]]:
        """Return each family of games with its picture, and its boards or extra rules."""
        chosen, board = (GAMES.get(self[name].value() or "") for name in ("game", "board"))
        boards = {variant.family: variant for variant in (chosen, board) if variant is not None}
        added = [*(self["added"].value() or ()), *(chosen.added if chosen else ())]
        return [
            {
                "game": game,
                "picture": game_picture(game),
                "checked": chosen is not None and chosen.family == game.slug,
                "boards": [
                    {
                        "slug": variant.slug,
                        "choice": variant.choice,
                        "checked": variant == boards.get(game.slug, game),
                    }
                    for variant in family_games(game.slug)
                    if not game.additions and presets_of(variant)
                ],
                "additions": [
                    {"slug": slug, "addition": addition, "checked": slug in added}
                    for slug, addition in game.additions.items()
                ],
            }
            for game in GAMES.values()
            if game.slug == game.family and presets_of(game)
        ]

    def unlisted(self) -> bool:
        """Return whether the chosen preset is not among those shown at first."""
        return self["preset"].value() not in FEATURED_PRESETS

    def _game_chosen(self, cleaned: dict[str, Any]) -> AnyGame | None:
        """Return the game: the chosen family with its board or extra rules.

        Boards and extra rules chosen for another family are ignored.
        """
        game, board = (GAMES.get(cleaned.get(name, "")) for name in ("game", "board"))
        if game is None or game.slug != game.family:
            return game
        if board is not None and board.family == game.slug:
            return board
        try:
            return game_with(game.slug, [slug for slug in cleaned.get("added", ()) if slug in game.additions])
        except UnknownGameError as error:
            self.add_error("added", str(error))
            return None

    def sided(self) -> str:
        """Return the slugs of games with machines that play a fixed side, for which the form asks."""
        kinds = [kind for kind in KINDS.values() if not kind.occupant_class.either_side]
        return " ".join(game.slug for game in GAMES.values() if any(kind.rule.fits(game) for kind in kinds))

    def _groups(self, kind: Kind) -> list[dict[str, Any]]:
        """Return the fields of a kind of rule in groups, each field with its name in the rule."""
        return [
            {
                "name": group.name,
                "exactly": group.exactly,
                "fields": [{"field": self[name], "term": name} for name in group.fields],
            }
            for group in kind.page.text.groups
        ]

    def clean(self) -> dict[str, object]:
        """Build the rule from its fields; an error of the rule is shown at the field that caused it."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        rule = None
        game = self._game_chosen(cleaned)
        if game is not None:
            cleaned["game"] = game.slug
        preset_slug = cleaned.get("preset")
        kind = self._kind(game, preset_slug) if game else None
        if kind is not None:
            self._drop_other_errors(kind, cleaned)
        if game is not None and preset_slug and not cleaned["own_rule"] and preset_slug not in presets_of(game):
            names = ", ".join(preset.name for preset in presets_of(game).values())
            reason = _why_unsuited(game, preset_slug) or f"This rule does not fit {game.name}."
            self.add_error("preset", f"{reason} Choose one of these: {names}.")
        if game is not None and kind is not None and cleaned.get("own_rule") and not self.errors:
            try:
                rule = rule_read(self._rule_json(kind, cleaned))
                rule.require_suited(game)
            except RuleError as error:
                self.add_error(error.field if error.field in self.fields else None, error.problem)
        cleaned["rule"] = rule
        return cleaned

    def _kind(self, game: AnyGame, preset: str | None) -> Kind | None:
        """Return the kind of the chosen preset, else the usual kind of the game."""
        chosen = presets_of(game).get(preset or "")
        return usual_kind(game) if chosen is None else kind_of_rule(chosen.rule)

    def _drop_other_errors(self, kind: Kind, cleaned: dict[str, Any]) -> None:
        """Drop errors of fields that this kind does not use: fields of other rules, and the side if it plays both."""
        for name in (
            name for other in KINDS.values() for name in other.page.text.words if name not in kind.page.text.words
        ):
            self.errors.pop(name, None)
        if kind.occupant_class.either_side:
            self.errors.pop("side", None)
            cleaned["side"] = None

    def _rule_json(self, kind: Kind, cleaned: dict[str, Any]) -> dict[str, Any]:
        return {
            "kind": kind.rule.kind,
            **kind.page.rule_from_form({name: cleaned[name] for name in kind.page.text.words}),
        }


class MachineDetailsForm(forms.Form):
    """The changeable fields of an existing machine. The rule is not one of them, because the beads depend on it."""

    name = forms.CharField(label="Name", max_length=80, validators=[name_validate])
    description = forms.CharField(
        label="Description", max_length=2000, required=False, widget=forms.Textarea({"rows": 3})
    )
    is_public = forms.BooleanField(label=PUBLIC_LABEL, required=False)
    learns = forms.BooleanField(
        label="It learns from its games",
        required=False,
        help_text=FROZEN_HELP,
    )
