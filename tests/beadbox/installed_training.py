"""Trains a MENACE and prints its beads, the state of its random numbers, and its strength as JSON."""

import json
import sys

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.strength import against_opponent
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get

game, rule = game_get("noughts-and-crosses"), PRESETS["michie-1961"].rule
memory = Memory.fresh(boxes_compile(game, Side.FIRST, rule))
source = RandomSource(1)
memory.train(OPPONENTS["random"], 300, source)
strength = against_opponent(memory, OPPONENTS["perfect"])
sys.stdout.write(json.dumps([memory.beads.tolist(), source.text, strength.win, strength.draw, strength.loss]))
