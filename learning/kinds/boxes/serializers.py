"""Serializers for boxes in the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from learning.kinds.boxes.look import slots_view
from learning.models import AnyBox


class BoxSerializer(serializers.Serializer[AnyBox]):
    """A box. Beads, draws, probabilities and moves have one entry for each slot."""

    position = serializers.CharField(help_text="The position as it is printed on the box.")
    ply = serializers.IntegerField()
    move_number = serializers.IntegerField(help_text="The machine's own move number; 1 for its first move.")
    start = serializers.ListField(child=serializers.IntegerField(), help_text="The initial beads.")
    beads = serializers.ListField(child=serializers.IntegerField())
    probabilities = serializers.ListField(child=serializers.FloatField(), help_text="All 0 when the box is empty.")
    moves = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="For each slot the moves of the printed position that its beads stand for.",
    )
    draws = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="How often each slot was played in games from which the machine learnt.",
    )
    symmetries = serializers.ListField(
        child=serializers.CharField(), help_text="The rotations and reflections that leave the position unchanged."
    )
    url = serializers.CharField(help_text="The address of the box's page.")

    def to_representation(self, instance: AnyBox) -> dict[str, object]:
        """Return the box as JSON. The context holds the machine's cabinet, which is shared by the whole list."""
        cabinet = self.context["cabinet"]
        position = cabinet.game.decode(instance.position)
        total = sum(instance.beads)
        stabiliser = cabinet.game.stabiliser(position) if cabinet.rule.reduce_symmetry else cabinet.game.symmetries[:1]
        return {
            "position": instance.position,
            "ply": instance.ply,
            "move_number": instance.move_number,
            "start": instance.start,
            "beads": instance.beads,
            "probabilities": [count / total if total else 0.0 for count in instance.beads],
            "moves": [slot["moves"] for slot in slots_view(cabinet, position)],
            "draws": instance.visits,
            "symmetries": [symmetry.name for symmetry in stabiliser],
            "url": instance.get_absolute_url(),
        }


class BoxMoveSerializer(serializers.Serializer[Any]):
    """A legal move of the position, in the orientation of the request."""

    move = serializers.CharField()
    name = serializers.CharField()
    slot = serializers.IntegerField(allow_null=True)
    beads = serializers.IntegerField(allow_null=True)
    probability = serializers.FloatField()


class BoxChangeSerializer(serializers.Serializer[Any]):
    """One change of a box, and its cause."""

    lesson = serializers.IntegerField(source="lesson.number", help_text="The number of the machine's lesson.")
    kind = serializers.CharField(source="lesson.kind", help_text="match, refill, training, or folded")
    room = serializers.SerializerMethodField(
        help_text="The room of the match that taught the machine; null for a room that is in no list."
    )
    training_run = serializers.SerializerMethodField(
        help_text="The training run that taught the machine; null for a run that you may not see."
    )
    ply = serializers.IntegerField(allow_null=True, help_text="The ply of the match.")
    deltas = serializers.ListField(child=serializers.IntegerField())
    after = serializers.ListField(child=serializers.IntegerField())
    created_at = serializers.DateTimeField(source="lesson.created_at")

    def get_room(self, change: Any) -> str | None:
        match = change.lesson.match
        return None if match is None or change.is_hidden else match.room.code

    def get_training_run(self, change: Any) -> int | None:
        run_id: int | None = change.lesson.run_id
        return None if change.is_hidden else run_id


class BoxVisitsSerializer(serializers.Serializer[Any]):
    """How a game against a fixed opponent opens a box, calculated from the beads of today."""

    against = serializers.CharField()
    chance = serializers.FloatField(help_text="The chance that the game opens the box at least once.")
    openings = serializers.FloatField(
        help_text="How often the game opens the box on average: more than the chance if positions can return. Both "
        "count the moves up to the game's limit."
    )


class BoxDetailSerializer(serializers.Serializer[Any]):
    """The box that a position opens, turned as the position was asked for, and its history."""

    asked = serializers.CharField(help_text="The position in the orientation of the request.")
    symmetry = serializers.DictField(help_text="The symmetry from the printed box to the orientation of the request.")
    box = BoxSerializer()
    moves = BoxMoveSerializer(many=True)
    visits = BoxVisitsSerializer(many=True, help_text="None if the positions of the game cannot be listed.")
    history = BoxChangeSerializer(many=True, help_text="The latest changes, newest first.")
