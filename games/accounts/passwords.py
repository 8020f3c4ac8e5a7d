"""Password rules that Django lacks: a maximum length, and a greater minimum length for staff."""

from django.core.exceptions import ValidationError

from games.accounts.principal import AnyUser

MAX_CHARACTERS = 128
STAFF_MIN_CHARACTERS = 12
"""Fewest characters of a staff password. For other accounts Django requires 8, because children sign up here."""


class LengthValidator:
    """Refuse passwords longer than ``MAX_CHARACTERS``, and staff passwords shorter than ``STAFF_MIN_CHARACTERS``."""

    def validate(self, password: str, user: AnyUser | None = None) -> None:
        """Raise ``ValidationError`` for a password that is too long or too short."""
        if len(password) > MAX_CHARACTERS:
            sentence = f"This password is too long. It can have {MAX_CHARACTERS} characters at most."
            raise ValidationError(sentence, code="password_too_long")
        if getattr(user, "is_staff", False) and len(password) < STAFF_MIN_CHARACTERS:
            sentence = f"The staff’s passwords have at least {STAFF_MIN_CHARACTERS} characters."
            raise ValidationError(sentence, code="password_too_short")

    def get_help_text(self) -> str:
        return f"Your password can have {MAX_CHARACTERS} characters at most."
