"""The learnt values that ship with the program, one for games without flips and one for games with flips.

Both are machine files (``docs/exchange.md``), which users can import. ``manage.py teach_levels`` writes them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np

from beadbox.engines.position_values import Learnt
from beadbox.rules.romgon.moves import Options

FOLDER = Path(__file__).parent / "learnt"


def shipped_name(options: Options) -> str:
    """Return the name of the learnt value for games with these options: ``plain`` or ``flips``."""
    return "flips" if options.flip else "plain"


@cache
def shipped(name: str) -> Learnt:
    """Load a learnt value for play, with the mean of its weights if its rule keeps one. Cached: do not modify it."""
    file = json.loads((FOLDER / f"{name}.json").read_text())
    rule = file["rule"]
    played = np.array(file["average" if rule["average_games"] else "weights"], np.float64)
    return Learnt(played, rule["play_depth"], rule["restlessness"])
