"""The save file of HexapawnRL: ``{"memory": {position: {validMoves, confidenceScores}}}``.

The file has positions and moves as text, so a machine of any game can be written in this format. The text of a position
omits the side to move in games in which HexapawnRL determines the side itself. The file does not list moves that were
taken out of play; ``level`` is 1 plus the number of these moves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from beadbox.learners.boxes.exchange.document import Entry, MachineData, machine_from
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.exchange import json_text
from beadbox.learners.exchange.document import ImportOptions, name_or
from beadbox.learners.exchange.errors import ExchangeError, shown

PRESET = "hexapawn-rl-as-shipped"
RULE = PRESETS[PRESET].rule
"""The rule of the program's source code, which differs from the program's description."""
FAMILY = "hexapawn"
"""The family of games that the program plays. Files of other games come from this site, and may follow any rule."""


def dump(data: MachineData) -> str:
    """Return the file of a machine, with the fields and the order of HexapawnRL's files."""
    game, cabinet = data.game, data.cabinet
    memory = {}
    for box in data.boxes:
        position = game.decode(box.position)
        labels = cabinet.slot_labels(position)
        playable = [(game.format_move(move), count) for move, count in zip(labels, box.beads, strict=True) if count]
        memory[game.encode_short(position)] = {
            "validMoves": [move for move, _ in playable],
            "confidenceScores": [count for _, count in playable],
        }
    fields: dict[str, Any] = {
        "memory": memory,
        "name": data.name,
        "level": data.removed + 1,
        "losses": data.losses,
        "wins": data.wins,
        "isLearning": data.learns,
    }
    if data.draws:
        fields["draws"] = data.draws
    return json.dumps(fields, indent=1, ensure_ascii=False) + "\n"


def load(text: str, options: ImportOptions) -> MachineData:
    """Return the machine in a file.

    Raises:
        ExchangeError: the file is invalid.
    """
    from beadbox.learners.boxes.exchange import shapes  # only when a file is read
    from beadbox.learners.exchange import schemas  # only when a file is read

    file = schemas.read(shapes.HexapawnFile, json_text.parse(text))
    entries = [_entry(item, position, f"memory[{shown(position)}]") for position, item in file.memory.items()]
    data = machine_from(
        entries,
        options,
        preset=PRESET,
        name=name_or(file.name, options),
        learns=file.isLearning,
        removed=max(file.level - 1, 0),
        wins=file.wins,
        draws=file.draws,
        losses=file.losses,
    )
    if options.rule is None and data.game.family == FAMILY:
        _scores_require(entries)
    return data


def _scores_require(entries: Iterable[Entry]) -> None:
    """Refuse a score above HexapawnRL's cap."""
    assert RULE.cap is not None
    for entry in entries:
        max_beads = max(entry.beads.values(), default=0)
        if max_beads > RULE.cap:
            raise ExchangeError(f"{entry.where}.confidenceScores", "cap_of_hexapawn_rl", cap=RULE.cap, count=max_beads)


def _entry(item: Any, position: str, where: str) -> Entry:
    from beadbox.learners.boxes.exchange import shapes  # only when a file is read
    from beadbox.learners.exchange import schemas  # only when a file is read

    fields = schemas.read(shapes.MoveFields, item, where)
    moves, scores = fields.validMoves, fields.confidenceScores
    if len(moves) != len(scores):
        counts = {"wanted": len(moves), "things": "moves", "given": len(scores)}
        raise ExchangeError(f"{where}.confidenceScores", "one_for_each", **counts)
    beads: dict[str | int, int] = {}
    for index, (move, score) in enumerate(zip(moves, scores, strict=True)):
        if move in beads:
            raise ExchangeError(f"{where}.validMoves[{index}]", "move_twice", move=repr(move))
        beads[move] = score
    return Entry(where, position, beads)
