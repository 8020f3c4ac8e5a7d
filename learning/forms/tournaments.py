"""Form of a new tournament, with its entrants and settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms

from beadbox import field_text
from beadbox.rules.game import AnyGame
from games.validators import name_validate
from learning.forms.base import SAME_GAMES, SeedField
from learning.forms.runs import opponent_choices
from learning.models import Machine, TournamentFormat
from learning.services.tournaments import FEW_ENTRIES_TEXT, MAX_ENTRIES, MAX_GAMES_PER_PAIRING, max_games_per_pairing


class TournamentForm(forms.Form):
    """The entrants, format and games of a new tournament."""

    name = forms.CharField(
        label="Name",
        max_length=80,
        required=False,
        validators=[name_validate],
        help_text="Leave this empty for a standard name.",
    )
    machines = forms.MultipleChoiceField(label="Machines", required=False, widget=forms.CheckboxSelectMultiple)
    opponents = forms.MultipleChoiceField(
        label="Players that never learn", required=False, widget=forms.CheckboxSelectMultiple
    )
    format = forms.ChoiceField(
        label="Format",
        widget=forms.RadioSelect,
        choices=TournamentFormat.choices,
        initial=TournamentFormat.ROUND_ROBIN,
    )
    rounds = forms.IntegerField(
        label="Rounds (only for Swiss)",
        min_value=1,
        max_value=MAX_ENTRIES - 1,
        required=False,
        help_text="Leave this empty for the usual number of rounds.",
    )
    games = forms.IntegerField(
        label="Games in each pairing", min_value=1, max_value=MAX_GAMES_PER_PAIRING, initial=1000, localize=False
    )
    seed = SeedField(required=False, help_text=SAME_GAMES)

    def __init__(self, *args: Any, game: AnyGame, machines: Iterable[Machine] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.game, self.offered = game, {str(machine.pk): machine for machine in machines}
        if (max_games := max_games_per_pairing(game, ())) < MAX_GAMES_PER_PAIRING:
            self.fields["games"] = forms.IntegerField(
                label="Games in each pairing", min_value=1, max_value=max_games, initial=50, localize=False
            )
        self.fields["opponents"].choices = opponent_choices(game)  # type: ignore[attr-defined]
        self.fields["machines"].choices = [  # type: ignore[attr-defined]  # only a ChoiceField has choices
            (pk, f"{machine.name}, {machine.get_side_display()}") for pk, machine in self.offered.items()
        ]

    def clean(self) -> dict[str, object]:
        """Combine machines and fixed opponents as ``entries``, and check the number of games."""
        data: dict[str, Any] = super().clean() or {}
        data["entries"] = [*data.get("machines", []), *data.get("opponents", [])]
        if data.get("format") != TournamentFormat.SWISS:
            data["rounds"] = None  # the page hides this field except for Swiss tournaments
        max_games = max_games_per_pairing(self.game, [self.offered[pk] for pk in data.get("machines", [])])
        if data.get("games", 0) > max_games:
            self.add_error("games", field_text.at_most(max_games))
        if not self.errors and len(data["entries"]) < 2:
            self.add_error(None, FEW_ENTRIES_TEXT)
        return data
