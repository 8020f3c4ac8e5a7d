"""The native file of a machine that keeps a value for each key."""

from __future__ import annotations

from beadbox.learners.exchange.errors import ExchangeError
from beadbox.learners.exchange.values import MAX_VALUES, ValueData, ValuesData, dump_values
from beadbox.learners.formats import Format
from learning.kinds.files import KindFiles
from learning.kinds.keyed_values.memory import values_restore, values_rows_at
from learning.models import Machine, TournamentEntry


class KeyedFiles(KindFiles):
    """Files with keys, values and visits. Each kind defines how such a file is read."""

    def dump(
        self, machine: Machine, form: Format, *, any_size: bool = False, entry: TournamentEntry | None = None
    ) -> str:
        if form.slug != "native":
            names = {"format": form.name, "machine": machine.name, "kept": "values"}
            raise ExchangeError("format", "machine_keeps_other", **names)
        if entry is not None:
            return self._dump_entry(machine, entry)
        return dump_values(values_data(machine, any_size=any_size))

    def _dump_entry(self, machine: Machine, entry: TournamentEntry) -> str:
        rows = sorted(values_rows_at(machine, entry.n_lessons or 0))
        values = tuple(ValueData(*row) for row in rows)
        return dump_values(ValuesData(machine.game_rules, machine.rule, entry.epsilon or 0.0, entry.name, values))

    def fields_read(self, data: ValuesData) -> dict[str, object]:
        return {"side": None, "epsilon": data.epsilon, "n_values": len(data.values)}

    def restore(self, machine: Machine, data: ValuesData) -> None:
        values_restore(machine, ((entry.key, entry.value, entry.visits) for entry in data.values))


def values_data(machine: Machine, *, any_size: bool = False) -> ValuesData:
    """Return the machine's settings, totals and values at one moment.

    A single query reads totals and values, so that they agree even while the machine is trained.

    Raises:
        ExchangeError: without ``any_size``, the machine has more values than an import accepts.
    """
    machine_fields = ("n_wins", "n_draws", "n_losses", "learns", "epsilon")
    query = machine.values.values_list("key", "value", "n_visits", *(f"machine__{name}" for name in machine_fields))
    rows = list(query if any_size else query[: MAX_VALUES + 1])
    if len(rows) > MAX_VALUES and not any_size:
        counts = {"n_values": machine.values.count(), "max_values": MAX_VALUES}
        raise ExchangeError("values", "too_many_values", machine=machine.name, **counts)
    wins, draws, losses, learns, epsilon = rows[0][3:] if rows else (getattr(machine, name) for name in machine_fields)
    return ValuesData(
        game=machine.game_rules,
        rule=machine.rule,
        epsilon=epsilon,
        name=machine.name,
        description=machine.description,
        preset=machine.preset,
        learns=learns,
        wins=wins,
        draws=draws,
        losses=losses,
        values=tuple(sorted((ValueData(*row[:3]) for row in rows), key=lambda entry: entry.key)),
    )
