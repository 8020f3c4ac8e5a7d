"""The ledger of a machine: its lessons, with the changes of beads and values that they made.

The beads of a box are always its initial beads plus the sum of its changes. A writer of beads holds the lock on the
machine's row, and writes the lesson in the same transaction. Several machines are locked in ascending order of id.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from games.models import Match
from learning.models.checks import NoneNegative, SameLength
from learning.models.machines import Box, Machine
from learning.models.runs import TrainingRun
from learning.models.values import Value


class LessonKind(models.TextChoices):
    """The kind of event that a lesson records."""

    MATCH = "match", "a match ended"
    REFILL = "refill", "an empty box was filled again during a match"
    TRAINING = "training", "a chunk of a training run"
    CHOICE = "choice", "it went back to what it knew earlier"
    FOLDED = "folded", "what its earlier lessons came to together"


class Lesson(models.Model):
    """An entry of the ledger: an event, with the changes that it made to beads or values."""

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="lessons", db_index=False)
    number = models.PositiveBigIntegerField(help_text="1 for the machine's first lesson.")
    stands_for = models.PositiveBigIntegerField(
        default=1,
        db_default=1,
        help_text="Number of consecutive lessons that this entry stands for, itself included: 1, or "
        "more after compaction.",
    )
    kind = models.CharField(max_length=8, choices=LessonKind)
    match = models.ForeignKey(Match, null=True, blank=True, on_delete=models.PROTECT, related_name="lessons")
    run = models.ForeignKey(
        TrainingRun,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="lessons",
        help_text="The training run. It is deleted with the trained machine; the lessons of its opponent stay.",
    )
    n_wins = models.PositiveBigIntegerField(default=0)
    n_draws = models.PositiveBigIntegerField(default=0)
    n_losses = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="lesson_number_once", fields=["machine", "number"]),
            # A machine learns from a match only once, even if the end of the match is handled twice.
            models.UniqueConstraint(
                name="lesson_match_once", fields=["machine", "match"], condition=Q(kind=LessonKind.MATCH)
            ),
            models.CheckConstraint(
                name="lesson_has_one_cause",
                condition=Q(kind="training", match__isnull=True)
                | Q(kind__in=["choice", "folded"], run__isnull=True, match__isnull=True)
                | Q(kind__in=["match", "refill"], run__isnull=True, match__isnull=False),
            ),
            models.CheckConstraint(
                name="lesson_stands_for", condition=Q(stands_for=1) | Q(kind="folded", stands_for__gt=1)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.machine} lesson {self.number}"

    @property
    def last(self) -> int:
        """The number of the last lesson for which this one stands; the next lesson has the number after that."""
        return self.number + self.stands_for - 1


class Change(models.Model):
    """A lesson's effect on one box: the beads added to each slot (negative if removed), and the beads afterwards."""

    lesson = models.ForeignKey(Lesson, on_delete=models.CASCADE, related_name="changes")
    box = models.ForeignKey(Box, on_delete=models.CASCADE, related_name="changes", db_index=False)
    ply = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="The ply of the match; empty if the lesson is not of a match."
    )
    deltas = ArrayField(models.IntegerField())
    after = ArrayField(models.IntegerField())

    class Meta:
        constraints = [
            models.CheckConstraint(name="change_after_not_negative", condition=NoneNegative("after")),
            models.CheckConstraint(name="change_aligned", condition=SameLength("deltas", "after")),
        ]
        # Finds the beads of a box after a lesson, however many lessons came later.
        indexes = [models.Index(fields=["box", "lesson"], name="change_box_lesson")]

    def __str__(self) -> str:
        return f"{self.box}: {self.deltas}"


class ValueChange(models.Model):
    """A lesson's effect on one value; ``before`` equals ``after`` of the previous change of the value."""

    lesson = models.ForeignKey(Lesson, on_delete=models.CASCADE, related_name="value_changes")
    entry = models.ForeignKey(Value, on_delete=models.CASCADE, related_name="changes", db_index=False)
    ply = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="The ply of the match; empty if the lesson is not of a match."
    )
    before = models.FloatField()
    after = models.FloatField()

    class Meta:
        indexes = [models.Index(fields=["entry", "lesson"], name="valuechange_entry_lesson")]

    def __str__(self) -> str:
        return f"{self.entry}: {self.before} to {self.after}"
