"""``manage.py audit``: proves that every bead and every value has a cause."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from learning.models import HeldBox, Value
from learning.selectors.boxes import ledger_errors
from learning.selectors.machines import lessons_missing
from learning.selectors.values import value_errors, values_miscounted


class Command(BaseCommand):
    """Check the ledgers of beads and values."""

    help = "Checks that every box and every value is what it began with plus every recorded change."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print how many boxes and values were checked, or fail and name those that are wrong."""
        wrong = ledger_errors()
        if wrong:
            raise CommandError(f"{len(wrong)} boxes do not add up, by id: {', '.join(map(str, wrong[:20]))}")
        if missing := lessons_missing():
            raise CommandError(f"Machines of whose ledger lessons are missing: {missing}")
        if off := value_errors():
            raise CommandError(f"{len(off)} values do not add up, by id: {', '.join(map(str, off[:20]))}")
        if miscounted := values_miscounted():
            raise CommandError(f"Machines that do not have as many values as they say: {miscounted}")
        self.stdout.write(f"{HeldBox.objects.count():,} boxes add up, and {Value.objects.count():,} values")
