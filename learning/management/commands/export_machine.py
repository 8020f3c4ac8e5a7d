"""``manage.py export_machine``: write a machine to a file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from beadbox.learners.formats import FORMATS
from games.exceptions import PlayError
from learning.access import machine_find
from learning.kinds.machines import machine_export


class Command(BaseCommand):
    """Write a machine to standard output or to a file."""

    help = "Writes a machine to standard output or to a file, in one of several formats."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """MACHINE [--format F] [--out FILE] [--any-size]."""
        parser.add_argument("machine", help="id or slug")
        parser.add_argument("--format", default="native", choices=FORMATS)
        parser.add_argument("--out", type=Path, help="file to write; default: standard output")
        parser.add_argument(
            "--any-size",
            action="store_true",
            help="write the machine even if it has more values than files usually may have",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the exported machine, or write it to ``--out``."""
        try:
            machine = machine_find(options["machine"])
            file = machine_export(machine, options["format"], any_size=options["any_size"])
        except PlayError as error:
            raise CommandError(str(error)) from None
        if options["out"] is None:
            self.stdout.write(file.text, ending="")
            return
        try:
            options["out"].write_text(file.text, encoding="utf-8", newline="")
        except OSError as error:
            raise CommandError(f"{options['out']}: {error.strerror}") from None
