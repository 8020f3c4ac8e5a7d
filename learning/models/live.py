"""Machines in live matches: their seats, and records of how they chose their moves."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from games.models import Seat
from learning.models.checks import SameLength
from learning.models.machines import Machine


class MachineSeat(models.Model):
    """The machine of a seat in a match. The row stays when a person takes over the seat."""

    seat = models.OneToOneField(Seat, primary_key=True, on_delete=models.CASCADE, related_name="machine_seat")
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="machine_seats")

    def __str__(self) -> str:
        return f"{self.machine} in {self.seat.match}"


class Draw(models.Model):
    """A move of a machine with boxes in a live match: the opened box, its beads before the draw, and the slot drawn.

    ``slot`` is ``None`` if the box was empty and was not refilled, so that the machine resigned. If it was refilled,
    ``beads`` are the initial beads.
    """

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="drawn", db_index=False)
    seat = models.ForeignKey(Seat, on_delete=models.CASCADE, related_name="drawn", db_index=False)
    ply = models.PositiveSmallIntegerField()
    position = models.CharField(max_length=100, help_text="The canonical position of the box.")
    slot = models.PositiveSmallIntegerField(null=True, blank=True)
    beads = ArrayField(models.IntegerField())
    refilled = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(name="draw_once", fields=["seat", "ply"])]
        indexes = [models.Index(fields=["machine", "-id"], name="draw_machine_last")]

    def __str__(self) -> str:
        return f"{self.position}: slot {self.slot}"


class Thought(models.Model):
    """A move of a machine with learnt weights in a live match: the search scores of all legal moves.

    ``beadbox.engines.position_values.SearchResult`` explains the scores. The weights at that time are in the
    machine's ledger.
    """

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="thoughts")
    seat = models.ForeignKey(Seat, on_delete=models.CASCADE, related_name="thoughts", db_index=False)
    ply = models.PositiveSmallIntegerField()
    n_lessons = models.PositiveBigIntegerField(help_text="Number of the machine's lessons at the time of the move.")
    chosen = models.PositiveSmallIntegerField(help_text="Index of the move played among the legal moves, from 0.")
    near = ArrayField(models.FloatField(), help_text="Score of each legal move at depth 1, in canonical order.")
    deep = ArrayField(
        models.FloatField(null=True),
        help_text="Score of each legal move at full depth. The score may be a bound, and is empty if "
        "the search did not need it.",
    )
    depth = models.PositiveSmallIntegerField(help_text="Full depth of the search, in moves.")

    class Meta:
        constraints = [
            models.UniqueConstraint(name="thought_once", fields=["seat", "ply"]),
            models.CheckConstraint(name="thought_aligned", condition=SameLength("near", "deep")),
        ]

    def __str__(self) -> str:
        return f"{self.machine} at ply {self.ply}"


class Decision(models.Model):
    """A move of a machine with a Q-table in a live match: the values of all legal actions, and the action played."""

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="decisions")
    seat = models.ForeignKey(Seat, on_delete=models.CASCADE, related_name="decisions")
    ply = models.PositiveSmallIntegerField()
    key = models.CharField(max_length=700, help_text="Key of the Q-table entry of the action played.")
    chosen = models.PositiveSmallIntegerField(help_text="Index of the action played among the legal actions, from 0.")
    values = ArrayField(
        models.FloatField(), help_text="Value of each legal action before the move, in canonical order."
    )
    explored = models.BooleanField(help_text="Whether the action was drawn at random, to explore.")
    epsilon = models.FloatField(help_text="The exploration rate at the time of the move.")

    class Meta:
        constraints = [
            models.UniqueConstraint(name="decision_once", fields=["seat", "ply"]),
            models.CheckConstraint(name="decision_epsilon", condition=Q(epsilon__gte=0, epsilon__lte=1)),
        ]

    def __str__(self) -> str:
        return self.key
