"""Serializers of training runs and their curves."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from beadbox import field_text
from beadbox.policies.registry import OPPONENTS
from games.live.serializers import StrictSerializer
from learning.kinds.snapshots import MAX_MEASURED_SNAPSHOTS
from learning.models import JobStatus
from learning.serializers.base import AnsweredSeedField, SeedField
from learning.serializers.machines import StrengthSerializer
from learning.services.runs import MAX_GAMES, MAX_GAMES_TEXT, MAX_STAGES, ONLY_MACHINES_LEARN_TEXT, Stage


class StageSerializer(StrictSerializer):
    """A number of games against one opponent."""

    opponent = serializers.CharField(max_length=80, help_text="A fixed opponent, or the id or slug of a machine.")
    games = serializers.IntegerField(min_value=1, max_value=MAX_GAMES)
    learns = serializers.BooleanField(default=False, help_text="Whether an opponent that is a machine learns too.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse ``learns`` for an opponent that is no machine."""
        if attrs["learns"] and attrs["opponent"] in OPPONENTS:
            raise serializers.ValidationError({"learns": ONLY_MACHINES_LEARN_TEXT}, code="invalid")
        return attrs


class TrainingSerializer(StrictSerializer):
    """Training against one ``opponent`` for a number of ``games``, or against a list of ``opponents`` in order."""

    machine = serializers.CharField(max_length=80, help_text="Id or slug of the machine to train.")
    opponent = serializers.CharField(
        max_length=80, required=False, help_text="A fixed opponent, or the id or slug of a machine."
    )
    games = serializers.IntegerField(min_value=1, max_value=MAX_GAMES, required=False)
    opponent_learns = serializers.BooleanField(
        required=False, help_text="Whether an opponent that is a machine learns too."
    )
    opponents = serializers.ListField(
        child=StageSerializer(),
        required=False,
        allow_empty=False,
        max_length=MAX_STAGES,
        help_text="The opponents of a run, in order.",
    )
    seed = SeedField(help_text="By default a random seed, which the answer contains.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Convert either form to ``stages``.

        Raises:
            ValidationError: both forms are mixed, a field is missing, a fixed opponent would learn, or the games
                exceed :data:`MAX_GAMES`.
        """
        single_fields = [name for name in ("opponent", "games", "opponent_learns") if name in attrs]
        if "opponents" in attrs:
            if single_fields:
                problem = field_text.NOT_TOGETHER.format(f"opponents, {single_fields[0]}")
                raise serializers.ValidationError({"opponents": problem}, code="invalid")
            stages = [Stage(**stage) for stage in attrs["opponents"]]
        else:
            if missing_fields := [name for name in ("opponent", "games") if name not in attrs]:
                raise serializers.ValidationError(dict.fromkeys(missing_fields, field_text.REQUIRED), code="required")
            stages = [Stage(attrs["opponent"], attrs["games"], attrs.get("opponent_learns", False))]
            if stages[0].learns and stages[0].opponent in OPPONENTS:
                raise serializers.ValidationError({"opponent_learns": ONLY_MACHINES_LEARN_TEXT}, code="invalid")
        if sum(stage.games for stage in stages) > MAX_GAMES:
            raise serializers.ValidationError({"opponents": MAX_GAMES_TEXT}, code="max_value")
        return {"machine": attrs["machine"], "stages": stages, "seed": attrs.get("seed")}


class RunStartSerializer(TrainingSerializer):
    """A training run that is started by hand."""

    measured = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_MEASURED_SNAPSHOTS,
        help_text="The games of each snapshot against each level, an even number. The best snapshot then plays. "
        "With 0 the last snapshot plays. The default depends on the kind of machine.",
    )

    def validate_measured(self, value: int) -> int:
        """Require an even number, because every opening is played from both sides."""
        if value % 2:
            raise serializers.ValidationError(field_text.EVEN_NUMBER)
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Add ``measured``; ``None`` stands for the usual number of the machine's kind."""
        return {**super().validate(attrs), "measured": attrs.get("measured")}


class RunStageSerializer(serializers.Serializer[Any]):
    """A stage of a run: one opponent and the number of games."""

    opponent = serializers.CharField(help_text="A fixed opponent, or 'machine'.")
    machine = serializers.IntegerField(
        allow_null=True, help_text="Also null for a deleted machine, and for a machine that you may not see."
    )
    learns = serializers.BooleanField()
    games = serializers.IntegerField()


class RunSerializer(serializers.Serializer[Any]):
    """A training run with its progress: ``selectors.runs.run_view``."""

    id = serializers.IntegerField()
    machine = serializers.IntegerField()
    opponents = RunStageSerializer(many=True)
    status = serializers.ChoiceField(choices=JobStatus.choices)
    waits_for_kernels = serializers.BooleanField(
        help_text="Whether the run waits for the compiled kernels of a new site. It continues by itself."
    )
    waits_for_room = serializers.BooleanField(
        help_text="Whether the run waits because the site is full. It continues by itself."
    )
    games = serializers.IntegerField()
    games_done = serializers.IntegerField()
    wins = serializers.IntegerField()
    draws = serializers.IntegerField()
    losses = serializers.IntegerField()
    most_values = serializers.IntegerField(
        allow_null=True, help_text="The largest number of values that a machine that keeps values has in this run."
    )
    values_left_out = serializers.IntegerField(
        help_text="How often the machine met a further value, and did not learn it."
    )
    measured = serializers.IntegerField(
        help_text="The number of games that each snapshot plays against each level; 0: none."
    )
    seed = AnsweredSeedField()
    error = serializers.CharField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class ShareSerializer(serializers.Serializer[Any]):
    """A share of some games, and its 95 % interval (Wilson)."""

    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class SampleSerializer(serializers.Serializer[Any]):
    """The results of a sample of games, as shares."""

    win = ShareSerializer()
    draw = ShareSerializer()
    loss = ShareSerializer()


class CurvePointSerializer(serializers.Serializer[Any]):
    """A point of a run's curve: the results of training so far, and the strength at that time."""

    games = serializers.IntegerField()
    wins = serializers.IntegerField()
    draws = serializers.IntegerField()
    losses = serializers.IntegerField()
    strength = StrengthSerializer()
    in_training = SampleSerializer(
        required=False, help_text="The results of the games since the point before; absent from the first point."
    )


class RunDetailSerializer(RunSerializer):
    """A training run with its curve so far."""

    curve = CurvePointSerializer(many=True)
