"""Weights of machines that learn a value function of positions, after each lesson."""

from __future__ import annotations

from django.db import models
from django.db.models import BooleanField, Func, Q

from learning.models.ledger import Lesson
from learning.models.machines import Machine


class SameOctets(Func):
    """SQL: whether two byte strings have the same length."""

    template = "octet_length(%(expressions)s)"
    arg_joiner = ") = octet_length("
    output_field = BooleanField()
    arity = 2


class WholeFloats(Func):
    """SQL: whether a byte string has the length of a whole number of float64, at least one."""

    template = "octet_length(%(expressions)s) > 0 AND mod(octet_length(%(expressions)s), 8) = 0"
    output_field = BooleanField()
    arity = 1


class Weights(models.Model):
    """The weights of a machine initially and after each of its lessons; the latest row is the current state.

    The effect of a lesson is the difference between its row and the row before.
    """

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="weights", db_index=False)
    lesson = models.OneToOneField(
        Lesson,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="weights",
        help_text="Empty for the initial weights.",
    )
    n_learnt = models.PositiveBigIntegerField(
        help_text="Number of games learnt from; a game against itself counts once."
    )
    weights = models.BinaryField(help_text="The weights as float64, little-endian, in the order of the features.")
    average = models.BinaryField(
        help_text="Their mean over the last games, in the same form; zeros if the rule has no average."
    )

    class Meta:
        verbose_name_plural = "weights"
        constraints = [
            models.UniqueConstraint(name="weights_begin_once", fields=["machine"], condition=Q(lesson__isnull=True)),
            models.CheckConstraint(name="weights_whole", condition=WholeFloats("weights")),
            models.CheckConstraint(name="weights_aligned", condition=SameOctets("weights", "average")),
        ]
        indexes = [models.Index(fields=["machine", "-id"], name="weights_machine_last")]

    def __str__(self) -> str:
        return f"{self.machine} after {self.n_learnt} games"
