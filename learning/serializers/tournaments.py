"""Serializers of tournaments, their standings and pairings."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from games.live.serializers import StrictSerializer
from games.validators import name_validate
from learning.models import JobStatus, TournamentFormat
from learning.serializers.base import AnsweredSeedField, SeedField, SlugChoiceField
from learning.services.tournaments import FEW_ENTRIES_TEXT, MAX_ENTRIES, MAX_GAMES_PER_PAIRING


class TournamentStartSerializer(StrictSerializer):
    """The entrants, format and games of a new tournament."""

    entries = serializers.ListField(
        child=serializers.CharField(max_length=80),
        min_length=2,
        max_length=MAX_ENTRIES,
        error_messages={"min_length": FEW_ENTRIES_TEXT},
        help_text="Ids or slugs of machines, and slugs of fixed opponents.",
    )
    games = serializers.IntegerField(
        min_value=1, max_value=MAX_GAMES_PER_PAIRING, help_text="The number of games of each pairing."
    )
    game = serializers.SlugField(
        max_length=40, required=False, help_text="The game; required if no entry is a machine."
    )
    format = SlugChoiceField(choices=TournamentFormat.choices, default=TournamentFormat.ROUND_ROBIN)
    rounds = serializers.IntegerField(
        min_value=1, required=False, help_text="The number of rounds of a Swiss tournament."
    )
    name = serializers.CharField(max_length=80, required=False, validators=[name_validate])
    seed = SeedField(help_text="By default a random seed, which the answer contains.")


class TournamentSerializer(serializers.Serializer[Any]):
    """A tournament in a list: ``selectors.tournaments.tournament_brief``."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    game = serializers.CharField()
    format = serializers.ChoiceField(choices=TournamentFormat.choices)
    games = serializers.IntegerField(help_text="The number of games of each pairing.")
    rounds = serializers.IntegerField()
    round = serializers.IntegerField(help_text="The number of the current round.")
    seed = AnsweredSeedField()
    status = serializers.ChoiceField(choices=JobStatus.choices)
    public = serializers.BooleanField(help_text="Whether all machines of the tournament were public when it began.")
    owner = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class EntrySerializer(serializers.Serializer[Any]):
    """An entrant of a tournament: a machine or a fixed opponent."""

    number = serializers.IntegerField()
    name = serializers.CharField()
    opponent = serializers.CharField(allow_null=True, help_text="The slug of a fixed opponent.")
    machine = serializers.IntegerField(
        allow_null=True, help_text="Also null for a deleted machine, and for a machine that you may not see."
    )
    side = serializers.IntegerField(allow_null=True, help_text="0 or 1; null if the entry plays both sides.")
    url = serializers.CharField(allow_null=True)


class StandingSerializer(serializers.Serializer[Any]):
    """A line of the standings, ordered by points per game: entries that play both sides, then those of one side."""

    entry = serializers.IntegerField()
    place = serializers.IntegerField(
        help_text="The rank among the entries that play the same side, or among those that play both."
    )
    games = serializers.IntegerField()
    wins = serializers.IntegerField()
    draws = serializers.IntegerField()
    losses = serializers.IntegerField()
    points = serializers.FloatField()
    score = serializers.FloatField(help_text="Points per game, 0 to 1.")
    expected = serializers.FloatField(
        allow_null=True, help_text="The exact expected points; null if a pairing among them has none."
    )
    rating = serializers.FloatField(help_text="The rating by openskill (Bradley-Terry); each entry begins at 25.")
    uncertainty = serializers.FloatField(help_text="The standard deviation of the rating; each entry begins at 8.33.")


class CellSerializer(serializers.Serializer[Any]):
    """The results of an entry against another one, on both sides together."""

    entry = serializers.IntegerField()
    games = serializers.IntegerField()
    points = serializers.FloatField()
    expected = serializers.FloatField(
        allow_null=True, help_text="The exact expected points; null if a pairing among them has none."
    )


class CrossSerializer(serializers.Serializer[Any]):
    """A line of the crosstable: the results of one entry against the others."""

    entry = serializers.IntegerField()
    against = CellSerializer(many=True)


class PairingSerializer(serializers.Serializer[Any]):
    """A number of games between two entries, with their results."""

    number = serializers.IntegerField()
    round = serializers.IntegerField()
    first = serializers.IntegerField(help_text="The entry that plays the first side.")
    second = serializers.IntegerField()
    status = serializers.ChoiceField(choices=JobStatus.choices)
    first_wins = serializers.IntegerField()
    draws = serializers.IntegerField()
    second_wins = serializers.IntegerField()
    expected = serializers.ListField(
        child=serializers.FloatField(),
        allow_null=True,
        help_text="Exact probabilities of a win of the first side, a draw, and a win of the second side. It is null if "
        "they cannot be computed.",
    )


class TournamentDetailSerializer(TournamentSerializer):
    """A tournament with its current results: ``selectors.tournaments.tournament_view``."""

    version = serializers.IntegerField()
    error = serializers.CharField()
    pairings_done = serializers.IntegerField()
    pairings_total = serializers.IntegerField(
        help_text="In a Swiss tournament, the number of pairings in the rounds that have begun."
    )
    entries = EntrySerializer(many=True)
    standings = StandingSerializer(many=True)
    crosstable = CrossSerializer(many=True)
    pairings = PairingSerializer(many=True)
