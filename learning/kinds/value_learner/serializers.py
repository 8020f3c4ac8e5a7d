"""Learnt values of boards in the API."""

from __future__ import annotations

from typing import Any

from drf_spectacular.plumbing import resolve_type_hint
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from games.live.states import PartsState


@extend_schema_field(resolve_type_hint(PartsState))  # type: ignore[no-untyped-call]
class PartsField(serializers.JSONField):
    """A board as a sum of named parts."""


class MovePartsSerializer(serializers.Serializer[Any]):
    """A legal action of a position, to a machine that learns a value of boards; from -1 to 1."""

    move = serializers.CharField()
    name = serializers.CharField()
    board = serializers.FloatField(help_text="The value of the board after it.")
    found = serializers.FloatField(help_text="The result of its search. It plays the greatest.")
    best = serializers.BooleanField()
    next = serializers.CharField(help_text="The position after it.")


class PositionPartsSerializer(serializers.Serializer[Any]):
    """A position as a machine that learns a value of boards sees it."""

    position = serializers.CharField()
    role = serializers.CharField(help_text="The side to move.")
    moved = serializers.CharField(help_text="The side that has just moved.")
    over = serializers.CharField(allow_null=True, help_text="Why the game is over, if it is.")
    depth = serializers.IntegerField(
        help_text="The moves ahead of this search. In a match there are more, because there is more time."
    )
    play_depth = serializers.IntegerField(help_text="The moves ahead of its search in a match.")
    here = PartsField(allow_null=True, help_text="The board for who has just moved; null before the first move.")
    choice = PartsField(allow_null=True, help_text="The board after its choice, for who is to move.")
    moves = MovePartsSerializer(many=True)
