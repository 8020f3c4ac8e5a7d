"""Form fields for the rule of a machine, labelled in the words of its kind."""

from __future__ import annotations

from types import UnionType
from typing import Any

from django import forms

from learning.kinds.page import Words


def rule_field(words: Words, hint: Any) -> forms.Field:
    """Return the form field for a field of a rule with the type ``hint``."""
    shared: dict[str, Any] = {"label": words.label, "help_text": words.does, "required": False}
    if hint is bool:
        return forms.BooleanField(**shared)
    if words.choices is not None:
        choices = [(str(value), meaning) for value, meaning in words.choices.items()]
        return forms.ChoiceField(choices=choices, **shared)
    if hint is int or isinstance(hint, UnionType):
        return forms.IntegerField(localize=False, **shared)
    if hint is float:
        return forms.FloatField(localize=False, **shared)
    return forms.CharField(max_length=400, **shared)
