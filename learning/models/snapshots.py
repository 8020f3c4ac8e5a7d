"""Snapshots of machines during training, and the measurements by which one of them is chosen to play."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from beadbox.strength.snapshots import Points
from learning.models.machines import Machine
from learning.models.runs import TrainingRun


class Snapshot(models.Model):
    """A machine's state after some games of a run, stored as a place in its ledger: the number of the last lesson."""

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="snapshots", db_index=False)
    run = models.ForeignKey(TrainingRun, on_delete=models.CASCADE, related_name="snapshots")
    games_done = models.PositiveBigIntegerField(
        help_text="Games of the run before the snapshot; 0 for the state before the run."
    )
    n_trained = models.PositiveBigIntegerField(help_text="Games of all trainings of the machine before the snapshot.")
    n_left = models.PositiveBigIntegerField(
        default=0,
        help_text="Training games that the machine no longer knew, because an earlier snapshot had been chosen.",
    )
    n_lessons = models.PositiveBigIntegerField(help_text="Number of the machine's last lesson before the snapshot.")
    epsilon = models.FloatField(null=True, blank=True, help_text="The exploration rate at the snapshot.")
    plays_since = models.PositiveBigIntegerField(
        null=True,
        blank=True,
        help_text="For the snapshot that was chosen last: number of the machine's last lesson at that time.",
    )
    is_by_hand = models.BooleanField(
        default=False, help_text="Whether a person chose the snapshot, and not the measurements."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(name="snapshot_once", fields=["run", "games_done"]),
            models.UniqueConstraint(
                name="snapshot_plays_alone", fields=["machine"], condition=Q(plays_since__isnull=False)
            ),
        ]
        indexes = [models.Index(fields=["machine", "id"], name="snapshot_machine")]

    def __str__(self) -> str:
        return f"{self.machine} after {self.n_trained:,} games"


class Measurement(models.Model):
    """A snapshot's results against a level, in games from a set of openings.

    The measurement is complete when it has as many games as its run asks for (``n_measured``).
    """

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="measurements")
    level = models.SlugField(max_length=40, help_text="The slug of a fixed opponent.")
    openings = models.PositiveIntegerField(help_text="The seed of the set of openings.")
    seed = models.BigIntegerField(help_text="The seed of the games.")
    n_wins = models.PositiveIntegerField(default=0)
    n_draws = models.PositiveIntegerField(default=0)
    n_losses = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(name="measurement_once", fields=["snapshot", "level", "openings"])]

    def __str__(self) -> str:
        return f"{self.snapshot} against {self.level}"

    @property
    def points(self) -> Points:
        return Points(self.n_wins, self.n_draws, self.n_losses)
