"""People who log in: names, sign-up, tokens, the second factor, e-mails, blocked addresses."""

from games.accounts.account_names import AnySpellingBackend

__all__ = ["AnySpellingBackend"]  # sessions keep this name of the backend
