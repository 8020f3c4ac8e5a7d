"""``manage.py set_up``: every step from an empty database to a site that can be played on.

One process runs all steps, since starting Django four times takes longer than the steps of a second start. Each step
keeps existing data. Only a local run collects static files, in a parallel process: an image has them already and is
read-only. Data of a newer release are refused, because this code does not know their tables.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from multiprocessing import get_context
from time import monotonic, sleep
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from psycopg.errors import DeadlockDetected, LockNotAvailable

from games.accounts.account_names import account_names_fill
from games.models import AccountName
from menace_site.operations.backups import migrations_unknown

TRIES, PAUSE_S = 240, 5.0
"""Attempts to migrate while a table is in use, and seconds between them: twenty minutes in all."""
IN_USE = (LockNotAvailable, DeadlockDetected)


def collect() -> None:
    """Collect the static files without those of Redoc, a schema viewer that no page uses."""
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=["redoc"])


@contextmanager
def in_parallel(function: Callable[[], None]) -> Iterator[None]:
    """Call a function in a parallel process while the block runs, and wait for both.

    Raises:
        CommandError: the function failed; its own output says why.
    """
    connection.close()  # processes cannot share a connection
    process = get_context("fork").Process(target=function, daemon=True)
    process.start()
    yield
    process.join()
    if process.exitcode:
        raise CommandError("The static files could not be collected.")


class Command(BaseCommand):
    help = "Migrate, collect the static files or compile the kernels, and make the first machines."

    def handle(self, *args: Any, **options: Any) -> None:
        if unknown := migrations_unknown(frozenset(MigrationRecorder(connection).applied_migrations())):
            raise CommandError(
                f"These data are of a newer release, which brings {', '.join(unknown)}: start that one, or restore a "
                "back-up that was made with this one (docs/backup.md)."
            )
        with in_parallel(collect) if settings.LOCAL else nullcontext(), self.step("Database", "making its tables"):
            self.migrate()
            # For accounts created without their names by ``loaddata``, or by an older release that ran meanwhile.
            account_names_fill(get_user_model(), AccountName)
        if not settings.LOCAL:  # in a local run the supervisor compiles them while the site already serves
            with self.step("Kernels", "compiling"):
                call_command("warm_kernels")
        with self.step("First machines", "reading"):
            call_command("pretrain")

    @contextmanager
    def step(self, name: str, doing: str) -> Iterator[None]:
        """Print the beginning of a step, and at its end the seconds taken."""
        begin = monotonic()
        self.say(f"{name}: {doing}")
        yield
        self.say(f"{name}: ready in {monotonic() - begin:.1f} s")

    def say(self, text: str) -> None:
        """Print a line and flush it, so that it keeps its order among the supervisor's lines."""
        self.stdout.write(text)
        self.stdout.flush()

    def migrate(self) -> None:
        """Migrate; try again while a long read uses a table (``games/transport/migration_operations.py``)."""
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
