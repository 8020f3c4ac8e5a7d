"""Finds places outside the games' folders that check *which* game they have, instead of what the game can do.

``python -m tests.which_game`` prints the places and their number.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from beadbox.rules.registry import GAMES

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {file.parent.name for file in (ROOT / "beadbox" / "rules").glob("*/rules.py")}
EXEMPT_PATHS = (
    "beadbox/rules/registry.py",  # has one line for each game
    "beadbox/engines/registry.py",  # has one line for each engine
    "learning/advice/registry.py",  # has one line for each adviser
    *(f"beadbox/rules/{folder}/" for folder in FOLDERS),
    *(f"beadbox/engines/{folder}/" for folder in FOLDERS),  # a search for one family
    *(f"learning/advice/{folder}.py" for folder in FOLDERS),  # a request format of other projects
    "migrations/",  # history
)
NAMES = {
    text
    for game in GAMES.values()
    for text in (
        game.slug,
        game.family,
        *game.presentation.layout.roles,
        *game.presentation.layout.pieces,
        *game.pieces(game.initial_position()),
    )
    if text is not None
}
"""The names of games and their pieces. Code outside the games' folders must not compare values with them."""
_NAME = "|".join(re.escape(name) for name in sorted(NAMES))
_LITERAL = f"""["'`](?:{_NAME})["'`]"""
_COMMENT = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.DOTALL)
_IN_SCRIPT = re.compile(
    rf"[=!]==?\s*{_LITERAL}|{_LITERAL}\s*[=!]==?|case\s+{_LITERAL}|(?:includes|indexOf|startsWith)\({_LITERAL}"
    rf"""|["'`](?:{"|".join(map(re.escape, sorted(GAMES)))})["'`]"""
)
_IN_TEMPLATE = re.compile(rf"{{%\s*(?:el)?if\b[^%]*{_LITERAL}")


_GAME_MODULE = re.compile(rf"(?:beadbox\.rules|beadbox\.engines|learning\.advice)\.(?:{'|'.join(FOLDERS)})\b")
"""The modules of a game, its engine and its adviser."""


def lines_in_python(text: str) -> Iterator[int]:
    """Yield the lines of a module that import a game, or compare a value with the name of a game or piece."""
    for node in ast.walk(ast.parse(text)):
        imported = []
        if isinstance(node, ast.Import | ast.ImportFrom):
            package = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            imported = [f"{package}{alias.name}" for alias in node.names]
        if any(map(_GAME_MODULE.match, imported)):
            yield node.lineno
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            named = [part for side in sides for part in getattr(side, "elts", [side]) if isinstance(part, ast.Constant)]
            if any(part.value in NAMES for part in named):
                yield node.lineno
        if isinstance(node, ast.MatchValue) and isinstance(node.value, ast.Constant) and node.value.value in NAMES:
            yield node.value.lineno


def lines_in_text(pattern: re.Pattern[str], text: str) -> Iterator[int]:
    """Yield the lines with matches of a pattern."""
    for match in pattern.finditer(text):
        yield text.count("\n", 0, match.start()) + 1


def without_comments(text: str) -> str:
    """Return a script without its comments; line numbers stay the same."""
    return _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)


def places_of_game_checks() -> list[str]:
    """Return all places that check which game they have, as ``path:line``."""
    lines_found = []
    for top in ("beadbox", "games", "learning", "menace_site", "templates", "static/js"):
        for file in sorted((ROOT / top).rglob("*")):
            name = file.relative_to(ROOT).as_posix()
            if any(exempt_path in name for exempt_path in EXEMPT_PATHS):
                continue
            if file.suffix == ".py":
                lines = lines_in_python(file.read_text())
            elif file.suffix == ".html":
                lines = lines_in_text(_IN_TEMPLATE, file.read_text())
            elif file.suffix == ".js":
                lines = lines_in_text(_IN_SCRIPT, without_comments(file.read_text()))
            else:
                continue
            lines_found += [f"{name}:{line}" for line in sorted(set(lines))]
    return lines_found


if __name__ == "__main__":
    found_places = places_of_game_checks()
    print(*found_places, sep="\n")  # noqa: T201
    print(f"Places outside the games' folders that ask which game it is: {len(found_places)}")  # noqa: T201
