"""Forms to print a machine, and to import a machine from a file."""

from __future__ import annotations

from typing import Any

from django import forms

from beadbox.learners.exchange.file_text import MAX_BYTES
from beadbox.learners.formats import FORMATS, IMPORT_PRESETS
from beadbox.printing.ink import BEADS
from beadbox.printing.options import N_COLOURS, PrintChoices, PrintOptions
from beadbox.printing.paper import DEFAULT_MM, LARGEST_MM, PAPERS, SMALLEST_MM
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from games.validators import name_validate

NOW, START = "now", "start"
GARDNER, MIRRORED = "gardner", "mirrored"


class PrintForm(forms.Form):
    """The choice of paper, size of the boxes, boxes, beads, and colours of the beads."""

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
        label="Which beads",
        choices=[(START, "The beads at the beginning"), (NOW, "The beads that each box holds now")],
        widget=forms.RadioSelect,
        initial=START,
    )
    boxes = forms.ChoiceField(
        label="Which boxes",
        widget=forms.RadioSelect,
        initial=MIRRORED,
        required=False,
    )
    many = forms.BooleanField(required=False)

    def __init__(self, *args: Any, choices: PrintChoices, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["boxes"].choices = [  # type: ignore[attr-defined]  # only a ChoiceField has choices
            (MIRRORED, "A board and its mirror image share a box"),
            (GARDNER, f"{choices.gardner} boxes, as Martin Gardner drew them for HER"),
        ]
        if not choices.gardner:
            del self.fields["boxes"]
        for colour, letters in choices.marks.items():
            self.fields[f"colour_{colour}"] = forms.ChoiceField(
                label=f"Bead {' and '.join(letters)}",
                choices=[(str(number), glass.name) for number, glass in enumerate(BEADS)],
                initial=str(colour),
                required=False,
            )

    def colours(self) -> list[forms.BoundField]:
        """Return the fields that choose colours of beads."""
        return [self[name] for name in self.fields if name.startswith("colour_")]

    def clean(self) -> dict[str, object]:
        """Require different colours, because beads of one colour could not be told apart."""
        data: dict[str, Any] = super().clean() or {}
        label_of_colour: dict[str, str] = {}
        for field in self.colours():
            colour = data.get(field.name) or field.initial
            if colour in label_of_colour:
                self.add_error(field.name, f"{label_of_colour[colour]} has this colour too. Choose another one.")
            label_of_colour.setdefault(colour, str(field.label))
        return data

    def options(self) -> PrintOptions:
        """Return the print options of a valid form."""
        data = self.cleaned_data
        return PrintOptions(
            data["paper"],
            data["width"],
            data["height"],
            beads_now=data["beads"] == NOW,
            gardner=data.get("boxes") == GARDNER,
            colours=tuple(int(data.get(f"colour_{colour}") or colour) for colour in range(N_COLOURS)),
            many_beads=data["many"],
        )


class ImportForm(forms.Form):
    """A file, and values that the file may lack."""

    file = forms.FileField(label="File", help_text="At most 4 MB.")
    format = forms.ChoiceField(
        label="Format",
        required=False,
        choices=[("", "as in the file"), *((form.slug, form.name) for form in FORMATS.values())],
    )
    name = forms.CharField(
        label="Name",
        max_length=80,
        required=False,
        validators=[name_validate],
        help_text="Leave empty to use the name in the file.",
    )
    game = forms.ChoiceField(
        label="Game",
        required=False,
        choices=[
            ("", "as in the file"),
            *((game.slug, game.name) for game in GAMES.values() if game.supports_boxes),
        ],
    )
    side = forms.ChoiceField(
        label="Side",
        required=False,
        choices=[("", "as in the file"), ("0", "plays first"), ("1", "plays second")],
    )
    preset = forms.ChoiceField(
        label="Learning rule",
        required=False,
        choices=[
            ("", "as in the file, or as its program learns"),
            *((preset.slug, preset.name) for preset in IMPORT_PRESETS.values()),
        ],
    )

    def options(self) -> dict[str, Any]:
        """Return the arguments of ``machine_import`` from a valid form."""
        data = self.cleaned_data
        return {
            "content": data["file"].read(MAX_BYTES + 1),
            "file_format": data["format"],
            "game": data["game"],
            "side": Side(int(data["side"])) if data["side"] else None,
            "preset": data["preset"],
            "name": data["name"],
        }
