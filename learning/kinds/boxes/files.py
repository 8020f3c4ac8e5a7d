"""Write and read files of machines with boxes, print their boxes, and write the notes after an import."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from beadbox.learners.boxes.exchange.document import BoxData, MachineData, boxes_sorted
from beadbox.learners.boxes.exchange.native import boxes_machine, dump
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.printed_set import printed_set
from beadbox.learners.boxes.printing.sheets import sheets_pdf
from beadbox.learners.formats import Format
from beadbox.printing.errors import ManyBeadsError, PrintingError
from beadbox.printing.options import PrintChoices, PrintOptions
from learning.exceptions import ManyBeadsRefusedError, PrintRefusedError
from learning.kinds.boxes.look import bead_marks, has_drawings, stop_sentence
from learning.kinds.boxes.memory import boxes_restore
from learning.kinds.files import KindFiles
from learning.models import Machine, TournamentEntry


def machine_data(machine: Machine) -> MachineData:
    """Return the machine's settings, totals and boxes at one moment.

    A single query reads totals and boxes, so that they agree even while the machine is trained.
    """
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


class BoxesFiles(KindFiles):
    """Files in every format of :data:`~beadbox.learners.formats.FORMATS`, and printed boxes."""

    read = staticmethod(boxes_machine)

    def dump(
        self, machine: Machine, form: Format, *, any_size: bool = False, entry: TournamentEntry | None = None
    ) -> str:
        if entry is not None:
            return self._dump_entry(machine, entry)
        return form.dump(machine_data(machine))

    def _dump_entry(self, machine: Machine, entry: TournamentEntry) -> str:
        beads: dict[str, list[int]] = entry.beads or {}
        boxes = (BoxData(key, tuple(row), (0,) * len(row)) for key, row in beads.items())
        game, cabinet = machine.game_rules, machine.cabinet
        return dump(MachineData(game, cabinet.side, cabinet.rule, entry.name, boxes=boxes_sorted(game, boxes)))

    def fields_read(self, data: MachineData) -> dict[str, Any]:
        return {"side": data.side, "n_removed": data.removed}

    def restore(self, machine: Machine, data: MachineData) -> None:
        boxes_restore(machine, ((box.position, box.beads, box.visits) for box in data.boxes))

    def import_notes(self, machine: Machine, data: MachineData, rule_name: str, choose: str) -> list[str]:
        """Return notes on the machine's rule, on beads left out, and on a machine that always resigns."""
        notes = [_rule_note(data, rule_name, choose)]
        reading = data.reading
        if reading is not None and reading.beads_set_aside:
            beads = f"{reading.beads_set_aside:,} bead{'' if reading.beads_set_aside == 1 else 's'}"
            boxes = f"{reading.boxes_set_aside:,} box{'' if reading.boxes_set_aside == 1 else 'es'}"
            notes.append(f"Left out: {beads} on taken squares, in {boxes}. {reading.why_set_aside}")
        stopped = stop_sentence(machine)
        return [*notes, stopped] if stopped else notes

    def print_choices(self, machine: Machine) -> PrintChoices:
        n_drawings = len(printed_set(machine.cabinet)) if has_drawings(machine) else 0
        return PrintChoices(bead_marks(machine), n_drawings)

    def sheets(self, machine: Machine, options: PrintOptions) -> BytesIO:
        """Return the machine's box fronts and the table of its beads, as PDF.

        Raises:
            PrintRefusedError: the fronts do not fit on this paper, or the machine has no box.
            ManyBeadsRefusedError: the boxes need more beads than most people have.
        """
        boxes = list(machine.boxes.values_list("position", "beads"))
        try:
            address = {"code": machine.slug, "page": machine.get_absolute_url()}
            return sheets_pdf(machine.cabinet, machine.name, boxes, options, **address)
        except ManyBeadsError as error:
            advice = (
                f"At the beginning the machine needs {error.n_start:,}. You can choose these below."
                if options.beads_now
                else "Its rule begins with that many. A machine with another rule needs fewer."
            )
            raise ManyBeadsRefusedError(f"{error} Most people have fewer. {advice}") from None
        except PrintingError as error:
            raise PrintRefusedError(str(error)) from None


def _rule_note(data: MachineData, rule_name: str, choose: str) -> str:
    reading = data.reading
    if reading is None:
        return (
            f"The machine keeps the rule of the file: {rule_name}. "
            f"For another rule, save it as a table (CSV). Then import the table and {choose}."
        )
    advice = f"For another rule, import the file again and {choose}."
    if reading.is_chosen:
        return f"The machine has the rule that you chose: {rule_name}. {advice}"
    if reading.stretched:
        preset = PRESETS[reading.stretched]
        rule_text = f"{preset.name} ({preset.slug}), changed so that it holds every box of the file"
    else:
        rule_text = rule_name
    return f"The file names no rule. The machine has the usual rule for such files: {rule_text}. {advice}"
