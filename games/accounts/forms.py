from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.core.validators import MaxLengthValidator, ProhibitNullCharactersValidator

from games.exceptions import PlayError
from games.models import TokenScope
from games.validators import name_validate


def refusal_add(form: forms.BaseForm, error: PlayError) -> None:
    """Add the refusal of a service to the field that it names, in the words of the API."""
    field, sentence = error.parts
    form.add_error(field if field in form.fields else None, sentence)


class LogInForm(AuthenticationForm):
    """Log-in form that refuses a text longer than any name before the attempt is recorded."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].validators += [MaxLengthValidator(150), ProhibitNullCharactersValidator()]


class TokenForm(forms.Form):
    """Purpose, scopes and lifetime of a new token."""

    name = forms.CharField(label="Name of the token", max_length=60, validators=[name_validate])
    scopes = forms.MultipleChoiceField(
        label="Scopes: what programs with this token may do",
        choices=[(scope.value, scope.label.capitalize()) for scope in TokenScope],
        widget=forms.CheckboxSelectMultiple,
        initial=[TokenScope.READ.value],
    )
    days = forms.TypedChoiceField(
        label="Valid for",
        choices=[("30", "30 days"), ("365", "A year"), ("", "Until I revoke it")],
        coerce=int,
        empty_value=None,
        required=False,
        initial="30",
    )

    def clean(self) -> dict[str, object]:
        """Replace ``days`` in the cleaned data by ``lifetime``, a ``timedelta`` or ``None``."""
        cleaned: dict[str, Any] = super().clean() or {}
        if "days" in cleaned:
            days = cleaned.pop("days")
            cleaned["lifetime"] = None if days is None else timedelta(days=days)
        return cleaned
