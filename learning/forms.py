"""Forms of the lab: a training run with its opponents, and a machine with every field of its rule.

Each field says what it does in words a child understands; the exact term, as docs/learning.md and the API have it,
stands beside.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import StrEnum
from types import UnionType
from typing import Any, get_type_hints

from django import forms

from games.rules.base import Game, Side
from games.rules.registry import GAMES
from learning.core.machines.presets import ALL_PRESETS, DEFAULT_PRESETS, presets_of
from learning.core.machines.q_learning import QRule
from learning.core.machines.registry import RULES, AnyRule, rule_read
from learning.core.machines.rule import Rule, RuleError
from learning.core.opponents.registry import OPPONENTS
from learning.models import Machine, TournamentFormat
from learning.services_schedules import MOST, PERIODS, Timing
from learning.services_tournaments import MAX_ENTRIES, MAX_GAMES_PER_PAIRING, MAX_LONG_GAMES

GAMES_TO_BEGIN_WITH = 10_000
MAX_GAMES = 1_000_000_000
MAX_STAGES = 20


PLAIN = {
    "required": "Please fill this in.",
    "min_value": "At least %(limit_value)s, please.",
    "max_value": "At most %(limit_value)s, please.",
}
"""What a field says when it is refused, in the words of the site."""


class PlainForm(forms.Form):
    """A form that refuses in plain words, and marks each field with what is wrong with it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            _say_plainly(field)


def _say_plainly(field: forms.Field) -> None:
    field.error_messages |= PLAIN
    if isinstance(field, forms.IntegerField):
        field.error_messages["invalid"] = "A number, please."


def seed_new() -> int:
    """A seed for somebody who did not choose one; short enough to be copied by hand."""
    return secrets.randbelow(1_000_000)


def opponent_choices(game: Game[Any, Any]) -> list[tuple[str, str]]:
    """The fixed opponents that can play a game."""
    able = ((slug, opponent) for slug, opponent in OPPONENTS.items() if opponent.plays(game))
    able = ((slug, opponent) for slug, opponent in able if not opponent.is_slow)
    return [(slug, f"{opponent.name}: {opponent.summary}") for slug, opponent in able]


class StageForm(PlainForm):
    """So many games against one opponent."""

    opponent = forms.ChoiceField(label="Against")
    games = forms.IntegerField(
        label="How many games", min_value=1, max_value=MAX_GAMES, initial=GAMES_TO_BEGIN_WITH, localize=False
    )
    learns = forms.BooleanField(label="That machine learns too", required=False)

    def __init__(self, *args: Any, game: Game[Any, Any], machines: Iterable[Machine] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fixed = opponent_choices(game)
        others = [(str(machine.pk), machine.name) for machine in machines]
        groups: list[Any] = [("Players that never learn", fixed)]
        if others:
            groups.append(("Machines of the other side" if game.takes_boxes else "Machines", others))
        self.fields["opponent"].choices = groups  # type: ignore[attr-defined]  # a Field has none, a ChoiceField has


StageFormSet = forms.formset_factory(StageForm, extra=0, min_num=1, max_num=MAX_STAGES, validate_min=True)


class SeedForm(PlainForm):
    """What else a run needs."""

    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=(1 << 63) - 1,
        help_text="The same seed and the same beads give the same games again.",
    )


@dataclass(frozen=True, slots=True)
class Words:
    """What a field of the rule is called, what it does, and what its choices mean."""

    label: str
    does: str
    choices: dict[str, str] | None = None


RULE_WORDS: dict[str, Words] = {
    "initial": Words(
        "Beads at the start",
        "How many beads of each colour a box begins with: for the first move, the second, and so on. "
        "The last number goes on for ever.",
    ),
    "initial_by": Words(
        "What those numbers count",
        "The first number is for the first what?",
        {
            "move_number": "the machine's first move",
            "ply": "the first move of the whole game, whoever makes it",
            "cell": "the first square of the board",
        },
    ),
    "win": Words("After a win", "So many beads of the colour played go into every box that was opened."),
    "draw": Words("After a draw", "The same, when nobody won."),
    "loss": Words("After a loss", "The same, when it lost. A minus takes beads out."),
    "final_win": Words(
        "The last move of a win",
        "What happens in the last box, the one whose bead won the game.",
        {"none": "nothing special", "sole": "that move becomes the only one in its box, for good"},
    ),
    "final_loss": Words(
        "The last move of a loss",
        "What happens in the last box, the one whose bead lost the game.",
        {"none": "nothing special", "remove": "that colour is taken out of its box for good"},
    ),
    "only_last": Words("Learn in the last box only", "All the other boxes of the game stay as they are."),
    "floor": Words(
        "Never fewer beads than", "A colour never falls below this many, so that no move is ever forgotten."
    ),
    "cap": Words(
        "Never more beads than", "A colour never rises above this many. Leave it empty for as many as there are."
    ),
    "when_empty": Words(
        "When a box is empty",
        "What it does when it opens a box and there is no bead in it.",
        {
            "resign": "it gives up the game",
            "refill": "the box is filled as it was at the start",
            "uniform": "it plays anything that is allowed",
        },
    ),
    "empty_opening": Words(
        "When its very first box is empty",
        "A machine that gives up could never play again.",
        {"refill": "the first box is filled again", "stop": "it refuses to play for ever"},
    ),
    "punish_previous_on_resign": Words(
        "Blame the move before",
        "When it gives up at an empty box, the bead played before that counts as the one that lost.",
    ),
    "merge_symmetric_moves": Words(
        "One colour for moves that are alike",
        "On the empty board the four corners are the same move, only turned; then they share a colour.",
    ),
    "reduce_symmetry": Words(
        "One box for boards that are alike",
        "A board that is another one turned or seen in a mirror opens the same box.",
    ),
    "box_set": Words(
        "Which boards have a box",
        "When only one move is left there is nothing to choose.",
        {"decisions": "only those with something to choose", "all": "every board where it is to move"},
    ),
    "open_boxes": Words(
        "When boxes are made",
        "Michie glued them all before the first game.",
        {"in_advance": "all of them, before the first game", "when_met": "each when it is first needed"},
    ),
    "learning_rate": Words(
        "How fast it learns",
        "How far a value moves towards what a game has shown: 0.1 is a tenth of the way, 1 is all of it.",
    ),
    "discount": Words(
        "How far it looks ahead",
        "How much of the best value that it could play next counts for a move: at 0 only what the move itself brings.",
    ),
    "step_reward": Words(
        "For every move before the last",
        "The last move of a game brings 1 for a win, 0 for a draw, −1 for a loss; each move before it brings this. "
        "With a minus it learns to hurry.",
    ),
    "epsilon": Words(
        "How often it tries anything at first",
        "The chance that it plays any move, good or bad, to see what comes of it: 0.2 is one move in five.",
    ),
    "epsilon_decay": Words(
        "What a game leaves of that", "After each game the chance is multiplied by this; at 1 it stays as it is."
    ),
    "epsilon_floor": Words("But never less often than", "The chance never falls below this, so it never stops trying."),
}
"""Every field of a rule, of any kind."""


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Fields that the editor shows together, and the formula that they stand in, if there is one."""

    name: str
    fields: tuple[str, ...]
    exactly: str = ""


RULE_GROUPS: dict[str, tuple[RuleGroup, ...]] = {
    Rule.kind: (
        RuleGroup("The beads at the start", ("initial", "initial_by", "floor", "cap")),
        RuleGroup("What a game changes", ("win", "draw", "loss", "only_last", "final_win", "final_loss")),
        RuleGroup("An empty box", ("when_empty", "empty_opening", "punish_previous_on_resign")),
        RuleGroup("The boxes", ("reduce_symmetry", "merge_symmetric_moves", "box_set", "open_boxes")),
    ),
    QRule.kind: (
        RuleGroup(
            "What a game changes",
            ("learning_rate", "discount", "step_reward"),
            "Q-learning (Watkins, 1989). After a game, for each of its moves in order of play, "
            "Q\N{NO-BREAK SPACE}+=\N{NO-BREAK SPACE}learning_rate · (r + discount · M − Q): Q is the value of "
            "the move, M the greatest value of all that it could have played at its next turn. r is step_reward; for "
            "its last move M is 0 and r is 1, 0 or −1.",
        ),
        RuleGroup(
            "Trying something new",
            ("epsilon", "epsilon_decay", "epsilon_floor"),
            "With probability ε it plays any legal move, each equally likely; else the one of the greatest Q + E/100, "
            "where E is what the engine makes of the board after it. ε begins as epsilon, and a game that it learns "
            "from makes it max(epsilon_floor, epsilon_decay · ε).",
        ),
    ),
}
"""The fields of each kind of rule in the order of the editor."""


def _rule_field(name: str, hint: Any) -> forms.Field:
    """The form field for a field of the rule, by its type."""
    words = RULE_WORDS[name]
    shared: dict[str, Any] = {"label": words.label, "help_text": words.does, "required": False}
    if hint is bool:
        return forms.BooleanField(**shared)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        assert words.choices is not None
        return forms.ChoiceField(choices=[(str(value), words.choices[value]) for value in hint], **shared)
    if hint is int or isinstance(hint, UnionType):
        return forms.IntegerField(localize=False, **shared)
    if hint is float:
        return forms.FloatField(localize=False, **shared)
    return forms.CharField(max_length=400, **shared)


def rule_to_form(rule: AnyRule) -> dict[str, Any]:
    """The values of the rule's form fields."""
    values = {field.name: getattr(rule, field.name) for field in fields(rule)}
    return values | {"initial": ", ".join(map(str, rule.initial))} if isinstance(rule, Rule) else values


def game_label(game: Game[Any, Any]) -> str:
    """The game as a list names it: variants of one name are told apart."""
    return f"{game.name} {game.variant}".strip() if game.additions else game.name


def machine_kinds() -> dict[str, str]:
    """The kind of machine that plays a game, by the game's slug."""
    fitting = {game.slug: next(iter(presets_of(game)), None) for game in GAMES.values()}
    return {slug: ALL_PRESETS[preset].rule.kind for slug, preset in fitting.items() if preset}


class MachineForm(PlainForm):
    """A new machine: a preset, or a rule of its own with every field."""

    game = forms.ChoiceField(
        label="Game", choices=lambda: [(game.slug, game_label(game)) for game in GAMES.values() if presets_of(game)]
    )
    side = forms.TypedChoiceField(
        label="It plays",
        coerce=lambda side: Side(int(side)),
        choices=[(0, "first"), (1, "second")],
        initial=0,
        help_text="A machine without boxes plays either side, whatever is chosen here.",
    )
    name = forms.CharField(label="Its name", max_length=80)
    description = forms.CharField(
        label="What you want to say about it", max_length=2000, required=False, widget=forms.Textarea({"rows": 3})
    )
    is_public = forms.BooleanField(
        label="Everybody may look at it and play it", required=False, initial=True, help_text="Its games teach it."
    )
    preset = forms.ChoiceField(label="Its rule", required=False)
    own_rule = forms.BooleanField(label="Use the rule as it is set below", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [(slug, preset.name) for slug, preset in ALL_PRESETS.items()]
        self.fields["preset"].choices = known  # type: ignore[attr-defined]
        self.fields["preset"].initial = DEFAULT_PRESETS[Side.FIRST]
        for rule in RULES.values():
            start, hints = rule_to_form(rule()), get_type_hints(rule)
            for field in fields(rule):
                self.fields[field.name] = _rule_field(field.name, hints[field.name])
                self.fields[field.name].initial = start[field.name]
                _say_plainly(self.fields[field.name])

    def kinds(self) -> list[dict[str, Any]]:
        """The kinds of machine, each with the games it plays, its presets, and the fields of its rule in groups."""
        kinds: dict[str, dict[str, Any]] = {}
        for slug, kind in machine_kinds().items():
            game = GAMES[slug]
            of_kind = kinds.setdefault(
                kind, {"kind": kind, "games": [], "presets": presets_of(game).values(), "groups": self._groups(kind)}
            )
            if slug == game.family:
                of_kind["games"].append(game.name)
        return list(kinds.values())

    def _groups(self, kind: str) -> list[dict[str, Any]]:
        """The fields of a kind of rule in their groups, each with its exact term."""
        return [
            {
                "name": group.name,
                "exactly": group.exactly,
                "fields": [{"field": self[name], "term": name} for name in group.fields],
            }
            for group in RULE_GROUPS[kind]
        ]

    def clean(self) -> dict[str, Any]:
        """Put the fields of the rule together; whatever the rule refuses is told at its own field."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        rule = None
        game = GAMES.get(cleaned.get("game", ""))
        kind = machine_kinds().get(game.slug, "") if game else ""
        if kind:
            self._keep(kind, cleaned)
        slug = cleaned.get("preset")
        if game is not None and slug and not cleaned["own_rule"] and slug not in presets_of(game):
            names = ", ".join(preset.name for preset in presets_of(game).values())
            self.add_error("preset", f"This rule cannot play {game.name}. Choose one of these: {names}.")
        if kind and cleaned.get("own_rule") and not self.errors:
            try:
                rule = rule_read(self._rule_json(kind, cleaned))
            except RuleError as error:
                where = error.field if error.field in self.fields else None
                self.add_error(where, str(error).removeprefix(f"{error.field}: "))
        cleaned["rule"] = rule
        return cleaned

    def _keep(self, kind: str, cleaned: dict[str, Any]) -> None:
        """What is not asked of a machine of this kind cannot be wrong: another rule's fields, a side without boxes."""
        for field in (field for rule in RULES.values() if rule.kind != kind for field in fields(rule)):
            self.errors.pop(field.name, None)
        if kind != Rule.kind:
            self.errors.pop("side", None)
            cleaned["side"] = None

    def _rule_json(self, kind: str, cleaned: dict[str, Any]) -> dict[str, Any]:
        data: dict[str, Any] = {field.name: cleaned[field.name] for field in fields(RULES[kind])}
        if kind == Rule.kind:
            try:
                data["initial"] = [int(number) for number in cleaned["initial"].replace(",", " ").split()]
            except ValueError:
                problem = "write whole numbers with commas between them, such as 4, 3, 2, 1"
                raise RuleError("initial", problem) from None
            for name in ("win", "draw", "loss", "floor"):
                data[name] = data[name] or 0
        elif empty := [name for name, value in data.items() if value is None]:
            raise RuleError(empty[0], PLAIN["required"])
        return {"kind": kind, **data}


class MachineDetailsForm(PlainForm):
    """What may be changed about a machine that exists; its rule may not, for its beads follow from it."""

    name = forms.CharField(label="Its name", max_length=80)
    description = forms.CharField(
        label="What you want to say about it", max_length=2000, required=False, widget=forms.Textarea({"rows": 3})
    )
    is_public = forms.BooleanField(label="Everybody may look at it and play it", required=False)
    learns = forms.BooleanField(
        label="It learns from its games", required=False, help_text="A machine that does not learn is frozen."
    )


DAYS = (("1", "Mon"), ("2", "Tue"), ("3", "Wed"), ("4", "Thu"), ("5", "Fri"), ("6", "Sat"), ("0", "Sun"))


class TimingForm(PlainForm):
    """When a schedule starts its runs, in three ways; and its seed."""

    kind = forms.ChoiceField(
        label="When",
        widget=forms.RadioSelect,
        choices=[("every", "Again and again"), ("daily", "At a time of day"), ("crontab", "By a crontab")],
        initial="every",
    )
    every = forms.IntegerField(
        label="Every", min_value=1, max_value=max(MOST.values()), required=False, initial=6, localize=False
    )
    period = forms.ChoiceField(label="of these", choices=[(p, p) for p in PERIODS], required=False, initial="hours")
    at = forms.TimeField(
        label="At (UTC)",
        required=False,
        initial="18:00",
        widget=forms.TimeInput(format="%H:%M", attrs={"type": "time"}),
        input_formats=["%H:%M"],
    )
    days = forms.MultipleChoiceField(
        label="On these days", choices=DAYS, required=False, widget=forms.CheckboxSelectMultiple, help_text="None: all."
    )
    crontab = forms.CharField(
        label="Crontab (UTC)",
        max_length=300,
        required=False,
        help_text="Minute, hour, day of month, month, day of week: 30 6 * * 1-5 is 06:30 from Monday to Friday.",
    )
    seed = forms.IntegerField(
        label="Seed",
        required=False,
        min_value=0,
        max_value=(1 << 63) - 1,
        localize=False,
        help_text="Leave it empty for a fresh one each time.",
    )

    def clean(self) -> dict[str, Any]:
        """The way chosen becomes ``timing``."""
        data: dict[str, Any] = super().clean() or {}
        kind = data.get("kind")
        needed = {"every": "every", "daily": "at", "crontab": "crontab"}.get(str(kind), "kind")
        if needed not in self.errors and not data.get(needed):
            self.add_error(needed, "Please fill this in.")
        if self.errors:
            return data
        if kind == "every":
            data["timing"] = Timing(every=data["every"], period=data["period"])
        elif kind == "daily":
            data["timing"] = Timing(
                crontab=f"{data['at'].minute} {data['at'].hour} * * {','.join(data['days']) or '*'}"
            )
        else:
            data["timing"] = Timing(crontab=data["crontab"])
        return data


def timing_to_form(timing: Timing) -> dict[str, Any]:
    """The first values of the form for a schedule that there is already."""
    if not timing.crontab:
        return {"kind": "every", "every": timing.every, "period": timing.period}
    minute, hour, day, month, weekdays = timing.crontab.split()
    days = [] if weekdays == "*" else weekdays.split(",")
    plain = minute.isdigit() and hour.isdigit() and day == month == "*" and set(days) <= {value for value, _ in DAYS}
    if plain:
        return {"kind": "daily", "at": f"{int(hour):02d}:{int(minute):02d}", "days": days, "crontab": timing.crontab}
    return {"kind": "crontab", "crontab": timing.crontab}


class TournamentForm(PlainForm):
    """Who takes part, and how."""

    name = forms.CharField(label="Name", max_length=80, required=False, help_text="Leave it empty for a plain one.")
    machines = forms.MultipleChoiceField(label="Machines", required=False, widget=forms.CheckboxSelectMultiple)
    opponents = forms.MultipleChoiceField(
        label="Players that never learn", required=False, widget=forms.CheckboxSelectMultiple
    )
    format = forms.ChoiceField(
        label="Who meets whom",
        widget=forms.RadioSelect,
        choices=TournamentFormat.choices,
        initial=TournamentFormat.ROUND_ROBIN,
    )
    rounds = forms.IntegerField(
        label="Rounds (Swiss only)",
        min_value=1,
        max_value=MAX_ENTRIES - 1,
        required=False,
        help_text="Leave it empty for as many as are usual.",
    )
    games = forms.IntegerField(
        label="Games of each pairing", min_value=1, max_value=MAX_GAMES_PER_PAIRING, initial=1000, localize=False
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=(1 << 63) - 1,
        required=False,
        localize=False,
        help_text="The same seed and the same beads give the same games again. Leave it empty for a fresh one.",
    )

    def __init__(self, *args: Any, game: Game[Any, Any], machines: Iterable[Machine] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not game.enumerable:
            self.fields["games"] = forms.IntegerField(
                label="Games of each pairing", min_value=1, max_value=MAX_LONG_GAMES, initial=50, localize=False
            )
            self.fields["games"].error_messages |= PLAIN
        self.fields["opponents"].choices = opponent_choices(game)  # type: ignore[attr-defined]
        self.fields["machines"].choices = [  # type: ignore[attr-defined]  # as above
            (str(machine.pk), f"{machine.name}, {machine.get_side_display()}") for machine in machines
        ]

    def clean(self) -> dict[str, Any]:
        """Machines and fixed opponents become ``entries``."""
        data: dict[str, Any] = super().clean() or {}
        data["entries"] = [*data.get("machines", []), *data.get("opponents", [])]
        if data.get("format") != TournamentFormat.SWISS:
            data["rounds"] = None  # only a Swiss tournament has a number of them, and the page hides the field
        if not self.errors and len(data["entries"]) < 2:
            self.add_error(None, f"Choose who takes part: 2 to {MAX_ENTRIES} players.")
        return data
