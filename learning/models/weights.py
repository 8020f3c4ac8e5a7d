"""What machines that learn a value of positions know: a list of weights, as it was after each of their lessons."""

from __future__ import annotations

from django.db import models
from django.db.models import BooleanField, Func, Q

from learning.models.ledger import Lesson
from learning.models.machines import Machine


class SameOctets(Func):
    """Two byte strings are of one length."""

    template = "octet_length(%(expressions)s)"
    arg_joiner = ") = octet_length("
    output_field = BooleanField()
    arity = 2


class WholeFloats(Func):
    """A byte string is as long as some number of float64, at least one."""

    template = "octet_length(%(expressions)s) > 0 AND mod(octet_length(%(expressions)s), 8) = 0"
    output_field = BooleanField()
    arity = 1


class Weights(models.Model):
    """What a machine knew when it began, and after each of its lessons: its latest row is what it knows.

    So the ledger needs no sum: what a lesson did is the difference of its row and the one before.
    """

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="weights", db_index=False)
    lesson = models.OneToOneField(
        Lesson, null=True, blank=True, on_delete=models.CASCADE, related_name="weights", help_text="None: it began so."
    )
    n_learnt = models.PositiveBigIntegerField(help_text="From how many games; one against itself counts once.")
    weights = models.BinaryField(help_text="float64, little-endian, in the order of its features.")
    average = models.BinaryField(help_text="Their mean over the last games, the same way; 0 where its rule has none.")

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
