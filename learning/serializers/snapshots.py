"""Serializers of snapshots, their measurements and weights, and the choice of the one that plays."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from games.live.serializers import StrictSerializer
from learning.serializers.base import AnsweredSeedField
from learning.serializers.runs import ShareSerializer
from learning.services.snapshots import NEWEST


class MeasurementSerializer(serializers.Serializer[Any]):
    """The results of a snapshot in a set of openings against a level."""

    level = serializers.CharField(help_text="A fixed opponent.")
    games = serializers.IntegerField(help_text="So far, half of them on either side.")
    wins = serializers.IntegerField()
    draws = serializers.IntegerField()
    losses = serializers.IntegerField()
    points = ShareSerializer(help_text="A draw is half a point.")
    openings = serializers.IntegerField(help_text="The seed of the set of openings.")
    seed = AnsweredSeedField(help_text="Of the games.")
    confirms = serializers.BooleanField(help_text="Whether these openings had no part in the choice.")


class SnapshotSerializer(serializers.Serializer[Any]):
    """The state of a machine after a number of training games."""

    id = serializers.IntegerField()
    training_run = serializers.IntegerField()
    games_of_run = serializers.IntegerField(help_text="Of its training; 0: as it was before.")
    games = serializers.IntegerField(help_text="Of all its trainings by then.")
    games_left_behind = serializers.IntegerField(
        help_text="Of these, those that it knew nothing of any more: an earlier snapshot had been chosen."
    )
    lesson = serializers.IntegerField(help_text="The number of its last lesson by then.")
    plays = serializers.BooleanField(help_text="Whether it was chosen last: what it has learnt since came on top.")
    chosen_by_hand = serializers.BooleanField()
    measurements = MeasurementSerializer(many=True)


class SnapshotChooseSerializer(StrictSerializer):
    """The snapshot that shall play from now on."""

    snapshot = serializers.CharField(max_length=20, help_text=f"The id of one, or `{NEWEST}`.")


class KnewSerializer(serializers.Serializer[Any]):
    """The weights of a value-learning machine before and after the lesson in which a snapshot was taken."""

    lesson = serializers.IntegerField()
    features = serializers.CharField(help_text="The set of features, in the order of which the weights stand.")
    before = serializers.ListField(child=serializers.FloatField(), help_text="None where it began so.", allow_null=True)
    after = serializers.ListField(child=serializers.FloatField())
    mean_before = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    mean_after = serializers.ListField(child=serializers.FloatField(), help_text="0 where its rule has no mean.")
