"""Counts the places outside the kinds that ask which kind of machine there is: none, says ``test_architecture``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("games", "learning", "menace_site")
KIND_TYPES = {
    *("BoxRule", "QRule", "Rule"),
    *("Memory", "OpenMemory", "QMemory", "AnyMemory"),
    *("BoxMachine", "QLearner", "FrozenValues", "FrozenBoxes"),
    *("MachineData", "ValuesData", "Document"),
    *("Kind", "BoxKind", "ValueKind", "Entries"),
}
"""Whoever asks whether something is one of these asks which kind of machine it has."""
KIND_SLUGS = {"boxes", "q-learning"}
KINDS_OWN = (
    "learning/kinds/",
    "learning/core/machines/",
    "learning/core/training/",
    "learning/storage/boxes.py",
    "learning/storage/values.py",
    "learning/selectors/boxes.py",
    "learning/selectors/values.py",
)
"""Where a kind may be sure of itself: its own modules, and the core, where each of them is a class of its own."""
IN_PAGES = re.compile(r"keeps_values|typeof [\w.]+\.epsilon|\bkind\w* *[!=]==? *[\"'](?:boxes|q-learning)[\"']")
"""The same question in a template or a script."""


def kind_questions() -> Iterator[str]:
    """The places outside the kinds' own modules that ask which kind of machine there is."""
    for path in sorted(
        [*ROOT.glob("games/**/*.py"), *ROOT.glob("learning/**/*.py"), *ROOT.glob("menace_site/**/*.py")]
    ):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(KINDS_OWN) and "/migrations/" not in name:
            tree = ast.parse(path.read_text())
            yield from (f"{name}:{node.lineno}" for node in ast.walk(tree) if _asks(node))
    for path in sorted([*ROOT.glob("templates/**/*.html"), *ROOT.glob("static/js/*.js")]):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if IN_PAGES.search(line):
                yield f"{path.relative_to(ROOT).as_posix()}:{number}"


def _asks(node: ast.AST) -> bool:
    """``isinstance(…, QRule)``, ``… is QRule``, ``rule.kind == QRule.kind``, ``machine.keeps_values``."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, types]):
            return bool(_names(types) & KIND_TYPES)
        case ast.Compare(left=left, comparators=others):
            sides = [left, *others]
            slugs = {one.value for one in sides if isinstance(one, ast.Constant) and isinstance(one.value, str)}
            named = any(isinstance(one, ast.Name | ast.Attribute) and _names(one) & KIND_TYPES for one in sides)
            return named or bool(slugs & KIND_SLUGS)
        case ast.Attribute(attr="keeps_values"):
            return True
    return False


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
