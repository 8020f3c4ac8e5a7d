"""Rules of the code base that no linter knows. Rules for imports between modules are contracts in pyproject.toml."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests import house, kind_questions, structure, which_game

ROOT = Path(__file__).resolve().parent.parent
NOT_OURS = {".venv", "node_modules"}
TOP_LEVEL = {
    "manage.py",
    "beadbox",
    "menace_site",
    "games",
    "learning",
    "templates",
    "static",
    "proxy",
    "tests",
    "docker-compose.yml",
    "requirements.txt",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "Makefile",
    "pyproject.toml",
    "docs",
    "LICENSE",
}
INLINE = {
    "a script without a file": re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", re.IGNORECASE),
    "an inline style": re.compile(r"<style\b|\sstyle=", re.IGNORECASE),
    "an inline handler": re.compile(r"\son[a-z]+=", re.IGNORECASE),
    "something of a third party": re.compile(r"""(?:src|href)=["']?(?:https?:)?//""", re.IGNORECASE),
}


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:  # an unpacked archive holds what is tracked, and nothing else of interest
        return [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file() and not NOT_OURS & {*path.parts}]
    return [Path(name) for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def imported_by(file: Path) -> set[str]:
    """Return the top-level packages that a module imports anywhere."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def test_top_level_entries_are_listed() -> None:
    entries = {path.parts[0] for path in tracked()}
    assert {name for name in entries if not name.startswith(".")} == TOP_LEVEL
    assert Path(".ci/run") in tracked()


@pytest.mark.parametrize("file", sorted((ROOT / "beadbox" / "rules").rglob("*.py")), ids=lambda file: file.stem)
def test_rules_use_the_standard_library_only(file: Path) -> None:
    assert imported_by(file) <= {*sys.stdlib_module_names, "beadbox"}


@pytest.mark.parametrize("name", ["menace", "q_table"])
def test_independent_programs_import_nothing_of_the_project(name: str) -> None:
    file = ROOT / "tests" / "independent" / f"{name}.py"
    assert imported_by(file) <= {*sys.stdlib_module_names, "tests"}
    assert set(re.findall(r"from (tests\S*) import", file.read_text())) <= {"tests.independent.menace"}


def test_contract_on_independent_games_names_every_game() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = {contract["id"]: contract for contract in config["tool"]["importlinter"]["contracts"]}
    folders = {f"beadbox.rules.{file.parent.name}" for file in (ROOT / "beadbox" / "rules").glob("*/rules.py")}
    assert set(contracts["3a"]["modules"]) == folders


def test_time_limits_of_tests_are_in_one_module() -> None:
    limit = re.compile(r"timeout(_s)?\s*=\s*[1-9]|\.(wait|join|receive_output)\([\d.]+\)|\bsleep\([\d.]*[1-9]")
    tests = [
        path for path in tracked() if path.parts[0] == "tests" and path.suffix == ".py" and "bench" not in path.parts
    ]
    assert Path("tests/waiting.py") in tests
    assert {str(path) for path in tests if limit.search((ROOT / path).read_text())} == set()


def test_no_module_has_a_vague_name() -> None:
    vague = {"utils", "util", "helpers", "common", "misc"}
    assert not [path for path in tracked() if path.suffix in {".py", ".js"} and path.stem in vague]


def test_pages_obey_the_content_security_policy() -> None:
    saved = Path("templates/learning/learn_saved.html")  # opened from a disk, where no policy is sent
    violations = [
        f"{path}: {what}"
        for path in tracked()
        if path != saved
        and path.suffix in {".html", ".svg"}
        and path.parts[0] in {"templates", "beadbox", "games", "learning"}
        for what, pattern in INLINE.items()
        if pattern.search((ROOT / path).read_text())
    ]
    assert not violations


@pytest.mark.parametrize(
    "line",
    [
        "from learning.kinds.q_learning import live",
        "from beadbox.learners.boxes.rule import BoxRule",
        "import learning.kinds.keyed_values.memory",
        "same = type(one.rule) is type(other.rule)",
        "same = type(rule) in (BoxRule, QRule)",
        "match rule:\n  case QRule():\n    pass",
    ],
)
def test_every_form_of_a_kind_check_is_found(line: str) -> None:
    assert any(
        kind_questions.is_kind_check(node) or kind_questions.imports_of_a_kind(node)
        for node in ast.walk(ast.parse(line))
    )


@pytest.mark.parametrize(
    "line",
    [
        "from beadbox.engines.romgon.answers import LEVELS",
        "from learning.advice import romgon",
        "import beadbox.rules.hexapawn.rules",
    ],
)
def test_game_check_is_found_in_engine_and_adviser(line: str) -> None:
    assert list(which_game.lines_in_python(line)) == [1]


def test_modules_with_a_reason_to_import_kinds_exist() -> None:
    assert not [name for name in kind_questions.IMPORTS_WITH_REASON if not (ROOT / name).exists()]


def test_structure_figures_are_within_their_limits() -> None:
    broken = [figure for figure in house.all_figures() if not figure.is_within_limit]
    assert not broken, "\n".join(
        line for figure in broken for line in (f"{figure.name}: at most {figure.limit}", *figure.places)
    )


def test_every_package_is_counted() -> None:
    packages = {path.parts[0] for path in tracked() if path.name == "__init__.py" and len(path.parts) == 2}
    assert packages == {*house.PACKAGES, "tests"}


HARD_TO_FOLLOW = {
    "games/types.py": "from typing import Any\nRow = dict[str, Any]\nclass Plain: pass\n",
    "games/room.py": """from games import types as t
from games.types import Row as Line
Shown = list["Line"]
def room_show() -> Shown: ...
def room_read(row: t.Row | None) -> int: ...
def room_count(*args: Any) -> int: ...
def _room_hide(row: t.Row) -> int: ...
async def room_pass(self, row, *rest): return await room_move(row, *rest, by=self.name)
def room_work(row): return room_move(row + 1)
""",
    "learning/kinds/base.py": "class Kind:\n    live: 'Live'\n    words: Words\nclass Words:\n    label: str\n",
    "learning/kinds/ports.py": """
class Live(Protocol):
    at_once: bool
    ask: Callable[[], int]
    def choose(self): ...
""",
    "learning/kinds/toy/live.py": "class ToyLive: ...\ndef toy_play(): ...\n",
    "learning/kinds/registry.py": "from learning.kinds.toy import live\nlive.ToyLive()\n",
    "learning/kinds/words.py": "from learning.kinds.toy.live import toy_play\n",
    "learning/forms.py": "def form():\n    from learning.kinds.toy.live import ToyLive\n",
    "learning/long.py": "\n" * 401,
}


def test_figures_of_code_that_is_hard_to_follow() -> None:
    code = structure.Code(HARD_TO_FOLLOW)
    assert code.functions_with_any() == ("games/room.py:4 room_show", "games/room.py:5 room_read")
    assert code.functions_that(structure.passes_on) == ("games/room.py:8 room_pass",)
    methods, attributes = code.kind_interfaces()
    assert (sorted(methods), sorted(attributes)) == (
        ["Live.ask", "Live.choose"],
        ["Kind.live", "Kind.words", "Live.at_once"],
    )
    assert code.importers(("learning/kinds/toy/",)) == ("learning/kinds/registry.py", "learning/forms.py")
    assert code.long_modules() == ("learning/long.py (401)",)


def test_figures_of_imports_between_folders_and_cycles() -> None:
    children = structure.folder_children(
        {"games", "games.live", "games.live.store", "games.migrations", "games.who"}, "games"
    )
    assert children == ("games.live", "games.who")
    imports = [
        ("games.live.store", "games.who"),
        ("games.live", "games.who"),
        ("games.who", "games.live"),
        ("a", "games.who"),
    ]
    assert structure.imports_between(imports, children) == ("games.live -> games.who", "games.who -> games.live")
    assert structure.import_cycles(imports) == ("games.live, games.who",)


def test_files_named_on_the_security_pages_exist() -> None:
    text = "".join((ROOT / "docs" / name).read_text() for name in ("security.md", "asvs.md"))
    named = re.findall(r"`((?:menace_site|beadbox|games|learning|tests|docs)/[\w/.-]+\.\w+)(?:::(\w+))?`", text)
    assert len(named) > 60
    for path, test in named:
        assert (ROOT / path).exists(), path
        assert not test or f"def {test}(" in (ROOT / path).read_text(), f"{path}::{test}"
