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


def run(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, with pipes."""
    return subprocess.run(
        [sys.executable, "-m", "beadbox", *arguments], input=typed, capture_output=True, text=True, check=False
    )


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run the command in this process, and return its standard output."""
    assert main(arguments) == 0
    return capsys.readouterr().out


def test_train_strength_and_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "menace.json")
    made = json.loads(
        output(capsys, "train", file, "--game", "noughts-and-crosses", "--games", "500", "--seed", "3", "--json")
    )
    same = bb.menace(seed=3).train(500, seed=3)
    assert made == {"file": file, "games": 500, **same.history.rows()[-1]}  # type: ignore[union-attr]
    assert "500 games" in output(capsys, "train", file, "--games", "500", "--against", "perfect")
    same.train(500, "perfect")
    assert json.loads(output(capsys, "strength", file, "--against", "random", "--json"))["random"]["win"] == (
        same.strength("random").win
    )
    assert "perfect" in output(capsys, "strength", file)
    assert json.loads(output(capsys, "show", file, ".........", "--json"))["beads"] == same.box(".........").beads
    assert "1,000 games" in output(capsys, "show", file)
    assert "ooo" in output(capsys, "show", file, ".........")


def test_solve_and_show_games(capsys: pytest.CaptureFixture[str]) -> None:
    board = "b   b   b\n.   .   .\nw   w   w\n\n"
    assert output(capsys, "solve", "hexapawn") == f"{board}Black pawns win in 6 plies.\nBest moves: a1a2 b1b2 c1c2\n"
    assert json.loads(output(capsys, "solve", "noughts-and-crosses", "XX.OO....", "--json")) == {
        "winner": 0,
        "plies": 1,
        "best_moves": ["3"],
        "is_endless": False,
    }
    assert "goes on for ever" in output(capsys, "solve", "pong-hau-ki")
    assert json.loads(output(capsys, "show", "--json")) == list(bb.games)
    assert all(len(line) <= 80 for line in output(capsys, "show").splitlines())


@pytest.mark.parametrize("game", [slug for slug, game in bb.games.items() if game.rules.family == slug])
def test_boards_show_every_cell(game: str) -> None:
    text = board_text(bb.games[game], bb.games[game].start)
    assert len("".join(text.split())) == len(bb.games[game].rules.look.layout.cells)
    assert all(len(line) <= 80 for line in text.splitlines())


def test_a_game_in_a_pipe() -> None:
    played = run("play", "hexapawn", "--against", "perfect", "--seed", "1", "--json", typed="a1a3\na1a2\nresign\n")
    assert played.returncode == 0
    result = json.loads(played.stdout)
    assert (result["winner"], result["termination"], result["moves"][0]) == (1, "resignation", "a1a2")
    assert "'a1a3' is no legal move. Type one of: a1a2 b1b2 c1c2" in played.stderr
    assert "\x1b" not in played.stdout + played.stderr


def test_errors_have_exit_codes(tmp_path: Path) -> None:
    wrong = run("solve", "hexapwan")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr == "beadbox: 'hexapwan' is no game. Did you mean 'hexapawn'?\n"
    assert run("train", str(tmp_path / "none.json")).returncode == 1
    made = tmp_path / "made.json"
    refused = run("train", str(made), "--game", "hexapawn", "--against", "perfct")
    assert (refused.returncode, made.exists()) == (1, False)
    assert refused.stderr == "beadbox: 'perfct' is no file and no opponent. Did you mean perfect?\n"
    assert "There is no folder" in run("train", str(tmp_path / "no" / "one.json"), "--game", "hexapawn").stderr
    assert "no file and no game. Did you mean hexapawn?" in run("show", "hexapwan").stderr
    assert "--game hexapawn" in run("strength", "perfect").stderr
    assert "--games 1000" in run("strength", "random", "--game", "romgon").stderr
    assert run("jump").returncode == 2
    assert run("--version").stdout == f"beadbox {bb.__version__}\n"


def test_pipes_that_close_and_encodings_without_all_letters() -> None:
    command = f"{sys.executable} -m beadbox show --json"
    closed = subprocess.run(["bash", "-o", "pipefail", "-c", f"{command} | head -c 9"], capture_output=True, check=True)
    assert (closed.stdout, closed.stderr) == (b'["noughts', b"")
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    shown = subprocess.run([sys.executable, "-m", "beadbox", "show"], env=environment, capture_output=True, check=True)
    assert b"M? t?rere" in shown.stdout


def test_a_machine_plays_only_its_game(tmp_path: Path) -> None:
    bb.her().save(tmp_path / "her.json")
    assert (
        "cannot play Noughts and crosses"
        in run("play", "noughts-and-crosses", "--against", str(tmp_path / "her.json")).stderr
    )


def test_training_in_a_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "beadbox", "train", str(tmp_path / "her.json"), "--game", "hexapawn"]
    trained = subprocess.run([*command, "--games", "300"], stdout=theirs, stderr=theirs, check=False)
    os.close(theirs)
    shown = b""
    while b"Written to" not in shown:
        shown += os.read(ours, 4096)
    os.close(ours)
    assert trained.returncode == 0
    bars = [line for line in shown.decode().replace("\r\n", "\n").split("\r") if line.startswith("[")]
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
