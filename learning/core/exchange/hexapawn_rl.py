"""The save file of HexapawnRL: ``{"memory": {position: {validMoves, confidenceScores}}}``.

It holds texts of positions and moves, so it is written for any game; of a game whose side to move that program knows,
without the side. A move that was taken out of play is not listed; ``level`` says how many there were.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from learning.core.exchange import json_text
from learning.core.exchange.document import MAX_TEXT, Entry, MachineData, Wanted, machine_from, whole_number, words
from learning.core.exchange.errors import ExchangeError, shown
from learning.core.machines.presets import PRESETS
from learning.core.machines.rule import MAX_BEADS

PRESET = "hexapawn-rl-as-shipped"
RULE = PRESETS[PRESET].rule
"""How that program learns, whatever it says of itself."""
FAMILY = "hexapawn"
"""What that program plays: files of other games were written by us, for machines of any rule."""


def dump(data: MachineData) -> str:
    """The file, in the shape and order of that program."""
    game, cabinet = data.game, data.cabinet
    memory = {}
    for box in data.boxes:
        position = game.decode(box.position)
        printed = cabinet.printed_moves(position)
        kept = [(game.format_move(move), count) for move, count in zip(printed, box.beads, strict=True) if count]
        memory[game.encode_short(position)] = {
            "validMoves": [move for move, _ in kept],
            "confidenceScores": [count for _, count in kept],
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


def load(text: str, wanted: Wanted) -> MachineData:
    """The machine that a file holds.

    Raises:
        ExchangeError: something in it is wrong.
    """
    fields = json_text.members(json_text.parse(text), "")
    memory = json_text.members(json_text.need(fields, "memory"), "memory")
    entries = [_entry(item, position, f"memory[{shown(position)}]") for position, item in memory.items()]
    learns = fields.get("isLearning", True)
    if not isinstance(learns, bool):
        raise ExchangeError("isLearning", f"must be true or false, not {shown(learns)}")
    level = whole_number(fields.get("level", 1), "level")
    totals: dict[str, Any] = {name: whole_number(fields.get(name, 0), name) for name in ("wins", "draws", "losses")}
    name = words(fields.get("name", ""), "name", longest=80)
    removed = max(level - 1, 0)
    data = machine_from(entries, wanted, preset=PRESET, name=name, learns=learns, removed=removed, **totals)
    if wanted.rule is None and data.game.family == FAMILY:
        _trust_require(entries)
    return data


def _trust_require(entries: Iterable[Entry]) -> None:
    """Refuse more trust in a move than that program can have."""
    assert RULE.cap is not None
    for entry in entries:
        most = max(entry.beads.values(), default=0)
        if most > RULE.cap:
            raise ExchangeError(
                f"{entry.where}.confidenceScores",
                f"{most} is more than the {RULE.cap} of HexapawnRL; name the preset if another machine was saved here",
            )


def _entry(item: Any, position: str, where: str) -> Entry:
    fields = json_text.members(item, where)
    moves = json_text.items(json_text.need(fields, "validMoves", where), f"{where}.validMoves")
    scores = json_text.items(json_text.need(fields, "confidenceScores", where), f"{where}.confidenceScores")
    if len(moves) != len(scores):
        raise ExchangeError(f"{where}.confidenceScores", f"has {len(scores)} numbers for {len(moves)} moves")
    beads: dict[str | int, int] = {}
    for index, (move, score) in enumerate(zip(moves, scores, strict=True)):
        name = words(move, f"{where}.validMoves[{index}]", longest=MAX_TEXT)
        if name in beads:
            raise ExchangeError(f"{where}.validMoves[{index}]", f"{name!r} stands twice")
        beads[name] = whole_number(score, f"{where}.confidenceScores[{index}]", lowest=1, highest=MAX_BEADS)
    return Entry(where, position, beads)
