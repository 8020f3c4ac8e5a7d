"""Which machine code is still true: a module's own lasts as long as the sources that it is made of."""

from __future__ import annotations

import ast
import hashlib
import platform
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]


def checksum(module: str, root: Path = ROOT) -> str:
    """A short name for the state of a module's source and of all that it imports of this repository."""
    return _sum(source.read_bytes() for source in sources(module, root))


def sources(module: str, root: Path = ROOT) -> list[Path]:
    """The file of a module and of all that it imports under ``root``, however far away, in order."""
    found, left = set[Path](), [module]
    while left:
        name = left.pop()
        for part in _packages(name):
            file = _file(part, root)
            if file is not None and file not in found:
                found.add(file)
                package = part if file.name == "__init__.py" else part.rpartition(".")[0]
                left += _imported(file.read_bytes(), package)
    return sorted(found)


def identity(package: str, root: Path = ROOT) -> str:
    """A short name for all that decides whether the cache of a package's kernels can be used by this process.

    numba asks for the same Python, processor and time of the file of the outermost function.
    """
    modules = sorted(root.joinpath(*package.split(".")).glob("*.py"))
    stamps = [(file.stem, file.stat().st_mtime_ns, checksum(f"{package}.{file.stem}", root)) for file in modules]
    return _sum([repr((sys.version, version("numba"), version("numpy"), _processor(), stamps)).encode()])


@cache
def _processor() -> str:
    with suppress(OSError), Path("/proc/cpuinfo").open() as told:
        return repr(sorted({line for line in told if line.startswith(("model name", "flags", "Features", "CPU part"))}))
    return f"{platform.machine()} {platform.processor()}"


def _packages(name: str) -> Iterator[str]:
    """A module's name after those of the packages it is in: Python runs them first."""
    parts = name.split(".")
    return (".".join(parts[:n]) for n in range(1, len(parts) + 1))


def _file(name: str, root: Path) -> Path | None:
    place = root.joinpath(*name.split("."))
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


@cache
def _imported(source: bytes, package: str) -> frozenset[str]:
    """What a source in a package imports, or might: a name of a package may be that of a module in it."""
    names = set[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            near = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*near, *filter(None, [node.module])])
            names |= {f"{origin}.{alias.name}" for alias in node.names}
    return frozenset(names)


def _sum(parts: Iterator[bytes] | list[bytes]) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
