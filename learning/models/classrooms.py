"""Classes, and their pupils: each pupil teaches a machine and needs no account."""

from __future__ import annotations

from typing import TypedDict
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from beadbox.rules.outcome import Side
from games.models import new_code
from games.validators import name_validate
from learning.models.jobs import Job, JobStatus
from learning.models.machines import GameRow, Machine
from learning.models.sharing import SharedLink, link_secret

MAX_PUPIL_NAME_LENGTH = 24
"""Maximum number of characters of a pupil's name: as many as a line of the projector holds."""


def class_sides(side: int | None) -> tuple[Side, ...]:
    """Return the sides that machines of a class play: the one side, or both if it is ``None``."""
    return tuple(Side) if side is None else (Side(side),)


class ClassStatus(models.TextChoices):
    OPEN = "open", "open"
    PAUSED = "paused", "paused"
    FINISHED = "finished", "finished"


class Classroom(GameRow):
    """A class: a teacher's account, a game, and machines that the class owns.

    Pupils join by the code or by the link with the ``secret``. The ``link`` shows the machines of the class, but lets
    nobody play them; projectors and the teacher's browser open it.
    """

    name = models.CharField(max_length=60, validators=[name_validate])
    teacher = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="classrooms")
    code = models.CharField(max_length=6, unique=True, default=new_code, editable=False)
    secret = models.CharField(max_length=43, unique=True, default=link_secret, editable=False)
    link = models.OneToOneField(SharedLink, on_delete=models.RESTRICT, related_name="classroom", editable=False)
    game = models.SlugField(max_length=40, db_index=False)
    side = models.PositiveSmallIntegerField(
        choices=[(None, "half and half"), (0, "plays first"), (1, "plays second")],
        null=True,
        blank=True,
        help_text="The side of all machines. Empty: one half of the pupils teaches each side.",
    )
    preset = models.SlugField(max_length=40, blank=True, db_index=False, help_text="Empty: the usual rule of the side.")
    opponent = models.SlugField(
        max_length=40, default="perfect", db_index=False, help_text="The opponent in the ranking of the final."
    )
    n_pupils = models.PositiveSmallIntegerField(help_text="Pupils that the teacher expects.")
    minutes = models.PositiveSmallIntegerField(help_text="Minutes of the lesson.")
    allows_names = models.BooleanField(default=False, help_text="Whether pupils may type a first name.")
    hides_names = models.BooleanField(default=False, help_text="Whether the table shows numbers for names.")
    status = models.CharField(max_length=8, choices=ClassStatus, default=ClassStatus.OPEN)
    is_locked = models.BooleanField(default=False, help_text="Whether new pupils are refused.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(name="classroom_code_form", condition=Q(code__regex=r"^[a-hjkmnp-z2-9]{6}$")),
            models.CheckConstraint(name="classroom_side", condition=Q(side__isnull=True) | Q(side__lte=1)),
            models.CheckConstraint(
                name="classroom_finished",
                condition=Q(status="finished", finished_at__isnull=False)
                | ~Q(status="finished") & Q(finished_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("classroom", args=[self.pk])

    @property
    def is_open(self) -> bool:
        """Whether the class is neither paused nor finished, so that pupils can play and machines learn."""
        return self.status == ClassStatus.OPEN


class Participant(models.Model):
    """A pupil of a class, or several at one screen, with a machine that only they teach.

    ``guest`` is the guest number under which the pupil plays. A browser of the pupil has this number in its session.
    After the pupil was removed, or merged into another pupil, the row stays without a machine and without a name. The
    row tells the browser what happened.
    """

    classroom = models.ForeignKey(Classroom, on_delete=models.CASCADE, related_name="participants", db_index=False)
    number = models.PositiveSmallIntegerField(help_text="1 for the first pupil of the class.")
    name = models.CharField(max_length=MAX_PUPIL_NAME_LENGTH, blank=True, validators=[name_validate])
    is_typed = models.BooleanField(default=False, help_text="Whether the name was typed, and not generated.")
    is_hidden = models.BooleanField(default=False, help_text="Whether the table shows a number for the name.")
    guest = models.UUIDField(unique=True, default=uuid4, editable=False)
    code = models.CharField(max_length=6, unique=True, default=new_code, editable=False)
    machine = models.OneToOneField(
        Machine, null=True, blank=True, on_delete=models.SET_NULL, related_name="participant"
    )
    merged_into = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="merged", editable=False
    )
    joined_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["classroom_id", "number"]
        constraints = [
            models.UniqueConstraint(name="participant_number_once", fields=["classroom", "number"]),
            models.CheckConstraint(name="participant_code_form", condition=Q(code__regex=r"^[a-hjkmnp-z2-9]{6}$")),
            models.CheckConstraint(
                name="participant_merged", condition=Q(merged_into__isnull=True) | Q(machine__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        """Return the number: the admin and the log show no name of a pupil."""
        return f"pupil {self.number}"

    @property
    def public_name(self) -> str:
        """The name as the class sees it: a number where the name is hidden."""
        return f"Pupil {self.number}" if self.is_hidden or not self.name else self.name


class PupilPlace(TypedDict):
    """The place of a pupil's machine in the final. Its figures are exact if the game can be listed."""

    number: int
    side: int
    place: int
    points: float
    win: float
    draw: float
    loss: float
    endless: float


class NotableBox(TypedDict):
    """A box as it was in the final; ``cost`` is how many points the machine would lose with the box's initial beads."""

    position: str
    beads: list[int]
    cost: float


class NotableBoxes(TypedDict):
    """The first box of a machine, its best box and its worst box, where there is one."""

    first: NotableBox | None
    best: NotableBox | None
    worst: NotableBox | None


class FinalDraw(TypedDict):
    """The bead draw that chose a move of the shown match, with the fields of :class:`Draw`."""

    position: str
    beads: list[int]
    slot: int | None
    refilled: bool


class FinalPly(TypedDict):
    """A move of the shown match. ``move`` is empty for a resignation; some moves have no draw."""

    position: str
    move: str
    draw: FinalDraw | None


class FinalMatch(TypedDict):
    """The shown match of a final. ``pupils`` has the number of the pupil of each side, or null for the opponent."""

    pupils: list[int | None]
    plies: list[FinalPly]
    winner: int | None


class FinalResults(TypedDict):
    """The results of a final: the places by side, the boxes of each pupil by number, and the shown match."""

    places: list[PupilPlace]
    boxes: dict[str, NotableBoxes]
    match: FinalMatch


class ClassFinal(Job):
    """The final of a class: a background job, and its results.

    In the final of one side each machine meets the opponent that the teacher chose; otherwise each first player meets
    each second one. A new final replaces the last one.
    """

    classroom = models.OneToOneField(Classroom, on_delete=models.CASCADE, related_name="final")
    entrants = models.JSONField(
        default=list, help_text="Number of the pupil, id of the machine and its number of lessons, for each entrant."
    )
    found = models.JSONField(
        default=list, help_text="The chances of the pairs so far, the second player changing first."
    )
    progress = models.FloatField(default=0.0, help_text="0 to 1.")
    results = models.JSONField(null=True, blank=True, help_text="Places, boxes and the shown match.")
    error = models.TextField(blank=True)
    is_shown = models.BooleanField(default=True, help_text="Whether the class was not opened again since the final.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(name="class_final_progress", condition=Q(progress__gte=0, progress__lte=1)),
            models.CheckConstraint(
                name="class_final_finished_is_known",
                condition=Q(status="finished", results__isnull=False) | ~Q(status="finished") & Q(results__isnull=True),
            ),
        ]
        indexes = [models.Index(fields=["status", "lease_until"], name="class_final_status_lease")]

    def __str__(self) -> str:
        return f"final of {self.classroom}"

    @property
    def is_finished(self) -> bool:
        """Whether the results are known."""
        return self.status == JobStatus.FINISHED

    @property
    def is_on_pages(self) -> bool:
        """Whether the pages of the class show the results: they are known, and the class was not opened again."""
        return self.is_finished and self.is_shown

    @property
    def is_over(self) -> bool:
        """Whether the final is finished or failed, and waits for no worker."""
        return self.finished_at is not None

    @property
    def mark(self) -> str:
        """The mark of what pages show: a page with another mark is out of date."""
        return f"{self.pk}-{self.status if self.is_over else 'going'}"
