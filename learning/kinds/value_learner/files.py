"""Read and write the native file of a value learner: general fields, and a list of exact weights."""

from __future__ import annotations

from typing import cast

from beadbox.learners.exchange.errors import ExchangeError
from beadbox.learners.formats import Format
from beadbox.learners.value_learner.document import WeightsData, weights_document, weights_text
from beadbox.learners.value_learner.rule import ValueRule
from learning.kinds.files import KindFiles
from learning.kinds.value_learner.memory import MEMORY, floats, weights_begin, weights_row_at
from learning.models import Machine, TournamentEntry


class ValueLearnerFiles(KindFiles):
    """Files of value learners; only the native format can hold weights."""

    read = staticmethod(weights_document)

    def dump(
        self, machine: Machine, form: Format, *, any_size: bool = False, entry: TournamentEntry | None = None
    ) -> str:
        if form.slug != "native":
            names = {"format": form.name, "machine": machine.name, "kept": "weights"}
            raise ExchangeError("format", "machine_keeps_other", **names)
        if entry is not None:
            return self._dump_entry(machine, entry)
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
        return weights_text(data)

    def _dump_entry(self, machine: Machine, entry: TournamentEntry) -> str:
        row, rule = weights_row_at(machine.pk, entry.n_lessons or 0), cast("ValueRule", machine.rule)
        weights, average = floats(row.weights), floats(row.average)
        return weights_text(WeightsData(machine.game_rules, rule, entry.name, weights, average, row.n_learnt))

    def fields_read(self, data: WeightsData) -> dict[str, object]:
        return {"side": None, "epsilon": 0.0}

    def restore(self, machine: Machine, data: WeightsData) -> None:
        weights_begin(machine, data.weights, data.n_learnt, data.average)
