"""Figures of the code's structure: entries of ``learning/``, the imports between them, and sizes.

``python -m tests.house`` prints them; ``python -m tests.house FOLDER`` prints the size of another checkout, for a
comparison.

``test_architecture`` checks each figure against its limit. An entry is a package or module directly in ``learning/``.
The import contracts check the direction of the imports between entries, and refuse circles.
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
MAX_FUNCTION_LINES = 60
SQL = re.compile(r"\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|SET|CREATE|ALTER|DROP)\s+[\w(*{']")
# Each of these is one loop over arrays, and a helper function would need all the arrays as arguments.
LONG_FUNCTIONS = {
    "beadbox/kernels/table_learning.py:train_tables": "a part of it would count references at every move",
    "beadbox/kernels/box_learning.py:train_pair": "a part of it would count references at every move",
    "beadbox/engines/romgon/search.py:best": "alpha-beta with its table of positions, on one stack",
    "beadbox/engines/romgon/search.py:search": "iterative deepening, which needs every array of the search",
}


@dataclass(frozen=True, slots=True)
class CountedFigure:
    """A figure: its name, the places it counts, the limit of their number, and the target for the limit."""

    name: str
    places: tuple[str, ...]
    limit: int
    target: int | None = None

    @property
    def is_within_limit(self) -> bool:
        """Whether the figure is within its limit."""
        return len(self.places) <= self.limit


def all_figures() -> list[CountedFigure]:
    """Measure all figures of the structure."""
    return [
        CountedFigure("entries of learning/", tuple(entries()), 28),
        CountedFigure("imports between these entries", tuple(imports_between_entries()), 120),
        CountedFigure("modules that lease a job", tuple(lease_modules()), 1),
        CountedFigure("places outside the kinds that ask for a kind of machine", tuple(kind_questions()), 0),
        CountedFigure(
            "places outside the games' folders that ask which game", tuple(which_game.places_of_game_checks()), 0
        ),
        CountedFigure(f"functions above {MAX_FUNCTION_LINES} lines", tuple(long_functions()), 0),
    ]


def entries() -> Iterator[str]:
    """Yield the entries of ``learning/``, without its ``__init__.py``."""
    for path in sorted((ROOT / "learning").iterdir()):
        if path.name not in ("__init__.py", "__pycache__"):
            yield path.name


def imports_between_entries() -> list[str]:
    """Return ``from -> to`` for each pair of entries with an import."""
    graph = grimp.build_graph("learning", cache_dir=None)
    pairs = set()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            ends = module.split(".")[1:2] + imported.split(".")[1:2]
            if len(set(ends)) == 2 and "migrations" not in ends:
                pairs.add(" -> ".join(ends))
    return sorted(pairs)


def lease_modules() -> Iterator[str]:
    """Yield the modules in which a job gets a lease. Only one module may implement the protocol of jobs."""
    lease = re.compile(r"\blease_until\b.*\btimedelta\b")
    for path in sources():
        if "models" not in path.parts and lease.search(path.read_text()):
            yield str(path.relative_to(ROOT))


def long_functions() -> Iterator[str]:
    """Yield ``path:name (lines)`` of each function that is too long without a listed reason."""
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                place = f"{path.relative_to(ROOT)}:{node.name}"
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES and place not in LONG_FUNCTIONS:
                    yield f"{place} ({lines} lines)"


def sources() -> list[Path]:
    """Return every module of the site except migrations."""
    return [
        path
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if "migrations" not in path.parts
    ]


def sizes(root: Path) -> Iterator[tuple[str, int]]:
    """Yield the names and values of sizes of code and documents under ``root``."""
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
    """Return the number of lines in strings that begin like a statement of SQL."""
    tree = ast.parse(text)
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    n_lines = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in parts:
            first, text_after = (node.values[0], "{") if isinstance(node, ast.JoinedStr) and node.values else (node, "")
            if isinstance(first, ast.Constant) and isinstance(first.value, str) and SQL.match(first.value + text_after):
                n_lines += (node.end_lineno or node.lineno) - node.lineno + 1
    return n_lines


def report(figures: list[CountedFigure]) -> str:
    """Return a line for each figure, and the counted places of each figure above its limit."""
    lines = []
    for figure in figures:
        target = "" if figure.target is None else f" (target {figure.target})"
        lines.append(f"{len(figure.places):4} of at most {figure.limit:3}  {figure.name}{target}")
        if not figure.is_within_limit:
            lines += [f"        {place}" for place in figure.places]
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    """Print all sizes and, for this checkout, all figures."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    for name, number in sizes(root):
        sys.stdout.write(f"{number:7,}  {name}\n")
    if root != ROOT:
        return
    sys.stdout.write(report(all_figures()))


if __name__ == "__main__":
    main()
