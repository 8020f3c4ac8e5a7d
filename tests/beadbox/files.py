"""Small machine files for tests to read or to damage."""

import json
from typing import Any

from beadbox.rules.registry import GAMES

NATIVE = {"format": "beadbox-machine", "version": 1, "game": "noughts-and-crosses", "side": 1, "rule": {}, "boxes": []}
BOX = {"position": min(GAMES["noughts-and-crosses"].orbit("X........")), "beads": [1, 1, 1, 1, 1], "draws": [0] * 5}
STATE = {"state": "X........", "beads": [0] + [4] * 8, "totalBeads": 32}


def native(**fields: Any) -> str:
    return json.dumps({**NATIVE, **fields})


def boxes(*changes: dict[str, Any]) -> str:
    return native(boxes=[{**BOX, **change} for change in changes])


def states(**fields: Any) -> str:
    return json.dumps([STATE, {**STATE, **fields}])


def memory(moves: Any, scores: Any, position: str = "X........", **fields: Any) -> str:
    return json.dumps({"memory": {position: {"validMoves": moves, "confidenceScores": scores}}, **fields})
