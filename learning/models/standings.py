"""Standings of machines: what the list of machines shows of a machine and the table of machines does not store."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from learning.models.machines import Machine


class Standing(models.Model):
    """The standing of a machine: its games, its latest known strength, and the curve of its strength.

    Every machine has a standing, except copies made for rooms. The statement that stores a lesson also updates
    ``lessons`` and ``games``. The maintenance worker computes the strength a little later. The columns have indexes and
    change with every lesson. In the machine's own row, which every move reads and every lesson updates, the indexes
    would keep PostgreSQL from updating the row in place. So a standing is a row of its own.
    """

    machine = models.OneToOneField(Machine, primary_key=True, on_delete=models.CASCADE, related_name="standing")
    lessons = models.PositiveBigIntegerField(default=0, help_text="The machine's n_lessons.")
    games = models.PositiveBigIntegerField(default=0, help_text="The machine's n_games.")
    measured = models.BigIntegerField(
        default=-1, help_text="Number of the machine's lessons when its strength was last computed; -1 if it never was."
    )
    win = models.FloatField(null=True, blank=True, help_text="Chance to win against random play.")
    draw = models.FloatField(null=True, blank=True)
    loss = models.FloatField(null=True, blank=True)
    score = models.FloatField(
        null=True, blank=True, help_text="The strength as one number, for sorting: win + draw / 2."
    )
    curve = ArrayField(
        models.FloatField(),
        default=list,
        blank=True,
        help_text="Numbers of games and scores in turn, in order of games.",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="standing_measured_whole",
                condition=Q(win__isnull=True, draw__isnull=True, loss__isnull=True, score__isnull=True)
                | Q(win__isnull=False, draw__isnull=False, loss__isnull=False, score__isnull=False),
            ),
        ]
        # Machines without a measurement come last.
        indexes = [
            models.Index(F("score").desc(nulls_last=True), F("machine").desc(), name="standing_score"),
            models.Index(F("games").desc(), F("machine").desc(), name="standing_games"),
            models.Index(fields=["machine"], name="standing_behind", condition=~Q(measured=F("lessons"))),
        ]

    def __str__(self) -> str:
        return f"{self.machine} after {self.games:,} games"

    @property
    def points(self) -> list[tuple[float, float]]:
        """The curve as pairs of games and score, in order of games."""
        return list(zip(self.curve[::2], self.curve[1::2], strict=True))
