"""Serializers for values of moves in the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class ValueMoveSerializer(serializers.Serializer[Any]):
    """A legal action of a position, to a machine that keeps values."""

    move = serializers.CharField()
    name = serializers.CharField()
    value = serializers.FloatField(
        help_text="The learnt value, or the first value of an untried move. In Romgon it is Q."
    )
    outlook = serializers.FloatField(help_text="E/100: a hundredth of the engine's value after it; 0 without one.")
    total = serializers.FloatField(help_text="Their sum; the greatest that its checks leave is played.")
    ends = serializers.IntegerField(help_text="1 if it wins at once, -1 if it loses at once by repetition, else 0.")
    visits = serializers.IntegerField(help_text="How often it was learnt.")
    best = serializers.BooleanField()
    next = serializers.CharField(help_text="The position after it.")


class PositionValuesSerializer(serializers.Serializer[Any]):
    """A position with the values of its actions to a machine that keeps values."""

    position = serializers.CharField()
    role = serializers.CharField(help_text="The side to move.")
    over = serializers.CharField(allow_null=True, help_text="Why the game is over, if it is.")
    epsilon = serializers.FloatField()
    has_outlook = serializers.BooleanField(help_text="Whether more than its values decides what it plays.")
    takes_wins = serializers.BooleanField(
        required=False, help_text="Whether it takes a win at hand, whatever its value."
    )
    avoids_repetition = serializers.BooleanField(
        required=False, help_text="Whether it plays a move that loses by repetition only if there is no other."
    )
    moves = ValueMoveSerializer(many=True)
