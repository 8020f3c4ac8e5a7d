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

    ``slot`` is ``None`` if the box was empty, so that the machine resigned.
    """

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="drawn", db_index=False)
    seat = models.ForeignKey(Seat, on_delete=models.CASCADE, related_name="drawn", db_index=False)
    ply = models.PositiveSmallIntegerField()
    position = models.CharField(max_length=100, help_text="That of the box.")
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

    ``beadbox.engines.position_values.Look`` explains the scores. The weights at that time are in the machine's ledger.
    """

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="thoughts")
    seat = models.ForeignKey(Seat, on_delete=models.CASCADE, related_name="thoughts", db_index=False)
    ply = models.PositiveSmallIntegerField()
    n_lessons = models.PositiveBigIntegerField(help_text="It knew what it knew after so many.")
    chosen = models.PositiveSmallIntegerField(help_text="The move played: its place among the legal ones, 0 first.")
    near = ArrayField(models.FloatField(), help_text="Of every legal move, in canonical order: the board after it.")
    deep = ArrayField(
        models.FloatField(null=True), help_text="The same at full depth, as far as the search had to know it."
    )
    depth = models.PositiveSmallIntegerField(help_text="How many moves ahead that is.")

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
    key = models.CharField(max_length=700, help_text="Of the entry of the action played.")
    chosen = models.PositiveSmallIntegerField(help_text="Its place among the legal actions, 0 for the first.")
    values = ArrayField(models.FloatField(), help_text="Of every legal action, in canonical order, as they were.")
    explored = models.BooleanField(help_text="Whether it tried anything, instead of what it thought best.")
    epsilon = models.FloatField(help_text="How likely that was.")

    class Meta:
        constraints = [
            models.UniqueConstraint(name="decision_once", fields=["seat", "ply"]),
            models.CheckConstraint(name="decision_epsilon", condition=Q(epsilon__gte=0, epsilon__lte=1)),
        ]

    def __str__(self) -> str:
        return self.key
