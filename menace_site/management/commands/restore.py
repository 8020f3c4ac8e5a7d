"""``manage.py restore FILE``: fill an empty site from a back-up."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from games.models import ApiToken
from games.transport.database_errors import error_summary
from menace_site.local.errors import ServerError
from menace_site.local.given_servers import check_given_redis
from menace_site.operations.backups import accounts_log_out, backup_restore, cache_forget, run_missing_servers
from menace_site.operations.postgres_programs import BackupError


@contextlib.contextmanager
def _explain_restart_on_failure(progress: str) -> Iterator[None]:
    """Turn any failure of the block, Ctrl-C included, into a ``CommandError`` that tells how to start again.

    ``progress`` says which steps are done.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        advice = "Do not start the site: empty the database, and restore the file again."
        raise CommandError(f"{error_summary(error)} - {progress}. {advice}") from error


class Command(BaseCommand):
    help = "Restores a back-up into an empty database, logs all accounts out, migrates the data, and audits every bead."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="file that manage.py backup has written")
        parser.add_argument("--revoke-tokens", action="store_true", help="revoke all tokens of programs")

    def handle(self, file: Path, *, revoke_tokens: bool, **options: Any) -> None:
        """Restore the file, log accounts out, migrate, and audit every bead; print a summary."""
        try:
            with run_missing_servers():
                check_given_redis(settings.REDIS_URL)
                backup_restore(file)
                with _explain_restart_on_failure(
                    "the data are back, but sessions and tokens as they were then may still work"
                ):
                    self.stdout.write(f"{accounts_log_out():,} sessions of accounts have ended; visitors stay known.")
                    self._tokens(revoke=revoke_tokens)
                with _explain_restart_on_failure(
                    "the data are back and accounts logged out, but no more than that was done"
                ):
                    call_command("migrate", interactive=False, verbosity=0)
                    cache_forget()
                call_command("audit", stdout=self.stdout)
        except (BackupError, ServerError) as error:
            raise CommandError(str(error)) from error

    def _tokens(self, *, revoke: bool) -> None:
        tokens = ApiToken.objects.filter(revoked_at=None)
        if revoke:
            self.stdout.write(f"{tokens.update(revoked_at=timezone.now()):,} tokens of programs have been revoked.")
        else:
            self.stdout.write(f"{tokens.count():,} tokens of programs work, also those revoked since that copy.")
