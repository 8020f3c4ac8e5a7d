"""``manage.py names``: store normalised names, and list accounts with the same name in different spellings."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand

from games.accounts.account_names import account_names_fill, account_names_shared
from games.models import AccountName
from learning.models import Machine
from learning.storage.searching import machine_names_fill


class Command(BaseCommand):
    """Store normalised names for search, and report accounts that share a name."""

    help = (
        "Stores missing or outdated normalised names, and lists accounts whose names differ only in case or encoding."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Store the missing names, and print a sentence for each shared name."""
        account_names_fill(get_user_model(), AccountName)
        machine_names_fill(Machine)
        shared = list(account_names_shared(AccountName))
        for sentence in shared:
            self.stdout.write(sentence)
        self.stdout.write(f"{len(shared)} accounts share the name of another one.")
