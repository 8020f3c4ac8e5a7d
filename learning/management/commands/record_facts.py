"""``manage.py record_facts``: compute the facts of games, and write them to files of the repository."""

from time import monotonic
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from beadbox.learners.facts import facts_record
from beadbox.rules.registry import GAMES


class Command(BaseCommand):
    """Compute the facts of games from their rules, and write each folder's ``facts.json``."""

    help = "Computes the facts of games from their rules, and writes facts.json in their folders. Needs no database."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("games", nargs="*", metavar="GAME", help="slugs of games; default: all games")

    def handle(self, *args: Any, **options: Any) -> None:
        """Record the facts of the games in turn."""
        for slug in options["games"] or GAMES:
            begin = monotonic()
            facts_record([GAMES[slug]])
            self.stdout.write(f"{slug}: {monotonic() - begin:.1f} s")
