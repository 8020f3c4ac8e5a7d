"""Serializers for values of moves in the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class ValueMoveSerializer(serializers.Serializer[Any]):
    """A legal action of a position, to a machine that keeps values."""

    move = serializers.CharField()
    name = serializers.CharField()
    value = serializers.FloatField(
        help_text="The learnt value, or the initial value of a move that was never played. In Romgon it is Q."
    )
    outlook = serializers.FloatField(
        help_text="E/100: a hundredth of the engine's value of the board after the action; 0 without an engine."
    )
    total = serializers.FloatField(
        help_text="The sum of value and outlook. The machine plays the action with the greatest sum among those that "
        "its checks allow."
    )
    ends = serializers.IntegerField(help_text="1 if it wins at once, -1 if it loses at once by repetition, else 0.")
    visits = serializers.IntegerField(help_text="The number of games in which this value was learnt.")
    best = serializers.BooleanField()
    next = serializers.CharField(help_text="The position after the action.")


class PositionValuesSerializer(serializers.Serializer[Any]):
    """A position with the values of its actions to a machine that keeps values."""

    position = serializers.CharField()
    role = serializers.CharField(help_text="The side to move.")
    over = serializers.CharField(allow_null=True, help_text="The reason for the end of the game, if it is over.")
    epsilon = serializers.FloatField()
    has_outlook = serializers.BooleanField(
        help_text="Whether the machine also uses the outlook of an engine to choose its move."
    )
    takes_wins = serializers.BooleanField(
        required=False, help_text="Whether the machine plays a move that wins at once, whatever its value."
    )
    avoids_repetition = serializers.BooleanField(
        required=False, help_text="Whether the machine plays a move that loses by repetition only if there is no other."
    )
    moves = ValueMoveSerializer(many=True)
