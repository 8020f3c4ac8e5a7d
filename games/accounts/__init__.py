"""Accounts: names, sign-up, log-in, tokens, the second factor, e-mails and blocked addresses."""

from games.accounts.account_names import AnySpellingBackend

__all__ = ["AnySpellingBackend"]  # Sessions store this path of the backend.
