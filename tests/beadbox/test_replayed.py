"""A program written from docs/replay.md alone ends with the beads and values of the project's training."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.table import boxes_compile
from beadbox.learners.table_learner.memory import TableMemory
from beadbox.learners.table_learner.presets import TABLE_PRESETS
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from beadbox.strength.snapshots import CHOICE_SEED, CONFIRMATION_SEED
from tests import replay
from tests.test_architecture import imported_by

N_GAMES, MAX_LINES = 1_000, 200
each_seed = pytest.mark.parametrize("seed", [1961, (1 << 63) - 1])


def test_the_program_is_short_and_imports_nothing_of_the_project():
    file = Path(replay.__file__)
    assert imported_by(file) <= sys.stdlib_module_names
    assert len(file.read_text().splitlines()) <= MAX_LINES


def test_the_page_names_the_learners_with_replay():
    page = (Path(__file__).parents[2] / "docs" / "replay.md").read_text()
    learners_section, streams = page.split("## What a run depends on")[0], page.split("## Other streams")[1]
    rows = [line.split("|")[1:3] for line in learners_section.splitlines() if line.startswith("| ")][1:]
    replayed_learners = {
        re.findall(r"`([a-z0-9-]+)`", learner)[0] for learner, program in rows if "tests/replay.py" in program
    }
    assert replayed_learners == {"michie-1961", "gardner-her", "q-table"}
    assert all("tests/replay.py" in program or "no program" in program for _, program in rows)
    for name in ("with boxes", "TD(λ), Sarsa or Monte Carlo", "Romgon"):
        assert any(name in learner and "no program" in program for learner, program in rows), name
    assert f"{CHOICE_SEED} to choose, {CONFIRMATION_SEED} to confirm" in streams
    assert "| the game from that opening" in streams


@each_seed
@pytest.mark.parametrize(
    ("machine", "game", "side", "preset"),
    [
        ("menace", "noughts-and-crosses", Side.FIRST, "michie-1961"),
        ("her", "hexapawn", Side.SECOND, "gardner-her"),
    ],
)
def test_a_machine_with_boxes_ends_with_the_same_beads(machine, game, side, preset, seed):
    table = boxes_compile(game_get(game), side, PRESETS[preset].rule)
    memory, source = Memory.fresh(table), RandomSource(seed)
    memory.train(OPPONENTS["random"], N_GAMES, source)

    replay_source = replay.Source(seed)
    replayed_beads = replay.replay(machine, replay_source, N_GAMES)
    assert (replay_source.a, replay_source.b) == source.words
    assert replayed_beads.keys() <= set(table.keys)
    for box, key in enumerate(table.keys):
        slots = memory.slots(box)
        assert memory.beads[slots].tolist() == replayed_beads.get(key, table.initial[slots].tolist()), key
    visited_boxes = {table.keys[table.slot_box[slot]] for slot in np.flatnonzero(memory.visits)}
    assert visited_boxes <= replayed_beads.keys()


@each_seed
def test_a_table_ends_with_the_same_values(seed):
    memory, source = (
        TableMemory.fresh(game_get("noughts-and-crosses"), TABLE_PRESETS["q-table"].rule),
        RandomSource(seed),
    )
    memory.train(OPPONENTS["random"], N_GAMES, source)

    replay_source = replay.Source(seed)
    replayed_values = replay.replay("q-table", replay_source, N_GAMES)
    assert (replay_source.a, replay_source.b) == source.words
    assert replayed_values == memory.readable().values
