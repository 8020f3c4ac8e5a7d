"""Kernels without numba: equal results, and a process that switches to compiled kernels while it runs."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beadbox.kernels import cache
from beadbox.kernels.best_response import best_response_loops
from beadbox.kernels.jit import PACKAGES, Kernel
from beadbox.kernels.loops import MIN_ITERATED_NODES, evaluate_loops, play_plies, visit_chances_within
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.frozen import FrozenBoxes
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.population import Population
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.boxes.strength import against_opponent, visit_probability, worst_case
from beadbox.learners.boxes.table import boxes_compile
from beadbox.learners.table_learner.memory import TableMemory
from beadbox.learners.table_learner.rule import Method, TableRule
from beadbox.policies.registry import UNIFORM
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.tournaments.contest import contest
from tests.beadbox.loop_games import pong_hau_ki, ring

ROOT = Path(__file__).parents[2]
N_GAMES = 60
LIBRARY_KERNELS = PACKAGES["beadbox.kernels"]


def box_results(game: str, rule: BoxRule, opponent: str) -> list[Any]:
    """Return the results of every kernel of box machines."""
    rules, rng = GAMES[game], RandomSource(7)
    one, other = (Memory.fresh(boxes_compile(rules, side, rule)) for side in Side)
    tallies = [one.train(UNIFORM[opponent], N_GAMES, rng), other.train(UNIFORM[opponent], N_GAMES, rng)]
    tallies += [one.train_against(other, N_GAMES, rng, opponent_learns=learns) for learns in (True, False)]
    populations = [
        Population.fresh(boxes_compile(rules, side, rule), [RandomSource(seed) for seed in range(3)]) for side in Side
    ]
    snapshots = [
        populations[0].train(UNIFORM[opponent], [1, N_GAMES], [UNIFORM["random"], UNIFORM["perfect"]], worst=True),
        populations[1].train_against(populations[0], [N_GAMES], [UNIFORM["random"]]),
    ]
    found = [
        contest(rules, FrozenBoxes(one), FrozenBoxes(other), N_GAMES, rng),
        against_opponent(one, UNIFORM["perfect"], greedy=True),
        worst_case(other),
        visit_probability(one, UNIFORM["random"]),
    ]
    memories = [array for memory in (one, other) for array in (memory.beads, memory.visits, memory.totals)]
    populations = [
        array
        for populations in populations
        for array in (populations.words, populations.beads, populations.visits, populations.totals, populations.tally)
    ]
    measurements = [array for one in snapshots for array in (one.strength, one.tallies, one.openings)]
    return [rng.text, tallies, found, *memories, *populations, *measurements]


def table_results(game: str, rule: TableRule) -> list[Any]:
    """Return the results of the kernel of table learners."""
    rng, memories = RandomSource(7), [TableMemory.fresh(GAMES[game], rule) for _ in range(2)]
    tallies = [
        memories[0].train(UNIFORM["random"], N_GAMES, rng),
        memories[0].train_against(memories[1], N_GAMES, rng, opponent_learns=True),
        memories[0].train_against(memories[1], N_GAMES, rng, opponent_learns=False),
        memories[1].train_against(memories[1], N_GAMES, rng, opponent_learns=True),
    ]
    arrays = [array for memory in memories for array in (memory.values, memory.visits)]
    return [rng.text, tallies, [memory.epsilon for memory in memories], *arrays]


def loop_results() -> list[Any]:
    """Return the results of the kernels for games with loops."""
    graph = pong_hau_ki()
    n_moves = np.diff(graph.indptr)
    policy = np.repeat(1 / n_moves, n_moves)
    values = [evaluate_loops(*graph, policy), best_response_loops(*graph, policy, 0, 0.5)]
    visits = [
        play_plies(graph.indptr, graph.successor, policy, 20),
        visit_chances_within(graph.indptr, graph.successor, policy, 20),
    ]
    long = ring(MIN_ITERATED_NODES)
    values.append(evaluate_loops(*long, np.full(len(long.successor), 0.5)))
    return [np.concatenate([array.ravel() for array in (*values, *visits)])]


LOOP_KERNELS = {
    *(
        "evaluate_loops",
        "components",
        "_absorb",
        "_iterate",
        "best_response_loops",
        "end_components",
        "_fill_points",
        "_choose_exit",
    ),
    *("play_plies", "visit_chances_within"),
}
RESULTS: dict[str, Callable[[], list[Any]]] = {
    **{
        f"{game}, {preset}, {opponent}": lambda g=game, p=preset, o=opponent: box_results(g, PRESETS[p].rule, o)
        for game, preset, opponent in (
            ("noughts-and-crosses", "michie-1961", "random"),
            ("noughts-and-crosses", "michie-refill", "perfect"),
            ("hexapawn", "gardner-her", "win-block"),
            ("hexapawn", "michie-refill", "random"),
        )
    },
    "loops": loop_results,
    **{
        f"table, {method}": lambda m=method: table_results("noughts-and-crosses", TableRule(method=m))
        for method in Method
    },
}


@pytest.mark.parametrize("results", RESULTS.values(), ids=RESULTS)
def test_plain_kernels_equal_compiled_kernels(
    results: Callable[[], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = results()
    called_names = set()

    def run_plain(kernel: Kernel) -> Callable[..., Any]:
        def run_python(*arguments: Any) -> Any:
            called_names.add(kernel.function.__name__)
            return kernel.plain(*arguments)

        return run_python

    for kernel in LIBRARY_KERNELS.kernels:
        monkeypatch.setattr(kernel, "implementation", run_plain(kernel))
    plain = results()
    names = {kernel.function.__name__ for kernel in LIBRARY_KERNELS.kernels}
    kernels_by_length = {1: LOOP_KERNELS, 7: {"train_tables"}}
    assert called_names == kernels_by_length.get(len(compiled), names - LOOP_KERNELS - {"train_tables"})
    assert len(compiled) == len(plain)
    for one, other in zip(compiled, plain, strict=True):
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes()
        else:
            assert repr(one) == repr(other)


def run_python(script: str, **environment: str) -> str:
    """Run a script in a new Python process and return its output."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={"PATH": "", "PYTHONPATH": str(ROOT), **environment},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return result.stdout


PROGRAM_WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.engines.compiled import EngineMissingError
from beadbox.engines.registry import engine_of
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.rule import BoxRule
from beadbox.policies.registry import OPPONENTS
from beadbox.learners.boxes.frozen import FrozenBoxes
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.table import boxes_compile

memory = Memory.fresh(boxes_compile(GAMES["hexapawn"], Side.FIRST, BoxRule()))
print(memory.train(OPPONENTS["random"], 10, RandomSource(1)).games)
game = GAMES["romgon"]
try:
    engine_of(game).best(game, game.initial_position())
except EngineMissingError as error:
    print(error)
"""


def test_boxes_learn_and_engines_refuse_without_numba() -> None:
    assert run_python(PROGRAM_WITHOUT_NUMBA) == "10\nThis engine needs numba, which is not installed here.\n"


TOY_KERNELS = """
from beadbox.kernels.jit import inlined, instruction, kernel, only_compiled

@inlined
def twice(x):
    return 2 * x

@kernel
def inner(x):
    return twice(x) + 1

@kernel
def outer(x):
    return inner(x) + 0

@instruction("ctpop")
def count_of(word):
    return int(word).bit_count()

@only_compiled(lambda readiness: RuntimeError(readiness.value))
def heavy(x):
    return count_of(x)
"""
SWITCH_PROGRAM = """
import asyncio, sys, time
import numpy as np
from beadbox.kernels.jit import PACKAGES
from toys.play import heavy, outer

print(outer(3), "numba" in sys.modules)
try:
    heavy(np.uint64(7))
except RuntimeError as error:
    print(error)
PACKAGES["toys"].mark()

async def from_a_loop():
    while PACKAGES["toys"].readiness().value != "ready":
        assert outer(3) == 7
        await asyncio.sleep(0)

asyncio.run(from_a_loop())
print(outer(3), heavy(np.uint64(7)), len(outer.compiled.signatures))
"""


def test_a_process_switches_to_compiled_kernels(tmp_path: Path) -> None:
    (tmp_path / "toys").mkdir()
    (tmp_path / "toys" / "__init__.py").touch()
    (tmp_path / "toys" / "play.py").write_text(TOY_KERNELS)
    output = run_python(
        SWITCH_PROGRAM, BEADBOX_KERNELS="ready", NUMBA_CACHE_DIR=str(tmp_path), PYTHONPATH=f"{ROOT}:{tmp_path}"
    ).splitlines()
    assert output == ["7 False", "compiling", "7 3 1"]


@pytest.fixture
def source_copy(tmp_path: Path) -> Path:
    """Return the folder of a copy of the sources that a test may change."""
    for folder in ("beadbox", "games", "learning"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "migrations"))
    return tmp_path


def change_file(source_copy: Path, name: str) -> set[str]:
    """Change a file, and return the kernel modules that thereby lose their cached machine code."""
    modules = [
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for folder in ("beadbox/kernels", "beadbox/engines/romgon")
        for file in (ROOT / folder).glob("*.py")
        if " kernel" in file.read_text() and file.stem not in ("jit", "compiled", "cache", "__init__")
    ]
    before = {module: cache.checksum(module, source_copy) for module in modules}
    with (source_copy / name).open("a") as file:
        file.write("\nCHANGED = True\n")
    return {module for module in modules if cache.checksum(module, source_copy) != before[module]}


@pytest.mark.parametrize("game", ["hexapawn", "noughts_and_crosses"])
def test_rules_without_kernels_leave_every_cache_unchanged(source_copy: Path, game: str) -> None:
    assert change_file(source_copy, f"beadbox/rules/{game}/rules.py") == set()


def test_romgons_rules_affect_only_the_cache_of_its_engine(source_copy: Path) -> None:
    changed = change_file(source_copy, "beadbox/rules/romgon/moves.py")
    assert "beadbox.engines.romgon.boards" in changed
    assert {module.rpartition(".")[0] for module in changed} == {"beadbox.engines.romgon"}


def test_a_changed_module_invalidates_kernels_that_call_it(source_copy: Path) -> None:
    changed = change_file(source_copy, "beadbox/kernels/box_learning.py")
    assert changed >= {"beadbox.kernels.box_learning", "beadbox.kernels.population"}
    assert not changed & {"beadbox.kernels.exact", "beadbox.kernels.contest"}
    assert "beadbox.kernels.contest" in change_file(source_copy, "beadbox/kernels/random_source.py")
    assert "beadbox.engines.romgon.q_games" in change_file(source_copy, "beadbox/engines/romgon/boards.py")


def test_a_changed_source_makes_its_package_unready(source_copy: Path) -> None:
    before = cache.identity("beadbox.kernels", source_copy)
    assert cache.identity("beadbox.kernels", source_copy) == before
    change_file(source_copy, "beadbox/kernels/exact.py")
    assert cache.identity("beadbox.kernels", source_copy) != before


def test_other_installed_packages_are_not_among_the_sources(source_copy: Path) -> None:
    (source_copy / "numpy").mkdir()
    (source_copy / "numpy" / "__init__.py").touch()
    sources = cache.sources("beadbox.kernels.exact", source_copy)
    assert source_copy / "beadbox" / "kernels" / "exact.py" in sources
    assert all((source_copy / "beadbox") in source.parents for source in sources)


def test_machine_code_is_stored_in_the_first_writable_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "given"))
    assert cache.folder.__wrapped__() == tmp_path / "given"
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "kernels" / "cache.py"))
    assert cache.folder.__wrapped__() == tmp_path / "kernels" / "__pycache__"
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "file" / "cache.py"))
    assert cache.folder.__wrapped__() == tmp_path / "user" / "beadbox"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert cache.folder.__wrapped__() is None


def test_a_library_runs_compiled_where_no_folder_can_be_written(source_copy: Path) -> None:
    folder = source_copy / "beadbox" / "kernels" / "__pycache__"
    folder.touch()
    (source_copy / "toys.py").write_text(
        "from beadbox.kernels.jit import kernel\n\n\n@kernel\ndef doubled(x):\n    return 2 * x\n"
    )
    output = run_python(
        "from beadbox.kernels.cache import folder\nfrom toys import doubled\n"
        "print(folder(), doubled(3), doubled.compiled.signatures)",
        NUMBA_CACHE_DIR="",
        XDG_CACHE_HOME=str(folder),
        PYTHONPATH=str(source_copy),
        PYTHONSAFEPATH="1",
    )
    assert output == "None 6 [(int64,)]\n"
