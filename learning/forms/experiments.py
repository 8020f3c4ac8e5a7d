"""Form of an experiment, with its seed and its parameters."""

from __future__ import annotations

from typing import Any

from django import forms

from beadbox.experiments.experiment import AnyExperiment
from learning.forms.base import SeedField


class ExperimentForm(forms.Form):
    """Seed and parameters of an experiment, each restricted to its range."""

    seed = SeedField(
        help_text="The same seed always gives exactly the same result. Choose another seed for another try.",
    )

    def __init__(self, *args: Any, experiment: AnyExperiment, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.experiment = experiment
        self.fields["seed"].initial = experiment.default_seed
        for parameter in experiment.parameters:
            self.fields[parameter.name] = forms.IntegerField(
                label=parameter.label,
                min_value=parameter.low,
                max_value=parameter.high,
                initial=parameter.default,
                localize=False,
                help_text=f"{parameter.low:,} to {parameter.high:,}",
            )

    def chosen(self) -> dict[str, Any]:
        """Return seed and parameters of a valid form, as the service takes them."""
        data = self.cleaned_data
        return {"seed": data["seed"], "parameters": {p.name: data[p.name] for p in self.experiment.parameters}}
