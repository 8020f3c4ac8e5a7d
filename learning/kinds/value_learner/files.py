"""The native file of a machine that learns a value of positions: its head, and a list of weights, bit for bit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from beadbox.exchange import native
from beadbox.exchange.errors import ExchangeError
from beadbox.learners.value_learner.learner import Weights, WeightsError, weights_none, weights_read
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.game import Game
from learning.models import Machine
from learning.storage.weights import weights_memory


@dataclass(frozen=True, slots=True)
class WeightsData:
    """Everything a machine that learns a value is, its past apart."""

    game: Game[Any, Any]
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


def dump(machine: Machine) -> str:
    """The file of a machine."""
    learner = weights_memory(machine).machine
    data = WeightsData(
        game=machine.game_rules,
        rule=learner.rule,
        name=machine.name,
        weights=learner.weights,
        average=learner.average,
        n_learnt=learner.n_learnt,
        description=machine.description,
        preset=machine.preset,
        learns=machine.learns,
        wins=machine.n_wins,
        draws=machine.n_draws,
        losses=machine.n_losses,
    )
    return written(data)


def written(data: WeightsData, **more: Any) -> str:
    """The file of such a machine: the mean stands in it where its rule has one, ``more`` in its head."""
    mean = {"average": data.average.tolist()} if data.rule.average_games else {}
    lines = ",".join(f"\n  {json.dumps(weight)}" for weight in data.weights.tolist())
    return native.written(data, "weights", lines, learnt=data.n_learnt, **mean, **more)


def read(file: dict[str, Any], game: Game[Any, Any], rule: ValueRule, head: dict[str, Any]) -> WeightsData:
    """What such a file holds.

    Raises:
        ExchangeError: something in it is wrong; the place is named.
    """
    from beadbox.exchange import schemas  # only when a file is read

    try:
        none = weights_none(game, rule)
    except WeightsError as error:
        raise ExchangeError("rule.features", "rule", problem=error) from None
    fields = schemas.read(schemas.AverageFile if rule.average_games else schemas.WeightFile, file)
    return WeightsData(
        game=game,
        rule=rule,
        weights=_weights("weights", fields.weights, game, rule),
        average=_weights("average", fields.average, game, rule) if isinstance(fields, schemas.AverageFile) else none,
        n_learnt=fields.learnt,
        **head,
        **fields.totals.counted(),
    )


def _weights(name: str, numbers: list[Any], game: Game[Any, Any], rule: ValueRule) -> Weights:
    try:
        return weights_read(game, rule, numbers)
    except WeightsError as error:
        raise ExchangeError(name, "weights", problem=error) from None
