"""Fresh machines that replay 40 recorded games end with exactly the beads that HexapawnRL recorded."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from beadbox.learners.boxes.exchange.recorded_games import load, machine_of
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.replay import replay, trainees_fresh
from beadbox.learners.boxes.rule import OpenBoxes
from beadbox.learners.exchange.document import ImportOptions
from beadbox.learners.formats import FORMATS, machine_read
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES

RECORD_FILE = Path(__file__).parents[1] / "data" / "hexapawn-rl" / "40_games.json"
RECORD = json.loads(RECORD_FILE.read_text())
GAME = GAMES["hexapawn"]
PRESET = "hexapawn-rl-as-shipped"


def make_trainees():
    return trainees_fresh(GAME, [PRESETS[PRESET].rule] * 2)


def canonical_memory(saved, side):
    memory = {}
    for text, entry in saved["memory"].items():
        position, symmetry = GAME.to_canonical(GAME.decode_as(text, side))
        moves = [GAME.transform_move(GAME.parse_move(move), symmetry) for move in entry["validMoves"]]
        memory[GAME.encode(position)] = dict(zip(moves, entry["confidenceScores"], strict=True))
    return memory


def test_the_levels_after_each_of_the_40_games():
    trainees, levels = make_trainees(), []
    for recorded in load(RECORD_FILE.read_text(), GAME):
        replay(trainees, recorded)
        levels.append([trainee.machine.level for trainee in trainees])
    assert levels == RECORD["levels_after_each_game"]


@pytest.mark.parametrize("side", Side)
def test_memory_after_40_games_equals_the_saved_one(side):
    """The replay of the 40 recorded games leaves the memory that the original program saved."""
    trainees = make_trainees()
    for recorded in load(RECORD_FILE.read_text(), GAME):
        replay(trainees, recorded)
    trainee, saved = trainees[side], RECORD[f"player{side + 1}"]
    expected = canonical_memory(saved, side)
    found = {
        key: {move: n for move, n in zip(GAME.legal_moves(GAME.decode(key)), beads, strict=True) if n}
        for key, beads in trainee.machine.boxes.items()
    }
    # In a position that is its own mirror image, HexapawnRL keeps equivalent moves apart.
    assert found == expected
    exported = json.loads(FORMATS["hexapawn-rl"].dump(machine_of(trainee, name=saved["name"], preset=PRESET)))
    assert canonical_memory(exported, side) == expected
    assert {k: v for k, v in exported.items() if k != "memory"} == {k: v for k, v in saved.items() if k != "memory"}


def test_every_recorded_move_had_beads():
    """A recorded move without beads would mean that slots and their mirror images are confused."""
    trainees = make_trainees()
    for recorded in load(RECORD_FILE.read_text(), GAME):
        position = GAME.initial_position()
        for move in recorded.moves:
            draw = trainees[position.side].machine.follow(position, move)
            assert draw.beads[draw.slot] > 0
            position = GAME.apply(position, move)
        if recorded.resigned is not None:
            assert not any(trainees[recorded.resigned].machine.open_box(position))
        replay(trainees, recorded)


def test_replay_command_writes_machines_and_prints_results(tmp_path):
    exported = StringIO()
    call_command(
        "replay",
        str(RECORD_FILE),
        "--game",
        "hexapawn",
        "--first",
        PRESET,
        "--second",
        PRESET,
        "--out",
        tmp_path / "new",
        stdout=exported,
    )
    lines = exported.getvalue().splitlines()
    assert [line.split() for line in lines[1:3]] == [["1", "5", "1", "1", "2"], ["2", "5", "1", "3", "3"]]
    assert lines[40].split() == ["40", "0", "2", "(resignation)", "20", "23"]
    assert lines[41] == "40 games: 7 won by the first player, 0 drawn, 33 won by the second; levels 20 and 23"
    for name, side, wins in (("first", Side.FIRST, 7), ("second", Side.SECOND, 33)):
        data = machine_read((tmp_path / "new" / f"{name}.json").read_bytes(), ImportOptions())
        assert (data.game, data.side, data.preset, data.rule) == (GAME, side, PRESET, PRESETS[PRESET].rule)
        assert (data.wins, data.losses, data.removed + 1) == (wins, 40 - wins, RECORD[f"player{side + 1}"]["level"])
        assert sum(map(sum, (box.visits for box in data.boxes))) == sum(
            (len(game["moves"]) + (1 if side is Side.FIRST else 0)) // 2 for game in RECORD["games"]
        )


def test_replay_of_a_draw_gives_all_boxes_of_the_preset(tmp_path):
    file = tmp_path / "games.json"
    drawn = {"moves": ["5", "1", "2", "8", "4", "6", "7", "3", "9"], "winner": "draw"}
    file.write_text(json.dumps({"games": [drawn, {"moves": ["5"], "winner": 1}]}))
    exported = StringIO()
    preset = "michie-1961"
    arguments = ["--game", "noughts-and-crosses", "--first", preset, "--second", preset, "--out", str(tmp_path)]
    call_command("replay", str(file), *arguments, stdout=exported)
    assert "2 games: 1 won by the first player, 1 drawn, 0 won" in exported.getvalue()
    first = machine_read((tmp_path / "first.json").read_bytes(), ImportOptions())
    assert len(first.boxes) == 304
    assert (first.wins, first.draws, first.losses) == (1, 1, 0)
    opening = next(box for box in first.boxes if box.position == ".........")
    assert opening.beads == (4, 4, 4 + 1 + 3)


@pytest.mark.parametrize("preset", PRESETS)
def test_machines_of_large_games_have_only_opened_boxes(preset, tmp_path):
    file = tmp_path / "games.json"
    file.write_text(json.dumps({"games": [{"moves": ["b1b2", "b4b3"], "winner": 2}, {"moves": [], "winner": 2}]}))
    arguments = ["--game", "hexapawn-5x4", "--first", preset, "--second", preset, "--out", str(tmp_path)]
    call_command("replay", str(file), *arguments, stdout=StringIO())
    first, second = (
        machine_read((tmp_path / f"{name}.json").read_bytes(), ImportOptions()) for name in ("first", "second")
    )
    assert (len(first.boxes), len(second.boxes)) == (2, 1)
    assert (first.preset, first.rule.open_boxes) == (preset, OpenBoxes.WHEN_MET)


WON_GAME = {"moves": ["b1b2", "a3a2", "b2c3"], "winner": 1}


def test_a_refused_file_writes_nothing(tmp_path):
    file = tmp_path / "games.json"
    arguments = ["--game", "hexapawn", "--first", PRESET, "--second", PRESET, "--out", str(tmp_path / "out")]
    for text, problem in (
        (json.dumps({"games": [WON_GAME, {**WON_GAME, "winner": 2}]}), r"games\[1\]\.winner"),
        (RECORD_FILE.read_text()[:900], "line [0-9]+, column [0-9]+: This is not JSON"),
        ("", "empty"),
    ):
        file.write_text(text)
        with pytest.raises(CommandError, match=problem):
            call_command("replay", str(file), *arguments)
    with pytest.raises(CommandError, match="No such file"):
        call_command("replay", str(tmp_path / "none.json"), *arguments)
    with pytest.raises(CommandError, match="is not a square"):
        call_command("replay", str(RECORD_FILE), "--game", "noughts-and-crosses", *arguments[2:])
    assert not (tmp_path / "out").exists()
