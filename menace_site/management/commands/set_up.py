"""``manage.py set_up``: everything between an empty database and a site that can be played on.

One process for all of it, since starting Django four times takes longer than what there is to do on a
second start. Each step leaves alone what is there already. Static files are collected on one's own machine alone, by a
process beside: an image has them already, and can't be written to. Data of a newer release are refused:
this code would write into tables that it does not know.
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
"""Twenty minutes, in which a table is asked for a twelfth of the time."""
IN_USE = (LockNotAvailable, DeadlockDetected)


def collect() -> None:
    """Collect the static files, but for those of a viewer of schemas that no page of ours shows."""
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=["redoc"])


@contextmanager
def beside(function: Callable[[], None]) -> Iterator[None]:
    """Call a function in a process of its own while the block goes on, and wait for both.

    Raises:
        CommandError: the function failed; the reason stands above.
    """
    connection.close()  # it belongs to one process
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
        with beside(collect) if settings.LOCAL else nullcontext(), self.step("Database", "making its tables"):
            self.migrate()
            # Of accounts that an older release made meanwhile, or ``loaddata``.
            account_names_fill(get_user_model(), AccountName)
        if not settings.LOCAL:  # at home the supervisor compiles them, beside a site that is there already
            with self.step("Kernels", "compiling"):
                call_command("warm_kernels")
        with self.step("First machines", "reading"):
            call_command("pretrain")

    @contextmanager
    def step(self, name: str, doing: str) -> Iterator[None]:
        """Report that a step begins, and how long it took."""
        begin = monotonic()
        self.say(f"{name}: {doing}")
        yield
        self.say(f"{name}: ready in {monotonic() - begin:.1f} s")

    def say(self, text: str) -> None:
        """Write a line, at once: the supervisor's stand between."""
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
