"""Games and wins of each move of a machine, one row each, with a ledger."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from learning.models import Lesson, Machine


class WinCount(models.Model):
    """Games and wins of one move of a machine: current and initial counts."""

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="win_counts", db_index=False)
    key = models.TextField(help_text="The position, a blank and the move.")
    start = ArrayField(models.BigIntegerField(), size=2)
    held = ArrayField(models.BigIntegerField(), size=2)

    class Meta:
        app_label = "win_counter"  # needed because the module is imported before the app is installed
        constraints: ClassVar = [models.UniqueConstraint(name="win_count_once", fields=["machine", "key"])]

    def __str__(self) -> str:
        return f"{self.key} of {self.machine}"


class WinCountChange(models.Model):
    """The change of one row by one lesson."""

    lesson = models.ForeignKey(Lesson, on_delete=models.CASCADE, related_name="win_count_changes")
    count = models.ForeignKey(WinCount, on_delete=models.CASCADE, related_name="changes")
    deltas = ArrayField(models.BigIntegerField(), size=2)
    after = ArrayField(models.BigIntegerField(), size=2)

    class Meta:
        app_label = "win_counter"

    def __str__(self) -> str:
        return f"{self.count}: {self.deltas}"
