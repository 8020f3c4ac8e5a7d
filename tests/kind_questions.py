"""Finds places in shared code that depend on the kind of a machine. ``test_architecture`` allows no such place."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("beadbox", "games", "learning", "menace_site")
PARTS = ("Memory", "Live", "Training", "Files", "Page")
KIND_PREFIXES = ("Boxes", "Keyed", "QLearning", "ValueLearner", "TableLearner")
KIND_TYPES = {
    *("BoxRule", "QRule", "ValueRule", "TableRule", "Rule"),
    *("Memory", "OpenMemory", "QMemory", "ValueMemory", "TableMemory", "AnyMemory"),
    *("BoxMachine", "QLearner", "ValueLearner", "TableLearner"),
    *("FrozenValues", "FrozenBoxes", "FrozenTable", "ValuePlayer"),
    *("MachineData", "ValuesData", "WeightsData", "Document"),
    "Kind",
    *(f"Kind{part}" for part in PARTS),
    *(f"{kind}{part}" for kind in KIND_PREFIXES for part in PARTS),
}
"""Types of kinds: code that checks for one of them depends on the kind of a machine."""
KIND_CLASSES = {
    *("BoxRule", "QRule", "ValueRule", "TableRule"),
    *("Memory", "OpenMemory", "QMemory", "ValueMemory", "TableMemory"),
    *("BoxMachine", "QLearner", "ValueLearner", "TableLearner"),
    *("FrozenValues", "FrozenBoxes", "FrozenTable", "ValuePlayer"),
    *("MachineData", "ValuesData", "WeightsData"),
    *(f"{kind}{part}" for kind in KIND_PREFIXES for part in PARTS),
    *("BOXES", "Q_LEARNING", "VALUE_LEARNER", "TABLE_LEARNER"),
    *("PRESETS", "Q_PRESETS", "VALUE_PRESETS", "TABLE_PRESETS", "DEFAULT_PRESETS"),
}
"""Names of a single kind: a module that imports one depends on that kind."""
KIND_MODULES = re.compile(r"learning\.kinds\.(?:boxes|q_learning|value_learner|table_learner|keyed_values)(?:\.|$)")
"""The modules of a single kind."""
KIND_SLUGS = {"boxes", "q-learning", "value-learner", "table-learner"}
FOLDERS_OF_KINDS = ("learning/kinds/", "beadbox/learners/")
"""Folders that may depend on their kind: its own modules, and the library's learners."""
IMPORTS_WITH_REASON = {
    "learning/urls.py": "the addresses of boxes",
    "learning/admin/__init__.py": "Django finds the admin pages of every kind here",
    "beadbox/experiments/": "published experiments with boxes, repeated",
    "learning/forms/learn.py": "the fields of the page Watch it learn, which shows boxes",
    "learning/services/learn.py": "stores a machine with boxes from that page",
    "learning/models/machines.py": "``box_rule`` and ``cabinet``, which refuse a machine without boxes",
    "learning/management/commands/replay.py": "recorded games teach boxes",
    "learning/management/commands/teach_levels.py": "trains the values that the program ships with",
}
"""Modules about a single kind that may import this kind, and why. Modules about machines in general are no entries."""
KIND_CHECK_IN_PAGES = re.compile(
    r"keeps_values|typeof [\w.]+\.epsilon"
    r"|\bkind\w* *[!=]==? *[\"'](?:boxes|q-learning|value-learner|table-learner)[\"']"
)
"""Code in a template or a script that depends on the kind of a machine."""


def kind_questions() -> Iterator[str]:
    """Yield the places outside the kinds' own modules that depend on the kind of a machine, as ``path:line``."""
    for path in sorted(
        [
            *ROOT.glob("beadbox/**/*.py"),
            *ROOT.glob("games/**/*.py"),
            *ROOT.glob("learning/**/*.py"),
            *ROOT.glob("menace_site/**/*.py"),
        ]
    ):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(FOLDERS_OF_KINDS) and "/migrations/" not in name:
            tree = ast.parse(path.read_text())
            may_import = name.startswith(tuple(IMPORTS_WITH_REASON))
            yield from (
                f"{name}:{node.lineno}"
                for node in ast.walk(tree)
                if is_kind_check(node) or (not may_import and imports_of_a_kind(node))
            )
    for path in sorted([*ROOT.glob("templates/**/*.html"), *ROOT.glob("static/js/*.js")]):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if KIND_CHECK_IN_PAGES.search(line):
                yield f"{path.relative_to(ROOT).as_posix()}:{number}"


def imports_of_a_kind(node: ast.AST) -> bool:
    """Whether a node imports from a kind, as in ``from learning.kinds.q_learning import live``."""
    match node:
        case ast.Import(names=names):
            return any(KIND_MODULES.match(alias.name) for alias in names)
        case ast.ImportFrom(module=str(module), names=names):
            named = {alias.name for alias in names}
            return bool(named & KIND_CLASSES) or any(KIND_MODULES.match(f"{module}.{name}") for name in named)
    return False


def is_kind_check(node: ast.AST) -> bool:
    """Whether a node checks the kind of a machine in one of these ways.

    ``isinstance(…, QRule)``, ``case QRule():``, ``… is QRule``, ``type(…) is type(…)``, ``rule.kind == QRule.kind``,
    ``machine.keeps_values``.
    """
    match node:
        case ast.MatchClass(cls=cls):
            return bool(_names(cls) & KIND_TYPES)
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, types]):
            return bool(_names(types) & KIND_TYPES)
        case ast.Compare(left=left, comparators=others):
            sides = [left, *others]
            slugs = {one.value for one in sides if isinstance(one, ast.Constant) and isinstance(one.value, str)}
            named = any(_names(one) & KIND_TYPES for one in sides)
            types = [one for one in sides if isinstance(one, ast.Call) and _names(one.func) == {"type"}]
            has_builtin = any(isinstance(one, ast.Name) and hasattr(builtins, one.id) for one in sides)
            return named or bool(slugs & KIND_SLUGS) or (bool(types) and not has_builtin)
        case ast.Attribute(attr="keeps_values"):
            return True
    return False


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
