"""Read and write the native file of a value learner: its head, and a list of exact weights."""

from __future__ import annotations

from typing import Any

from beadbox.learners.exchange.errors import ExchangeError
from beadbox.learners.formats import Format
from beadbox.learners.value_learner.learner import Weights, WeightsError, weights_none, weights_read
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.game import AnyGame
from learning.kinds.files import KindFiles
from learning.kinds.value_learner.document import WeightsData, written
from learning.kinds.value_learner.memory import MEMORY, weights_begin
from learning.models import Machine


class ValueLearnerFiles(KindFiles):
    """Files of value learners; only the native format can hold weights."""

    @staticmethod
    def read(file: dict[str, Any], game: AnyGame, rule: ValueRule, head: dict[str, Any], any_size: bool) -> WeightsData:
        """Read the weights of a native file, and their mean if the rule has ``average_games``.

        Raises:
            ExchangeError: a field is invalid; the error names its place.
        """
        from beadbox.learners.exchange import schemas  # only when a file is read

        try:
            zero_weights = weights_none(game, rule)
        except WeightsError as error:
            raise ExchangeError("rule.features", "rule", problem=error) from None
        fields = schemas.read(schemas.AverageFile if rule.average_games else schemas.WeightFile, file)
        return WeightsData(
            game=game,
            rule=rule,
            weights=_weights("weights", fields.weights, game, rule),
            average=_weights("average", fields.average, game, rule)
            if isinstance(fields, schemas.AverageFile)
            else zero_weights,
            n_learnt=fields.learnt,
            **head,
            **fields.totals.counted(),
        )

    def dump(self, machine: Machine, form: Format, *, any_size: bool = False) -> str:
        if form.slug != "native":
            names = {"format": form.name, "machine": machine.name, "kept": "weights"}
            raise ExchangeError("format", "machine_keeps_other", **names)
        learner = MEMORY.load(machine).machine
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

    def fields_read(self, data: WeightsData) -> dict[str, object]:
        return {"side": None, "epsilon": 0.0}

    def restore(self, machine: Machine, data: WeightsData) -> None:
        weights_begin(machine, data.weights, data.n_learnt, data.average)


def _weights(name: str, numbers: list[Any], game: AnyGame, rule: ValueRule) -> Weights:
    try:
        return weights_read(game, rule, numbers)
    except WeightsError as error:
        raise ExchangeError(name, "weights", problem=error) from None
