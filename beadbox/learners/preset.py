"""A rule with a name."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from beadbox.learners.rule import Rule

RuleT = TypeVar("RuleT", bound=Rule, covariant=True)


@dataclass(frozen=True, slots=True)
class Preset(Generic[RuleT]):
    """A rule with a name, what it is in one sentence, and where it comes from."""

    slug: str
    name: str
    summary: str
    source: str
    rule: RuleT
