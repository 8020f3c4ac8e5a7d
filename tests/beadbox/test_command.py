"""The command ``beadbox``, in a pipe and in a terminal of 80 columns."""

from __future__ import annotations

import json
import os
import pty
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path

import pytest

import beadbox as bb
from beadbox.public.board import board_text
from beadbox.public.command import main


def run_command(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, with pipes."""
    return subprocess.run(
        [sys.executable, "-m", "beadbox", *arguments], input=typed, capture_output=True, text=True, check=False
    )


def command_output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run the command in this process, and return its standard output."""
    assert main(arguments) == 0
    return capsys.readouterr().out


def test_train_strength_and_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "menace.json")
    report = json.loads(
        command_output(
            capsys, "train", file, "--game", "noughts-and-crosses", "--games", "500", "--seed", "3", "--json"
        )
    )
    twin = bb.menace(seed=3).train(500, seed=3)
    assert report == {"file": file, "games": 500, **twin.history.rows()[-1]}  # type: ignore[union-attr]
    assert "500 games" in command_output(capsys, "train", file, "--games", "500", "--against", "perfect")
    twin.train(500, "perfect")
    assert json.loads(command_output(capsys, "strength", file, "--against", "random", "--json"))["random"]["win"] == (
        twin.strength("random").win
    )
    assert "perfect" in command_output(capsys, "strength", file)
    assert (
        json.loads(command_output(capsys, "show", file, ".........", "--json"))["beads"] == twin.box(".........").beads
    )
    assert "1,000 games" in command_output(capsys, "show", file)
    assert "ooo" in command_output(capsys, "show", file, ".........")


def test_solve_and_show_games(capsys: pytest.CaptureFixture[str]) -> None:
    board = "b   b   b\n.   .   .\nw   w   w\n\n"
    assert (
        command_output(capsys, "solve", "hexapawn")
        == f"{board}Black pawns win in 6 plies.\nBest moves: a1a2 b1b2 c1c2\n"
    )
    assert json.loads(command_output(capsys, "solve", "noughts-and-crosses", "XX.OO....", "--json")) == {
        "winner": 0,
        "plies": 1,
        "best_moves": ["3"],
        "is_endless": False,
    }
    assert "goes on for ever" in command_output(capsys, "solve", "pong-hau-ki")
    assert json.loads(command_output(capsys, "show", "--json")) == list(bb.games)
    assert all(len(line) <= 80 for line in command_output(capsys, "show").splitlines())


@pytest.mark.parametrize("game", [slug for slug, game in bb.games.items() if game.rules.family == slug])
def test_boards_show_every_cell(game: str) -> None:
    text = board_text(bb.games[game], bb.games[game].start)
    assert len("".join(text.split())) == len(bb.games[game].rules.presentation.layout.cells)
    assert all(len(line) <= 80 for line in text.splitlines())


def test_a_game_in_a_pipe() -> None:
    process = run_command(
        "play", "hexapawn", "--against", "perfect", "--seed", "1", "--json", typed="a1a3\na1a2\nresign\n"
    )
    assert process.returncode == 0
    result = json.loads(process.stdout)
    assert (result["winner"], result["termination"], result["moves"][0]) == (1, "resignation", "a1a2")
    assert "'a1a3' is no legal move. Type one of: a1a2 b1b2 c1c2" in process.stderr
    assert "\x1b" not in process.stdout + process.stderr


def test_errors_have_exit_codes(tmp_path: Path) -> None:
    misspelt = run_command("solve", "hexapwan")
    assert (misspelt.returncode, misspelt.stdout) == (1, "")
    assert misspelt.stderr == "beadbox: 'hexapwan' is no game. Did you mean 'hexapawn'?\n"
    assert run_command("train", str(tmp_path / "none.json")).returncode == 1
    new_file = tmp_path / "made.json"
    refused = run_command("train", str(new_file), "--game", "hexapawn", "--against", "perfct")
    assert (refused.returncode, new_file.exists()) == (1, False)
    assert refused.stderr == "beadbox: 'perfct' is no file and no opponent. Did you mean perfect?\n"
    assert "There is no folder" in run_command("train", str(tmp_path / "no" / "one.json"), "--game", "hexapawn").stderr
    assert "no file and no game. Did you mean hexapawn?" in run_command("show", "hexapwan").stderr
    assert "--game hexapawn" in run_command("strength", "perfect").stderr
    assert "--games 1000" in run_command("strength", "random", "--game", "romgon").stderr
    assert run_command("jump").returncode == 2
    assert run_command("--version").stdout == f"beadbox {bb.__version__}\n"


def test_pipes_that_close_and_encodings_without_all_letters() -> None:
    command = f"{sys.executable} -m beadbox show --json"
    process = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{command} | head -c 9"], capture_output=True, check=True
    )
    assert (process.stdout, process.stderr) == (b'["noughts', b"")
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    output_bytes = subprocess.run(
        [sys.executable, "-m", "beadbox", "show"], env=environment, capture_output=True, check=True
    )
    assert b"M? t?rere" in output_bytes.stdout


def test_a_machine_plays_only_its_game(tmp_path: Path) -> None:
    bb.her().save(tmp_path / "her.json")
    assert (
        "cannot play Noughts and crosses"
        in run_command("play", "noughts-and-crosses", "--against", str(tmp_path / "her.json")).stderr
    )


def test_training_in_a_terminal(tmp_path: Path) -> None:
    our_end, terminal = pty.openpty()
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "beadbox", "train", str(tmp_path / "her.json"), "--game", "hexapawn"]
    process = subprocess.run([*command, "--games", "300"], stdout=terminal, stderr=terminal, check=False)
    os.close(terminal)
    output_bytes = b""
    while b"Written to" not in output_bytes:
        output_bytes += os.read(our_end, 4096)
    os.close(our_end)
    assert process.returncode == 0
    bars = [line for line in output_bytes.decode().replace("\r\n", "\n").split("\r") if line.startswith("[")]
    assert bars[-1].startswith(f"[{'#' * 30}] 300/300 games")
    assert all(len(bar.rstrip("\n").partition("\n")[0]) <= 80 for bar in bars)


def test_interrupted_training_keeps_whole_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, calls = tmp_path / "menace.json", []

    def interrupt(bar: object, done: int, total: int) -> None:
        calls.append(done)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("beadbox.public.progress_bar.ProgressBar.show", interrupt)
    assert main(["train", str(file), "--game", "noughts-and-crosses", "--games", str(10**12)]) == 130
    assert bb.load(file).tally.games == calls[-1]
