"""``manage.py audit``: proves that every bead has a cause."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from learning.models import Box
from learning.selectors_boxes import ledger_errors


class Command(BaseCommand):
    """Check the ledger of beads."""

    help = "Checks that the beads of every box are those it was laid out with plus every recorded change."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print how many boxes were checked, or fail and name those that are wrong."""
        wrong = ledger_errors()
        if wrong:
            raise CommandError(f"{len(wrong)} boxes do not add up, by id: {', '.join(map(str, wrong[:20]))}")
        self.stdout.write(f"{Box.objects.count():,} boxes add up")
