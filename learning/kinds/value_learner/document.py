"""The content of a value learner's native file: its head, and a list of exact weights."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from beadbox.learners.exchange.document import native_text
from beadbox.learners.value_learner.learner import Weights
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.game import AnyGame


@dataclass(frozen=True, slots=True)
class WeightsData:
    """A value learner without its history."""

    game: AnyGame
    rule: ValueRule
    name: str
    weights: Weights
    average: Weights
    n_learnt: int
    description: str = ""
    preset: str = ""
    learns: bool = True
    wins: int = 0
    draws: int = 0
    losses: int = 0


def written(data: WeightsData, **more: Any) -> str:
    """Return the text of the file, with ``more`` in its head. It holds the mean if the rule has ``average_games``."""
    mean = {"average": data.average.tolist()} if data.rule.average_games else {}
    lines = ",".join(f"\n  {json.dumps(weight)}" for weight in data.weights.tolist())
    return native_text(data, "weights", lines, learnt=data.n_learnt, **mean, **more)
