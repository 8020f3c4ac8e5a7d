"""The base of rules with numbers, names and flags as fields, each with its own range or list of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar, Self

from beadbox import field_text
from beadbox.learners.rule import RuleError, fields_read
from beadbox.rules.game import AnyGame


class PlainRule:
    """The base of plain rules, which are frozen dataclasses.

    Raises:
        RuleError: a field is out of range or contradicts another; the field is named.
    """

    __slots__ = ()

    kind: ClassVar[str]
    has_boxes: ClassVar[bool] = False
    ranges: ClassVar[Mapping[str, tuple[float, float]]]
    """The least and the greatest value of each number, by field."""

    def __post_init__(self) -> None:
        for name, (least, most) in self.ranges.items():
            if not least <= getattr(self, name) <= most:
                raise RuleError(
                    name, field_text.rather(field_text.between(f"{least:g}", f"{most:g}"), getattr(self, name))
                )
        self.agree()

    def agree(self) -> None:
        """Check that no field contradicts another.

        Raises:
            RuleError: a field contradicts another; the field is named.
        """

    def require_suited(self, game: AnyGame) -> None:
        """Check that a machine with this rule can learn a game that fits its kind; by default it can.

        Raises:
            UnsuitedRuleError: a machine with this rule cannot learn the game.
        """

    def to_json(self) -> dict[str, object]:
        """Return the rule as JSON types; :meth:`from_json` gives the same rule back."""
        values: dict[str, Any] = asdict(self)  # type: ignore[call-overload]  # every rule is a dataclass
        return {"kind": self.kind} | {
            name: str(value) if isinstance(value, str) else value for name, value in values.items()
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Self:
        """Return the rule that a JSON object describes; missing fields have their defaults.

        Raises:
            RuleError: a field is unknown, of the wrong type or out of range; the field is named.
        """
        values = {name: value for name, value in data.items() if name != "kind"}
        return cls(**fields_read(cls, values))  # type: ignore[arg-type]  # every rule is a dataclass
