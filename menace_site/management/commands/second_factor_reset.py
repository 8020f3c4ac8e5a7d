"""``manage.py second_factor_reset NAME``: remove the second factor of an account, for a lost device."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from games.accounts.account_names import account_get_by_name
from games.accounts.second_factor import second_factor_remove


class Command(BaseCommand):
    help = "Deletes the second factor of an account. At the next visit to /admin/ its owner sets up a new one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the account")

    def handle(self, *args: Any, name: str, **options: Any) -> None:
        """Delete the account's device and recovery codes, and print the next step."""
        user = account_get_by_name(name)
        if user is None:
            raise CommandError(f"There is no account named {name!r}.")
        second_factor_remove(user)
        self.stdout.write(f"{user} has no second factor any more. Whoever logs in next sets one up: let it be them.")
