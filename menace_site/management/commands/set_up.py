"""``manage.py set_up``: every step from an empty database to a site that can be played on.

Each step keeps existing data. Data of a newer release are refused, because this code does not know their tables. One
process runs all steps: when nothing is left to do, starting Django four times would take longest. Only a local run
collects static files, in a parallel process. A container image already has them and is read-only.
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
from menace_site.operations.backups import unknown_migrations

MAX_TRIES, TRY_INTERVAL_S = 240, 5.0
"""Attempts to migrate while a table is in use, and seconds between two attempts: 20 minutes in all."""
IN_USE_ERRORS = (LockNotAvailable, DeadlockDetected)


def collect_static_files() -> None:
    """Collect the static files without those of Redoc, a schema viewer that no page uses."""
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=["redoc"])


@contextmanager
def run_in_parallel(function: Callable[[], None]) -> Iterator[None]:
    """Call a function in a parallel process while the block runs, and wait for it at the end of the block.

    Raises:
        CommandError: the function failed; its own output says why.
    """
    connection.close()  # A forked process must not share its parent's connection.
    process = get_context("fork").Process(target=function, daemon=True)
    process.start()
    yield
    process.join()
    if process.exitcode:
        raise CommandError("The static files could not be collected.")


class Command(BaseCommand):
    help = "Migrates, collects the static files or compiles the kernels, and makes the first machines."

    def handle(self, *args: Any, **options: Any) -> None:
        if unknown := unknown_migrations(frozenset(MigrationRecorder(connection).applied_migrations())):
            raise CommandError(
                f"These data are from a newer release, with the migrations {', '.join(unknown)}: start that release, "
                "or restore a back-up that was made with this release (docs/backup.md)."
            )
        with (
            run_in_parallel(collect_static_files) if settings.LOCAL else nullcontext(),
            self.step("Database", "making its tables"),
        ):
            self.migrate()
            # ``loaddata``, or an older release that still runs, may have created accounts without their name rows.
            account_names_fill(get_user_model(), AccountName)
        if not settings.LOCAL:  # In a local run the supervisor compiles the kernels while the site already serves.
            with self.step("Kernels", "compiling"):
                call_command("warm_kernels")
        with self.step("First machines", "reading"):
            call_command("pretrain")

    @contextmanager
    def step(self, name: str, action: str) -> Iterator[None]:
        """Print ``name`` and ``action`` at the start of a step, and the seconds taken at its end."""
        started_at_s = monotonic()
        self.say(f"{name}: {action}")
        yield
        self.say(f"{name}: ready in {monotonic() - started_at_s:.1f} s")

    def say(self, text: str) -> None:
        """Print a line and flush it, so that it keeps its order among the supervisor's lines."""
        self.stdout.write(text)
        self.stdout.flush()

    def migrate(self) -> None:
        """Migrate; try again while a long read locks a table (``games/transport/migration_operations.py``).

        Raises:
            CommandError: a table is still locked after ``MAX_TRIES`` attempts.
        """
        for n_left in reversed(range(MAX_TRIES)):
            try:
                call_command("migrate", interactive=False, verbosity=0)
                return
            except OperationalError as error:
                if not isinstance(error.__cause__, IN_USE_ERRORS):
                    raise
                if not n_left:
                    raise CommandError(
                        "A table was in use all the time, by a back-up perhaps, so not all migrations are applied. "
                        "Nobody has been kept waiting; try again when it is over."
                    ) from error
            self.stderr.write("A table is in use, by a back-up perhaps: trying again.")
            sleep(TRY_INTERVAL_S)
