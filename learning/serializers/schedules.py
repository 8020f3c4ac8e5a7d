"""Serializers of training schedules."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from games.live.serializers import StrictSerializer
from learning.models import JobStatus
from learning.serializers.base import AnsweredSeedField, SeedField, SlugChoiceField
from learning.serializers.runs import StageSerializer, TrainingSerializer
from learning.services.runs import MAX_STAGES, Stage
from learning.services.schedules import PERIODS, Timing


class TimingSerializer(StrictSerializer):
    """The timing of a schedule: a crontab, or an interval in minutes, hours or days."""

    crontab = serializers.CharField(
        max_length=300,
        required=False,
        help_text="Minute, hour, day of month (L: the last), month, day of week. If a day of month and a day of week "
        "are given, both must hold. Use either ``crontab`` or ``every``.",
    )
    timezone = serializers.CharField(
        max_length=64,
        required=False,
        help_text="The time zone of the crontab, such as Europe/London. By default that of the account's latest "
        "schedule, "
        "else UTC.",
    )
    every = serializers.IntegerField(min_value=1, required=False, help_text="The number of periods between two runs.")
    period = SlugChoiceField(choices=PERIODS, required=False, help_text="By default hours.")
    paused = serializers.BooleanField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Convert crontab and interval to ``timing``; leave it out if neither is given."""
        timing_fields = {name: attrs.pop(name) for name in ("crontab", "every", "period", "timezone") if name in attrs}
        paused = {"paused": attrs.pop("paused")} if "paused" in attrs else {}
        return {**super().validate(attrs), **paused, **({"timing": Timing(**timing_fields)} if timing_fields else {})}


class ScheduleCreateSerializer(TimingSerializer, TrainingSerializer):
    """The training run to start, and its timing. Without a seed, each run has a fresh one."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Set an empty timing if none is given, for the service to refuse."""
        attrs = super().validate(attrs)
        attrs.setdefault("timing", Timing())
        return attrs


class ScheduleUpdateSerializer(TimingSerializer):
    """The fields of a schedule that can be changed; absent fields keep their value."""

    opponents = serializers.ListField(
        child=StageSerializer(),
        required=False,
        allow_empty=False,
        max_length=MAX_STAGES,
        help_text="The opponents of a run, in order.",
    )
    seed = SeedField(allow_null=True, help_text="null: each run has a new random seed.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Convert opponents to ``stages``, and a null seed to ``fresh_seed``."""
        attrs = super().validate(attrs)
        if "opponents" in attrs:
            attrs["stages"] = [Stage(**stage) for stage in attrs.pop("opponents")]
        if attrs.get("seed", 0) is None:
            del attrs["seed"]
            attrs["fresh_seed"] = True
        return attrs


class ScheduleStageSerializer(serializers.Serializer[Any]):
    """One opponent of each run of a schedule."""

    opponent = serializers.CharField(
        help_text="A fixed opponent, the id of a machine, or 'machine' for a machine that you may not see."
    )
    games = serializers.IntegerField()
    learns = serializers.BooleanField()


class ScheduleSerializer(serializers.Serializer[Any]):
    """A schedule: ``selectors.schedules.schedule_view``."""

    id = serializers.IntegerField()
    machine = serializers.IntegerField()
    owner = serializers.CharField()
    opponents = ScheduleStageSerializer(many=True)
    games = serializers.IntegerField(help_text="The number of games of each run.")
    seed = AnsweredSeedField(allow_null=True, help_text="null: each run has a new random seed.")
    crontab = serializers.CharField(help_text="Empty for an interval.")
    every = serializers.IntegerField(allow_null=True)
    period = serializers.CharField(allow_null=True)
    timezone = serializers.CharField(allow_null=True, help_text="The time zone of the crontab; null for an interval.")
    paused = serializers.BooleanField()
    next_runs = serializers.ListField(child=serializers.DateTimeField(), help_text="The next five; none while paused.")
    fired = serializers.IntegerField(help_text="The number of runs that the schedule has started.")
    last_at = serializers.DateTimeField(allow_null=True)
    last_run = serializers.IntegerField(allow_null=True)
    last_status = serializers.ChoiceField(choices=JobStatus.choices, allow_null=True)
    note = serializers.CharField(help_text="Why no run started at the last time; empty if a run started.")
    created_at = serializers.DateTimeField()
