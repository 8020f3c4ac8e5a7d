"""The list of states of matchbox-ai: ``[{state, beads, totalBeads}]``, one entry a box, beads by square.

Only for games in which a move is one square. A slot that stands for several squares has its beads on the first.
"""

from __future__ import annotations

import json
from typing import Any

from learning.core.exchange import json_text
from learning.core.exchange.document import Entry, MachineData, Wanted, machine_from, whole_number
from learning.core.exchange.errors import ExchangeError, shown
from learning.core.machines.presets import PRESETS
from learning.core.machines.rule import MAX_BEADS

PRESET = "matchbox-ai"


def dump(data: MachineData) -> str:
    """The file: one line for each box.

    Raises:
        ExchangeError: a move of this game is more than a square.
    """
    game, cabinet = data.game, data.cabinet
    lines = []
    for box in data.boxes:
        position = game.decode(box.position)
        beads = [0] * len(game.layout.cells)
        for move, count in zip(cabinet.printed_moves(position), box.beads, strict=True):
            path = game.path(move)
            if len(path) != 1:
                raise ExchangeError(
                    "", f"In {game.name} a move is more than one square, and this format counts squares."
                )
            beads[path[0]] += count
        lines.append(json.dumps({"state": box.position, "beads": beads, "totalBeads": sum(beads)}))
    return "[\n" + ",\n".join(lines) + "\n]\n"


def load(text: str, wanted: Wanted) -> MachineData:
    """The machine that a file holds.

    Raises:
        ExchangeError: something in it is wrong.
    """
    entries = [_entry(item, f"[{index}]") for index, item in enumerate(json_text.items(json_text.parse(text), ""))]
    return machine_from(entries, wanted, usual=PRESETS[PRESET].rule, preset=PRESET)


def _entry(item: Any, where: str) -> Entry:
    fields = json_text.members(item, where)
    state = json_text.need(fields, "state", where)
    if isinstance(state, list):
        state = "".join(" " if cell in (None, "") else str(cell) for cell in state)
    if not isinstance(state, str):
        raise ExchangeError(f"{where}.state", f"must be text or a list of squares, not {shown(state)}")
    beads = [
        whole_number(count, f"{where}.beads[{square}]", highest=MAX_BEADS)
        for square, count in enumerate(json_text.items(json_text.need(fields, "beads", where), f"{where}.beads"))
    ]
    if len(beads) != len(state):
        raise ExchangeError(f"{where}.beads", f"has {len(beads)} numbers for {len(state)} squares")
    total = whole_number(fields.get("totalBeads", sum(beads)), f"{where}.totalBeads")
    if total != sum(beads):
        raise ExchangeError(f"{where}.totalBeads", f"is {total}, but the beads add up to {sum(beads)}")
    return Entry(where, state, dict(enumerate(beads)))
