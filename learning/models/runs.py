"""Training runs, their opponents and their curves."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from learning.models.jobs import Job
from learning.models.machines import Machine

SECOND_MACHINE = "A second machine"
"""The name of an opponent that learnt too, with the same rule, and is not stored: *Watch it learn* made it."""


class TrainingRun(Job):
    """A training run: a machine plays many games against its opponents, as a background job.

    With the stored random state, an interrupted run continues exactly where it stopped.
    """

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="runs")
    n_games = models.PositiveBigIntegerField()
    seed = models.BigIntegerField()
    games_done = models.PositiveBigIntegerField(default=0)
    n_wins = models.PositiveBigIntegerField(default=0)
    n_draws = models.PositiveBigIntegerField(default=0)
    n_losses = models.PositiveBigIntegerField(default=0)
    last_lesson = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="Number of the machine's last lesson from this run; 0 before the first."
    )
    random_state = models.CharField(
        max_length=33, editable=False, help_text="State of the random generator: two words, hexadecimal."
    )
    most_values = models.PositiveBigIntegerField(
        null=True,
        blank=True,
        help_text="Maximum number of the machine's values after this run. "
        "Only machines with a growing table have such a limit.",
    )
    n_left_out = models.PositiveBigIntegerField(
        default=0, help_text="Number of further values that the machine met and did not learn, because of that limit."
    )
    n_measured = models.PositiveIntegerField(
        default=0,
        help_text="Games of each snapshot against each level, half of them on either side; 0 for no measurements.",
    )
    cancel_requested = models.BooleanField(default=False)
    error = models.TextField(blank=True)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="training_runs"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(name="run_not_overdone", condition=Q(games_done__lte=F("n_games"))),
            models.CheckConstraint(
                name="run_games_add_up", condition=Q(games_done=F("n_wins") + F("n_draws") + F("n_losses"))
            ),
            models.CheckConstraint(
                name="run_finished_is_done", condition=~Q(status="finished") | Q(games_done=F("n_games"))
            ),
        ]
        indexes = [
            models.Index(fields=["status", "lease_until"], name="run_status_lease"),
            models.Index(fields=["machine"], name="run_unfinished", condition=Q(finished_at=None)),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}: {self.n_games:,} games"


class RunStage(models.Model):
    """A stage of a training run: a number of games against one opponent. Several stages are a curriculum."""

    run = models.ForeignKey(TrainingRun, on_delete=models.CASCADE, related_name="stages")
    number = models.PositiveSmallIntegerField(help_text="0 for the first.")
    opponent = models.SlugField(max_length=40, help_text="A fixed opponent, or 'machine'.")
    opponent_machine = models.ForeignKey(
        Machine,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="stages_against",
        help_text="The opponent, until it is deleted.",
    )
    opponent_name = models.CharField(
        max_length=80, blank=True, help_text="Name of the opponent's machine at the start."
    )
    opponent_learns = models.BooleanField(default=False)
    most_values = models.PositiveBigIntegerField(
        null=True,
        blank=True,
        help_text="Maximum number of the opponent's values after the run, if it learns and its table grows.",
    )
    n_games = models.PositiveBigIntegerField()

    class Meta:
        ordering = ["run_id", "number"]
        constraints = [
            models.UniqueConstraint(name="stage_once", fields=["run", "number"]),
            models.CheckConstraint(name="stage_has_games", condition=Q(n_games__gte=1)),
            models.CheckConstraint(
                name="stage_opponent_machine",
                condition=Q(opponent="machine")
                | ~Q(opponent="machine") & Q(opponent_machine__isnull=True, opponent_learns=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.n_games:,} games against {self.opponent_name or self.opponent}"

    @property
    def is_against_unstored(self) -> bool:
        """Whether the opponent was :data:`SECOND_MACHINE`. No lesson of a worker is the last of such a run."""
        return self.is_without_opponent and self.opponent_name == SECOND_MACHINE and self.run.last_lesson == 0

    @property
    def is_without_opponent(self) -> bool:
        """Whether the opponent was a machine that has been deleted."""
        return self.opponent == "machine" and self.opponent_machine_id is None


class CurvePoint(models.Model):
    """A point of a run's curve: the machine's strength after ``games_done`` games, and the results of training so far.

    The strength is exact, or a sample if the game is too large.
    """

    run = models.ForeignKey(TrainingRun, on_delete=models.CASCADE, related_name="curve")
    games_done = models.PositiveBigIntegerField()
    n_wins = models.PositiveBigIntegerField(help_text="Wins in training since the run began.")
    n_draws = models.PositiveBigIntegerField()
    n_losses = models.PositiveBigIntegerField()
    strength = models.JSONField(help_text="Exact win, draw and loss against each opponent and in the worst case.")

    class Meta:
        ordering = ["run_id", "games_done"]
        constraints = [
            models.UniqueConstraint(name="curve_point_once", fields=["run", "games_done"]),
            models.CheckConstraint(
                name="curve_games_add_up", condition=Q(games_done=F("n_wins") + F("n_draws") + F("n_losses"))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run} after {self.games_done:,}"
