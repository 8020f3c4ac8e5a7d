"""Machines, their boxes of beads, and the links that show them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, cast

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.registry import rule_read
from beadbox.learners.rule import Rule
from beadbox.names import name_search
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from games.live.states import MachineBrief
from games.models import Room, new_code
from games.validators import name_validate
from learning.exceptions import NoBoxesError
from learning.models.checks import NoneNegative, SameLength
from learning.models.sharing import AccessList, SharedLink, link_entry, pupil_entry

SIDE_CHOICES = [(0, "plays first"), (1, "plays second")]


MACHINE_SIDE_CHOICES = [(None, "plays either side"), *SIDE_CHOICES]


@lru_cache(maxsize=10_000)
def _machine_url(machine_id: int) -> str:
    """Return the address of a machine's page; cached, because a room's state has it three times, and it takes 25 µs."""
    return reverse("machine", args=[machine_id])


@lru_cache(maxsize=1000)
def _parse_rule(text: str) -> Rule:
    """A rule from its JSON, cached: every move reads the rules of its machines, and most machines have a preset's."""
    return rule_read(json.loads(text))


SLUG_LENGTH = 10
"""Characters of a random slug. Slugs are not checked: with 10**6 machines, a new one clashes with chance 10**-9."""


def machine_slug() -> str:
    """Return a random slug, one of 31**10 (about 8 * 10**14)."""
    return f"m-{new_code(SLUG_LENGTH)}"


class GameRow(models.Model):
    """A row that belongs to one game, by its slug."""

    game: models.SlugField[str, str]

    class Meta:
        abstract = True

    @property
    def game_rules(self) -> AnyGame:
        """The rules of the game with this slug."""
        return game_get(self.game)


class Machine(GameRow):
    """A machine that learns: its copy of a rule, the side that it plays, and the totals of its games."""

    slug = models.SlugField(max_length=60, unique=True, default=machine_slug)
    name = models.CharField(max_length=80, validators=[name_validate])
    search_name = models.TextField(
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="The folded form of the name, for searches (beadbox.names).",
    )
    description = models.TextField(blank=True, max_length=2000)
    game = models.SlugField(max_length=40)
    side = models.PositiveSmallIntegerField(choices=MACHINE_SIDE_CHOICES, null=True, blank=True)
    preset = models.SlugField(
        max_length=40, blank=True, db_index=False, help_text="Slug of the preset from which the rule was copied."
    )
    rule_json = models.JSONField("rule")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="machines"
    )
    guest = models.UUIDField(
        null=True,
        blank=True,
        db_index=True,
        editable=False,
        help_text="The guest that owns the machine. No other visitor sees it.",
    )
    made_from = models.CharField(
        max_length=32,
        blank=True,
        default="",
        db_default="",
        db_index=True,
        editable=False,
        help_text="Keyed hash of the address from which a guest made the machine; empty if no guest owns it.",
    )
    is_pupil = models.BooleanField(
        default=False,
        help_text="Whether this is its owner's personal machine for its game and side, which learns with one click.",
    )
    is_public = models.BooleanField(default=True)
    learns = models.BooleanField(default=True, help_text="A frozen machine plays and does not learn.")
    copied_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="copies")
    shares = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.RESTRICT,
        related_name="sharers",
        help_text="The machine whose boxes this machine shares, except at positions where it has a box of its own.",
    )
    shares_to_lesson = models.PositiveBigIntegerField(
        null=True,
        blank=True,
        help_text="Id of the last lesson that the other machine shares with this one; 0 if there was none.",
    )
    shares_to_box = models.PositiveBigIntegerField(
        null=True,
        blank=True,
        help_text="Id of the last box that the other machine shares with this one; 0 if there was none.",
    )
    room = models.ForeignKey(
        Room,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="fresh_machines",
        help_text="The room for which this copy was made.",
    )
    share = models.ForeignKey(
        SharedLink,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="machines",
        db_index=False,
        editable=False,
        help_text="The link that shows the machine. For a copy: the link through which the original was played.",
    )
    classroom = models.ForeignKey(
        "learning.Classroom",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="machines",
        db_index=False,
        editable=False,
        help_text="The class that owns it.",
    )
    pupil = models.UUIDField(
        null=True, blank=True, editable=False, help_text="In a class: the guest number of the pupil that teaches it."
    )
    is_paused = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="Whether its class is paused, so that it does not play.",
    )
    epsilon = models.FloatField(
        null=True, blank=True, help_text="Chance of a random move. Only machines without boxes have one."
    )
    n_values = models.PositiveBigIntegerField(
        default=0,
        help_text="Number of entries in the machine's Q-table, stored because counting a million rows takes too long.",
    )
    n_lessons = models.PositiveBigIntegerField(default=0)
    n_forgotten = models.PositiveBigIntegerField(
        default=0,
        db_default=0,
        help_text="Number of the last reset in the ledger, which begins after it; 0 without a reset.",
    )
    n_folded = models.PositiveBigIntegerField(
        default=0,
        db_default=0,
        help_text="Number of the last compacted lesson; 0 if none is. The history is kept from the next lesson on.",
    )
    folded_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="The time of the last compacted lesson."
    )
    is_folding = models.BooleanField(
        default=False, db_default=False, editable=False, help_text="Whether the compaction is unfinished."
    )
    n_games = models.PositiveBigIntegerField(default=0)
    n_wins = models.PositiveBigIntegerField(default=0)
    n_draws = models.PositiveBigIntegerField(default=0)
    n_losses = models.PositiveBigIntegerField(default=0)
    n_removed = models.PositiveBigIntegerField(default=0, help_text="Slots taken out of play so far.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            # Only a machine that plays either side has an exploration rate; the rate may be 0.
            models.CheckConstraint(
                name="machine_side",
                condition=Q(side__isnull=False, side__lte=1, epsilon__isnull=True)
                | Q(side__isnull=True, epsilon__isnull=False, epsilon__gte=0, epsilon__lte=1),
            ),
            models.CheckConstraint(
                name="machine_of_a_guest",
                condition=Q(guest__isnull=True) | Q(owner__isnull=True, is_public=False),
            ),
            models.CheckConstraint(
                name="machine_of_a_class",
                condition=Q(classroom__isnull=True, pupil__isnull=True, is_paused=False)
                | Q(
                    classroom__isnull=False, owner__isnull=True, guest__isnull=True, room__isnull=True, is_public=False
                ),
            ),
            models.UniqueConstraint(
                name="machine_pupil_of_account",
                fields=["owner", "game", "side"],
                condition=Q(is_pupil=True, owner__isnull=False),
            ),
            models.UniqueConstraint(
                name="machine_pupil_of_guest",
                fields=["guest", "game", "side"],
                condition=Q(is_pupil=True, guest__isnull=False),
            ),
            models.CheckConstraint(
                name="machine_games_add_up",
                condition=Q(n_games=F("n_wins") + F("n_draws") + F("n_losses")),
            ),
            models.CheckConstraint(
                name="machine_folded",
                condition=Q(n_folded=0, folded_at__isnull=True)
                | Q(n_folded__gt=F("n_forgotten"), n_folded__lte=F("n_lessons"), folded_at__isnull=False),
            ),
            models.CheckConstraint(
                name="machine_shares_as_of",
                condition=Q(shares__isnull=True, shares_to_lesson__isnull=True, shares_to_box__isnull=True)
                | Q(shares__isnull=False, shares_to_lesson__isnull=False, shares_to_box__isnull=False),
            ),
        ]
        # The list of machines sorts by these columns. No lesson changes them, so PostgreSQL can update the row in
        # place. Copies made for rooms are left out: they are in no list, and must be created fast.
        indexes = [
            models.Index(fields=[*fields, "id"], name=f"machine_by_{fields[0]}", condition=Q(room__isnull=True))
            for fields in (["name"], ["game", "name"], ["side", "name"], ["preset", "name"])
        ] + [
            models.Index(fields=["id"], name="machine_folding", condition=Q(is_folding=True)),
            models.Index(fields=["share"], name="machine_share", condition=Q(share__isnull=False)),
            models.Index(fields=["classroom"], name="machine_classroom", condition=Q(classroom__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        """Store the machine, and the search form of its name."""
        if update_fields is None or "name" in update_fields:
            self.search_name = name_search(self.name)
            update_fields = None if update_fields is None else {*update_fields, "search_name"}
        super().save(*args, update_fields=update_fields, **kwargs)

    def get_absolute_url(self) -> str:
        return _machine_url(self.pk)

    @property
    def brief(self) -> MachineBrief:
        """The fields of the machine in the state of a room; ``win_rate`` is ``None`` before its first game."""
        return {
            "id": self.pk,
            "name": self.name,
            "url": self.get_absolute_url(),
            "learns": self.learns,
            "level": self.level,
            "epsilon": self.epsilon,
            "games": self.n_games,
            "wins": self.n_wins,
            "draws": self.n_draws,
            "losses": self.n_losses,
            "win_rate": self.n_wins / self.n_games if self.n_games else None,
        }

    @property
    def audience(self) -> AccessList:
        """The viewers that may see the machine, staff not included (``access.may_see``)."""
        if self.is_public:
            return None
        owner = self.owner_id if self.guest is None else self.guest.hex
        link = None if self.share_id is None else link_entry(self.share_id)
        pupil = None if self.pupil is None else pupil_entry(self.pupil)
        return [entry for entry in (owner, link, pupil) if entry is not None]

    @cached_property
    def rule(self) -> Rule:
        """The machine's own copy of its rule."""
        return _parse_rule(json.dumps(self.rule_json))

    @property
    def box_rule(self) -> BoxRule:
        """The machine's rule, if its memory consists of boxes.

        Raises:
            NoBoxesError: the machine has no boxes.
        """
        if not self.rule.has_boxes:
            raise NoBoxesError(f"{self.name} has no boxes: it keeps {self.rule.keeps}.")
        return cast("BoxRule", self.rule)

    @cached_property
    def cabinet(self) -> Cabinet:
        """The layout of the machine's boxes: its positions, and the moves for which beads stand.

        Raises:
            NoBoxesError: the machine has no boxes.
        """
        rule = self.box_rule
        assert self.side is not None, "a machine with boxes plays one side"
        return Cabinet(self.game_rules, Side(self.side), rule)

    @property
    def boxes(self) -> QuerySet[AnyBox]:
        """All boxes of the machine, with those that it shares. A machine that shares none reads only its own rows."""
        return self.own_boxes.all() if self.shares_id is None else HeldBox.objects.filter(machine=self)

    @property
    def n_known_from(self) -> int:
        """Smallest number of lessons after which the machine's state is known: the last reset or compaction."""
        return max(self.n_forgotten, self.n_folded)

    @property
    def level(self) -> int:
        """The level by which HexapawnRL measures experience: 1 plus the slots taken out of play."""
        return 1 + self.n_removed


class AnyBox(models.Model):
    """A matchbox: a canonical position, and the number of beads of each slot (move).

    The base of :class:`Box`, the table, and :class:`HeldBox`, the view.
    """

    machine = models.ForeignKey(Machine, on_delete=models.DO_NOTHING, related_name="+")
    position = models.CharField(max_length=100)
    ply = models.PositiveSmallIntegerField()
    move_number = models.PositiveSmallIntegerField(help_text="Counts the machine's own moves: 1 for its first move.")
    start = ArrayField(
        models.IntegerField(), help_text="Initial beads of the box. In a copy they differ from the rule's."
    )
    beads = ArrayField(models.IntegerField())
    visits = ArrayField(
        models.BigIntegerField(),
        help_text="For each slot: the number of times it was played in games from which the machine learnt.",
    )

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.position

    def get_absolute_url(self) -> str:
        return reverse("box", args=[self.machine_id, self.position])


class Box(AnyBox):
    """A row of a machine's own box, which is not shared (docs/decisions/0020-ledger.md)."""

    # No index on the machine alone: ``box_once`` serves these queries, too. With both indexes, the planner might choose
    # the one that reads every box of the machine.
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="own_boxes", db_index=False)

    class Meta:
        verbose_name_plural = "boxes"
        constraints = [
            models.UniqueConstraint(name="box_once", fields=["machine", "position"]),
            models.CheckConstraint(name="box_move_number_counts_from_one", condition=Q(move_number__gte=1)),
            models.CheckConstraint(name="box_beads_not_negative", condition=NoneNegative("beads")),
            models.CheckConstraint(name="box_start_not_negative", condition=NoneNegative("start")),
            models.CheckConstraint(name="box_visits_not_negative", condition=NoneNegative("visits")),
            models.CheckConstraint(name="box_beads_aligned", condition=SameLength("beads", "start")),
            models.CheckConstraint(name="box_visits_aligned", condition=SameLength("visits", "start")),
        ]


class HeldBox(AnyBox):
    """A box that a machine has, its own or shared: a read-only database view (docs/decisions/0075-shared-boxes.md).

    ``id`` is the id of the machine's own :class:`Box`. A shared box has no id, and no history in this machine.
    """

    class Meta:
        managed = False
        db_table = "learning_heldbox"
