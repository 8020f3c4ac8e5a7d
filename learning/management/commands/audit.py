"""``manage.py audit``: check that every bead and every value follows from the ledger."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from learning.kinds.registry import KINDS
from learning.selectors.machines import damaged_ledgers


class Command(BaseCommand):
    """Check the ledger of every kind of machine."""

    help = "Checks that every box and every value equals its initial state plus all recorded changes."

    def handle(self, *args: Any, **options: Any) -> None:
        """Check all ledgers, and print the numbers of boxes and values checked.

        Raises:
            CommandError: lessons are missing, or a box or value differs from its ledger; the message has the first.
        """
        if missing := damaged_ledgers():
            raise CommandError(f"Machines of whose ledger lessons are missing: {missing}")
        counted = []
        # Kinds that share a ledger are checked together.
        for memory in {kind.memory.ledger: kind.memory for kind in KINDS.values()}.values():
            audit = memory.audit()
            if audit.errors:
                raise CommandError(audit.errors[0])
            counted += [audit.counted] if audit.counted else []
        first, *rest = counted
        self.stdout.write("".join([f"{first} add up", *(f", and {text}" for text in rest)]))
