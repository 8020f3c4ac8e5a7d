"""What rules have in common whose fields are numbers, names and flags, each with a range or a list of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from enum import StrEnum
from math import isfinite
from typing import Any, ClassVar, Self

from learning.core.machines.rule import RuleError


class PlainRule:
    """The base of such rules, which are frozen dataclasses.

    Raises:
        RuleError: a field is out of range or contradicts another; the field is named.
    """

    __slots__ = ()

    kind: ClassVar[str]
    has_boxes: ClassVar[bool] = False
    ranges: ClassVar[Mapping[str, tuple[float, float]]]
    """The least and the most that fields may be."""

    def __post_init__(self) -> None:
        for name, (least, most) in self.ranges.items():
            if not least <= getattr(self, name) <= most:
                raise RuleError(name, f"must lie between {least:g} and {most:g}, not {getattr(self, name)}")
        self.agree()

    def agree(self) -> None:
        """See to it that no field contradicts another.

        Raises:
            RuleError: one does; it is named.
        """

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON types; :meth:`from_json` gives the same rule back."""
        values: dict[str, Any] = asdict(self)  # type: ignore[call-overload]  # every rule is a dataclass
        return {"kind": self.kind} | {
            name: str(value) if isinstance(value, str) else value for name, value in values.items()
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The rule that a JSON object describes; fields left out have their default.

        Raises:
            RuleError: a field is unknown, of the wrong type or out of range; it is named.
        """
        types = {field.name: type(field.default) for field in fields(cls)}  # type: ignore[arg-type]
        values = {name: value for name, value in data.items() if name != "kind"}
        for name in values:
            if name not in types:
                raise RuleError(str(name), f"is not a field of such a rule; fields are {', '.join(types)}")
        return cls(**{name: _field_read(name, value, types[name]) for name, value in values.items()})


def _field_read(name: str, value: object, wanted: type) -> Any:
    """The value of a field of this type, be it a number, a name, one of a list of names, or a flag.

    Raises:
        RuleError: it is of another type, or no finite number.
    """
    if issubclass(wanted, StrEnum):
        if not isinstance(value, str) or value not in list(wanted):
            raise RuleError(name, f"must be one of {', '.join(wanted)}, not {value!r}")
        return wanted(value)
    if wanted is str:
        if not isinstance(value, str):
            raise RuleError(name, f"must be a name, not {value!r}")
        return value
    if wanted is bool:
        if not isinstance(value, bool):
            raise RuleError(name, f"must be true or false, not {value!r}")
        return value
    # bool is an int in Python; a depth of true is a mistake, not 1.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RuleError(name, f"must be a number, not {value!r}")
    if wanted is int:
        if not isinstance(value, int):
            raise RuleError(name, f"must be a whole number, not {value!r}")
        return value
    try:
        number = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        number = float("inf")
    if not isfinite(number):
        raise RuleError(name, f"must be a number, not {number}")
    return number
