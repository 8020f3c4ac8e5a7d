"""The content of a value learner's native file: the head that all native files have, and a list of exact weights."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from beadbox.learners.exchange.document import native_text
from beadbox.learners.exchange.errors import ExchangeError
from beadbox.learners.value_learner.learner import Weights, WeightsError, weights_read, zero_weights
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
    random_state: str = ""


def weights_text(data: WeightsData, **more: Any) -> str:
    """Return the text of the file, with the fields ``more`` in its head.

    The file has the mean of the weights if the rule has ``average_games``.
    """
    mean = {"average": data.average.tolist()} if data.rule.average_games else {}
    lines = ",".join(f"\n  {json.dumps(weight)}" for weight in data.weights.tolist())
    return native_text(data, "weights", lines, learnt=data.n_learnt, **mean, **more)


def weights_document(
    fields: dict[str, Any], game: AnyGame, rule: ValueRule, head: dict[str, Any], any_size: bool
) -> WeightsData:
    """Return a value learner from the fields of its native file. ``READERS`` lists this function for its kind.

    The file has a mean of the weights if the rule has ``average_games``.

    Raises:
        ExchangeError: the file is invalid.
    """
    from beadbox.learners.exchange import schemas  # only when a file is read

    try:
        no_average = zero_weights(game, rule)
    except WeightsError as error:
        raise ExchangeError("rule.features", "rule", problem=error) from None
    file = schemas.read(schemas.AverageFile if rule.average_games else schemas.WeightFile, fields)
    return WeightsData(
        game=game,
        rule=rule,
        weights=_weights("weights", file.weights, game, rule),
        average=_weights("average", file.average, game, rule) if isinstance(file, schemas.AverageFile) else no_average,
        n_learnt=file.learnt,
        **head,
        **file.totals.counted(),
    )


def _weights(name: str, numbers: list[Any], game: AnyGame, rule: ValueRule) -> Weights:
    try:
        return weights_read(game, rule, numbers)
    except WeightsError as error:
        raise ExchangeError(name, "weights", problem=error) from None
