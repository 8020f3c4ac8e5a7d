"""The file of matchbox-ai: ``[{state, beads, totalBeads}]``, with an entry for each box.

``state`` is the least of the texts of the board's eight images. An empty square is ``_``, so that ``O`` < ``X`` <
``_``. ``beads[i]`` is the number of beads for square ``i`` of this text. The format is only for games in which a move
is one square.
Source: the functions ``getCanonicalState``, ``exportMemory`` and ``importMemory`` of matchbox-ai.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from beadbox.learners.boxes.exchange.document import BLANKS, Entry, MachineData, machine_from
from beadbox.learners.exchange import json_text
from beadbox.learners.exchange.document import ImportOptions
from beadbox.learners.exchange.errors import ExchangeError, shown
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition

if TYPE_CHECKING:
    from beadbox.learners.boxes.exchange import shapes

PRESET = "matchbox-ai-as-shipped"
"""The rule of the program's source code, which differs from the program's description."""
BLANK = "_"
MISCOUNTED = (
    "On boards that it turns by a quarter, matchbox-ai reads and adds beads at the wrong square. "
    "So it plays those boards differently."
)
"""The reason for beads on occupied squares: the program maps squares back by the rotation instead of its inverse."""


def dump(data: MachineData) -> str:
    """Return the file of a machine: one line for each box.

    The beads of a slot with several squares are divided among the squares, so the total chance of the squares does not
    change.

    Raises:
        ExchangeError: a move of this game is more than a square, or the machine's rule does not reduce symmetry.
    """
    game, cabinet = data.game, data.cabinet
    if not data.rule.reduce_symmetry:
        raise ExchangeError("", "every_turned_board")
    lines = []
    for box in data.boxes:
        box_position = game.decode(box.position)
        image = min(game.orbit(box_position), key=lambda position: _key(game, position))
        _, placement = cabinet.box_and_placement(image)
        merged = data.rule.merge_symmetric_moves
        classes = cabinet.slot_classes(box_position) if merged else [(move,) for move in game.legal_moves(box_position)]
        beads = [0] * len(game.presentation.layout.cells)
        for moves, count in zip(classes, box.beads, strict=True):
            squares = sorted(_square(game, game.transform_move(move, placement)) for move in moves)
            share, remainder = divmod(count, len(squares))
            for index, square in enumerate(squares):
                beads[square] = share + (index < remainder)
        lines.append(json.dumps({"state": _key(game, image), "beads": beads, "totalBeads": sum(beads)}))
    return "[\n" + ",\n".join(lines) + "\n]\n"


def load(text: str, options: ImportOptions) -> MachineData:
    """Return the machine in a file.

    Raises:
        ExchangeError: the file is invalid.
    """
    from beadbox.learners.boxes.exchange import shapes  # only when a file is read
    from beadbox.learners.exchange import schemas  # only when a file is read

    states = schemas.read(shapes.StatesFile, json_text.parse(text)).root
    entries = [_entry(fields, f"[{index}]") for index, fields in enumerate(states)]
    return machine_from(entries, options, preset=PRESET, why_set_aside=MISCOUNTED)


def _key(game: AnyGame, position: AnyPosition) -> str:
    return "".join(piece or BLANK for piece in game.pieces(position))


def _square(game: AnyGame, move: AnyMove) -> int:
    path = game.path(move)
    if len(path) != 1:
        raise ExchangeError("", "move_of_squares", game=game.name)
    return path[0]


def _entry(fields: shapes.StateFields, where: str) -> Entry:
    state, beads = fields.state, fields.beads
    if isinstance(state, list):
        state = "".join(" " if cell in (None, "") else str(cell) for cell in state)
    if not isinstance(state, str):
        raise ExchangeError(f"{where}.state", "expected", expected="a text or a list of squares", value=shown(state))
    if len(beads) != len(state):
        counts = {"wanted": len(state), "things": "squares", "given": len(beads)}
        raise ExchangeError(f"{where}.beads", "one_for_each", **counts)
    if fields.totalBeads != sum(beads):
        raise ExchangeError(f"{where}.totalBeads", "beads_sum", total=sum(beads), value=fields.totalBeads)
    free: dict[str | int, int] = {square: count for square, count in enumerate(beads) if state[square] in BLANKS}
    return Entry(where, state, free, set_aside=sum(beads) - sum(free.values()))
