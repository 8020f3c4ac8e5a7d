"""Presets, which are rules with a name and a source."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from beadbox.learners.rule import Rule

RuleT = TypeVar("RuleT", bound=Rule, covariant=True)


@dataclass(frozen=True, slots=True)
class Preset(Generic[RuleT]):
    """A rule with a name, a summary of a sentence or two, and its source."""

    slug: str
    name: str
    summary: str
    source: str
    rule: RuleT
    is_for_recurring_boards: bool = False
    """Whether the preset is only for games in which a board can return."""
