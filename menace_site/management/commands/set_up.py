"""``manage.py set_up``: everything between an empty database and a site that can be played on.

One process for all of it, since starting Django four times takes longer than what there is to do on a
second start. Each step leaves alone what is there already. Static files are collected on one's own machine alone: an
image has them already, and can't be written to. Data of a newer release are refused:
this code would write into tables that it does not know.
"""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from menace_site.backups import migrations_unknown


class Command(BaseCommand):
    help = "Migrate, collect the static files, compile the kernels and train the first machines."

    def handle(self, *args: Any, **options: Any) -> None:
        if unknown := migrations_unknown(frozenset(MigrationRecorder(connection).applied_migrations())):
            raise CommandError(
                f"These data are of a newer release, which brings {', '.join(unknown)}: start that one, or restore a "
                "back-up that was made with this one (docs/backup.md)."
            )
        call_command("migrate", interactive=False, verbosity=0)
        if settings.LOCAL:
            call_command("collectstatic", interactive=False, verbosity=0)
        call_command("warm_kernels")
        call_command("pretrain")
