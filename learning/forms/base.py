"""What the forms of every subject share."""

from __future__ import annotations

from typing import Any

from django import forms

from learning.core.seeds import MAX_SEED

PLAIN = {
    "required": "Please fill this in.",
    "min_value": "At least %(limit_value)s, please.",
    "max_value": "At most %(limit_value)s, please.",
}
"""What a field says when it is refused, in the words of the site."""


SAME_GAMES = "The same seed, and machines that have learnt the same, give the same games again."
"""What a seed is good for."""


class PlainForm(forms.Form):
    """A form that refuses in plain words, and marks each field with what is wrong with it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            say_plainly(field)


class SeedField(forms.IntegerField):
    """A seed."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(label="Seed", min_value=0, max_value=MAX_SEED, localize=False, **kwargs)


def say_plainly(field: forms.Field) -> None:
    field.error_messages |= PLAIN
    if isinstance(field, forms.IntegerField):
        field.error_messages["invalid"] = "A number, please."
