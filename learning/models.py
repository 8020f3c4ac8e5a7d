"""Machines, their boxes, and the ledger of every bead: lessons with the changes they made.

A box's beads are what it was laid out with plus the sum of its changes, always; whoever changes a bead holds the
lock on the machine's row and writes the lesson in the same transaction. Several machines are locked in ascending
order of id.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import BooleanField, F, Func, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django_celery_beat.models import PeriodicTask

from games.models import Match, Room, Seat, new_code
from games.rules.base import Game, Side
from games.rules.registry import game_get
from learning.core.machines.boxes import Cabinet
from learning.core.machines.q_learning import QRule
from learning.core.machines.registry import AnyRule, rule_read
from learning.core.machines.rule import Rule
from learning.exceptions import NoBoxesError

SIDES = [(0, "plays first"), (1, "plays second")]
MACHINE_SIDES = [(None, "plays either side"), *SIDES]


class NoneNegative(Func):
    """``0 <= ALL (array)``."""

    template = "0 <= ALL (%(expressions)s)"
    output_field = BooleanField()
    arity = 1


class SameLength(Func):
    """Two arrays have the same number of elements."""

    template = "cardinality(%(expressions)s)"
    arg_joiner = ") = cardinality("
    output_field = BooleanField()
    arity = 2


def machine_slug() -> str:
    """A slug for a machine that nobody named."""
    return f"m-{new_code()}"


class Machine(models.Model):
    """A learner: its own copy of a rule, the side it plays, and totals of what it has learnt from."""

    slug = models.SlugField(max_length=60, unique=True, default=machine_slug)
    name = models.CharField(max_length=80)
    description = models.TextField(blank=True, max_length=2000)
    game = models.SlugField(max_length=40)
    side = models.PositiveSmallIntegerField(choices=MACHINE_SIDES, null=True, blank=True)
    preset = models.SlugField(max_length=40, blank=True, help_text="The preset its rule was copied from.")
    rule = models.JSONField()
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="machines"
    )
    is_public = models.BooleanField(default=True)
    learns = models.BooleanField(default=True, help_text="A frozen machine plays and does not learn.")
    copied_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="copies")
    room = models.ForeignKey(
        Room,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="fresh_machines",
        help_text="The room a fresh copy was made for.",
    )
    epsilon = models.FloatField(
        null=True, blank=True, help_text="Of a machine that keeps values: how often it tries anything."
    )
    n_lessons = models.PositiveBigIntegerField(default=0)
    n_games = models.PositiveBigIntegerField(default=0)
    n_wins = models.PositiveBigIntegerField(default=0)
    n_draws = models.PositiveBigIntegerField(default=0)
    n_losses = models.PositiveBigIntegerField(default=0)
    n_removed = models.PositiveBigIntegerField(default=0, help_text="Slots taken out of play so far.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            # A machine that keeps boxes plays one side for good, one that keeps values plays either and explores.
            models.CheckConstraint(
                name="machine_side",
                condition=Q(side__isnull=False, side__lte=1, epsilon__isnull=True)
                | Q(side__isnull=True, epsilon__isnull=False, epsilon__gte=0, epsilon__lte=1),
            ),
            models.CheckConstraint(
                name="machine_games_add_up",
                condition=Q(n_games=F("n_wins") + F("n_draws") + F("n_losses")),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """The machine's page."""
        return reverse("machine", args=[self.pk])

    @property
    def rules(self) -> Game[Any, Any]:
        """The rules of the machine's game."""
        return game_get(self.game)

    @cached_property
    def any_rule(self) -> AnyRule:
        """The machine's own copy of its rule, of whatever kind."""
        return rule_read(self.rule)

    @property
    def keeps_values(self) -> bool:
        """Whether it is a machine that keeps values instead of boxes with beads."""
        return isinstance(self.any_rule, QRule)

    @property
    def learning_rule(self) -> Rule:
        """The machine's own copy of its rule, of a machine that keeps boxes.

        Raises:
            NoBoxesError: it keeps values.
        """
        if not isinstance(self.any_rule, Rule):
            raise NoBoxesError(f"{self.name} has no boxes: it keeps a value for every move it has tried.")
        return self.any_rule

    @cached_property
    def cabinet(self) -> Cabinet:
        """Which boxes the machine has, and what its beads stand for.

        Raises:
            NoBoxesError: it keeps values.
        """
        rule = self.learning_rule
        assert self.side is not None, "whoever has boxes plays one side"
        return Cabinet(self.rules, Side(self.side), rule)

    @property
    def level(self) -> int:
        """HexapawnRL's measure of experience."""
        return 1 + self.n_removed


class Box(models.Model):
    """A matchbox: a canonical position and, per slot, its beads. One row a box (docs/decisions/0020-ledger.md)."""

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="boxes")
    position = models.CharField(max_length=100)
    ply = models.PositiveSmallIntegerField()
    move_number = models.PositiveSmallIntegerField(help_text="The machine's own, 1 for its first move.")
    start = ArrayField(models.IntegerField(), help_text="Beads it was laid out with; differs from the rule in a copy.")
    beads = ArrayField(models.IntegerField())
    draws = ArrayField(models.BigIntegerField(), help_text="How often each slot was played in games learnt from.")

    class Meta:
        verbose_name_plural = "boxes"
        constraints = [
            models.UniqueConstraint(name="box_once", fields=["machine", "position"]),
            models.CheckConstraint(name="box_move_number_counts_from_one", condition=Q(move_number__gte=1)),
            models.CheckConstraint(name="box_beads_not_negative", condition=NoneNegative("beads")),
            models.CheckConstraint(name="box_start_not_negative", condition=NoneNegative("start")),
            models.CheckConstraint(name="box_draws_not_negative", condition=NoneNegative("draws")),
            models.CheckConstraint(name="box_beads_aligned", condition=SameLength("beads", "start")),
            models.CheckConstraint(name="box_draws_aligned", condition=SameLength("draws", "start")),
        ]

    def __str__(self) -> str:
        return self.position

    def get_absolute_url(self) -> str:
        """The box's page."""
        return reverse("box", args=[self.machine_id, self.position])


class Value(models.Model):
    """An entry of the table of a machine that keeps values: what an action on a board is worth to it.

    Only what was learnt has a row; everything else is 0. Rows are many, and a move reads those of its own actions.
    """

    # No index of its own: while nothing is known of the table's statistics the planner would rather take that one, and
    # read every entry of the machine. ``value_once`` does both.
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="values", db_index=False)
    key = models.CharField(max_length=700, help_text="Action and pieces, as docs/rules/romgon.md writes them.")
    start = models.FloatField(default=0, help_text="Where its ledger begins; not 0 in a copy.")
    value = models.FloatField()
    n_visits = models.PositiveBigIntegerField(default=0, help_text="How often it was learnt.")

    class Meta:
        constraints = [models.UniqueConstraint(name="value_once", fields=["machine", "key"])]

    def __str__(self) -> str:
        return self.key


class RunStatus(models.TextChoices):
    """Where a training run stands."""

    QUEUED = "queued", "waiting"
    RUNNING = "running", "running"
    FINISHED = "finished", "finished"
    CANCELLED = "cancelled", "cancelled"
    FAILED = "failed", "failed"


class TrainingRun(models.Model):
    """A bulk training job. The row is the truth; the random state makes it go on exactly where it stopped."""

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="runs")
    n_games = models.PositiveBigIntegerField()
    seed = models.BigIntegerField()
    status = models.CharField(max_length=9, choices=RunStatus, default=RunStatus.QUEUED)
    games_done = models.PositiveBigIntegerField(default=0)
    n_wins = models.PositiveBigIntegerField(default=0)
    n_draws = models.PositiveBigIntegerField(default=0)
    n_losses = models.PositiveBigIntegerField(default=0)
    random_state = models.CharField(max_length=33, editable=False, help_text="Two words of state, hexadecimal.")
    cancel_requested = models.BooleanField(default=False)
    lease_until = models.DateTimeField(null=True, blank=True, editable=False)
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
        indexes = [models.Index(fields=["status", "lease_until"], name="run_status_lease")]

    def __str__(self) -> str:
        return f"run {self.pk}: {self.n_games:,} games"


class RunStage(models.Model):
    """One opponent of a training run; several in a row are a curriculum."""

    run = models.ForeignKey(TrainingRun, on_delete=models.CASCADE, related_name="stages")
    number = models.PositiveSmallIntegerField(help_text="0 for the first.")
    opponent = models.SlugField(max_length=40, help_text="A fixed opponent, or 'machine'.")
    opponent_machine = models.ForeignKey(
        Machine,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="stages_against",
        help_text="While it exists.",
    )
    opponent_name = models.CharField(max_length=80, blank=True, help_text="What a machine was called at the start.")
    opponent_learns = models.BooleanField(default=False)
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
    def is_without_opponent(self) -> bool:
        """Whether the machine to play against has been deleted."""
        return self.opponent == "machine" and self.opponent_machine_id is None


class CurvePoint(models.Model):
    """What a machine was worth after so many games of a run: sampled by the games since, and exactly."""

    run = models.ForeignKey(TrainingRun, on_delete=models.CASCADE, related_name="curve")
    games_done = models.PositiveBigIntegerField()
    n_wins = models.PositiveBigIntegerField(help_text="In training, since the run began.")
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


class LessonKind(models.TextChoices):
    """What taught a machine."""

    MATCH = "match", "a match ended"
    REFILL = "refill", "an empty box was filled again during a match"
    TRAINING = "training", "a chunk of a training run"


class Lesson(models.Model):
    """One entry of the ledger: a cause, and through its changes what became of the beads."""

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="lessons")
    number = models.PositiveBigIntegerField(help_text="1 for the machine's first lesson, without gaps.")
    kind = models.CharField(max_length=8, choices=LessonKind)
    match = models.ForeignKey(Match, null=True, blank=True, on_delete=models.PROTECT, related_name="lessons")
    run = models.ForeignKey(
        TrainingRun,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="lessons",
        help_text="While it exists: it goes with the machine that was trained, and what its opponent learnt stays.",
    )
    n_wins = models.PositiveBigIntegerField(default=0)
    n_draws = models.PositiveBigIntegerField(default=0)
    n_losses = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="lesson_number_once", fields=["machine", "number"]),
            # Learning from a match happens once, whatever arrives twice.
            models.UniqueConstraint(
                name="lesson_match_once", fields=["machine", "match"], condition=Q(kind=LessonKind.MATCH)
            ),
            models.CheckConstraint(
                name="lesson_has_one_cause",
                condition=Q(kind="training", match__isnull=True)
                | Q(kind__in=["match", "refill"], run__isnull=True, match__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.machine} lesson {self.number}"


class Change(models.Model):
    """What a lesson did to one box: beads added to each slot (negative: taken), as applied, and the beads after."""

    lesson = models.ForeignKey(Lesson, on_delete=models.CASCADE, related_name="changes")
    box = models.ForeignKey(Box, on_delete=models.CASCADE, related_name="changes")
    ply = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Of the match, where a match taught.")
    deltas = ArrayField(models.IntegerField())
    after = ArrayField(models.IntegerField())

    class Meta:
        constraints = [
            models.CheckConstraint(name="change_after_not_negative", condition=NoneNegative("after")),
            models.CheckConstraint(name="change_aligned", condition=SameLength("deltas", "after")),
        ]

    def __str__(self) -> str:
        return f"{self.box}: {self.deltas}"


class ValueChange(models.Model):
    """What a lesson did to one value. The changes of a value are a chain: each begins with what the one before left."""

    lesson = models.ForeignKey(Lesson, on_delete=models.CASCADE, related_name="value_changes")
    entry = models.ForeignKey(Value, on_delete=models.CASCADE, related_name="changes")
    ply = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Of the match, where a match taught.")
    before = models.FloatField()
    after = models.FloatField()

    def __str__(self) -> str:
        return f"{self.entry}: {self.before} to {self.after}"


class MachineSeat(models.Model):
    """Which machine sits in a seat of a match, or has its seat taken over by a person."""

    seat = models.OneToOneField(Seat, primary_key=True, on_delete=models.CASCADE, related_name="machine_seat")
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="machine_seats")

    def __str__(self) -> str:
        return f"{self.machine} in {self.seat.match}"


class Draw(models.Model):
    """A box opened in a live match: its beads before, and the slot drawn (none: the box was empty, it resigned)."""

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="drawn")
    seat = models.ForeignKey(Seat, on_delete=models.CASCADE, related_name="drawn")
    ply = models.PositiveSmallIntegerField()
    box = models.ForeignKey(Box, on_delete=models.CASCADE, related_name="drawn")
    slot = models.PositiveSmallIntegerField(null=True, blank=True)
    beads = ArrayField(models.IntegerField())
    refilled = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(name="draw_once", fields=["seat", "ply"])]
        indexes = [models.Index(fields=["machine", "-id"], name="draw_machine_last")]

    def __str__(self) -> str:
        return f"{self.box}: slot {self.slot}"


class Decision(models.Model):
    """A choice of a machine that keeps values, in a live match: the values of all legal actions, and the one played."""

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


class Schedule(models.Model):
    """A training run that starts again and again. When, and whether it rests, is in the periodic task underneath.

    ``next_at`` is the truth about what is due: beat only knocks, so a knock that comes twice, or ten that waited for a
    worker, start one run (``services_schedules.schedule_fire``).
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="schedules")
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="schedules")
    stages = models.JSONField(help_text="A list of opponent, games and learns, as in a run.")
    seed = models.BigIntegerField(null=True, blank=True, help_text="Empty: a fresh one for each run.")
    # Not "schedule": beat reads that name of a periodic task.
    task = models.OneToOneField(PeriodicTask, on_delete=models.CASCADE, related_name="training_schedule")
    next_at = models.DateTimeField()
    n_fired = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(null=True, blank=True)
    last_run = models.ForeignKey(TrainingRun, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    note = models.CharField(max_length=300, blank=True, help_text="Why the last time started no run.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        indexes = [models.Index(fields=["next_at"], name="schedule_next_at")]

    def __str__(self) -> str:
        return f"schedule {self.pk} of {self.machine}"

    def get_absolute_url(self) -> str:
        """The schedule's page."""
        return reverse("schedule", args=[self.pk])

    @property
    def n_games(self) -> int:
        """Games of each run."""
        return sum(stage["games"] for stage in self.stages)


class TournamentFormat(models.TextChoices):
    """Who meets whom."""

    ROUND_ROBIN = "round-robin", "everybody against everybody"
    SWISS = "swiss", "Swiss: equals meet equals"


class Tournament(models.Model):
    """Machines and fixed opponents against each other. Nobody learns: every machine plays as it was at the start."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="tournaments"
    )
    name = models.CharField(max_length=80)
    game = models.SlugField(max_length=40)
    format = models.CharField(max_length=11, choices=TournamentFormat)
    n_games = models.PositiveIntegerField(help_text="Of each pairing.")
    n_rounds = models.PositiveSmallIntegerField(help_text="A round robin has one.")
    round = models.PositiveSmallIntegerField(default=1, help_text="The one that is played.")
    seed = models.BigIntegerField()
    is_public = models.BooleanField(help_text="Whether all its machines are.")
    status = models.CharField(max_length=9, choices=RunStatus, default=RunStatus.RUNNING)
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
        """The tournament's page."""
        return reverse("tournament", args=[self.pk])

    @property
    def rules(self) -> Game[Any, Any]:
        """The rules of the game that is played."""
        return game_get(self.game)


class TournamentEntry(models.Model):
    """Who takes part. Of a machine, side, rule and beads are those of the moment the tournament began.

    Values can be a million, so they are not copied: ``n_lessons`` says up to where the machine's ledger counts.
    """

    tournament = models.ForeignKey(Tournament, on_delete=models.CASCADE, related_name="entries")
    number = models.PositiveSmallIntegerField(help_text="0 for the first.")
    name = models.CharField(max_length=80)
    opponent = models.SlugField(max_length=40, blank=True, help_text="A fixed opponent; empty for a machine.")
    machine = models.ForeignKey(
        Machine, null=True, blank=True, on_delete=models.SET_NULL, related_name="entries", help_text="While it exists."
    )
    side = models.PositiveSmallIntegerField(null=True, blank=True, choices=SIDES, help_text="Empty: plays both.")
    rule = models.JSONField(null=True, blank=True)
    beads = models.JSONField(null=True, blank=True, help_text="Of every box, by position.")
    epsilon = models.FloatField(null=True, blank=True, help_text="Of a machine that keeps values.")
    n_lessons = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Of a machine that keeps values: it plays with what it knew after so many."
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


class Pairing(models.Model):
    """So many games between two entries, one task: its games follow from the tournament's seed and its number."""

    tournament = models.ForeignKey(Tournament, on_delete=models.CASCADE, related_name="pairings")
    number = models.PositiveIntegerField(help_text="0 for the first; the stream of its random source.")
    round = models.PositiveSmallIntegerField()
    first = models.ForeignKey(TournamentEntry, on_delete=models.CASCADE, related_name="pairings_as_first")
    second = models.ForeignKey(TournamentEntry, on_delete=models.CASCADE, related_name="pairings_as_second")
    status = models.CharField(max_length=9, choices=RunStatus, default=RunStatus.QUEUED)
    knocked_at = models.DateTimeField(default=timezone.now, editable=False)
    lease_until = models.DateTimeField(null=True, blank=True, editable=False)
    n_first_wins = models.PositiveIntegerField(default=0)
    n_draws = models.PositiveIntegerField(default=0)
    n_second_wins = models.PositiveIntegerField(default=0)
    expected = models.JSONField(
        null=True,
        blank=True,
        help_text="Exact chances: first wins, draw, second wins. Empty where the game is too large to work them out.",
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


class ExperimentRun(models.Model):
    """One experiment with its parameters and its seed: the same always comes to the same, so it is kept once.

    What is asked for again is answered from here. ``edition`` is that of the experiment: what an older one came to is
    not taken for the newer one's.
    """

    experiment = models.SlugField(max_length=40)
    edition = models.PositiveSmallIntegerField()
    parameters = models.JSONField(help_text="Every parameter with its value.")
    seed = models.BigIntegerField()
    status = models.CharField(max_length=9, choices=RunStatus, default=RunStatus.QUEUED)
    progress = models.FloatField(default=0.0, help_text="0 to 1.")
    result = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="experiment_runs"
    )
    guest = models.UUIDField(null=True, blank=True, editable=False)
    cancel_requested = models.BooleanField(default=False)
    knocked_at = models.DateTimeField(default=timezone.now, editable=False)
    lease_until = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="experiment_run_once", fields=["experiment", "edition", "seed", "parameters"]),
            models.CheckConstraint(name="experiment_progress", condition=Q(progress__gte=0, progress__lte=1)),
            models.CheckConstraint(
                name="experiment_finished_is_known",
                condition=Q(status="finished", result__isnull=False) | ~Q(status="finished") & Q(result__isnull=True),
            ),
        ]
        indexes = [models.Index(fields=["status", "lease_until"], name="experiment_status_lease")]

    def __str__(self) -> str:
        return f"{self.experiment}, seed {self.seed}"

    def get_absolute_url(self) -> str:
        """The experiment's page, with this run's result."""
        return f"{reverse('experiment', args=[self.experiment])}?run={self.pk}"

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it, unless it is asked for again."""
        return self.finished_at is not None
