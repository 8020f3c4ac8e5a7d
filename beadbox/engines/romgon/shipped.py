"""The learnt values that come with the program, one for games without flips and one for games with them.

They are files of machines (``docs/exchange.md``), so anybody may import one. ``manage.py teach_levels`` writes them.
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
    """Which of the values is for games with these options: ``plain`` or ``flips``."""
    return "flips" if options.flip else "plain"


@cache
def shipped(name: str) -> Learnt:
    """The value of this name as it plays, by the mean of its weights if its rule has one. Not to be changed."""
    file = json.loads((FOLDER / f"{name}.json").read_text())
    rule = file["rule"]
    played = np.array(file["average" if rule["average_games"] else "weights"], np.float64)
    return Learnt(played, rule["play_depth"], rule["restlessness"])
