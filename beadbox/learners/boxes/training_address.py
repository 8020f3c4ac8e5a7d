"""The parser of addresses of the page *Watch it learn*, for the page and for the API.

The parser accepts every address. It reports each invalid part, and replaces it by the nearest valid value. A caller can
refuse an address that has reported problems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol
from urllib.parse import urlencode

from beadbox import field_text
from beadbox.learners.boxes.presets import PRESETS, default_preset, presets_for
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.boxes.training_config import (
    MAX_GAMES,
    MEASURES,
    TEACHERS,
    USUAL_MEASURE,
    TrainingConfig,
    teachable_games,
)
from beadbox.learners.rule import RuleError
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.seeds import MAX_SEED

SIDES = {"first": Side.FIRST, "second": Side.SECOND}
USUAL_GAME = "noughts-and-crosses"
USUAL_TEACHER = "random"
USUAL_SEED = 1
NOTHING = "none"
"""The text of a cap in an address, for a rule without a cap."""
SECOND_RULE = "beside"
RULE_FIELDS = tuple(field.name for field in fields(BoxRule))
NAMES = ("game", "side", "teacher", "preset", *RULE_FIELDS, "seed", "games", "against")
ADDRESS_PARAMETERS = (*NAMES, SECOND_RULE, *(f"{SECOND_RULE}.{name}" for name in RULE_FIELDS))
MAX_VALUE_CHARACTERS = 200
"""Maximum length of a value; quotations are far shorter."""


class Query(Protocol):
    """A parsed query string: the values of each name."""

    def getlist(self, key: str) -> Sequence[str]:
        """Return all values of a name, in order."""

    def __iter__(self) -> Any:
        """Iterate over the names of the query."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An invalid part of an address, and the reason; ``field`` is the name of the part in the address."""

    field: str
    detail: str


@dataclass(frozen=True, slots=True)
class Named:
    """A rule, and the preset to which an address compares it."""

    preset: str
    rule: BoxRule


@dataclass(frozen=True, slots=True)
class ParsedAddress:
    """The training and the display that an address describes."""

    config: TrainingConfig
    preset: str
    games: int
    against: str
    second: Named | None
    problems: tuple[Problem, ...]

    @property
    def address(self) -> str:
        """The address as a query string. The parts have a fixed order, and parts with default values are missing."""
        return urlencode({**self._first_parts(self.preset, self.config.rule), **self._second_parts()})

    @property
    def second_address(self) -> str | None:
        """The address with the second rule as the first; ``None`` without a second rule."""
        return None if self.second is None else urlencode(self._first_parts(self.second.preset, self.second.rule))

    def to_json(self) -> dict[str, object]:
        """The address, its parts and its problems as JSON types."""
        second = self.second
        return {
            "address": self.address,
            "beside_address": self.second_address,
            "game": self.config.game.slug,
            "side": self.config.side.name.lower(),
            "teacher": self.config.teacher,
            "preset": self.preset,
            "rule": self.config.rule.to_json(),
            "seed": f"{self.config.seed}",
            "games": self.games,
            "against": self.against,
            "beside": None if second is None else {"preset": second.preset, "rule": second.rule.to_json()},
            "problems": [{"field": problem.field, "detail": problem.detail} for problem in self.problems],
        }

    def _first_parts(self, preset: str, rule: BoxRule) -> dict[str, str]:
        game, side = self.config.game, self.config.side
        usual = {
            "game": USUAL_GAME,
            "side": "first",
            "teacher": USUAL_TEACHER,
            "preset": default_preset(game, side),
            "seed": f"{USUAL_SEED}",
            "games": "0",
            "against": USUAL_MEASURE,
        }
        parts = {
            "game": game.slug,
            "side": side.name.lower(),
            "teacher": self.config.teacher,
            "preset": preset,
            **_differences(preset, rule),
            "seed": f"{self.config.seed}",
            "games": f"{self.games}",
            "against": self.against,
        }
        return {name: value for name, value in parts.items() if usual.get(name) != value}

    def _second_parts(self) -> dict[str, str]:
        if self.second is None:
            return {}
        own = _differences(self.second.preset, self.second.rule)
        return {SECOND_RULE: self.second.preset} | {f"{SECOND_RULE}.{name}": value for name, value in own.items()}


def address_parse(query: Query) -> ParsedAddress:
    """Read a query string; the result has a report of every invalid part."""
    return _Reader(query).read()


def rule_value(value: object) -> str:
    """Return the value of a rule's field as text for an address."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _differences(preset: str, rule: BoxRule) -> dict[str, str]:
    """Return the fields in which a rule differs from its preset, as texts."""
    values, preset_values = rule.to_json(), PRESETS[preset].rule.to_json()
    return {name: rule_value(value) for name, value in values.items() if value != preset_values[name]}


class _Reader:
    """Reads one query and collects its problems."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.problems: list[Problem] = []

    def read(self) -> ParsedAddress:
        """Return the contents of the query, with all problems found."""
        for name in self.query:
            if name not in ADDRESS_PARAMETERS:
                self._report(
                    _quotation(name),
                    f"The address has no such part. The parts are {', '.join(NAMES)} and {SECOND_RULE}.",
                )
        game = self._game()
        side = SIDES[self._one_of("side", SIDES, "first")]
        teacher = self._one_of("teacher", TEACHERS, USUAL_TEACHER)
        named = self._rule("preset", "", game, default_preset(game, side))
        second = None
        if any(name.partition(".")[0] == SECOND_RULE for name in self.query if name in ADDRESS_PARAMETERS):
            second = self._rule(SECOND_RULE, f"{SECOND_RULE}.", game, named.preset)
        config = TrainingConfig(game, side, named.rule, teacher, self._number("seed", MAX_SEED, USUAL_SEED))
        return ParsedAddress(
            config=config,
            preset=named.preset,
            games=self._number("games", MAX_GAMES, 0),
            against=self._one_of("against", MEASURES, USUAL_MEASURE),
            second=second,
            problems=tuple(self.problems),
        )

    def _report(self, field: str, detail: str) -> None:
        self.problems.append(Problem(field, detail))

    def _text(self, name: str) -> str | None:
        """Return the value of a name, the first of several; ``None`` if there is none."""
        values = self.query.getlist(name)
        if len(values) > 1:
            self._report(name, f"The address has {len(values)} of these. The first one counts.")
        return values[0].strip()[:MAX_VALUE_CHARACTERS] if values else None

    def _game(self) -> AnyGame:
        games = teachable_games()
        return games[self._one_of("game", games, USUAL_GAME)]

    def _one_of(self, name: str, choices: Sequence[str] | Mapping[str, object], usual: str) -> str:
        text = self._text(name)
        if text is None or text in choices:
            return usual if text is None else text
        self._report(name, field_text.one_of(choices))
        return usual

    def _number(self, name: str, maximum: int, usual: int) -> int:
        text = self._text(name)
        if text is None:
            return usual
        number = _parse_whole_number(text)
        if number is not None and 0 <= number <= maximum:
            return number
        self._report(name, field_text.rather(f"Please give a whole number from 0 to {maximum:,}.", _quotation(text)))
        return usual if number is None else min(max(number, 0), maximum)

    def _rule(self, preset_name: str, prefix: str, game: AnyGame, usual: str) -> Named:
        """Return the preset with its changed fields; a field that the rule refuses keeps the preset's value."""
        preset = self._one_of(preset_name, presets_for(game), usual)
        preset_values = PRESETS[preset].rule.to_json()
        own = dict(preset_values)
        for name in RULE_FIELDS:
            text = self._text(f"{prefix}{name}")
            if text is not None and (value := self._value(f"{prefix}{name}", text, preset_values[name])) is not _UNREAD:
                own[name] = value
        while True:
            try:
                return Named(preset, BoxRule.from_json(own))
            except RuleError as error:
                self._report(f"{prefix}{error.field}", str(error).removeprefix(f"{error.field}: "))
                if own[error.field] == preset_values[error.field]:  # Another field contradicts it: drop all changes.
                    own = dict(preset_values)
                own[error.field] = preset_values[error.field]

    def _value(self, name: str, text: str, like: object) -> object:
        """Return the text as JSON of the field's type; :data:`_UNREAD` if it has another type."""
        field = name.rpartition(".")[2]
        if isinstance(like, bool):
            if text in ("true", "false"):
                return text == "true"
            self._report(name, field_text.rather(field_text.TRUE_OR_FALSE, _quotation(text)))
            return _UNREAD
        if field == "cap" and text == NOTHING:
            return None
        if isinstance(like, int) or field == "cap":
            numbers = [_parse_whole_number(text)]
        elif isinstance(like, list):
            numbers = [_parse_whole_number(part) for part in text.split(",")]
        else:
            return text
        if None in numbers:
            listed = "Please give whole numbers with commas between them."
            description = listed if isinstance(like, list) else field_text.WHOLE_NUMBER
            self._report(name, field_text.rather(description, _quotation(text)))
            return _UNREAD
        return numbers if isinstance(like, list) else numbers[0]


_UNREAD = object()


def _parse_whole_number(text: str) -> int | None:
    """Return the whole number in a text, however long; ``None`` if the text is not one."""
    text = text.strip()
    digits = text.removeprefix("-").removeprefix("+") if text[:1] in "+-" else text
    return int(text) if digits.isascii() and digits.isdigit() else None


def _quotation(text: str) -> str:
    """Return a quotation of a text, short and without control characters."""
    return repr(text if len(text) <= 40 else f"{text[:37]}…")
