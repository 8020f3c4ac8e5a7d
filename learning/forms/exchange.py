"""What people say when they print a machine or bring one from a file."""

from __future__ import annotations

from typing import Any

from django import forms

from games.rules.base import Side
from games.rules.registry import GAMES
from learning.core.exchange.registry import FORMATS, MAX_BYTES
from learning.core.machines.presets import PRESETS
from learning.core.printing.paper import DEFAULT_MM, LARGEST_MM, PAPERS, SMALLEST_MM
from learning.core.printing.sheets import PrintOptions
from learning.forms.base import PlainForm

NOW, START = "now", "start"


class PrintForm(PlainForm):
    """Paper, size of the boxes, and whether their beads are counted."""

    paper = forms.ChoiceField(label="Paper", choices=[(paper, paper) for paper in PAPERS], initial="A4")
    width = forms.FloatField(
        label="Width of a box, in millimetres",
        min_value=SMALLEST_MM,
        max_value=LARGEST_MM,
        initial=DEFAULT_MM[0],
        help_text=f"{SMALLEST_MM} to {LARGEST_MM}. A common matchbox is {DEFAULT_MM[0]} by {DEFAULT_MM[1]}.",
    )
    height = forms.FloatField(
        label="Height of a box, in millimetres", min_value=SMALLEST_MM, max_value=LARGEST_MM, initial=DEFAULT_MM[1]
    )
    beads = forms.ChoiceField(
        label="Beads",
        choices=[
            (NOW, "with the number of beads each box holds now"),
            (START, "without numbers, for a machine that begins to learn"),
        ],
        widget=forms.RadioSelect,
        initial=NOW,
    )

    def options(self) -> PrintOptions:
        """What was chosen. Only for a valid form."""
        data = self.cleaned_data
        return PrintOptions(data["paper"], data["width"], data["height"], with_beads=data["beads"] == NOW)


class ImportForm(PlainForm):
    """A file, and what it may leave unsaid."""

    file = forms.FileField(label="File", help_text="At most 4 MB.")
    format = forms.ChoiceField(
        label="Format",
        required=False,
        choices=[("", "as the file tells"), *((form.slug, form.name) for form in FORMATS.values())],
    )
    name = forms.CharField(label="Name", max_length=80, required=False, help_text="Empty: the name in the file.")
    game = forms.ChoiceField(
        label="Game",
        required=False,
        choices=[
            ("", "as its positions tell"),
            *((game.slug, game.name) for game in GAMES.values() if game.takes_boxes),
        ],
    )
    side = forms.ChoiceField(
        label="It plays",
        required=False,
        choices=[("", "as its positions tell"), ("0", "first"), ("1", "second")],
    )
    preset = forms.ChoiceField(
        label="It learns like",
        required=False,
        choices=[("", "the program it comes from"), *((preset.slug, preset.name) for preset in PRESETS.values())],
    )

    def wanted(self) -> dict[str, Any]:
        """What was chosen, as the service takes it. Only for a valid form."""
        data = self.cleaned_data
        return {
            "content": data["file"].read(MAX_BYTES + 1),
            "form": data["format"],
            "game": data["game"],
            "side": Side(int(data["side"])) if data["side"] else None,
            "preset": data["preset"],
            "name": data["name"],
        }
