"""The field for a seed of random numbers, which the forms of training runs and tournaments share."""

from __future__ import annotations

from typing import Any

from django import forms

from beadbox.seeds import MAX_SEED

SAME_GAMES = "The same seed and the same machines always give the same games."
"""Help text that explains the purpose of a seed."""


class SeedField(forms.IntegerField):
    """The seed of the random numbers, written without thousands separators."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(label="Seed", min_value=0, max_value=MAX_SEED, localize=False, **kwargs)
