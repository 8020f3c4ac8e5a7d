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
    board = serializers.FloatField(help_text="The value of the board after the action.")
    found = serializers.FloatField(
        help_text="The result of the search. The machine plays the action with the greatest."
    )
    best = serializers.BooleanField()
    next = serializers.CharField(help_text="The position after the action.")


class PositionPartsSerializer(serializers.Serializer[Any]):
    """A position as a machine that learns a value of boards sees it."""

    position = serializers.CharField()
    role = serializers.CharField(help_text="The side to move.")
    moved = serializers.CharField(help_text="The side that has just moved.")
    over = serializers.CharField(allow_null=True, help_text="The reason for the end of the game, if it is over.")
    depth = serializers.IntegerField(
        help_text="The depth of this search in moves. In a match it is greater, because there is more time."
    )
    play_depth = serializers.IntegerField(help_text="The depth of the machine's search in a match, in moves.")
    here = PartsField(
        allow_null=True,
        help_text="The board from the view of the side that has just moved; null before the first move.",
    )
    choice = PartsField(
        allow_null=True, help_text="The board after the machine's choice, from the view of the side to move."
    )
    moves = MovePartsSerializer(many=True)
