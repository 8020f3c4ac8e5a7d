"""Recorded machines: beads and exact strength that are the same on every platform, with and without numba.

``python -m tests.beadbox.golden_machines`` prints the records, which ``tests/data/golden_machines.json`` holds. The
module needs nothing but the library, so it also runs in an environment without numba.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import beadbox as bb

CASES = (
    ("noughts-and-crosses", "first", "michie-1961", "random", 1961, 300),
    ("noughts-and-crosses", "second", "michie-refill", "perfect", 7, 200),
    ("hexapawn", "second", "gardner-her", "random", 1962, 100),
    ("hexapawn", "first", "hexapawn-rl", "win-block", 5, 100),
    ("noughts-and-crosses", "first", "q-table", "random", 3, 200),
    ("noughts-and-crosses", "first", "td-boards", "win-block", 4, 200),
    ("pong-hau-ki", "first", "michie-refill", "random", 6, 20),
    ("nim-3-3-3", "second", "michie-1961", "perfect", 8, 100),
)
"""Game, side, preset, opponent, seed and number of games."""


def records() -> dict[str, dict[str, object]]:
    """Return for each machine the checksum of its file and its exact points against random play and a best response."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "machine.json"
        for game, side, preset, opponent, seed, n_games in CASES:
            machine = bb.machine(game, side, preset, seed=seed).train(n_games, opponent)
            machine.save(file)
            results[f"{game} {side} {preset} {opponent} {seed} {n_games}"] = {
                "file": hashlib.sha256(file.read_bytes()).hexdigest(),
                "random": machine.strength("random", side=side).score,
                "worst": bb.best_response(machine, side=side).strength.score,
            }
    return results


if __name__ == "__main__":
    sys.stdout.write(f"{json.dumps(records(), indent=1)}\n")
