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

    level = serializers.CharField(help_text="The slug of a fixed opponent.")
    games = serializers.IntegerField(help_text="The number of games so far, half of them on either side.")
    wins = serializers.IntegerField()
    draws = serializers.IntegerField()
    losses = serializers.IntegerField()
    points = ShareSerializer(help_text="A draw is half a point.")
    openings = serializers.IntegerField(help_text="The seed of the set of openings.")
    seed = AnsweredSeedField(help_text="The seed of the games.")
    confirms = serializers.BooleanField(
        help_text="Whether the openings are those that confirm the choice, and not those of the choice itself."
    )


class SnapshotSerializer(serializers.Serializer[Any]):
    """The state of a machine after a number of training games."""

    id = serializers.IntegerField()
    training_run = serializers.IntegerField()
    games_of_run = serializers.IntegerField(
        help_text="Games of the training run before the snapshot; 0: before the run."
    )
    games = serializers.IntegerField(help_text="Games of all training runs of the machine before the snapshot.")
    games_left_behind = serializers.IntegerField(
        help_text="The number of these games that the machine no longer knew, because an earlier snapshot had been "
        "chosen."
    )
    lesson = serializers.IntegerField(help_text="The number of the machine's last lesson at that time.")
    plays = serializers.BooleanField(help_text="Whether the machine plays and learns on from this snapshot.")
    chosen_by_hand = serializers.BooleanField()
    measurements = MeasurementSerializer(many=True)


class SnapshotChooseSerializer(StrictSerializer):
    """The snapshot that is to play."""

    snapshot = serializers.CharField(max_length=20, help_text=f"The id of a snapshot, or `{NEWEST}`.")


class KnewSerializer(serializers.Serializer[Any]):
    """The weights of a value-learning machine before and after the lesson in which a snapshot was taken."""

    lesson = serializers.IntegerField()
    features = serializers.CharField(help_text="The set of features; weights are in its order.")
    before = serializers.ListField(
        child=serializers.FloatField(), help_text="Null if the machine began with these weights.", allow_null=True
    )
    after = serializers.ListField(child=serializers.FloatField())
    mean_before = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    mean_after = serializers.ListField(child=serializers.FloatField(), help_text="0 if the rule has no mean.")
