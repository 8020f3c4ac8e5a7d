"""The learnt values that the package contains, one for games without flips and one for games with flips.

Both are machine files (``docs/exchange.md``), so that users can import them. ``manage.py teach_levels`` writes them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np

from beadbox.engines.position_values import LearntPlayer
from beadbox.rules.romgon.moves import Options

VALUE_FOLDER = Path(__file__).parent / "learnt"


def shipped_value_name(options: Options) -> str:
    """Return the name of the learnt value for games with these options: ``plain`` or ``flips``."""
    return "flips" if options.flip else "plain"


@cache
def shipped_value(name: str) -> LearntPlayer:
    """Return a learnt value for play. If its rule keeps an average of the weights, the player uses the average.

    The result is cached, so callers must not modify it.
    """
    file = json.loads((VALUE_FOLDER / f"{name}.json").read_bytes())
    rule = file["rule"]
    weights = np.array(file["average" if rule["average_games"] else "weights"], np.float64)
    return LearntPlayer(weights, rule["play_depth"], rule["restlessness"])
