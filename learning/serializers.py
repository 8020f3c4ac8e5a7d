"""Bodies of the API: what comes in becomes typed values with errors by field, what goes out has one shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from games.rules.base import Game, Side
from games.rules.errors import UnknownGameError
from games.rules.registry import game_get
from games.serializers import parse_side
from learning.core.experiments.registry import EXPERIMENTS
from learning.core.machines.presets import ALL_PRESETS, PRESETS, preset_named
from learning.core.machines.q_learning import QRule
from learning.core.machines.registry import AnyRule, rule_read
from learning.core.machines.rule import Rule, RuleError
from learning.core.opponents.registry import OPPONENTS
from learning.models import Box, Machine, RunStatus, TournamentFormat
from learning.selectors_boxes import slots_view
from learning.services import MAX_GAMES, MAX_STAGES, Stage
from learning.services_schedules import PERIODS, Timing
from learning.services_tournaments import MAX_ENTRIES, MAX_GAMES_PER_PAIRING

MAX_SEED = (1 << 63) - 1
EXPERIMENT_SLUGS = list(EXPERIMENTS)
"""Named in the settings too, so that the schema has one name for the choice of an experiment."""


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses a field it does not know: a mistyped name must not pass for something that was done."""

    def to_internal_value(self, data: Any) -> Any:
        """The values, or the errors by field."""
        values = super().to_internal_value(data)
        known = [name for name, field in self.fields.items() if not field.read_only]
        if unknown := [str(name) for name in data if name not in known]:
            problem = f"There is no such field to set; there are {', '.join(known)}."
            raise serializers.ValidationError({name: [problem] for name in unknown}, code="unknown_field")
        return values


@extend_schema_field({"type": "object", "description": "A learning rule; fields left out have their default."})
class RuleField(serializers.Field[AnyRule, Any, dict[str, Any], AnyRule]):
    """A rule of a machine's own, as an object."""

    def to_internal_value(self, data: Any) -> AnyRule:
        """The rule, or which of its fields is wrong."""
        try:
            return rule_read(data)
        except RuleError as error:
            problem = str(error).removeprefix(f"{error.field}: ")
            if not isinstance(data, Mapping):
                raise serializers.ValidationError(problem, code=error.code) from None
            raise serializers.ValidationError({error.field: [problem]}, code=error.code) from None

    def to_representation(self, value: AnyRule) -> dict[str, Any]:
        """The rule with all its fields."""
        return value.to_json()


class MachineSerializer(serializers.ModelSerializer[Machine]):
    """A machine, without its boxes."""

    role = serializers.SerializerMethodField(help_text="What the game calls its side.")
    rule = serializers.SerializerMethodField(help_text="Its own copy of its rule, every field.")
    owner = serializers.SerializerMethodField(help_text="The name of its account; null for a machine of the house.")
    public = serializers.BooleanField(source="is_public", help_text="Whether others may see and play it.")
    level = serializers.IntegerField(help_text="HexapawnRL's measure of experience.")
    epsilon = serializers.FloatField(allow_null=True, help_text="How often it tries anything, if it keeps values.")
    lessons = serializers.IntegerField(source="n_lessons", help_text="The number of its last lesson.")
    games = serializers.IntegerField(source="n_games")
    wins = serializers.IntegerField(source="n_wins")
    draws = serializers.IntegerField(source="n_draws")
    losses = serializers.IntegerField(source="n_losses")
    url = serializers.CharField(source="get_absolute_url", help_text="Its page.")

    class Meta:
        model = Machine
        fields = (
            *("id", "slug", "name", "description", "game", "side", "role", "preset", "rule", "owner", "public"),
            *(
                "learns",
                "level",
                "epsilon",
                "lessons",
                "games",
                "wins",
                "draws",
                "losses",
                "copied_from",
                "created_at",
                "url",
            ),
        )
        read_only_fields = fields

    def get_role(self, machine: Machine) -> str | None:
        """``X``, ``O``; ``None`` for either."""
        return None if machine.side is None else machine.rules.layout.roles[machine.side]

    @extend_schema_field(RuleField)
    def get_rule(self, machine: Machine) -> dict[str, Any]:
        """Every field, those too that were added after the machine was made."""
        return machine.any_rule.to_json()

    def get_owner(self, machine: Machine) -> str | None:
        """The account's name."""
        return machine.owner.get_username() if machine.owner else None


class MachineCreateSerializer(StrictSerializer):
    """What a new machine needs: a game, a side, and a preset or a rule of its own."""

    game = serializers.SlugField(max_length=40)
    side = serializers.CharField(
        max_length=20,
        default="",
        allow_blank=True,
        help_text="A role such as X or O, or 0 or 1; the first if not given. A machine that keeps values has none.",
    )
    name = serializers.CharField(max_length=80, required=False)
    description = serializers.CharField(max_length=2000, default="", allow_blank=True)
    preset = serializers.ChoiceField(
        choices=[(preset.slug, preset.name) for preset in ALL_PRESETS.values()],
        required=False,
        help_text="The usual one of its side if neither this nor a rule is given.",
    )
    rule = RuleField(required=False)
    public = serializers.BooleanField(default=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The side becomes a :class:`Side`; a preset and a rule exclude each other."""
        if "preset" in attrs and "rule" in attrs:
            raise serializers.ValidationError({"rule": "Give a preset or a rule, not both."}, code="invalid")
        try:
            game = game_get(attrs["game"])
        except UnknownGameError as error:
            raise serializers.ValidationError({"game": str(error)}, code=error.code) from None
        if self._keeps_values(attrs, game):
            if attrs["side"]:
                problem = "A machine that keeps values plays either side, so it is given none."
                raise serializers.ValidationError({"side": problem}, code="invalid")
            attrs["side"] = None
            attrs.setdefault("name", f"{game.name} Q")
            return attrs
        try:
            side = parse_side(game, attrs["side"], Side.FIRST)
        except ValueError as error:
            raise serializers.ValidationError({"side": str(error).removeprefix("side: ")}, code="invalid") from None
        if side is None:
            raise serializers.ValidationError({"side": "A machine plays one side for good."}, code="invalid")
        attrs["side"] = side
        if "name" not in attrs:
            role = game.layout.roles[side]
            attrs["name"] = f"{PRESETS[attrs['preset']].name if 'preset' in attrs else game.name} {role}"
        return attrs

    def _keeps_values(self, attrs: dict[str, Any], game: Game[Any, Any]) -> bool:
        """Which kind of machine is asked for: by its rule, its preset, or what fits the game."""
        if "rule" in attrs:
            return isinstance(attrs["rule"], QRule)
        if "preset" in attrs:
            preset = preset_named(attrs["preset"])
            return preset is not None and isinstance(preset.rule, QRule)
        return not Rule.fits(game)


class MachineUpdateSerializer(StrictSerializer):
    """What may be changed of a machine."""

    name = serializers.CharField(max_length=80, required=False)
    description = serializers.CharField(max_length=2000, required=False, allow_blank=True)
    learns = serializers.BooleanField(required=False, help_text="False freezes it: it plays and does not learn.")
    public = serializers.BooleanField(required=False, source="is_public")


class MachineCloneSerializer(StrictSerializer):
    """What a copy may be called."""

    name = serializers.CharField(max_length=80, required=False)
    public = serializers.BooleanField(required=False, source="is_public", help_text="As the original if not given.")


class BoxSerializer(serializers.Serializer[Box]):
    """A box: numbers of beads and draws, probabilities and moves all have one entry a slot."""

    position = serializers.CharField(help_text="As printed on the box.")
    ply = serializers.IntegerField()
    move_number = serializers.IntegerField(help_text="The machine's own, 1 for its first.")
    start = serializers.ListField(child=serializers.IntegerField(), help_text="Beads it was laid out with.")
    beads = serializers.ListField(child=serializers.IntegerField())
    probabilities = serializers.ListField(child=serializers.FloatField(), help_text="All 0 when the box is empty.")
    moves = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="For each slot the moves of the printed position that its beads stand for.",
    )
    draws = serializers.ListField(child=serializers.IntegerField(), help_text="Slots played in games learnt from.")
    symmetries = serializers.ListField(
        child=serializers.CharField(), help_text="The turns and mirrors that leave the position as it is."
    )
    url = serializers.CharField(help_text="Its page.")

    def to_representation(self, instance: Box) -> dict[str, Any]:
        """The box, with the machine's cabinet from the context: one for the whole list."""
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
            "draws": instance.draws,
            "symmetries": [symmetry.name for symmetry in stabiliser],
            "url": f"/machines/{instance.machine_id}/boxes/{instance.position}",
        }


class BoxMoveSerializer(serializers.Serializer[Any]):
    """A legal move of the position as it was asked for."""

    move = serializers.CharField()
    name = serializers.CharField()
    slot = serializers.IntegerField(allow_null=True)
    beads = serializers.IntegerField(allow_null=True)
    probability = serializers.FloatField()


class BoxChangeSerializer(serializers.Serializer[Any]):
    """One change of a box, and its cause."""

    lesson = serializers.IntegerField(source="lesson.number", help_text="The number of the machine's lesson.")
    kind = serializers.CharField(source="lesson.kind", help_text="match, refill or training")
    room = serializers.SerializerMethodField(help_text="The room of the match that taught.")
    training_run = serializers.IntegerField(source="lesson.run_id", allow_null=True)
    ply = serializers.IntegerField(allow_null=True, help_text="Of the match.")
    deltas = serializers.ListField(child=serializers.IntegerField())
    after = serializers.ListField(child=serializers.IntegerField())
    created_at = serializers.DateTimeField(source="lesson.created_at")

    def get_room(self, change: Any) -> str | None:
        """Its code."""
        match = change.lesson.match
        return None if match is None else match.room.code


class BoxDetailSerializer(serializers.Serializer[Any]):
    """The box that a position opens, turned as the position was asked for, and its history."""

    asked = serializers.CharField(help_text="The position as it was asked for.")
    symmetry = serializers.DictField(help_text="How the printed box is turned to lie as the position asked for.")
    box = BoxSerializer()
    moves = BoxMoveSerializer(many=True)
    history = BoxChangeSerializer(many=True, help_text="The latest changes, newest first.")


class ValueMoveSerializer(serializers.Serializer[Any]):
    """A legal action of a position, to a machine that keeps values."""

    move = serializers.CharField()
    name = serializers.CharField()
    value = serializers.FloatField(help_text="Q: what it has learnt, 0 for what it never tried.")
    outlook = serializers.FloatField(help_text="E/100: a hundredth of the engine's value after the action.")
    total = serializers.FloatField(help_text="Their sum; the greatest is played.")
    visits = serializers.IntegerField(help_text="How often it was learnt.")
    best = serializers.BooleanField()
    next = serializers.CharField(help_text="The position after it.")


class PositionValuesSerializer(serializers.Serializer[Any]):
    """What a machine that keeps values makes of a position."""

    position = serializers.CharField()
    role = serializers.CharField(help_text="Who is to move.")
    over = serializers.CharField(allow_null=True, help_text="Why the game is over, if it is.")
    epsilon = serializers.FloatField()
    moves = ValueMoveSerializer(many=True)


class IntervalField(serializers.ListField):
    """From and to."""

    child = serializers.FloatField()


class ChancesSerializer(serializers.Serializer[Any]):
    """Chances of win, draw and loss; or, of a game too large for that, the shares of a sample."""

    win = serializers.FloatField()
    draw = serializers.FloatField()
    loss = serializers.FloatField()
    games = serializers.IntegerField(required=False, help_text="Of a sample: how many games it is the result of.")
    win_interval = IntervalField(required=False, help_text="Of a sample: the 95 % Wilson interval.")
    draw_interval = IntervalField(required=False)
    loss_interval = IntervalField(required=False)


class StrengthSerializer(serializers.Serializer[Any]):
    """Exact chances against each opponent, and in the worst case; of a game too large for that, a sample."""

    random = ChancesSerializer(required=False)
    win_block = ChancesSerializer(required=False)
    medium = ChancesSerializer(required=False, help_text="Of a machine that keeps values; nothing before its training.")
    perfect = ChancesSerializer(required=False, help_text="Only where it is exact.")
    worst = ChancesSerializer(required=False, help_text="Only where it is exact.")


class StageSerializer(StrictSerializer):
    """So many games against one opponent."""

    opponent = serializers.CharField(max_length=80, help_text="A fixed opponent, or the id or slug of a machine.")
    games = serializers.IntegerField(min_value=1, max_value=MAX_GAMES)
    learns = serializers.BooleanField(default=False, help_text="Whether an opponent that is a machine learns too.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Only machines learn."""
        if attrs["learns"] and attrs["opponent"] in OPPONENTS:
            raise serializers.ValidationError({"learns": "Only an opponent that is a machine learns."}, code="invalid")
        return attrs


class RunStartSerializer(StrictSerializer):
    """A training run: against one ``opponent`` for so many ``games``, or a list of ``opponents`` one after another."""

    machine = serializers.CharField(max_length=80, help_text="Id or slug of the machine to train.")
    opponent = serializers.CharField(
        max_length=80, required=False, help_text="A fixed opponent, or the id or slug of a machine."
    )
    games = serializers.IntegerField(min_value=1, max_value=MAX_GAMES, required=False)
    opponent_learns = serializers.BooleanField(required=False, help_text="Whether that machine learns too.")
    opponents = serializers.ListField(
        child=StageSerializer(), required=False, allow_empty=False, max_length=MAX_STAGES, help_text="A curriculum."
    )
    seed = serializers.IntegerField(
        min_value=0, max_value=MAX_SEED, required=False, help_text="A random one if not given; the answer says which."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Either form becomes ``stages``."""
        single = [name for name in ("opponent", "games", "opponent_learns") if name in attrs]
        if "opponents" in attrs:
            if single:
                problem = f"Give a list of opponents, or {single[0]}, not both."
                raise serializers.ValidationError({"opponents": problem}, code="invalid")
            stages = [Stage(**stage) for stage in attrs["opponents"]]
        else:
            if missing := [name for name in ("opponent", "games") if name not in attrs]:
                raise serializers.ValidationError(dict.fromkeys(missing, "This field is required."), code="required")
            stages = [Stage(attrs["opponent"], attrs["games"], attrs.get("opponent_learns", False))]
            if stages[0].learns and stages[0].opponent in OPPONENTS:
                problem = "Only an opponent that is a machine learns."
                raise serializers.ValidationError({"opponent_learns": problem}, code="invalid")
        if sum(stage.games for stage in stages) > MAX_GAMES:
            problem = f"A run has at most {MAX_GAMES:,} games in all."
            raise serializers.ValidationError({"opponents": problem}, code="max_value")
        return {"machine": attrs["machine"], "stages": stages, "seed": attrs.get("seed")}


class RunStageSerializer(serializers.Serializer[Any]):
    """One opponent of a run."""

    opponent = serializers.CharField(help_text="A fixed opponent, or 'machine'.")
    machine = serializers.IntegerField(allow_null=True, help_text="Null also for one that has been deleted since.")
    learns = serializers.BooleanField()
    games = serializers.IntegerField()


class RunSerializer(serializers.Serializer[Any]):
    """How far a training run is: ``selectors.run_view``."""

    id = serializers.IntegerField()
    machine = serializers.IntegerField()
    opponents = RunStageSerializer(many=True)
    status = serializers.ChoiceField(choices=RunStatus.choices)
    games = serializers.IntegerField()
    games_done = serializers.IntegerField()
    wins = serializers.IntegerField()
    draws = serializers.IntegerField()
    losses = serializers.IntegerField()
    seed = serializers.IntegerField()
    error = serializers.CharField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class CurvePointSerializer(serializers.Serializer[Any]):
    """A point of a run's curve: what happened in training so far, and the exact strength then."""

    games = serializers.IntegerField()
    wins = serializers.IntegerField()
    draws = serializers.IntegerField()
    losses = serializers.IntegerField()
    strength = StrengthSerializer()


class RunDetailSerializer(RunSerializer):
    """A training run with its curve so far."""

    curve = CurvePointSerializer(many=True)


class TimingSerializer(StrictSerializer):
    """When a schedule starts its runs: a crontab, or every so many minutes, hours or days."""

    crontab = serializers.CharField(
        max_length=300, required=False, help_text="Minute, hour, day of month, month, day of week; UTC. Or ``every``."
    )
    every = serializers.IntegerField(min_value=1, required=False, help_text="Together with ``period``.")
    period = serializers.ChoiceField(choices=PERIODS, required=False, help_text="hours if not given.")
    paused = serializers.BooleanField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Crontab and interval become ``timing``; neither: no timing."""
        given = {name: attrs.pop(name) for name in ("crontab", "every", "period") if name in attrs}
        paused = {"paused": attrs.pop("paused")} if "paused" in attrs else {}
        return {**super().validate(attrs), **paused, **({"timing": Timing(**given)} if given else {})}


class ScheduleCreateSerializer(TimingSerializer, RunStartSerializer):
    """A training run, as it is started by hand, and when. Without a seed each run has a fresh one."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A schedule needs a time."""
        attrs = super().validate(attrs)
        attrs.setdefault("timing", Timing())
        return attrs


class ScheduleUpdateSerializer(TimingSerializer):
    """What of a schedule can be changed; what is not given stays."""

    opponents = serializers.ListField(
        child=StageSerializer(), required=False, allow_empty=False, max_length=MAX_STAGES, help_text="A curriculum."
    )
    seed = serializers.IntegerField(
        min_value=0, max_value=MAX_SEED, required=False, allow_null=True, help_text="null: a fresh one for each run."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Opponents become ``stages``."""
        attrs = super().validate(attrs)
        if "opponents" in attrs:
            attrs["stages"] = [Stage(**stage) for stage in attrs.pop("opponents")]
        if attrs.get("seed", 0) is None:
            del attrs["seed"]
            attrs["fresh_seed"] = True
        return attrs


class ScheduleStageSerializer(serializers.Serializer[Any]):
    """One opponent of each run of a schedule."""

    opponent = serializers.CharField(help_text="A fixed opponent, or the id of a machine.")
    games = serializers.IntegerField()
    learns = serializers.BooleanField()


class ScheduleSerializer(serializers.Serializer[Any]):
    """A schedule: ``selectors_schedules.schedule_view``."""

    id = serializers.IntegerField()
    machine = serializers.IntegerField()
    owner = serializers.CharField()
    opponents = ScheduleStageSerializer(many=True)
    games = serializers.IntegerField(help_text="Of each run.")
    seed = serializers.IntegerField(allow_null=True, help_text="null: a fresh one for each run.")
    crontab = serializers.CharField(help_text="Empty for an interval.")
    every = serializers.IntegerField(allow_null=True)
    period = serializers.CharField(allow_null=True)
    paused = serializers.BooleanField()
    next_runs = serializers.ListField(child=serializers.DateTimeField(), help_text="The next five; none while paused.")
    fired = serializers.IntegerField(help_text="How many runs it has started.")
    last_at = serializers.DateTimeField(allow_null=True)
    last_run = serializers.IntegerField(allow_null=True)
    last_status = serializers.ChoiceField(choices=RunStatus.choices, allow_null=True)
    note = serializers.CharField(help_text="Why the last time started no run; empty when it did.")
    created_at = serializers.DateTimeField()


class TournamentStartSerializer(StrictSerializer):
    """Who takes part, and how."""

    entries = serializers.ListField(
        child=serializers.CharField(max_length=80),
        min_length=2,
        max_length=MAX_ENTRIES,
        help_text="Ids or slugs of machines, and slugs of fixed opponents.",
    )
    games = serializers.IntegerField(min_value=1, max_value=MAX_GAMES_PER_PAIRING, help_text="Of each pairing.")
    game = serializers.SlugField(
        max_length=40, required=False, help_text="What is played; needed where no entry is a machine."
    )
    format = serializers.ChoiceField(choices=TournamentFormat.choices, default=TournamentFormat.ROUND_ROBIN)
    rounds = serializers.IntegerField(min_value=1, required=False, help_text="Of a Swiss tournament.")
    name = serializers.CharField(max_length=80, required=False)
    seed = serializers.IntegerField(
        min_value=0, max_value=MAX_SEED, required=False, help_text="A random one if not given; the answer says which."
    )


class TournamentSerializer(serializers.Serializer[Any]):
    """A tournament as a list shows it: ``selectors_tournaments.tournament_brief``."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    game = serializers.CharField()
    format = serializers.ChoiceField(choices=TournamentFormat.choices)
    games = serializers.IntegerField(help_text="Of each pairing.")
    rounds = serializers.IntegerField()
    round = serializers.IntegerField(help_text="The one that is played.")
    seed = serializers.IntegerField()
    status = serializers.ChoiceField(choices=RunStatus.choices)
    public = serializers.BooleanField(help_text="Whether all its machines were when it began.")
    owner = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class EntrySerializer(serializers.Serializer[Any]):
    """Who takes part."""

    number = serializers.IntegerField()
    name = serializers.CharField()
    opponent = serializers.CharField(allow_null=True, help_text="A fixed opponent.")
    machine = serializers.IntegerField(allow_null=True, help_text="Null also when it has been deleted since.")
    side = serializers.IntegerField(allow_null=True, help_text="0 or 1; null: plays both.")
    url = serializers.CharField(allow_null=True)


class StandingSerializer(serializers.Serializer[Any]):
    """A line of the standings, best first. Points per game decide."""

    entry = serializers.IntegerField()
    place = serializers.IntegerField()
    games = serializers.IntegerField()
    wins = serializers.IntegerField()
    draws = serializers.IntegerField()
    losses = serializers.IntegerField()
    points = serializers.FloatField()
    score = serializers.FloatField(help_text="Points per game, 0 to 1.")
    expected = serializers.FloatField(
        allow_null=True, help_text="The exact expectation of points; null in a game too large to work it out."
    )
    rating = serializers.FloatField(help_text="openskill, Bradley-Terry; everybody begins at 25.")
    uncertainty = serializers.FloatField(help_text="Its standard deviation; everybody begins at 8.33.")


class CellSerializer(serializers.Serializer[Any]):
    """What an entry did against another, whoever began."""

    entry = serializers.IntegerField()
    games = serializers.IntegerField()
    points = serializers.FloatField()
    expected = serializers.FloatField(
        allow_null=True, help_text="The exact expectation of points; null in a game too large to work it out."
    )


class CrossSerializer(serializers.Serializer[Any]):
    """A line of the crosstable."""

    entry = serializers.IntegerField()
    against = CellSerializer(many=True)


class PairingSerializer(serializers.Serializer[Any]):
    """So many games between two entries."""

    number = serializers.IntegerField()
    round = serializers.IntegerField()
    first = serializers.IntegerField(help_text="The entry that plays the first side.")
    second = serializers.IntegerField()
    status = serializers.ChoiceField(choices=RunStatus.choices)
    first_wins = serializers.IntegerField()
    draws = serializers.IntegerField()
    second_wins = serializers.IntegerField()
    expected = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="Exact chances: first wins, draw, second wins."
    )


class TournamentDetailSerializer(TournamentSerializer):
    """A tournament as it stands: ``selectors_tournaments.tournament_view``."""

    version = serializers.IntegerField()
    error = serializers.CharField()
    pairings_done = serializers.IntegerField()
    pairings_total = serializers.IntegerField(help_text="Of a Swiss tournament: of the rounds begun.")
    entries = EntrySerializer(many=True)
    standings = StandingSerializer(many=True)
    crosstable = CrossSerializer(many=True)
    pairings = PairingSerializer(many=True)


class ParameterSerializer(serializers.Serializer[Any]):
    """A whole number that can be chosen."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of this name hides a serializer's own label
    default = serializers.IntegerField()
    low = serializers.IntegerField()
    high = serializers.IntegerField()


class ExperimentSerializer(serializers.Serializer[Any]):
    """An experiment: ``selectors_experiments.experiment_view``."""

    slug = serializers.ChoiceField(choices=EXPERIMENT_SLUGS)
    name = serializers.CharField()
    question = serializers.CharField()
    game = serializers.CharField()
    presets = serializers.ListField(child=serializers.CharField())
    edition = serializers.IntegerField(help_text="Raised whenever the same seed would come to something else.")
    seed = serializers.IntegerField(help_text="The one it has if none is given.")
    parameters = ParameterSerializer(many=True)


class ExperimentRunStartSerializer(StrictSerializer):
    """Which experiment, and how."""

    experiment = serializers.ChoiceField(choices=EXPERIMENT_SLUGS)
    seed = serializers.IntegerField(min_value=0, max_value=MAX_SEED, required=False)
    parameters = serializers.DictField(
        child=serializers.IntegerField(), required=False, help_text="By name; those left out have their default."
    )


class ExperimentRunSerializer(serializers.Serializer[Any]):
    """A run as a list shows it: ``selectors_experiments.experiment_run_brief``."""

    id = serializers.IntegerField()
    experiment = serializers.CharField()
    edition = serializers.IntegerField()
    parameters = serializers.DictField(child=serializers.IntegerField())
    seed = serializers.IntegerField()
    status = serializers.ChoiceField(choices=RunStatus.choices)
    progress = serializers.FloatField(help_text="0 to 1.")
    error = serializers.CharField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class ExperimentRunDetailSerializer(ExperimentRunSerializer):
    """A run with its result: ``selectors_experiments.experiment_run_view``."""

    result = serializers.DictField(
        allow_null=True,
        help_text="Figures, charts and tables as docs/experiments.md explains them; null until finished.",
    )
