"""Forms of accounts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.core.validators import MaxLengthValidator, ProhibitNullCharactersValidator

from games.models import TokenScope


class LogInForm(AuthenticationForm):
    """A log-in: what is longer than any name is refused before it is written down as an attempt."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].validators += [MaxLengthValidator(150), ProhibitNullCharactersValidator()]


class TokenForm(forms.Form):
    """What a new token is for, what it may do, and for how long."""

    name = forms.CharField(label="What is it for?", max_length=60)
    scopes = forms.MultipleChoiceField(
        label="What may it do?",
        choices=[(scope.value, scope.label.capitalize()) for scope in TokenScope],
        widget=forms.CheckboxSelectMultiple,
        initial=[TokenScope.READ.value],
    )
    days = forms.TypedChoiceField(
        label="For how long?",
        choices=[("30", "30 days"), ("365", "A year"), ("", "Until I revoke it")],
        coerce=int,
        empty_value=None,
        required=False,
        initial="30",
    )

    def clean(self) -> dict[str, Any]:
        """The days become a ``lifetime``."""
        cleaned: dict[str, Any] = super().clean() or {}
        if "days" in cleaned:
            days = cleaned.pop("days")
            cleaned["lifetime"] = None if days is None else timedelta(days=days)
        return cleaned
