"""The public names of the library, used as in a program outside the site."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import beadbox as bb
from beadbox.kernels.random_source import RandomSource
from beadbox.policies.opponent import UniformOpponent
from beadbox.public.machines import FIRST_CHUNK
from beadbox.public.players import state_of
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.registry import GAMES
from tests.house import ROOT

NOUGHTS, HEXAPAWN = "noughts-and-crosses", "hexapawn"
MODULES = sorted({value.__module__ for name in bb.__all__ if hasattr(value := getattr(bb, name), "__module__")})
PRESETS_AND_GAMES = [
    ("michie-1961", NOUGHTS),
    ("td-boards", NOUGHTS),
    ("q-table", NOUGHTS),
    ("sarsa-table", HEXAPAWN),
    ("gardner-her", HEXAPAWN),
]


class UniformPolicy:
    """The random play of a program that has its own policy."""

    def __init__(self, game: str) -> None:
        self.game = bb.games[game]

    def probabilities(self, position: str) -> dict[str, float]:
        moves = self.game.legal_moves(position)
        return {move: 1 / len(moves) for move in moves}


class FixedPolicy:
    """A policy with equal probabilities in every position, as given."""

    def __init__(self, **probabilities: Any) -> None:
        self.chances = {name.removeprefix("m"): chance for name, chance in probabilities.items()}

    def probabilities(self, position: str) -> dict[str, float]:
        return self.chances


class TextPolicy:
    """A wrong policy, which names its move without a probability."""

    def probabilities(self, position: str) -> str:
        return "a1a2"


class RecordingPolicy(UniformPolicy):
    """Random play that records the positions of all its calls."""

    def __init__(self, game: str) -> None:
        super().__init__(game)
        self.positions: list[str] = []

    def probabilities(self, position: str) -> dict[str, float]:
        self.positions.append(position)
        return super().probabilities(position)


class LaterWrongPolicy(RecordingPolicy):
    """Random play whose probabilities no longer sum to 1 after some hundreds of moves."""

    def probabilities(self, position: str) -> dict[str, float]:
        found = super().probabilities(position)
        return found if len(self.positions) < 400 else {}


def file_text(machine: bb.Machine, path: Path) -> str:
    machine.save(path)
    return path.read_text()


@pytest.mark.parametrize("module", ["beadbox", *MODULES])
def test_examples_in_docstrings_run(module: str) -> None:
    found = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert found.failed == 0


def test_names_are_few_and_documented() -> None:
    assert len(bb.__all__) <= 40
    assert sorted(dir(bb)) == sorted(bb.__all__)
    for name in set(bb.__all__) - {"__version__"}:
        value = getattr(bb, name)
        assert inspect.getdoc(value), name
        assert not (Path(bb.__file__).parent / name).exists(), "a public name is no subpackage"
        if inspect.isclass(value) and not issubclass(value, Exception) and name not in {"Rule"}:
            names = {one for one in dir(value) if not one.startswith("_")} - set(dir(int) if name == "Side" else ())
            assert len(names) <= 15, (name, sorted(names))
    with pytest.raises(AttributeError):
        _ = bb.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize(("preset", "game"), PRESETS_AND_GAMES)
def test_two_trainings_equal_one(preset: str, game: str, tmp_path: Path) -> None:
    one, two, saved = (bb.machine(game, "second", preset, seed=7) for _ in range(3))
    one.train(300, "win-block")
    two.train(150, "win-block").train(150, "win-block")
    saved.train(150, "win-block").save(tmp_path / "saved")
    copy = saved.copy().train(150, "win-block")
    saved = bb.load(tmp_path / "saved").train(150, "win-block")
    assert file_text(one, tmp_path / "a") == file_text(two, tmp_path / "b") == file_text(copy, tmp_path / "c")
    assert file_text(saved, tmp_path / "d") == file_text(one, tmp_path / "a")
    assert one.strength("perfect") == saved.strength("perfect")


@pytest.mark.parametrize("preset", ["romgon-q", "td-search"])
def test_learners_of_a_game_that_is_too_large_to_list(preset: str, tmp_path: Path) -> None:
    one = bb.machine("romgon", rule=preset, seed=3)
    one.train(2, one if preset == "td-search" else "random")
    before = file_text(one, tmp_path / "file")
    assert file_text(bb.load(tmp_path / "file"), tmp_path / "again") == before
    assert sum(one.policy(bb.games["romgon"].start).values()) == 1.0
    with pytest.raises(bb.UnsupportedError, match="games=1000"):
        one.strength("random")
    assert bb.evaluate(one, "random", games=2, seed=1).score in {0.0, 0.25, 0.5, 0.75, 1.0}


def test_policy_of_a_program_equals_the_opponent() -> None:
    for ours in ("random", "win-block", "perfect"):
        for side in ("first", "second"):
            theirs = bb.evaluate(ours, "random", game=NOUGHTS, side=side)
            found = bb.evaluate(ours, UniformPolicy(NOUGHTS), game=NOUGHTS, side=side)
            assert dataclasses.astuple(found) == pytest.approx(dataclasses.astuple(theirs), abs=1e-12)
    trained = bb.menace(seed=1).train(200, UniformPolicy(NOUGHTS))
    assert trained.tally.games == trained.history.games == 200  # type: ignore[union-attr]
    assert trained.tally.wins > 100
    assert bb.machine(NOUGHTS, rule="q-table").train(20, UniformPolicy(NOUGHTS)).tally.games == 20


class FirstMove(UniformOpponent):
    """A player of the first legal move: a fixed opponent of the library, and also a program's own policy."""

    slug = "first-move"

    def replies(self, game: AnyGame, position: AnyPosition) -> tuple[AnyMove, ...]:
        return game.legal_moves(position)[:1]

    def probabilities(self, position: str) -> dict[str, float]:
        return {bb.games["dodgem"].legal_moves(position)[0]: 1.0}


@pytest.mark.parametrize("method", ["q-learning", "sarsa"])
def test_training_against_a_policy_equals_the_kernel(method: str) -> None:
    """Positions of Dodgem return and have no images, so both draw equal numbers and learn after equal moves."""
    rule = {"kind": "table-learner", "method": method, "step_size": 0.9, "start_value": 1.0}
    trained = bb.machine("dodgem", rule=rule).train(200, FirstMove(), seed=7)
    compiled = state_of(bb.machine("dodgem", rule=rule)).copy()
    assert compiled.train(FirstMove(), 200, RandomSource(7)) == trained.tally
    head = {"game": GAMES["dodgem"], "rule": trained.rule, "name": "one"}
    assert state_of(trained).document(head) == compiled.document(head)


@pytest.mark.parametrize("game", [NOUGHTS, HEXAPAWN, "pong-hau-ki", "hare-and-hounds"])
def test_best_response_earns_its_points(game: str) -> None:
    for side in bb.Side:
        for player in ("random", UniformPolicy(game), bb.machine(game, side, "michie-refill").train(50)):
            response = bb.best_response(player, game=game, side=side)
            strength = bb.evaluate(player, response, game=game, side=side)
            assert strength.score == pytest.approx(response.strength.score, abs=1e-9)
            assert strength.score <= bb.evaluate(player, "perfect", game=game, side=side).score + 1e-9
            assert bb.exploitability(player, game=game, side=side) >= 0.0
    assert bb.exploitability("perfect", game=game) == pytest.approx(0.0, abs=1e-9)


def test_solve_gives_winner_plies_and_best_moves() -> None:
    hexapawn = bb.games[HEXAPAWN]
    assert bb.solve(HEXAPAWN) == bb.Solution(bb.Side.SECOND, 6, hexapawn.legal_moves(hexapawn.start))
    assert bb.solve(NOUGHTS).winner is None
    assert bb.solve(NOUGHTS, "XX.OO....").best_moves == ("3",)
    assert bb.solve("pong-hau-ki") == bb.Solution(None, None, bb.solve("pong-hau-ki").best_moves, is_endless=True)
    assert bb.solve(NOUGHTS, "XXXOO....").best_moves == ()


def test_learning_from_a_played_game(tmp_path: Path) -> None:
    episode = bb.Episode(NOUGHTS, ("1", "4", "2", "5", "3"))
    machine = bb.menace().learn(episode)
    assert machine.box(".........").beads == {"1": 7, "2": 4, "5": 4}
    assert machine.box(".........").draws == {"1": 1, "2": 0, "5": 0}
    assert machine.tally.wins == 1
    resigned = bb.Episode(NOUGHTS, ("1",), bb.Outcome(bb.Side.FIRST, "resignation"))
    assert bb.menace().learn(resigned).box(".........").beads["1"] == 7
    for preset in ("q-table", "td-boards"):
        assert bb.machine(NOUGHTS, rule=preset).learn(episode).tally.games == 2
    assert bb.play(machine, "perfect", seed=3) == bb.play(machine, "perfect", seed=3)


def test_threads_train_different_machines(tmp_path: Path) -> None:
    machines = [bb.menace(seed=seed) for seed in range(4)]
    threads = [threading.Thread(target=one.train, args=(2_000,)) for one in machines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, one in enumerate(machines):
        alone = bb.menace(seed=seed).train(2_000)
        assert file_text(one, tmp_path / "one") == file_text(alone, tmp_path / "alone")


def test_interrupted_training_leaves_whole_games(tmp_path: Path) -> None:
    machine = bb.menace(seed=1)

    def interrupt(done: int, games: int) -> None:
        if done >= FIRST_CHUNK:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        machine.train(10**12, on_progress=interrupt)
    games = machine.tally.games
    assert 0 < games < 10**12
    assert file_text(machine, tmp_path / "a") == file_text(bb.menace(seed=1).train(games), tmp_path / "b")


def test_both_machines_can_learn() -> None:
    her, him = bb.her(seed=2), bb.machine(HEXAPAWN, "first", "michie-refill")
    her.train(50, him)
    assert him.tally.games == 0
    her.train(50, him, both_learn=True)
    assert (him.tally.wins, him.tally.games) == (her.history.losses, 50)  # type: ignore[union-attr]


def test_round_robin_gives_standings() -> None:
    players = {"MENACE": bb.menace(seed=1).train(500), "random": "random", "own": UniformPolicy(NOUGHTS)}
    found = bb.round_robin(players, games=100, seed=4)
    assert found == bb.round_robin(players, games=100, seed=4)
    assert {row["name"]: row["games"] for row in found.rows()} == {"MENACE": 200, "random": 300, "own": 300}
    assert sum(row["points"] for row in found.rows()) == 400


def test_experiment_in_a_small_form() -> None:
    result = bb.experiment("gardner", seed=5, machines=20)
    assert result.figures


def test_policy_is_asked_once_about_each_position_of_its_side() -> None:
    game, one = bb.games[HEXAPAWN], RecordingPolicy(HEXAPAWN)
    bb.evaluate(one, bb.her())
    assert {game.side_to_move(position) for position in one.positions} == {bb.Side.FIRST}
    both = RecordingPolicy(HEXAPAWN)
    bb.exploitability(both, game=HEXAPAWN)
    assert len(both.positions) == len({*both.positions}) > len(one.positions)


CALLS_WITH_ERRORS: list[tuple[type[Exception], str, Any]] = [
    (bb.UnknownNameError, "Did you mean 'hexapawn'", lambda: bb.games["hexapwan"]),
    (bb.UnknownNameError, "first, second, white pawns", lambda: bb.machine(HEXAPAWN, "third")),
    (bb.UnknownNameError, "Did you mean 'gardner-her'", lambda: bb.machine(HEXAPAWN, rule="gardner-hr")),
    (bb.UnknownNameError, "Did you mean 'perfect'", lambda: bb.menace().train(1, "perfct")),
    (bb.UnknownNameError, "no experiment", lambda: bb.experiment("gardener!")),
    (bb.BeadboxError, "no such field", lambda: bb.experiment("gardner", wrong=1)),
    (bb.InvalidPositionError, "turn of noughts", lambda: bb.menace().policy("X........")),
    (bb.InvalidPositionError, "crosses begin", lambda: bb.menace().policy("XXXX.....")),
    (bb.InvalidPositionError, "is over", lambda: bb.menace().box("XXXOO....")),
    (bb.InvalidPositionError, "positions are text", lambda: bb.games[NOUGHTS].legal_moves(7)),  # type: ignore[arg-type]
    (bb.IllegalMoveError, "The legal moves: a1a2", lambda: bb.games[HEXAPAWN].play("ooo---OOO:1", "a1a3")),
    (bb.IllegalMoveError, "because the game is over", lambda: bb.games[NOUGHTS].play("XXXOO....", "9")),
    (bb.IllegalMoveError, "is not legal", lambda: bb.Episode(NOUGHTS, ("1", "1"))),
    (bb.UnsupportedError, "not over", lambda: bb.Episode(NOUGHTS, ("1",))),
    (bb.RuleError, "whole number", lambda: bb.machine(HEXAPAWN, rule={"win": 1.5})),
    (bb.RuleError, "There is no such field", lambda: bb.machine(HEXAPAWN, rule={"wn": 1})),
    (bb.UnsupportedError, "These presets fit", lambda: bb.machine("romgon", rule="michie-1961")),
    (bb.UnsupportedError, "a board can return", lambda: bb.machine("achi", rule="td-boards")),
    (bb.UnsupportedError, "from 0 up", lambda: bb.menace().train(-1)),
    (bb.UnsupportedError, "from 0 up", lambda: bb.menace().train(1.5)),  # type: ignore[arg-type]
    (bb.UnsupportedError, "cannot play", lambda: bb.menace().train(1, bb.her())),
    (bb.UnsupportedError, "needs both_learn=False", lambda: bb.her().train(1, "perfect", both_learn=True)),
    (bb.UnsupportedError, "does not play", lambda: bb.menace().strength("easy")),
    (bb.UnsupportedError, "cannot play", lambda: bb.menace().train(1, bb.menace())),
    (bb.UnsupportedError, "is no player", lambda: bb.menace().train(1, 3)),  # type: ignore[arg-type]
    (bb.UnsupportedError, "different kinds", lambda: bb.menace().train(1, bb.machine(NOUGHTS, rule="q-table"))),
    (bb.UnsupportedError, "Say which one", lambda: bb.evaluate("random", "random")),
    (bb.UnsupportedError, "no list", lambda: bb.solve("romgon")),
    (bb.UnsupportedError, "not boxes", lambda: bb.machine(NOUGHTS, rule="q-table").box(".........")),
    (bb.UnsupportedError, "no value", lambda: bb.menace().values(".........")),
    (bb.UnsupportedError, "at least 2", lambda: bb.round_robin({"one": "random"}, game=NOUGHTS)),
    (bb.UnsupportedError, "cannot play", lambda: bb.round_robin({"a": bb.her(), "b": bb.menace()})),
    (bb.PolicyError, "sum to 0.5", lambda: bb.evaluate(FixedPolicy(m1=0.5), "random", game=NOUGHTS, side="first")),
    (
        bb.PolicyError,
        "Give 0 to 1",
        lambda: bb.evaluate(FixedPolicy(m1=float("nan")), "random", game=NOUGHTS, side="first"),
    ),
    (bb.PolicyError, "Give a dictionary", lambda: bb.her().strength(TextPolicy())),  # type: ignore[arg-type]
    (bb.UnsupportedError, "is no player", lambda: bb.her().strength(UniformPolicy)),  # type: ignore[arg-type]
    (bb.UnsupportedError, "is no player", lambda: bb.evaluate(UniformPolicy(NOUGHTS), bb.her)),  # type: ignore[arg-type]
    (bb.UnknownNameError, "no opponent", lambda: bb.evaluate(UniformPolicy(NOUGHTS), "her")),
    (bb.UnsupportedError, "players by name", lambda: bb.round_robin(["random", bb.her()])),  # type: ignore[arg-type]
    (bb.BeadboxError, "seed: Please give a whole number", lambda: bb.her(seed=1.5)),  # type: ignore[arg-type]
    (bb.PolicyError, "Give a number", lambda: bb.menace().train(1, FixedPolicy(m1="all"))),
    (bb.IllegalMoveError, "The policy gives '0'", lambda: bb.menace().train(1, FixedPolicy(m0=1.0))),
    (bb.BeadboxError, "seed", lambda: bb.menace(seed=-1)),
    (bb.BeadboxError, "seed: Please give at", lambda: bb.evaluate("random", "random", game=NOUGHTS, games=1, seed=-1)),
    (bb.UnsupportedError, "not 1000.0", lambda: bb.menace().train(1e3)),  # type: ignore[arg-type]
    (bb.UnsupportedError, "from 1 up, not 10.0", lambda: bb.evaluate(bb.her(), "random", games=1e1)),  # type: ignore[arg-type]
    (bb.UnsupportedError, "rounds from 1 up", lambda: bb.swiss({"a": bb.her(), "b": "random"}, rounds=1.5)),  # type: ignore[arg-type]
    (bb.UnsupportedError, "games from 1 up", lambda: bb.round_robin({"a": bb.her(), "b": "random"}, games=0)),
    (bb.UnsupportedError, "the same side", lambda: bb.round_robin({"a": bb.her(), "b": bb.her()})),
    (bb.UnsupportedError, "no episode", lambda: bb.her().learn("a1a2")),  # type: ignore[arg-type]
    (bb.UnsupportedError, "no outcome", lambda: bb.Episode(NOUGHTS, ("1",), "draw")),  # type: ignore[arg-type]
    (bb.RuleError, "the name of a preset", lambda: bb.machine(NOUGHTS, rule=5)),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(
    ("error", "message_part", "call"), CALLS_WITH_ERRORS, ids=[message_part for _, message_part, _ in CALLS_WITH_ERRORS]
)
def test_errors_say_what_is_right(error: type[Exception], message_part: str, call: Any) -> None:
    with pytest.raises(error, match=message_part) as raised:
        call()
    assert isinstance(raised.value, bb.BeadboxError)


def test_refused_training_changes_nothing(tmp_path: Path) -> None:
    machine = bb.menace(seed=1).train(10)
    before = file_text(machine, tmp_path / "before")
    for against in (FixedPolicy(m0=1.0), bb.her(), "nobody"):
        with pytest.raises(bb.BeadboxError):
            machine.train(5, against)
    history = machine.history
    with pytest.raises(bb.PolicyError):
        machine.train(1_000, LaterWrongPolicy(NOUGHTS), seed=9)
    assert file_text(machine, tmp_path / "after") == before
    assert machine.history == history


def test_integers_of_numpy_are_accepted() -> None:
    machine = bb.menace(seed=np.int64(3))  # type: ignore[arg-type]
    for games in np.array([1, 10, 100]):
        machine.train(games)
    assert machine.tally == bb.menace(seed=3).train(111).tally


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html>",
        "[" * 100_000,
        '{"format": "beadbox-machine", "version": 2}',
        '{"format": "beadbox-machine", "version": 1, "version": 1}',
        '{"format": "beadbox-machine", "version": NaN}',
        json.dumps(
            {"format": "beadbox-machine", "version": 1, "game": NOUGHTS, "rule": {}, "side": 0, "boxes": [], "x": 1}
        ),
        json.dumps(
            {"format": "beadbox-machine", "version": 1, "game": NOUGHTS, "rule": {}, "side": 0, "boxes": []}
            | {"random_state": f"{0:016x}:{0:016x}"}
        ),
    ],
)
def test_hostile_files_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(bb.FileError):
        bb.load(tmp_path / "file")


@pytest.mark.parametrize("kernels", ["", "plain"])
def test_machines_equal_the_recorded_ones(kernels: str) -> None:
    command = [sys.executable, "-m", "tests.beadbox.golden_machines"]
    run = subprocess.run(command, env=os.environ | {"BEADBOX_KERNELS": kernels}, capture_output=True, check=True)
    recorded = json.loads((ROOT / "tests/data/golden_machines.json").read_text())
    found = json.loads(run.stdout)
    assert {name: one["file"] for name, one in found.items()} == {name: one["file"] for name, one in recorded.items()}
    for name, one in recorded.items():
        for measure in ("random", "worst"):
            assert found[name][measure] == pytest.approx(one[measure], abs=1e-12), name
