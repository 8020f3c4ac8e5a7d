"""Reads of a whole machine: as a file, and on paper."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO

from learning.core.exchange.document import BoxData, MachineData, boxes_sorted
from learning.core.exchange.errors import ExchangeError
from learning.core.exchange.registry import Format, format_get
from learning.core.exchange.values import MAX_VALUES, ValueData, ValuesData
from learning.core.machines.presets import PRESETS, preset_named
from learning.core.machines.q_learning import QRule
from learning.core.printing.errors import PrintingError
from learning.core.printing.sheets import PrintOptions, sheets_pdf
from learning.exceptions import MachineFileError, PrintRefusedError
from learning.models import Machine
from learning.selectors.machines import machine_stopped


def machine_data(machine: Machine) -> MachineData:
    """Everything the machine is, at one moment: boxes and totals come from one query, whoever is training it."""
    head = ("n_wins", "n_draws", "n_losses", "n_removed", "learns")
    rows = list(
        machine.boxes.order_by("ply", "position").values_list(
            "position", "beads", "visits", *(f"machine__{name}" for name in head)
        )
    )
    wins, draws, losses, removed, learns = rows[0][3:] if rows else (getattr(machine, name) for name in head)
    return MachineData(
        game=machine.game_rules,
        side=machine.cabinet.side,
        rule=machine.box_rule,
        name=machine.name,
        description=machine.description,
        preset=machine.preset,
        learns=learns,
        wins=wins,
        draws=draws,
        losses=losses,
        removed=removed,
        boxes=boxes_sorted(machine.game_rules, (BoxData(row[0], tuple(row[1]), tuple(row[2])) for row in rows)),
    )


def values_data(machine: Machine, *, any_size: bool = False) -> ValuesData:
    """Everything a machine that keeps values is, at one moment, as :func:`machine_data`.

    Raises:
        ExchangeError: it has more values than a file that anybody can bring in holds, and not ``any_size`` will do.
    """
    game, rule = machine.game_rules, machine.rule
    assert isinstance(rule, QRule), "only a machine that keeps values has them"
    head = ("n_wins", "n_draws", "n_losses", "learns", "epsilon")
    found = machine.values.values_list("key", "value", "n_visits", *(f"machine__{name}" for name in head))
    rows = list(found if any_size else found[: MAX_VALUES + 1])
    if len(rows) > MAX_VALUES and not any_size:
        raise ExchangeError(
            "values", f"{machine.name} has {machine.values.count():,}, and a file holds {MAX_VALUES:,} at most"
        )
    wins, draws, losses, learns, epsilon = rows[0][3:] if rows else (getattr(machine, name) for name in head)
    return ValuesData(
        game=game,
        rule=rule,
        epsilon=epsilon,
        name=machine.name,
        description=machine.description,
        preset=machine.preset,
        learns=learns,
        wins=wins,
        draws=draws,
        losses=losses,
        values=tuple(sorted((ValueData(*row[:3]) for row in rows), key=lambda one: one.key)),
    )


def machine_export(machine: Machine, form: str = "native", *, any_size: bool = False) -> MachineFile:
    """A machine as a file of one of the formats of :data:`~learning.core.exchange.registry.FORMATS`.

    With ``any_size`` a machine that keeps values may have more of them than others could bring in.

    Raises:
        MachineFileError: there is no such format, or the machine does not fit into it.
    """
    try:
        chosen = format_get(form)
        text = (
            _dump_values(machine, chosen, any_size=any_size)
            if machine.keeps_values
            else chosen.dump(machine_data(machine))
        )
    except ExchangeError as error:
        raise MachineFileError(str(error)) from None
    extra = "" if form == "native" else f".{form}" if form != chosen.suffix else ""
    return MachineFile(f"{machine.slug}{extra}.{chosen.suffix}", chosen.media_type, text)


def _dump_values(machine: Machine, form: Format, *, any_size: bool) -> str:
    if form.dump_values is None:
        raise ExchangeError("format", f"{form.name} holds boxes, and {machine.name} keeps values; native holds them")
    return form.dump_values(values_data(machine, any_size=any_size))


def import_notes(machine: Machine, data: MachineData | ValuesData, choose: str) -> list[str]:
    """What to tell whoever has brought this machine in from what its file was read as, a sentence each.

    Its rule and how to have another, beads that could not be taken, and whether it has stopped playing. ``choose`` ends
    "bring the file in again and …".
    """
    if isinstance(data, ValuesData):
        return [f"It goes on under the rule in the file: {_rule_name(data)}. For another, make a new machine."]
    notes = [_rule_note(data, choose)]
    reading = data.reading
    if reading is not None and reading.beads_set_aside:
        beads = f"{reading.beads_set_aside:,} bead{'' if reading.beads_set_aside == 1 else 's'}"
        boxes = f"{reading.boxes_set_aside:,} box{'' if reading.boxes_set_aside == 1 else 'es'}"
        notes.append(f"Set aside: {beads} in {boxes}, on squares that are taken. {reading.why_set_aside}.")
    stopped = machine_stopped(machine)
    return [*notes, stopped] if stopped else notes


def _rule_note(data: MachineData, choose: str) -> str:
    reading = data.reading
    if reading is None:
        return (
            f"It goes on under the rule in the file: {_rule_name(data)}. "
            f"For another, take it away as a table (CSV), bring that in and {choose}."
        )
    another = f"For another, bring the file in again and {choose}."
    if reading.is_chosen:
        return f"It goes on under the rule that was asked for: {_rule_name(data)}. {another}"
    if reading.stretched:
        usual = PRESETS[reading.stretched]
        taken = f"{usual.name} ({usual.slug}), changed so that it holds every box of the file"
    else:
        taken = _rule_name(data)
    return f"The file names no rule, so it goes on under the usual one of such files: {taken}. {another}"


def _rule_name(data: MachineData | ValuesData) -> str:
    preset = preset_named(data.preset)
    return f"{preset.name} ({preset.slug})" if preset and preset.rule == data.rule else "a rule of its own"


def machine_sheets(machine: Machine, options: PrintOptions) -> BytesIO:
    """The machine's box fronts and the table of its beads, as PDF.

    Raises:
        PrintRefusedError: they do not fit on this paper, or the machine has no box.
    """
    if machine.keeps_values:
        raise PrintRefusedError(f"{machine.name} has no boxes to print: it keeps a value for every move it has tried.")
    boxes = list(machine.boxes.values_list("position", "beads"))
    try:
        return sheets_pdf(machine.cabinet, machine.name, boxes, options)
    except PrintingError as error:
        raise PrintRefusedError(str(error)) from None


@dataclass(frozen=True, slots=True)
class MachineFile:
    """A file to hand out."""

    name: str
    media_type: str
    text: str
