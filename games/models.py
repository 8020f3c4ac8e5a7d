"""Rooms, matches, seats and plies. A room stays the same for many matches: each game in the room is a new match.

A move is stored only if its room still has the version that was read (``games/live/store.py``, decision 0088). So two
simultaneous moves cannot both be stored.
"""

from __future__ import annotations

import secrets
from datetime import datetime

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.registry import game_get
from games.codes import CODE_ALPHABET, CODE_LENGTH
from games.validators import name_validate

MAX_POSITION_CHARACTERS = 1000
"""Maximum number of characters of a position, enough for games in which a position contains the history of the game."""
HUMAN = "human"


def new_code(length: int = CODE_LENGTH) -> str:
    """Return a random code that cannot be guessed. There are 31**6 codes of rooms, about 890 million."""
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(length))


def new_seed() -> int:
    """Return a seed for a match's automated players, so that a match can be replayed exactly."""
    return secrets.randbits(63)


def this_minute() -> datetime:
    """Return the current time, truncated to the minute."""
    return timezone.now().replace(second=0, microsecond=0)


class Room(models.Model):
    """A place with a code where two sides play any number of matches.

    Usually a person plays against the ``opponent``. A room with ``first`` and ``second`` is an *exhibition* instead. In
    an exhibition two automated players meet, and move only when the room's host asks them to.
    """

    code = models.CharField(max_length=CODE_LENGTH, unique=True, default=new_code, editable=False)
    game = models.SlugField(max_length=40, db_index=False)
    opponent = models.SlugField(
        max_length=40, blank=True, db_index=False, help_text="Slug of the requested opponent; empty in an exhibition."
    )
    machine = models.CharField(max_length=80, blank=True, help_text="Id or slug of the requested machine, if any.")
    takes_over = models.CharField(
        max_length=80,
        blank=True,
        help_text="The automated player or machine whose seat the person was to take over, if any.",
    )
    first = models.CharField(
        max_length=80, blank=True, help_text="In an exhibition: the requested player of the first side."
    )
    second = models.CharField(
        max_length=80, blank=True, help_text="In an exhibition: the requested player of the second side."
    )
    fresh = models.BooleanField(default=False, help_text="Whether the machines in the room are copies made for it.")
    host = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="hosted_rooms"
    )
    host_guest = models.UUIDField(null=True, blank=True, db_index=True, editable=False)
    host_token_sha256 = models.CharField(max_length=64, blank=True, editable=False)
    opened_from = models.CharField(
        max_length=32,
        blank=True,
        editable=False,
        help_text="Keyed hash of the address from which the room was opened; deleted after a day.",
    )
    links = ArrayField(
        models.BigIntegerField(),
        default=list,
        db_default=[],
        blank=True,
        editable=False,
        help_text="Ids of the shared links that the room's host had opened.",
    )
    version = models.PositiveIntegerField(default=0, help_text="Grows with every change.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # The time is truncated to the minute, because the field has an index. With seconds, each move would write into
    # every index of the table.
    changed_at = models.DateTimeField(default=this_minute, editable=False, help_text="Truncated to the minute.")

    class Meta:
        constraints = [
            models.CheckConstraint(name="room_code_form", condition=Q(code__regex=r"^[a-hjkmnp-z2-9]{6}$")),
            models.CheckConstraint(
                name="room_asks_for_an_opponent_or_for_both",
                condition=~Q(opponent="") & Q(first="", second="")
                | Q(opponent="", machine="", takes_over="") & ~Q(first="") & ~Q(second=""),
            ),
        ]
        indexes = [
            models.Index(fields=["-changed_at"], name="room_changed_at"),
            # The start of each match counts the open rooms of an address.
            models.Index(fields=["opened_from", "changed_at"], name="room_opened_from"),
        ]

    def __str__(self) -> str:
        return self.code

    def get_absolute_url(self) -> str:
        return reverse("room", args=[self.code])

    @property
    def game_rules(self) -> AnyGame:
        """The rules of the room's game."""
        return game_get(self.game)

    @property
    def is_exhibition(self) -> bool:
        """Whether two automated players meet in the room, without a human seat."""
        return bool(self.first or self.second)


class MatchStatus(models.TextChoices):
    WAITING = "waiting", "waiting for a player"
    PLAYING = "playing", "being played"
    FINISHED = "finished", "finished"


class Match(models.Model):
    """One live game, played in a room."""

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="matches", db_index=False)
    number = models.PositiveIntegerField(help_text="1 for the first match of the room.")
    status = models.CharField(max_length=8, choices=MatchStatus)
    position = models.CharField(max_length=MAX_POSITION_CHARACTERS)
    n_plies = models.PositiveIntegerField(default=0)
    seed = models.BigIntegerField(default=new_seed, editable=False)
    winner = models.PositiveSmallIntegerField(null=True, blank=True, choices=[(0, "first"), (1, "second")])
    termination = models.SlugField(max_length=40, blank=True, db_index=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True, editable=False)
    answer_by = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Until this time, one process alone searches for a slow player's next move.",
    )
    draw_offered_by = models.SmallIntegerField(
        null=True,
        blank=True,
        editable=False,
        choices=[(0, "first"), (1, "second")],
        help_text="The side that offers a draw, until the next move.",
    )

    class Meta:
        verbose_name_plural = "matches"
        constraints = [
            models.UniqueConstraint(name="match_number_once", fields=["room", "number"]),
            # At most one match of a room is open, so the state of a room is never ambiguous.
            models.UniqueConstraint(name="match_one_open", fields=["room"], condition=~Q(status="finished")),
            models.CheckConstraint(
                name="match_finished_says_why",
                condition=Q(status="finished", finished_at__isnull=False) & ~Q(termination="")
                | ~Q(status="finished") & Q(finished_at__isnull=True, termination="", winner__isnull=True),
            ),
            models.CheckConstraint(name="match_winner_side", condition=Q(winner__isnull=True) | Q(winner__lte=1)),
            models.CheckConstraint(
                name="match_answer_while_playing", condition=Q(answer_by__isnull=True) | Q(status="playing")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.room.code} #{self.number}"

    def get_absolute_url(self) -> str:
        """Return the permanent page of this match. Until the match is over, the page redirects to the room."""
        return reverse("match", args=[self.room.code, self.number])

    @property
    def is_over(self) -> bool:
        """Whether the match is finished."""
        return self.status == MatchStatus.FINISHED

    @property
    def outcome(self) -> Outcome:
        """The outcome of a finished match."""
        return Outcome(None if self.winner is None else Side(self.winner), self.termination)


class Seat(models.Model):
    """One side of a match with its player. A human seat without user, guest and token is free.

    A person is recognised by account, by the guest number of the session, or by the seat token, of which only the
    SHA-256 is stored. A person may take over the seat of a machine, which then learns from the person's moves.
    """

    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="seats", db_index=False)
    side = models.PositiveSmallIntegerField(choices=[(0, "first"), (1, "second")])
    player = models.SlugField(
        max_length=40, default=HUMAN, db_index=False, help_text="'human', or the slug of an automated player."
    )
    takes_over = models.SlugField(
        max_length=40,
        blank=True,
        db_index=False,
        help_text="Slug of the automated player whose seat a person has taken over.",
    )
    name = models.CharField(max_length=150, blank=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="seats",
        db_index=False,
    )
    guest = models.UUIDField(null=True, blank=True, editable=False)
    token_sha256 = models.CharField(max_length=64, blank=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="seat_side_once", fields=["match", "side"]),
            models.CheckConstraint(name="seat_side", condition=Q(side__lte=1)),
            models.CheckConstraint(
                name="seat_automated_has_no_person",
                condition=Q(player=HUMAN) | Q(user__isnull=True, guest__isnull=True, token_sha256=""),
            ),
            models.CheckConstraint(name="seat_taken_over_by_a_person", condition=Q(takes_over="") | Q(player=HUMAN)),
        ]
        indexes = [
            models.Index(name="seat_user_match", fields=["user", "match"], condition=Q(user__isnull=False)),
            models.Index(name="seat_guest_match", fields=["guest", "match"], condition=Q(guest__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.name or 'free'} ({Side(self.side).name.lower()})"

    @property
    def is_human(self) -> bool:
        """Whether the seat is for a person."""
        return self.player == HUMAN

    @property
    def automaton_slug(self) -> str:
        """The automated player of this seat, also after a person has taken it over; empty for a purely human seat."""
        return self.takes_over if self.is_human else self.player

    @property
    def is_free(self) -> bool:
        """Whether a person can take the seat."""
        return self.is_human and self.user_id is None and self.guest is None and not self.token_sha256


class Ply(models.Model):
    """One move of a match, and the position after it."""

    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="plies", db_index=False)
    number = models.PositiveIntegerField(help_text="0 for the first move.")
    side = models.PositiveSmallIntegerField(choices=[(0, "first"), (1, "second")])
    move = models.CharField(max_length=20)
    position = models.CharField(max_length=MAX_POSITION_CHARACTERS, help_text="The position after the move.")
    played_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "plies"
        ordering = [F("match_id").asc(), F("number").asc()]
        constraints = [
            models.UniqueConstraint(name="ply_once", fields=["match", "number"]),
            models.CheckConstraint(name="ply_side", condition=Q(side__lte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.number + 1}. {self.move}"


class TokenScope(models.TextChoices):
    """Permissions of a program with a token."""

    READ = "read", "look at machines, runs and rooms"
    PLAY = "play", "open rooms and play in them"
    TRAIN = "train", "make, change and train machines"


class ApiToken(models.Model):
    """A token with which a program acts for an account. Only its SHA-256 is stored, and a prefix for look-ups."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=60, validators=[name_validate], help_text="The purpose of the token.")
    prefix = models.CharField(max_length=12, unique=True, editable=False)
    sha256 = models.CharField(max_length=64, editable=False)
    scopes = ArrayField(models.CharField(max_length=8, choices=TokenScope))
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty if the token never expires.")
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="token_scopes_known",
                condition=Q(scopes__len__gte=1) & Q(scopes__contained_by=["read", "play", "train"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()


class AccountName(models.Model):
    """The folded forms of an account's name; ``games.accounts.account_names`` keeps them up to date.

    Accounts that are older than the folding of names may share a key. One of these accounts holds the key. The others
    are duplicates, which log in by their exact spelling.
    """

    account = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="account_name"
    )
    key = models.CharField(max_length=500, db_index=True, help_text="Equal keys are one name (beadbox.names.name_key).")
    search = models.CharField(max_length=1000, help_text="The key without accents.")
    is_duplicate = models.BooleanField(
        "shares its name", default=False, help_text="Whether an earlier account holds the same key."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(name="account_name_once", fields=["key"], condition=Q(is_duplicate=False)),
        ]

    def __str__(self) -> str:
        return self.key


class AddressBlock(models.Model):
    """A temporary block of an address, a network, or an address hash as stored by rooms.

    ``games.accounts.blocks`` applies the stored blocks.
    """

    network = models.CharField(
        "address",
        max_length=43,
        help_text="An address or a network, such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/64, or "
        "the address hash of a room (32 characters).",
    )
    reason = models.CharField(max_length=200, help_text="A note for staff. Visitors do not see it.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    expires_at = models.DateTimeField("until")

    class Meta:
        constraints = [models.UniqueConstraint(name="address_block_once", fields=["network"])]

    def __str__(self) -> str:
        return self.network
