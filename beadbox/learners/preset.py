"""Presets, which are rules with a name and a source."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from beadbox.learners.rule import Rule

RuleT = TypeVar("RuleT", bound=Rule, covariant=True)


@dataclass(frozen=True, slots=True)
class Preset(Generic[RuleT]):
    """A rule with a name, a summary of one sentence, and its source."""

    slug: str
    name: str
    summary: str
    source: str
    rule: RuleT
