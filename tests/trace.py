"""Records which functions of the site run, and how far "go to definition" follows them.

``python -m tests.trace`` runs ``tests/site/test_trace.py``, which prints the figures and checks their limits.
"""

from __future__ import annotations

import ast
import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import jedi
import pytest

from tests.house import PACKAGES, ROOT
from tests.structure import Function

LIBRARY = ("beadbox/",)
jedi.settings.dynamic_params = False  # a reader does not search callers to know a function's arguments
Place = tuple[str, str]
"""The path of a module, and the qualified name of a function in it."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The calls of functions of the site, in order."""

    calls: tuple[Place, ...]

    def without_library(self) -> Trace:
        return Trace(tuple(place for place in self.calls if not place[0].startswith(LIBRARY)))

    @property
    def functions(self) -> set[Place]:
        return set(self.calls)

    @property
    def modules(self) -> set[str]:
        return {path for path, _ in self.calls}

    @property
    def n_entered_again(self) -> int:
        """The number of calls from another module that lead back to a module of an earlier call."""
        paths = [path for path, _ in self.calls]
        changes = [path for before, path in zip(["", *paths], paths, strict=False) if path != before]
        return len(changes) - len(set(changes))


@dataclass(slots=True)
class Recorder:
    """Records calls in the loop's task and in its threads; without a task, in every thread."""

    task: asyncio.Task[Any] | None = None
    calls: list[Place] | None = None
    loop_thread: int = field(default_factory=threading.get_ident)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """During the block, record the calls of this thread and of threads that it starts."""
        threading.setprofile(self._record_call)
        sys.setprofile(self._record_call)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def start(self) -> None:
        self.calls = []

    def stop(self) -> Trace:
        calls, self.calls = self.calls or [], None
        return Trace(tuple(calls))

    def _record_call(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or self.calls is None or (path := site_path(frame.f_code.co_filename)) is None:
            return
        if not frame.f_code.co_name.startswith("<") and (self.task is None or self._is_in_the_task()):
            self.calls.append((path, frame.f_code.co_qualname))

    def _is_in_the_task(self) -> bool:
        if threading.get_ident() == self.loop_thread:
            return asyncio.current_task() is self.task
        return threading.current_thread().name.startswith("asyncio")


@cache
def site_path(filename: str) -> str | None:
    """Return the path of a module of the site from the root, or ``None`` for any other file."""
    path = Path(filename)
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
    return name if name.partition("/")[0] in PACKAGES else None


class Reader:
    """Follows the calls in a function as an editor's "go to definition" does."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.project = jedi.Project(root)
        self.environment = jedi.InterpreterEnvironment()
        self.module = cache(self._module)

    def reachable(self, start: Place, traced: set[Place]) -> set[Place]:
        """Return the traced functions that a reader finds from ``start`` by following calls from source to source."""
        queue, seen = [start], {start}
        while queue:
            new_functions = set(self.callees(queue.pop())) & traced - seen
            queue += new_functions
            seen |= new_functions
        return seen

    def callees(self, place: Place) -> Iterator[Place]:
        """Yield the definitions of the calls in a function's source; for a call of a class, its constructors."""
        path, name = place
        script, functions, lines = self.module(path)
        for call in ast.walk(functions[name]):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name | ast.Attribute):
                line, end = call.func.end_lineno or 0, call.func.end_col_offset or 0
                column = len(lines[line - 1].encode()[:end].decode()) - 1
                for definition in script.goto(line, column, follow_imports=True):
                    yield from self._places(definition)

    def _places(self, found: Any) -> Iterator[Place]:
        where = found.module_path
        if where is not None and where.is_relative_to(self.root) and found.type in {"function", "class"}:
            path = where.relative_to(self.root).as_posix()
            for name, node in self.module(path)[1].items():
                if node.lineno == found.line:
                    constructors = ("__init__", "__post_init__", "__new__") if isinstance(node, ast.ClassDef) else ()
                    yield from (
                        ((path, f"{name}.{constructor}") for constructor in constructors)
                        if constructors
                        else [(path, name)]
                    )

    def _module(self, path: str) -> tuple[Any, dict[str, ast.AST], list[str]]:
        text = (self.root / path).read_text()
        script = jedi.Script(text, path=self.root / path, project=self.project, environment=self.environment)
        return script, dict(definitions(ast.parse(text))), text.splitlines()


def definitions(node: ast.AST, before: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield each class and function below a node with its qualified name, after the prefix ``before``."""
    for child in ast.iter_child_nodes(node):
        name = before
        if isinstance(child, ast.ClassDef | Function):
            yield before + child.name, child
            name = f"{before}{child.name}." if isinstance(child, ast.ClassDef) else f"{before}{child.name}.<locals>."
        yield from definitions(child, name)


if __name__ == "__main__":
    sys.exit(pytest.main(["-q", "-s", "-n", "0", "tests/site/test_trace.py"]))
