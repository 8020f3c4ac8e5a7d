"""Celery tasks for the site as a whole."""

import logging
from pathlib import Path

from celery import shared_task
from django.conf import settings

from menace_site.operations import backups
from menace_site.operations.backups import BackupRunningError
from menace_site.operations.postgres_programs import BackupError

logger = logging.getLogger("menace_site.tasks")


@shared_task(name="menace_site.tasks.backup_daily")
def backup_daily() -> str | None:
    """Make the daily back-up if it is due, and return its path; log a failure and keep the older files."""
    if not settings.BACKUP_DIR:
        return None
    try:
        file = backups.backup_daily(Path(settings.BACKUP_DIR), max_files=settings.BACKUPS_KEPT)
    except BackupRunningError:
        return None
    except BackupError as error:
        logger.error("no back-up was made today: %s", error)
        return None
    return None if file is None else str(file)
