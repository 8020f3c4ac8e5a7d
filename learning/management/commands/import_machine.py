"""``manage.py import_machine``: create a machine from a file."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from beadbox.learners.exchange.file_text import MAX_BYTES
from beadbox.learners.formats import FORMATS, IMPORT_PRESETS
from beadbox.rules.outcome import Side
from games.accounts.account_names import account_get_by_name
from games.exceptions import PlayError
from learning.kinds.machines import import_notes
from learning.kinds.registry import kind_of
from learning.services.machines import machine_import


class Command(BaseCommand):
    """Create a machine from a file or standard input."""

    help = "Makes a machine from a file. A file with an error changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """FILE [--format F] [--game G] [--side S] [--preset P] [--name N] [--owner U] [--any-size]."""
        parser.add_argument("file", help="path of the file, or - for standard input")
        parser.add_argument("--format", default="", choices=["", *FORMATS], help="default: inferred from the file")
        parser.add_argument("--game", default="", help="default: inferred from the file")
        parser.add_argument(
            "--side", choices=["first", "second"], help="side of the machine, for a file without a side or with both"
        )
        parser.add_argument(
            "--preset", default="", choices=["", *IMPORT_PRESETS], help="preset by which the machine will learn"
        )
        parser.add_argument("--name", default="")
        parser.add_argument("--any-size", action="store_true", help="read a file of any size")
        parser.add_argument("--owner", help="name of the owner's account; default: the machine belongs to the site")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import the machine, and print a summary and notes."""
        owner = None
        if options["owner"] is not None:
            owner = account_get_by_name(options["owner"])
            if owner is None:
                raise CommandError(f"there is no account {options['owner']!r}")
        try:
            imported = machine_import(
                user=owner,
                content=_content(options["file"], None if options["any_size"] else MAX_BYTES + 1),
                file_format=options["format"],
                game=options["game"],
                side=Side[options["side"].upper()] if options["side"] else None,
                preset=options["preset"],
                name=options["name"],
                any_size=options["any_size"],
            )
        except PlayError as error:
            raise CommandError(str(error)) from None
        machine = imported.machine
        content = kind_of(machine).page.content_phrase(machine)
        self.stdout.write(f"{machine}: id {machine.pk}, slug {machine.slug}, {content}")
        for note in import_notes(machine, imported.data, "name a preset with --preset"):
            self.stdout.write(note)


def _content(path: str, max_bytes: int | None) -> bytes:
    """Return the content of the file, at most ``max_bytes`` bytes (``None``: all)."""
    if path == "-":
        return sys.stdin.buffer.read(-1 if max_bytes is None else max_bytes)
    try:
        with Path(path).open("rb") as file:
            return file.read(-1 if max_bytes is None else max_bytes)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from None
