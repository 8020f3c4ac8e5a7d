"""``manage.py backup FOLDER``: write all data of the site into one file."""

import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from menace_site.local.errors import ServerError
from menace_site.operations.backups import backup_make, run_missing_servers
from menace_site.operations.postgres_programs import BackupError


class Command(BaseCommand):
    help = (
        "Writes all data of the site to a new file, also while the site runs. docs/backup.md says how to restore them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="folder of the file; made if it does not exist")

    def handle(self, folder: Path, **options: Any) -> None:
        """Make the back-up, and print its path, its size and the time taken."""
        started_at_s = time.monotonic()
        try:
            with run_missing_servers():
                file = backup_make(folder)
        except (BackupError, ServerError) as error:
            raise CommandError(str(error)) from error
        seconds = time.monotonic() - started_at_s
        self.stdout.write(f"{file}: {file.stat().st_size / 1e6:,.1f} MB in {seconds:,.1f} s")
