"""Forms of classes: opening one, and joining one."""

from __future__ import annotations

from typing import Any

from django import forms

from beadbox.learners.presets import ALL_PRESETS, presets_of
from beadbox.policies.registry import UNIFORM
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from games.validators import name_validate
from learning.forms.games import n_boxes, usual_games
from learning.models import MAX_PUPIL_NAME_LENGTH
from learning.services.classrooms import MAX_PUPILS, ClassPlan

MAX_SMALL_BOXES = 40
"""Maximum number of boxes in a game for one lesson."""
MAX_MINUTES = 300
HALVES = "half"
FIELDS_OF_PLAN = ("name", "game", "preset", "n_pupils", "minutes", "opponent", "allows_names")


def class_games() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the games of a class as grouped choices: those with few boxes first."""
    games = sorted((game for game in usual_games() if game.supports_boxes and presets_of(game)), key=n_boxes)
    small, large = list[tuple[str, str]](), list[tuple[str, str]]()
    for game in games:
        (small if n_boxes(game) <= MAX_SMALL_BOXES else large).append(
            (game.slug, f"{game.name}: {n_boxes(game)} boxes")
        )
    return [(f"At most {MAX_SMALL_BOXES} boxes: for one lesson", small), ("More boxes: for several lessons", large)]


def class_presets() -> list[tuple[str, str]]:
    """Return the rules of machines with boxes as choices, the usual rule of each game first."""
    return [("", "The usual rule of the game")] + [
        (slug, preset.name) for slug, preset in ALL_PRESETS.items() if preset.rule.has_boxes
    ]


class ClassForm(forms.Form):
    """The teacher's choices for a new class."""

    game = forms.ChoiceField(label="Game", choices=class_games, initial="hexapawn")
    side = forms.ChoiceField(
        label="Sides",
        choices=[
            ("1", "All machines play second"),
            ("0", "All machines play first"),
            (HALVES, "Half play first, half play second"),
        ],
        initial="1",
    )
    n_pupils = forms.IntegerField(
        label="Pupils",
        min_value=1,
        max_value=MAX_PUPILS,
        initial=24,
        localize=False,
        help_text="Count two pupils at one screen once.",
    )
    minutes = forms.IntegerField(
        label="Minutes for playing", min_value=2, max_value=MAX_MINUTES, initial=30, localize=False
    )
    preset = forms.ChoiceField(label="Rule", choices=class_presets, required=False)
    opponent = forms.ChoiceField(
        label="Opponent of the ranking",
        choices=[(slug, opponent.name) for slug, opponent in UNIFORM.items()],
        initial="perfect",
        help_text="At the end all machines are compared against this opponent.",
    )
    name = forms.CharField(
        label="Name of the class",
        max_length=60,
        required=False,
        validators=[name_validate],
        help_text="Pupils see it. Leave it empty for the name of the game.",
    )
    allows_names = forms.BooleanField(
        label="Pupils may type a first name", required=False, help_text="Without this, names are generated."
    )

    def plan(self) -> ClassPlan:
        """Return the plan of a valid form."""
        data: dict[str, Any] = {field: self.cleaned_data[field] for field in FIELDS_OF_PLAN}
        side = self.cleaned_data["side"]
        data["name"] = data["name"].strip() or f"{game_get(data['game']).name} class"
        return ClassPlan(side=None if side == HALVES else Side(int(side)), **data)


class ClassCodeForm(forms.Form):
    """The code of a class, or the return code of a pupil. The look-up reads it as people write it."""

    code = forms.CharField(
        label="Code",
        max_length=100,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )


class JoinForm(forms.Form):
    """One of three generated names, or a typed first name where the class allows it."""

    guest = forms.UUIDField(widget=forms.HiddenInput)
    words = forms.ChoiceField(label="Your name", widget=forms.RadioSelect)
    typed_name = forms.CharField(label="Or type your first name", max_length=200, required=False)

    def clean_words(self) -> tuple[int, int]:
        """Return the numbers of the two words."""
        first, second = self.cleaned_data["words"].split("-")
        return int(first), int(second)


NAME_HELP = f"At most {MAX_PUPIL_NAME_LENGTH} letters. Do not type your family name."
