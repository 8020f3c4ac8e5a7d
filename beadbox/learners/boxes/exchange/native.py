"""Our own format for a machine with boxes. A machine read from its file is identical to the machine written."""

from __future__ import annotations

import json
from typing import Any

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.exchange.document import BoxData, MachineData, box_checked, boxes_sorted
from beadbox.learners.exchange.document import native_text
from beadbox.learners.exchange.errors import ExchangeError
from beadbox.rules.errors import InvalidPositionError
from beadbox.rules.game import AnyGame, AnyPosition
from beadbox.rules.outcome import Side


def dump(data: MachineData) -> str:
    """Return the file of a machine: a head, then one line for each box."""
    lines = ",".join(f"\n  {_line(box)}" for box in data.boxes)
    return native_text(data, "boxes", lines, side=int(data.side), removed=data.removed)


def _line(box: BoxData) -> str:
    return json.dumps({"position": box.position, "beads": box.beads, "draws": box.visits})


def boxes_machine(
    fields: dict[str, Any], game: AnyGame, rule: Any, head: dict[str, Any], any_size: bool
) -> MachineData:
    """Return a machine with boxes from the fields of its native file. ``READERS`` lists this function for its kind.

    Raises:
        ExchangeError: the file is invalid.
    """
    from beadbox.learners.boxes.exchange import shapes  # only when a file is read
    from beadbox.learners.exchange import schemas  # only when a file is read

    file = schemas.read(shapes.BoxFile, fields)
    cabinet = Cabinet(game, Side(file.side), rule)
    boxes: dict[str, BoxData] = {}
    for index, item in enumerate(file.boxes):
        where = f"boxes[{index}]"
        position = _position(cabinet, item.position, f"{where}.position")
        box = box_checked(cabinet, position, item.beads, item.draws, where)
        if boxes.setdefault(box.position, box) is not box:
            raise ExchangeError(f"{where}.position", "box_twice", position=repr(box.position))
    totals = file.totals.counted()
    return MachineData(
        game=game, side=cabinet.side, rule=rule, boxes=boxes_sorted(game, boxes.values()), **head, **totals
    )


def _position(cabinet: Cabinet, text: str, where: str) -> AnyPosition:
    """Return the position of a box, after a check that it is the position on the front of the box."""
    try:
        position = cabinet.game.decode(text)
    except InvalidPositionError as error:
        raise ExchangeError(where, "position", problem=error.sentence) from None
    box_position = cabinet.box_position(position)
    if box_position != position:
        names = {"position": repr(text), "printed": repr(cabinet.game.encode(box_position))}
        raise ExchangeError(where, "printed_otherwise", **names)
    return position
