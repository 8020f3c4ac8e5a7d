"""What Django does not ask of a password: an end to its length, and a longer one of the staff."""

from django.core.exceptions import ValidationError

from games.accounts.principal import AnyUser

MOST_CHARACTERS = 128
STAFF_LEAST_CHARACTERS = 12
"""Others have Django's 8: children sign up here."""


class LengthValidator:
    """Refuses what is longer than ``MOST_CHARACTERS``, and of the staff what is shorter than theirs."""

    def validate(self, password: str, user: AnyUser | None = None) -> None:
        """Raise ``ValidationError`` for a password of another length."""
        if len(password) > MOST_CHARACTERS:
            says = f"This password is too long. It can have {MOST_CHARACTERS} characters at most."
            raise ValidationError(says, code="password_too_long")
        if getattr(user, "is_staff", False) and len(password) < STAFF_LEAST_CHARACTERS:
            says = f"The staff’s passwords have at least {STAFF_LEAST_CHARACTERS} characters."
            raise ValidationError(says, code="password_too_short")

    def get_help_text(self) -> str:
        """What stands beside the field."""
        return f"Your password can have {MOST_CHARACTERS} characters at most."
