"""Serializers of training in the browser: responses, and the parameters that are no part of an address."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from beadbox.learners.boxes.training_config import MEASURES, teachable_games
from games.live.serializers import StrictSerializer
from games.validators import name_validate


class CountsField(serializers.ListField):
    """A list of whole numbers, such as cells or places."""

    child = serializers.IntegerField()


class GraphAskedSerializer(serializers.Serializer[Any]):
    """A request for the graph of a game, with positions reduced by symmetry or not."""

    game = serializers.ChoiceField(sorted(teachable_games()), help_text="A game whose boxes can be listed.")
    reduce_symmetry = serializers.BooleanField(default=True, help_text="Whether symmetric boards share a node.")


class GraphStepSerializer(serializers.Serializer[Any]):
    """A move on a board in its original orientation."""

    move = serializers.CharField()
    name = serializers.CharField()
    cells = CountsField(help_text="The cells that a person touches, as indices in the layout.")
    changes = serializers.ListField(
        child=serializers.ListField(), help_text="The changed cells, each with its piece afterwards: [cell, piece]."
    )


class GraphTurnSerializer(serializers.Serializer[Any]):
    """A symmetry of the board, as permutations of cells and steps."""

    cells = CountsField(help_text="The image of each cell.")
    steps = CountsField(help_text="The image of each step.")


class GraphSerializer(serializers.Serializer[Any]):
    """Positions and moves of a game. Texts with one character for each node or edge encode numbers, "0" for 0."""

    boards = serializers.ListField(child=serializers.CharField(), help_text="One for each node.")
    suffixes = serializers.ListField(
        child=serializers.CharField(allow_blank=True),
        help_text="For each side, the text that follows a board in the text of a position.",
    )
    pieces = serializers.DictField(
        child=serializers.CharField(allow_null=True), help_text="The piece for each character of a board."
    )
    start = serializers.CharField(help_text="The board at the start.")
    start_turn = serializers.IntegerField()
    side = serializers.CharField(help_text="For each node, the side to move.")
    ply = serializers.CharField(help_text="One for each node.")
    n_moves = serializers.CharField(help_text="For each node, the number of its edges.")
    end = serializers.CharField(
        help_text="For each edge: 0 if the game goes on, 1 or 2 if that side wins, 3 for a draw."
    )
    slot = serializers.CharField(help_text="For each edge, the number of its slot in its node.")
    step = serializers.CharField(help_text="For each edge, an index in steps.")
    turn = serializers.CharField(
        help_text="For each edge, an index in turns: the symmetry from the next node's board to the board after the "
        "move."
    )
    bead = serializers.CharField(help_text="For each edge, an index in beads.")
    beads = serializers.ListField(child=serializers.ListField(), help_text="Colour and mark of each bead.")
    steps = GraphStepSerializer(many=True)
    turns = GraphTurnSerializer(many=True)
    replies = serializers.DictField(
        child=serializers.CharField(), help_text="For each opponent and edge: 1 if the opponent may play the edge."
    )


class KeepSerializer(StrictSerializer):
    """The trained machine to store, by its address, and its name."""

    address = serializers.CharField(
        allow_blank=True, max_length=4000, help_text="The address in the form in which GET /api/learn returns it."
    )
    name = serializers.CharField(default="", allow_blank=True, max_length=80, validators=[name_validate])


class ProblemSerializer(serializers.Serializer[Any]):
    """An unusable part of an address, with the reason."""

    field = serializers.CharField()
    detail = serializers.CharField()


class NamedRuleSerializer(serializers.Serializer[Any]):
    """A rule, and the preset that it starts from."""

    preset = serializers.CharField()
    rule = serializers.DictField(help_text="Every field.")


class AddressSerializer(NamedRuleSerializer):
    """The interpretation of an address of the training page."""

    address = serializers.CharField()
    beside_address = serializers.CharField(allow_null=True)
    game = serializers.CharField()
    side = serializers.CharField()
    teacher = serializers.CharField()
    seed = serializers.CharField(help_text="Text, because a seed may have 63 bits.")
    games = serializers.IntegerField()
    against = serializers.ChoiceField(MEASURES)
    beside = NamedRuleSerializer(allow_null=True)
    problems = ProblemSerializer(many=True)
    code = serializers.CharField(help_text="Lines of Python that make the same machine with the library.")
