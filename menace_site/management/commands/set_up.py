"""``manage.py set_up``: everything between an empty database and a site that can be played on.

One process for all of it, since starting Django four times takes longer than what there is to do on a
second start. Each step leaves alone what is there already. Static files are collected on one's own machine alone: an
image has them already, and can't be written to. Data of a newer release are refused:
this code would write into tables that it does not know.
"""

from time import sleep
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from psycopg.errors import DeadlockDetected, LockNotAvailable

from menace_site.backups import migrations_unknown

TRIES, PAUSE_S = 240, 5.0
"""Twenty minutes, in which a table is asked for a twelfth of the time."""
IN_USE = (LockNotAvailable, DeadlockDetected)


class Command(BaseCommand):
    help = "Migrate, collect the static files, compile the kernels and train the first machines."

    def handle(self, *args: Any, **options: Any) -> None:
        if unknown := migrations_unknown(frozenset(MigrationRecorder(connection).applied_migrations())):
            raise CommandError(
                f"These data are of a newer release, which brings {', '.join(unknown)}: start that one, or restore a "
                "back-up that was made with this one (docs/backup.md)."
            )
        self.migrate()
        if settings.LOCAL:
            call_command("collectstatic", interactive=False, verbosity=0)
        call_command("warm_kernels")
        call_command("pretrain")

    def migrate(self) -> None:
        """Migrate, as often as a table is in use by somebody who reads it for long (``games/expanding.py``)."""
        for n_left in reversed(range(TRIES)):
            try:
                call_command("migrate", interactive=False, verbosity=0)
                return
            except OperationalError as error:
                if not isinstance(error.__cause__, IN_USE):
                    raise
                if not n_left:
                    raise CommandError(
                        "A table was in use all the time, by a back-up perhaps, so not all migrations are applied. "
                        "Nobody has been kept waiting; try again when it is over."
                    ) from error
            self.stderr.write("A table is in use, by a back-up perhaps: trying again.")
            sleep(PAUSE_S)
