"""Tournaments, their entries and their pairings."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from games.validators import name_validate
from learning.models.jobs import Job, JobStatus
from learning.models.machines import SIDE_CHOICES, GameRow, Machine


class TournamentFormat(models.TextChoices):
    """The rule by which entries are paired."""

    ROUND_ROBIN = "round-robin", "everyone plays everyone"
    SWISS = "swiss", "Swiss: players with similar scores meet"


class Tournament(GameRow):
    """A tournament between machines and fixed opponents. No machine learns: each plays as it was at the start."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="tournaments"
    )
    name = models.CharField(max_length=80, validators=[name_validate])
    game = models.SlugField(max_length=40)
    format = models.CharField(max_length=11, choices=TournamentFormat)
    n_games = models.PositiveIntegerField(help_text="Games of each pairing.")
    n_rounds = models.PositiveSmallIntegerField(help_text="Number of rounds; 1 for a round robin.")
    round = models.PositiveSmallIntegerField(default=1, help_text="Number of the current round, from 1.")
    seed = models.BigIntegerField()
    is_public = models.BooleanField(help_text="Whether all machines in the tournament are public.")
    status = models.CharField(max_length=9, choices=JobStatus, default=JobStatus.RUNNING)
    version = models.PositiveIntegerField(default=0, help_text="Grows with every change.")
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(name="tournament_has_games", condition=Q(n_games__gte=1)),
            models.CheckConstraint(name="tournament_round", condition=Q(round__gte=1, round__lte=F("n_rounds"))),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("tournament", args=[self.pk])


class TournamentEntry(models.Model):
    """A machine or fixed opponent in a tournament, with the machine's side, rule and beads at the start.

    The values of a Q-table are not copied, because there can be a million: ``n_lessons`` is the place in the machine's
    ledger.
    """

    tournament = models.ForeignKey(Tournament, on_delete=models.CASCADE, related_name="entries")
    number = models.PositiveSmallIntegerField(help_text="0 for the first.")
    name = models.CharField(max_length=80)
    opponent = models.SlugField(max_length=40, blank=True, help_text="A fixed opponent; empty for a machine.")
    machine = models.ForeignKey(
        Machine,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="entries",
        help_text="The machine, until it is deleted.",
    )
    side = models.PositiveSmallIntegerField(
        null=True, blank=True, choices=SIDE_CHOICES, help_text="Empty if the entry plays both sides."
    )
    rule = models.JSONField(null=True, blank=True)
    beads = models.JSONField(null=True, blank=True, help_text="The beads of every box, by position.")
    epsilon = models.FloatField(null=True, blank=True, help_text="The exploration rate of a machine without boxes.")
    n_lessons = models.PositiveBigIntegerField(
        null=True,
        blank=True,
        help_text="For a machine without boxes: the number of its lessons at the start. It plays with "
        "what it knew then.",
    )

    class Meta:
        ordering = ["tournament_id", "number"]
        verbose_name_plural = "tournament entries"
        constraints = [
            models.UniqueConstraint(name="entry_once", fields=["tournament", "number"]),
            models.CheckConstraint(
                name="entry_is_machine_or_opponent",
                condition=Q(opponent="", rule__isnull=False)
                & (
                    Q(side__isnull=False, beads__isnull=False, epsilon__isnull=True, n_lessons__isnull=True)
                    | Q(side__isnull=True, beads__isnull=True, epsilon__isnull=False, n_lessons__isnull=False)
                )
                | ~Q(opponent="")
                & Q(machine__isnull=True, side__isnull=True, rule__isnull=True, beads__isnull=True)
                & Q(epsilon__isnull=True, n_lessons__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Pairing(Job):
    """The games between two entries, as one background job.

    The games depend only on the tournament's seed, the pairing's number and the entries.
    """

    tournament = models.ForeignKey(Tournament, on_delete=models.CASCADE, related_name="pairings")
    number = models.PositiveIntegerField(help_text="0 for the first; also the number of the pairing's random stream.")
    round = models.PositiveSmallIntegerField()
    first = models.ForeignKey(TournamentEntry, on_delete=models.CASCADE, related_name="pairings_as_first")
    second = models.ForeignKey(TournamentEntry, on_delete=models.CASCADE, related_name="pairings_as_second")
    random_state = models.CharField(
        max_length=33,
        blank=True,
        editable=False,
        help_text="State of the random generator after the games played so far: two words, hexadecimal.",
    )
    n_first_wins = models.PositiveIntegerField(default=0)
    n_draws = models.PositiveIntegerField(default=0)
    n_second_wins = models.PositiveIntegerField(default=0)
    expected = models.JSONField(
        null=True,
        blank=True,
        help_text="Exact chances: first wins, draw, second wins. Empty if the game is too large to compute them.",
    )

    class Meta:
        ordering = ["tournament_id", "number"]
        constraints = [
            models.UniqueConstraint(name="pairing_once", fields=["tournament", "number"]),
            models.CheckConstraint(name="pairing_of_two", condition=~Q(first=F("second"))),
        ]
        indexes = [models.Index(fields=["status", "lease_until"], name="pairing_status_lease")]

    def __str__(self) -> str:
        return f"pairing {self.number} of {self.tournament}"
