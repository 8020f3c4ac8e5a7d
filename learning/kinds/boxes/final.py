"""Machines with boxes in the final of a class: as players, with their notable boxes, and on paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TypeAlias

import numpy as np

from beadbox.learners.boxes.frozen import FrozenBoxes
from beadbox.learners.boxes.machine import BeadDraw, BoxMachine
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.open_memory import OpenMemory
from beadbox.learners.boxes.printing.pupil_sheets import PupilSheet, pupil_sheets_pdf
from beadbox.learners.boxes.strength import MIN_COST, box_costs, readable_machine
from beadbox.learners.memory import AnyMemory
from beadbox.policies.registry import UNIFORM
from beadbox.policies.table import ContestPlayer
from beadbox.printing.errors import PrintingError
from learning.exceptions import PrintRefusedError
from learning.kinds.boxes.memory import MEMORY, tables_load
from learning.models import FinalDraw, Machine, NotableBox, NotableBoxes

SheetParts: TypeAlias = tuple[str, Sequence[str], Machine, Sequence[tuple[float, float]], NotableBoxes]
"""The parts of a pupil's sheet: name, sentences about the machine, machine, curve, and notable boxes."""
NOTABLE_BOXES_TIME_S = 0.1
"""Seconds of processor time for the search for a machine's best and worst box."""
BOX_LABELS = ("Its first box", "Its best box", "Its worst box")


def memories_load(machines: Sequence[Machine], *, is_listed: bool) -> Mapping[int, AnyMemory]:
    """Return the memories of machines of one game by id; one query if the positions of the game can be listed."""
    return tables_load(machines) if is_listed else {one.pk: MEMORY.load(one) for one in machines}


def final_player(memory: AnyMemory) -> ContestPlayer:
    """Return a machine as a player that does not learn."""
    if isinstance(memory, Memory):
        frozen = FrozenBoxes(memory)
        return ContestPlayer(frozen, frozen)
    return ContestPlayer(None, make_readable(memory))


def make_readable(memory: AnyMemory) -> BoxMachine:
    """Return the readable machine of a memory. It does not learn."""
    if isinstance(memory, Memory):
        machine = readable_machine(memory)
    else:
        assert isinstance(memory, OpenMemory), "machines with boxes have one of two memories"
        machine = memory.machine
    machine.learns = False
    return machine


def notable_boxes(memory: AnyMemory) -> NotableBoxes:
    """Return the first, best and worst box of a machine.

    Of the boxes for its first move, the first box is the one that the machine has opened most often. Only games whose
    positions can be listed have these boxes.
    """
    if not isinstance(memory, Memory):
        return {"first": None, "best": None, "worst": None}
    costs = box_costs(memory, UNIFORM["random"], NOTABLE_BOXES_TIME_S)
    best = max(costs, key=lambda box: costs[box], default=None)
    worst = min(costs, key=lambda box: costs[box], default=None)
    table = memory.table
    opened = np.add.reduceat(memory.visits, table.slot_indptr[:-1])
    firsts = np.flatnonzero(table.move_number == table.move_number.min()).tolist()
    first = max(firsts, key=lambda box: int(opened[box]), default=None)
    return {
        "first": None if first is None else _notable(memory, first, costs.get(first, 0.0)),
        "best": _notable(memory, best, costs[best]) if best is not None and costs[best] > MIN_COST else None,
        "worst": _notable(memory, worst, costs[worst]) if worst is not None and costs[worst] < -MIN_COST else None,
    }


def _notable(memory: Memory, box: int, cost: float) -> NotableBox:
    return {"position": memory.table.keys[box], "beads": memory.beads[memory.slots(box)].tolist(), "cost": cost}


def pupil_sheets(title: str, sheets: Sequence[SheetParts]) -> BytesIO:
    """Return a PDF with one sheet for each machine, with its curve and its notable boxes.

    Raises:
        PrintRefusedError: the boxes of the game do not fit on the sheet.
    """
    drawn = [
        PupilSheet(name, lines, curve, machine.cabinet, _labelled_boxes(boxes))
        for name, lines, machine, curve, boxes in sheets
    ]
    try:
        return pupil_sheets_pdf(title, drawn)
    except PrintingError as error:
        raise PrintRefusedError(str(error)) from None


def _labelled_boxes(boxes: NotableBoxes) -> list[tuple[str, str, Sequence[int]]]:
    named = (boxes["first"], boxes["best"], boxes["worst"])
    return [
        (words, box["position"], box["beads"]) for words, box in zip(BOX_LABELS, named, strict=True) if box is not None
    ]


def final_draw(draw: object) -> FinalDraw | None:
    """Return the stored form of a draw in the typical match; ``None`` if the move opened no box."""
    if not isinstance(draw, BeadDraw):
        return None
    return {"position": draw.box, "beads": list(draw.beads), "slot": draw.slot, "refilled": draw.refilled}
