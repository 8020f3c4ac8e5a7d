"""The base model of background jobs, and the turns by which workers serve them fairly."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from games.transport.request_context import request_id


class JobStatus(models.TextChoices):
    """The status of a background job."""

    QUEUED = "queued", "waiting"
    RUNNING = "running", "running"
    FINISHED = "finished", "finished"
    CANCELLED = "cancelled", "cancelled"
    FAILED = "failed", "failed"


class Job(models.Model):
    """A background job: its status, and the lease of the worker that has it (``workers.jobs``).

    ``knocked_at`` is the time of the last wake-up message for the job.
    """

    status = models.CharField(max_length=9, choices=JobStatus, default=JobStatus.QUEUED)
    knocked_at = models.DateTimeField(default=timezone.now, editable=False)
    lease_until = models.DateTimeField(null=True, blank=True, editable=False)
    # The database has a default of its own, because workers of the previous release do not know the column.
    leased_by = models.CharField(
        max_length=100,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="Host and process of the worker that holds the lease.",
    )
    request_id = models.CharField(
        max_length=64,
        blank=True,
        default=request_id,
        db_default="",
        editable=False,
        help_text="Id of the request that created the job, as in the log.",
    )

    class Meta:
        abstract = True


class Turn(models.Model):
    """The time of the last turn of a kind of job for an account; guests and the site count as one account."""

    kind = models.SlugField(max_length=12)
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(name="turn_once", fields=["kind", "account"], nulls_distinct=False),
        ]
        indexes = [models.Index(fields=["kind", "last_at"], name="turn_kind_last")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.account_id}"
