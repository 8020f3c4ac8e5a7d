"""The house in figures: its rooms, the ways between them, and its size. ``python -m tests.house`` prints them.

``python -m tests.house FOLDER`` prints the size of another checkout, to be compared.

``test_architecture`` holds each to its bound. A room is an entry of ``learning/``, an arrow leads from a room to
one that it imports; arrows upward and circles are the import contracts' to refuse.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import grimp

from tests import which_game
from tests.kind_questions import kind_questions

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("beadbox", "games", "learning", "menace_site")
LONGEST = 60
SQL = re.compile(r"\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|SET|CREATE|ALTER|DROP)\s+[\w(*{']")
# Kernels are one loop over arrays: a helper would need as many of them again as arguments.
LONG_WITH_REASON = {
    "beadbox/kernels/table_learning.py:train_tables": "a part of it would count references at every move",
    "beadbox/engines/romgon/search.py:best": "alpha-beta with its table of positions, on one stack",
    "beadbox/engines/romgon/search.py:search": "deepening around it, which has to see every array that it uses",
}


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure, the most it may be, what it counts, and the most that it should come down to."""

    name: str
    found: tuple[str, ...]
    most: int
    target: int | None = None

    @property
    def holds(self) -> bool:
        """Whether there is no more than there may be."""
        return len(self.found) <= self.most


def measured() -> list[Measured]:
    """Every figure, measured now."""
    return [
        Measured("entries of learning/", tuple(rooms()), 27),
        Measured("arrows between its rooms", tuple(arrows()), 120),
        Measured("modules that lease a job", tuple(leases()), 1),
        Measured("places outside the kinds that ask for a kind of machine", tuple(kind_questions()), 0),
        Measured("places outside the games' folders that ask which game", tuple(which_game.places()), 0),
        Measured(f"functions above {LONGEST} lines", tuple(long_functions()), 0),
    ]


def rooms() -> Iterator[str]:
    """The entries of ``learning/``, its mark as a package apart."""
    for path in sorted((ROOT / "learning").iterdir()):
        if path.name not in ("__init__.py", "__pycache__"):
            yield path.name


def arrows() -> list[str]:
    """``from -> to``, once for each pair of rooms."""
    graph = grimp.build_graph("learning", cache_dir=None)
    found = set()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            ends = module.split(".")[1:2] + imported.split(".")[1:2]
            if len(set(ends)) == 2 and "migrations" not in ends:
                found.add(" -> ".join(ends))
    return sorted(found)


def leases() -> Iterator[str]:
    """Modules in which a job gets a lease: the protocol of jobs is written once."""
    lease = re.compile(r"\blease_until\b.*\btimedelta\b")
    for path in sources():
        if "models" not in path.parts and lease.search(path.read_text()):
            yield str(path.relative_to(ROOT))


def long_functions() -> Iterator[str]:
    """``path:line name (lines)`` of each function that is too long without a reason."""
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                where = f"{path.relative_to(ROOT)}:{node.name}"
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LONGEST and where not in LONG_WITH_REASON:
                    yield f"{where} ({lines} lines)"


def sources() -> list[Path]:
    """Every module of the site; migrations are history."""
    return [
        path
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if "migrations" not in path.parts
    ]


def sizes(root: Path) -> Iterator[tuple[str, int]]:
    """Sizes of the code and the documents under ``root``, by name."""
    for package in (*PACKAGES, "tests"):
        files = [path for path in (root / package).rglob("*.py") if "migrations" not in path.parts]
        texts = [path.read_text() for path in files]
        yield f"lines of Python in {package}", sum(map(_n_lines, texts))
        if package != "tests":
            yield f"lines of SQL in {package}", sum(map(_n_sql_lines, texts))
            yield f"private names of others in {package}", sum(text.count("noqa: SLF001") for text in texts)
    yield "words of documents", sum(len(path.read_text().split()) for path in (root / "docs").rglob("*.md"))
    yield "lines of JavaScript", sum(_n_lines(path.read_text()) for path in (root / "static/js").rglob("*.js"))
    settings = (root / "menace_site/settings.py").read_text()
    yield "settings from the environment", len(set(re.findall(r"\benv\.\w+\(\s*\"(\w+)\"", settings)))


def _n_lines(text: str) -> int:
    return text.count("\n")


def _n_sql_lines(text: str) -> int:
    """Lines of strings that begin as a statement of SQL does."""
    tree = ast.parse(text)
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    n_lines = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in parts:
            first, follows = (node.values[0], "{") if isinstance(node, ast.JoinedStr) and node.values else (node, "")
            if isinstance(first, ast.Constant) and isinstance(first.value, str) and SQL.match(first.value + follows):
                n_lines += (node.end_lineno or node.lineno) - node.lineno + 1
    return n_lines


def report(figures: list[Measured]) -> str:
    """A line for each figure, and what it counts where it does not hold."""
    lines = []
    for figure in figures:
        aim = "" if figure.target is None else f" (target {figure.target})"
        lines.append(f"{len(figure.found):4} of at most {figure.most:3}  {figure.name}{aim}")
        if not figure.holds:
            lines += [f"        {one}" for one in figure.found]
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    """Print each size; and of this checkout each figure, and what is in the way where one does not hold."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    for name, number in sizes(root):
        sys.stdout.write(f"{number:7,}  {name}\n")
    if root != ROOT:
        return
    sys.stdout.write(report(measured()))


if __name__ == "__main__":
    main()
