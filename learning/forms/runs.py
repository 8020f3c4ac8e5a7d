"""Forms of a training run: the opponents in order, the seed and the measurement of snapshots."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from django import forms

from beadbox import field_text
from beadbox.policies.registry import opponents_offered
from beadbox.rules.game import AnyGame
from learning.forms.base import SAME_GAMES, SeedField
from learning.kinds.snapshots import MAX_MEASURED_SNAPSHOTS, default_n_measured, keeps_snapshots
from learning.models import Machine
from learning.services.runs import MAX_GAMES, MAX_STAGES

GAMES_TO_BEGIN_WITH = 10_000


def seed_new() -> int:
    """Return a random default seed, short enough to copy by hand."""
    return secrets.randbelow(1_000_000)


def opponent_choices(game: AnyGame) -> list[tuple[str, str]]:
    """Return the fixed opponents of a game. Slow opponents are left out, because their moves depend on the computer."""
    return [
        (opponent.slug, f"{opponent.name}: {opponent.summary}{f' {rating.words}.' if rating else ''}")
        for opponent, _, rating in opponents_offered(game)
        if not opponent.is_slow
    ]


class StageForm(forms.Form):
    """A number of games against one opponent."""

    opponent = forms.ChoiceField(label="Opponent")
    games = forms.IntegerField(
        label="Number of games", min_value=1, max_value=MAX_GAMES, initial=GAMES_TO_BEGIN_WITH, localize=False
    )
    learns = forms.BooleanField(label="The opponent learns too", required=False)

    def __init__(self, *args: Any, game: AnyGame, machines: Sequence[Machine] = (), **kwargs: Any) -> None:
        # Otherwise Django would treat an added stage with unchanged initial values as empty.
        super().__init__(*args, **{**kwargs, "empty_permitted": False})
        fixed = opponent_choices(game)
        machine_choices = [(str(machine.pk), machine.name) for machine in machines]
        groups: list[Any] = [("Players that never learn", fixed)]
        if machine_choices:
            one_sided = all(machine.side is not None for machine in machines)
            groups.append(("Machines that play the other side" if one_sided else "Machines", machine_choices))
        self.fields["opponent"].choices = groups  # type: ignore[attr-defined]  # only a ChoiceField has choices


StageFormSet = forms.formset_factory(StageForm, extra=0, min_num=1, max_num=MAX_STAGES, validate_min=True)


class SeedForm(forms.Form):
    """The seed of a run and, if its machine keeps snapshots, the number of games that measure each snapshot."""

    seed = SeedField(help_text=SAME_GAMES, initial=seed_new)
    measured = forms.IntegerField(
        label="Games to measure each snapshot",
        min_value=0,
        max_value=MAX_MEASURED_SNAPSHOTS,
        step_size=2,
        required=False,
        localize=False,
        error_messages={"step_size": field_text.EVEN_NUMBER},
        help_text="Each snapshot plays this many games against each opponent, half on each side. "
        "With 0 games nothing is measured, and the last snapshot plays.",
    )

    def __init__(self, *args: Any, machine: Machine, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if keeps_snapshots(machine):
            self.fields["measured"].initial = default_n_measured(machine)
        else:
            del self.fields["measured"]
