"""Serializers of machines and of their strength."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from beadbox.learners.presets import ALL_PRESETS
from beadbox.rules.errors import UnknownGameError
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from games.live.serializers import StrictSerializer, parse_side
from games.validators import name_validate
from learning.access import is_seen
from learning.kinds.kind import Kind
from learning.kinds.registry import kind_of_rule, usual_kind
from learning.models import Machine
from learning.serializers.base import IntervalField, RuleField, SlugChoiceField


class MachineSerializer(serializers.ModelSerializer[Machine]):
    """A machine, without its boxes."""

    role = serializers.SerializerMethodField(help_text="The name of the machine's side in the game.")
    rule = serializers.SerializerMethodField(help_text="Every field of the machine's rule.")
    owner = serializers.SerializerMethodField(help_text="The name of its account; null for a built-in machine.")
    copied_from = serializers.SerializerMethodField(
        help_text="The id of the original; null for a machine that you may not see."
    )
    public = serializers.BooleanField(
        source="is_public", help_text="Whether all visitors may see and play the machine."
    )
    level = serializers.IntegerField(help_text="HexapawnRL's measure of experience.")
    epsilon = serializers.FloatField(
        allow_null=True, help_text="The share of random moves of a machine that keeps values."
    )
    values = serializers.IntegerField(
        source="n_values", help_text="The number of values of a machine that keeps values."
    )
    lessons = serializers.IntegerField(source="n_lessons", help_text="The number of its last lesson.")
    lessons_folded = serializers.IntegerField(
        source="n_folded", help_text="Its history starts after this lesson. Earlier lessons are kept as one sum."
    )
    folded_at = serializers.DateTimeField(
        allow_null=True, help_text="The time of that lesson; null if the whole history is kept."
    )
    games = serializers.IntegerField(source="n_games")
    wins = serializers.IntegerField(source="n_wins")
    draws = serializers.IntegerField(source="n_draws")
    losses = serializers.IntegerField(source="n_losses")
    url = serializers.CharField(source="get_absolute_url", help_text="The address of the box's page.")

    class Meta:
        model = Machine
        fields: tuple[str, ...] = (
            *("id", "slug", "name", "description", "game", "side", "role", "preset", "rule", "owner", "public"),
            *(
                "learns",
                "level",
                "epsilon",
                "values",
                "lessons",
                "lessons_folded",
                "folded_at",
                "games",
                "wins",
                "draws",
                "losses",
                "copied_from",
                "created_at",
                "url",
            ),
        )
        read_only_fields: tuple[str, ...] = fields

    def get_role(self, machine: Machine) -> str | None:
        """Return the game's name for the side, such as ``X``; ``None`` for a machine that plays either side."""
        return None if machine.side is None else machine.game_rules.presentation.layout.roles[machine.side]

    @extend_schema_field(RuleField)
    def get_rule(self, machine: Machine) -> dict[str, object]:
        """Return every field of the rule, including fields introduced after the machine was created."""
        return machine.rule.to_json()

    def get_copied_from(self, machine: Machine) -> int | None:
        """Return the id of the original if the viewer may see it.

        The viewer is the user of the context's ``request``; without a request, a guest.
        """
        user = self.context["request"].user if "request" in self.context else None
        original = machine.copied_from
        return original.pk if original is not None and is_seen(user, original) else None

    def get_owner(self, machine: Machine) -> str | None:
        """Return the account's name; ``None`` for a machine of the site."""
        return machine.owner.get_username() if machine.owner else None


class PresetField(SlugChoiceField):
    """The slug of a preset of any kind of machine."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=[(preset.slug, preset.name) for preset in ALL_PRESETS.values()], **kwargs)


class MachineCreateSerializer(StrictSerializer):
    """Fields of a new machine: a game, a side, and a preset or a rule of its own."""

    game = serializers.SlugField(max_length=40)
    side = serializers.CharField(
        max_length=20,
        default="",
        allow_blank=True,
        help_text="A role such as X or O, or 0 or 1; by default the first side. A machine that keeps values has no "
        "side.",
    )
    name = serializers.CharField(max_length=80, required=False, validators=[name_validate])
    description = serializers.CharField(max_length=2000, default="", allow_blank=True)
    preset = PresetField(
        required=False,
        help_text="Without a preset and a rule, the default preset of the side.",
    )
    rule = RuleField(required=False)
    public = serializers.BooleanField(default=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Convert the side to a :class:`Side` and fill in the usual name.

        Raises:
            ValidationError: a preset and a rule are both given, the game is unknown or has no machines, or the side
                does not fit the machine.
        """
        if "preset" in attrs and "rule" in attrs:
            raise serializers.ValidationError({"rule": "Give a preset or a rule, not both."}, code="invalid")
        try:
            game = game_get(attrs["game"])
        except UnknownGameError as error:
            raise serializers.ValidationError({"game": str(error)}, code=error.code) from None
        kind = self._kind(attrs, game)
        if kind is None:
            raise serializers.ValidationError({"game": f"No machine can play {game.name}."}, code="invalid")
        attrs["side"] = self._side(attrs["side"], game, kind)
        attrs.setdefault("name", kind.page.usual_name(game, attrs["side"], attrs.get("preset", "")))
        return attrs

    def _side(self, text: str, game: AnyGame, kind: Kind) -> Side | None:
        """Return the requested side; ``None`` for a kind that plays either side, for which none may be given."""
        if kind.occupant_class.either_side:
            if text:
                problem = f"A machine that keeps {kind.page.text.noun} plays either side, so it is given none."
                raise serializers.ValidationError({"side": problem}, code="invalid")
            return None
        try:
            side = parse_side(game, text, Side.FIRST)
        except ValueError as error:
            raise serializers.ValidationError({"side": str(error).removeprefix("side: ")}, code="invalid") from None
        if side is None:
            raise serializers.ValidationError({"side": "A machine plays one side for good."}, code="invalid")
        return side

    def _kind(self, attrs: dict[str, Any], game: AnyGame) -> Kind | None:
        """Return the requested kind of machine: by its rule, by its preset, else the usual kind of the game."""
        if "rule" in attrs:
            return kind_of_rule(attrs["rule"])
        preset = ALL_PRESETS.get(attrs.get("preset", ""))
        return usual_kind(game) if preset is None else kind_of_rule(preset.rule)


class MachineUpdateSerializer(StrictSerializer):
    """The fields of a machine that can be changed."""

    name = serializers.CharField(max_length=80, required=False, validators=[name_validate])
    description = serializers.CharField(max_length=2000, required=False, allow_blank=True)
    learns = serializers.BooleanField(
        required=False, help_text="False freezes the machine: it plays and does not learn."
    )
    public = serializers.BooleanField(required=False, source="is_public")


class MachineCloneSerializer(StrictSerializer):
    """The name and visibility of a copy."""

    name = serializers.CharField(max_length=80, required=False, validators=[name_validate])
    public = serializers.BooleanField(
        required=False, source="is_public", help_text="By default the same as for the original."
    )


class ChancesSerializer(serializers.Serializer[Any]):
    """Probabilities of win, draw and loss; for a game too large for exact figures, shares of a sample."""

    win = serializers.FloatField()
    draw = serializers.FloatField()
    loss = serializers.FloatField()
    endless = serializers.FloatField(
        required=False,
        help_text="In a game that can go on for ever: the exact chance that it does. It is also part of a draw, or of "
        "a win or loss where endless play has a winner.",
    )
    unfinished = serializers.FloatField(
        required=False,
        help_text="In games that can go on for ever: the exact chance that the limit of moves stops a game.",
    )
    games = serializers.IntegerField(required=False, help_text="Only for a sample: its number of games.")
    win_interval = IntervalField(required=False, help_text="Only for a sample: the 95 % Wilson interval.")
    draw_interval = IntervalField(required=False)
    loss_interval = IntervalField(required=False)


class StrengthSerializer(serializers.Serializer[Any]):
    """Probabilities against each opponent and in the worst case; for a game too large for that, a sample."""

    random = ChancesSerializer(required=False)
    win_block = ChancesSerializer(required=False)
    medium = ChancesSerializer(
        required=False, help_text="Only for a machine that keeps values; null before its training."
    )
    perfect = ChancesSerializer(required=False, help_text="Only if the strength is exact.")
    worst = ChancesSerializer(required=False, help_text="Only if the strength is exact.")
