"""Requested experiments and their results."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from learning.models.jobs import Job


class ExperimentRun(Job):
    """A requested experiment with its parameters and seed, which determine the result.

    A repeated request gets the existing row. ``edition`` is the edition of the experiment's code: a result of an older
    edition does not count for a newer one.
    """

    experiment = models.SlugField(max_length=40)
    edition = models.PositiveSmallIntegerField()
    parameters = models.JSONField(help_text="Every parameter with its value.")
    seed = models.BigIntegerField()
    progress = models.FloatField(default=0.0, help_text="0 to 1.")
    result = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="experiment_runs"
    )
    guest = models.UUIDField(null=True, blank=True, editable=False)
    cancel_requested = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="experiment_run_once", fields=["experiment", "edition", "seed", "parameters"]),
            models.CheckConstraint(name="experiment_progress", condition=Q(progress__gte=0, progress__lte=1)),
            models.CheckConstraint(
                name="experiment_finished_is_known",
                condition=Q(status="finished", result__isnull=False) | ~Q(status="finished") & Q(result__isnull=True),
            ),
        ]
        indexes = [models.Index(fields=["status", "lease_until"], name="experiment_status_lease")]

    def __str__(self) -> str:
        return f"{self.experiment}, seed {self.seed}"

    def get_absolute_url(self) -> str:
        """Return the address of the experiment's page with this run's result."""
        return f"{reverse('experiment', args=[self.experiment])}?run={self.pk}"

    @property
    def is_over(self) -> bool:
        """Whether the run is finished, cancelled or failed, and waits for no worker."""
        return self.finished_at is not None


class ExperimentPart(models.Model):
    """Results of an unfinished run: of the parts, from ``number`` on, that a worker finished in one turn.

    When the run ends, the results are combined and these rows are deleted.
    """

    run = models.ForeignKey(ExperimentRun, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField(help_text="0 for the first part of the experiment.")
    found = models.JSONField(help_text="The results of the parts, in order.")

    class Meta:
        ordering = ["run_id", "number"]
        constraints = [models.UniqueConstraint(name="experiment_part_once", fields=["run", "number"])]

    def __str__(self) -> str:
        return f"{self.run} from part {self.number} on"
