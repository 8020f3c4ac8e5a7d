"""Learning rules as data: every field can be set, stored, shown and refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from functools import cache
from math import inf, isfinite
from types import UnionType
from typing import Any, ClassVar, Protocol, Self, get_origin, get_type_hints

from beadbox import field_text
from beadbox.errors import BeadboxError
from beadbox.rules.game import AnyGame


class RuleError(BeadboxError):
    """A rule was refused: ``field`` names the invalid part, and ``problem`` is a sentence.

    Both may quote untrusted input.
    """

    code = "invalid_rule"

    def __init__(self, field: str, problem: str) -> None:
        self.field: str = field.encode("ascii", "backslashreplace").decode()[:40]
        self.problem: str = problem[:500]
        super().__init__(f"{self.field}: {self.problem}")


class UnsuitedRuleError(RuleError):
    """A rule cannot learn a game that other rules of its kind can learn; ``field`` names the reason."""

    code = "unsuited_rule"


class Rule(Protocol):
    """How a machine of any kind learns: a frozen dataclass with a default for every field.

    Two rules are equal when all their fields are. ``kind`` names the kind of machine on the wire and in files. A preset
    has a rule, and ``dataclasses.replace`` changes some of its fields.

    >>> from dataclasses import replace
    >>> import beadbox as bb
    >>> bb.machine("hexapawn", "second", replace(bb.presets["gardner-her"].rule, win=1))
    <Machine hexapawn, black pawns, boxes, 0 games>
    """

    kind: ClassVar[str]
    keeps: ClassVar[str]
    """Words for the memory of such a machine, such as "a value for every move it has tried"."""
    has_boxes: ClassVar[bool]
    """Whether the memory is beads in boxes, which can be drawn, printed and described."""
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @classmethod
    def fits(cls, game: AnyGame) -> bool:
        """Whether a machine with some rule of this kind can play the game."""

    def require_suited(self, game: AnyGame) -> None:
        """Check that this rule can learn a game that :meth:`fits` its kind.

        Raises:
            UnsuitedRuleError: it cannot.
        """

    def to_json(self) -> dict[str, object]:
        """Return the rule as JSON types, with its ``kind`` unless it is of boxes; :meth:`from_json` gives it back."""

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Self:
        """Return the rule that a JSON object describes; fields left out have their default.

        Raises:
            RuleError: a field is unknown, of the wrong type or out of range; the field is named.
        """


def fields_read(rule: type[Rule], data: object) -> dict[str, Any]:
    """Return the fields of a rule that a JSON object has, in their types.

    Raises:
        RuleError: a field is unknown or of another type; the field is named.
    """
    if not isinstance(data, Mapping):
        raise RuleError("rule", field_text.OBJECT)
    types = _field_types(rule)
    for name in data:
        if name not in types:
            raise RuleError(str(name), field_text.unknown_field(types))
    return {name: _field_read(name, types[name], value) for name, value in data.items()}


@cache
def _field_types(rule: type[Rule]) -> dict[str, Any]:
    hints = get_type_hints(rule)
    return {field.name: hints[field.name] for field in fields(rule)}


_PLAIN: dict[Any, tuple[Any, str]] = {
    bool: (bool, field_text.TRUE_OR_FALSE),
    str: (str, field_text.TEXT),
    int: (int, field_text.WHOLE_NUMBER),
    float: (int | float, field_text.NUMBER),
}
"""The JSON type of a field's type, and the sentence that asks for it."""


def _field_read(name: str, field_type: Any, value: Any) -> Any:
    if field_type in _PLAIN:
        types, words = _PLAIN[field_type]
        # bool is an int in Python; a rule with "true" beads is a mistake, not one bead.
        if not isinstance(value, types) or (isinstance(value, bool) and field_type is not bool):
            raise RuleError(name, field_text.rather(words, repr(value)))
        return _finite(name, value) if field_type is float else value
    if isinstance(field_type, UnionType):  # a number or none
        return None if value is None else _field_read(name, int, value)
    if get_origin(field_type) is tuple:
        if not isinstance(value, list | tuple):
            raise RuleError(name, field_text.rather(field_text.WHOLE_NUMBERS, repr(value)))
        if len(value) > 64:
            raise RuleError(name, f"Please give at most 64 numbers, not {len(value)}.")
        return tuple(_field_read(name, int, item) for item in value)
    try:
        return field_type(value)
    except ValueError:
        raise RuleError(name, field_text.one_of(field_type)) from None


def _finite(name: str, value: float) -> float:
    try:
        number = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        number = inf
    if not isfinite(number):
        raise RuleError(name, field_text.rather(field_text.NUMBER, number))
    return number
