"""Accounts: names, sign-up, log-in, tokens, the second factor, e-mails and blocked addresses."""

from games.accounts.account_names import AnySpellingBackend

__all__ = ["AnySpellingBackend"]  # sessions keep this name of the backend
