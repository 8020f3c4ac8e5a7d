"""Schedules of training runs that start repeatedly."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from learning.models.machines import Machine
from learning.models.runs import TrainingRun


class Schedule(models.Model):
    """A schedule by which training runs start. Its timing, and whether it is paused, are in the periodic task.

    ``next_at`` decides when the next run is due. Messages of beat are only wake-ups, so repeated messages start one run
    (``services.schedules.schedule_fire``).
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="schedules")
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="schedules")
    stages = models.JSONField(help_text="A list of objects with opponent, games and learns, as in a run.")
    seed = models.BigIntegerField(
        null=True, blank=True, help_text="The seed of every run; empty for a new seed each time."
    )
    # The related name cannot be "schedule", because beat reads that attribute of a periodic task.
    task = models.OneToOneField(PeriodicTask, on_delete=models.CASCADE, related_name="training_schedule")
    next_at = models.DateTimeField()
    n_fired = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(null=True, blank=True)
    last_run = models.ForeignKey(TrainingRun, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    note = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        indexes = [models.Index(fields=["next_at"], name="schedule_next_at")]

    def __str__(self) -> str:
        return f"schedule {self.pk} of {self.machine}"

    def get_absolute_url(self) -> str:
        return reverse("schedule", args=[self.pk])

    @property
    def n_games(self) -> int:
        return sum(stage["games"] for stage in self.stages)
