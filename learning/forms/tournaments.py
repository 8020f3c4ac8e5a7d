"""Who takes part in a tournament."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms

from games.rules.base import Game
from learning.forms.base import PLAIN, SAME_GAMES, PlainForm, SeedField
from learning.forms.runs import opponent_choices
from learning.models import Machine, TournamentFormat
from learning.services.tournaments import MAX_ENTRIES, MAX_GAMES_PER_PAIRING, games_most


class TournamentForm(PlainForm):
    """Who takes part, and how."""

    name = forms.CharField(label="Name", max_length=80, required=False, help_text="Leave it empty for a plain one.")
    machines = forms.MultipleChoiceField(label="Machines", required=False, widget=forms.CheckboxSelectMultiple)
    opponents = forms.MultipleChoiceField(
        label="Players that never learn", required=False, widget=forms.CheckboxSelectMultiple
    )
    format = forms.ChoiceField(
        label="Who meets whom",
        widget=forms.RadioSelect,
        choices=TournamentFormat.choices,
        initial=TournamentFormat.ROUND_ROBIN,
    )
    rounds = forms.IntegerField(
        label="Rounds (Swiss only)",
        min_value=1,
        max_value=MAX_ENTRIES - 1,
        required=False,
        help_text="Leave it empty for as many as are usual.",
    )
    games = forms.IntegerField(
        label="Games of each pairing", min_value=1, max_value=MAX_GAMES_PER_PAIRING, initial=1000, localize=False
    )
    seed = SeedField(
        required=False,
        help_text=f"{SAME_GAMES} Leave it empty for a fresh one.",
    )

    def __init__(self, *args: Any, game: Game[Any, Any], machines: Iterable[Machine] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.game, self.offered = game, {str(machine.pk): machine for machine in machines}
        if (most := games_most(game, ())) < MAX_GAMES_PER_PAIRING:
            self.fields["games"] = forms.IntegerField(
                label="Games of each pairing", min_value=1, max_value=most, initial=50, localize=False
            )
            self.fields["games"].error_messages |= PLAIN
        self.fields["opponents"].choices = opponent_choices(game)  # type: ignore[attr-defined]
        self.fields["machines"].choices = [  # type: ignore[attr-defined]  # as above
            (pk, f"{machine.name}, {machine.get_side_display()}") for pk, machine in self.offered.items()
        ]

    def clean(self) -> dict[str, Any]:
        """Machines and fixed opponents become ``entries``."""
        data: dict[str, Any] = super().clean() or {}
        data["entries"] = [*data.get("machines", []), *data.get("opponents", [])]
        if data.get("format") != TournamentFormat.SWISS:
            data["rounds"] = None  # only a Swiss tournament has a number of them, and the page hides the field
        most = games_most(self.game, [self.offered[pk] for pk in data.get("machines", [])])
        if data.get("games", 0) > most:
            self.add_error("games", PLAIN["max_value"] % {"limit_value": most})
        if not self.errors and len(data["entries"]) < 2:
            self.add_error(None, f"Choose who takes part: 2 to {MAX_ENTRIES} players.")
        return data
