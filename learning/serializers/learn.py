"""Serializers of training in the browser: responses, and the parameters that are no part of an address."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from beadbox.learners.boxes.training_config import MEASURES, games_taught
from games.live.serializers import StrictSerializer
from games.validators import name_validate


class CountsField(serializers.ListField):
    """A list of whole numbers, such as cells or places."""

    child = serializers.IntegerField()


class GraphAskedSerializer(serializers.Serializer[Any]):
    """A request for the graph of a game, with positions reduced by symmetry or not."""

    game = serializers.ChoiceField(sorted(games_taught()), help_text="A game whose boxes can be listed.")
    reduce_symmetry = serializers.BooleanField(default=True, help_text="Whether boards count up to symmetry.")


class GraphStepSerializer(serializers.Serializer[Any]):
    """A move on a board in its original orientation."""

    move = serializers.CharField()
    name = serializers.CharField()
    cells = CountsField(help_text="The cells that it touches, as places in the layout.")
    changes = serializers.ListField(
        child=serializers.ListField(), help_text="The piece on a cell afterwards, as on boards: [cell, piece]."
    )


class GraphTurnSerializer(serializers.Serializer[Any]):
    """A symmetry of the board, as permutations of cells and steps."""

    cells = CountsField(help_text="Where each cell is carried to.")
    steps = CountsField(help_text="The image of each step.")


class GraphSerializer(serializers.Serializer[Any]):
    """Positions and moves of a game. Texts with one character for each node or edge encode numbers, "0" for 0."""

    boards = serializers.ListField(child=serializers.CharField(), help_text="Of each node.")
    suffixes = serializers.ListField(
        child=serializers.CharField(allow_blank=True), help_text="By side: with it a board is the text of its position."
    )
    pieces = serializers.DictField(child=serializers.CharField(allow_null=True), help_text="Characters of boards.")
    start = serializers.CharField(help_text="The board at the start.")
    start_turn = serializers.IntegerField()
    side = serializers.CharField(help_text="Of each node who is to move.")
    ply = serializers.CharField(help_text="Of each node.")
    n_moves = serializers.CharField(help_text="Of each node how many edges it has.")
    end = serializers.CharField(
        help_text="Of each edge 1: the first side wins, 2: the second, 3: a draw, 0: it goes on."
    )
    slot = serializers.CharField(help_text="Of each edge which of its node's different moves it is.")
    step = serializers.CharField(help_text="Of each edge its place in steps.")
    turn = serializers.CharField(help_text="Of each edge how the board after it lies, as a place in turns.")
    bead = serializers.CharField(help_text="Of each edge its place in beads.")
    beads = serializers.ListField(child=serializers.ListField(), help_text="Colour and mark.")
    steps = GraphStepSerializer(many=True)
    turns = GraphTurnSerializer(many=True)
    replies = serializers.DictField(child=serializers.CharField(), help_text="By opponent: 1 for an edge it may play.")


class KeepSerializer(StrictSerializer):
    """The trained machine to store, by its address, and its name."""

    address = serializers.CharField(allow_blank=True, max_length=4000, help_text="As GET /api/learn answers it.")
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
    seed = serializers.CharField(help_text="Text: it may have 63 bits.")
    games = serializers.IntegerField()
    against = serializers.ChoiceField(MEASURES)
    beside = NamedRuleSerializer(allow_null=True)
    problems = ProblemSerializer(many=True)
