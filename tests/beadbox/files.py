"""Small machine files for tests to read or to damage."""

import json
from typing import Any

from beadbox.rules.registry import GAMES

NATIVE_FILE = {
    "format": "beadbox-machine",
    "version": 1,
    "game": "noughts-and-crosses",
    "side": 1,
    "rule": {},
    "boxes": [],
}
BOX_ENTRY = {
    "position": min(GAMES["noughts-and-crosses"].orbit("X........")),
    "beads": [1, 1, 1, 1, 1],
    "draws": [0] * 5,
}
MATCHBOX_AI_ENTRY = {"state": "X........", "beads": [0] + [4] * 8, "totalBeads": 32}


def native_text(**fields: Any) -> str:
    return json.dumps({**NATIVE_FILE, **fields})


def native_text_with_boxes(*changes: dict[str, Any]) -> str:
    return native_text(boxes=[{**BOX_ENTRY, **change} for change in changes])


def matchbox_ai_text(**fields: Any) -> str:
    return json.dumps([MATCHBOX_AI_ENTRY, {**MATCHBOX_AI_ENTRY, **fields}])


def hexapawn_rl_text(moves: Any, scores: Any, position: str = "X........", **fields: Any) -> str:
    return json.dumps({"memory": {position: {"validMoves": moves, "confidenceScores": scores}}, **fields})
