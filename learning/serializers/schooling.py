"""What the API of schoolings answers, and the few parameters that are no part of an address."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from learning.core.schooling import band
from learning.core.schooling.plan import MEASURES, MOST_GAMES
from learning.serializers.base import StrictSerializer
from learning.serializers.machines import ChancesSerializer


class NumbersField(serializers.ListField):
    """Numbers, one for each point."""

    child = serializers.FloatField()


class CountsField(serializers.ListField):
    """Whole numbers."""

    child = serializers.IntegerField()


class MachineAskedSerializer(serializers.Serializer[Any]):
    """What else is wanted of a machine."""

    since = serializers.IntegerField(
        required=False, min_value=-1, max_value=MOST_GAMES, help_text="Its curve after more than so many games."
    )
    moves = serializers.BooleanField(default=False, help_text="Its last game, move by move.")


class BandAskedSerializer(serializers.Serializer[Any]):
    """How far a band goes."""

    until = serializers.IntegerField(default=band.MOST_GAMES, min_value=1, max_value=band.MOST_GAMES)


class KeepSerializer(StrictSerializer):
    """Which machine to keep, and what it is called."""

    address = serializers.CharField(allow_blank=True, max_length=4000, help_text="As GET /api/learn answers it.")
    name = serializers.CharField(default="", allow_blank=True, max_length=80)


class ProblemSerializer(serializers.Serializer[Any]):
    """A part of an address that could not be used."""

    field = serializers.CharField()
    detail = serializers.CharField()


class NamedRuleSerializer(serializers.Serializer[Any]):
    """A rule, told from a preset."""

    preset = serializers.CharField()
    rule = serializers.DictField(help_text="Every field.")


class AddressSerializer(NamedRuleSerializer):
    """How an address was read."""

    address = serializers.CharField()
    beside_address = serializers.CharField(allow_null=True)
    game = serializers.CharField()
    side = serializers.CharField()
    teacher = serializers.CharField()
    seed = serializers.CharField(help_text="Text: it may have 63 bits.")
    games = serializers.IntegerField()
    against = serializers.ChoiceField(MEASURES)
    beside = NamedRuleSerializer(allow_null=True)
    problems = ProblemSerializer(many=True)


class WallSlotSerializer(serializers.Serializer[Any]):
    """A bead of a box, and the moves that it stands for."""

    colour = serializers.IntegerField()
    mark = serializers.CharField(allow_null=True)
    name = serializers.CharField()
    printed = serializers.CharField()
    printed_path = serializers.ListField(child=serializers.CharField())
    moves = serializers.ListField(child=serializers.CharField())
    paths = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    names = serializers.ListField(child=serializers.CharField())


@extend_schema_field(
    {
        "type": "array",
        "items": {
            "type": "array",
            "items": {
                "oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]
            },
        },
    }
)
class PackedBoxesField(serializers.ListField):
    """Boxes, a list each."""


class WallSerializer(serializers.Serializer[Any]):
    """What hangs on the wall before the first game."""

    slots = WallSlotSerializer(many=True)
    pieces = serializers.ListField(child=serializers.CharField(allow_null=True))
    boxes = PackedBoxesField(help_text="Position, move number, ply, beads, places of its pieces, places of its slots.")


class StrengthSerializer(serializers.Serializer[Any]):
    """What a machine can expect of whom."""

    random = ChancesSerializer()
    win_block = ChancesSerializer()
    perfect = ChancesSerializer()
    worst = ChancesSerializer()
    teacher = ChancesSerializer()

    class Meta:
        ref_name = "SchoolingStrength"


class CurveSerializer(serializers.Serializer[Any]):
    """Points of a curve, column by column."""

    against = serializers.ChoiceField(MEASURES)
    games = CountsField()
    win = NumbersField()
    draw = NumbersField()
    loss = NumbersField()


class LivedDrawSerializer(serializers.Serializer[Any]):
    """A box that was opened."""

    box = serializers.IntegerField()
    position = serializers.CharField()
    beads = CountsField()
    slot = serializers.IntegerField(allow_null=True)
    refilled = serializers.BooleanField()


class LivedPlySerializer(serializers.Serializer[Any]):
    """A move, and the board after it."""

    side = serializers.IntegerField()
    move = serializers.CharField(allow_null=True)
    name = serializers.CharField()
    path = serializers.ListField(child=serializers.CharField())
    board = serializers.ListField(child=serializers.CharField(allow_null=True))
    draw = LivedDrawSerializer(allow_null=True)


class LivedChangeSerializer(serializers.Serializer[Any]):
    """What a game did to a box."""

    box = serializers.IntegerField(required=False)
    position = serializers.CharField()
    before = CountsField()
    after = CountsField()
    deltas = CountsField()


class LivedSerializer(serializers.Serializer[Any]):
    """A game, move by move."""

    number = serializers.IntegerField()
    result = serializers.ChoiceField(("win", "draw", "loss"))
    resigned = serializers.BooleanField()
    before = serializers.ListField(child=serializers.CharField(allow_null=True))
    plies = LivedPlySerializer(many=True)
    changes = LivedChangeSerializer(many=True)
    teacher_changes = LivedChangeSerializer(many=True)


class PupilSerializer(serializers.Serializer[Any]):
    """A machine after so many games."""

    games = serializers.IntegerField()
    asked = serializers.IntegerField()
    done = serializers.BooleanField()
    wins = serializers.IntegerField()
    draws = serializers.IntegerField()
    losses = serializers.IntegerField()
    removed = serializers.IntegerField()
    beads = CountsField()
    strength = StrengthSerializer()
    curve = CurveSerializer(required=False)
    game = LivedSerializer(required=False)


class BandSerializer(serializers.Serializer[Any]):
    """Points of a game that machines with a rule can expect: shares of the machines lie below each line."""

    against = serializers.ChoiceField(MEASURES)
    until = serializers.IntegerField()
    machines = serializers.IntegerField()
    of = serializers.IntegerField()
    done = serializers.BooleanField()
    games = CountsField()
    p5 = NumbersField()
    p25 = NumbersField()
    p50 = NumbersField()
    p75 = NumbersField()
    p95 = NumbersField()
