"""Checksums of kernel sources. Cached machine code of a module is valid until one of its sources changes."""

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
    """Return a short checksum of a module's source and of all modules that it imports from this repository."""
    return _sum(source.read_bytes() for source in sources(module, root))


def sources(module: str, root: Path = ROOT) -> list[Path]:
    """Return the files of a module and of its direct and indirect imports under ``root``, sorted by path."""
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
    """Return a short checksum of all that decides whether this process can use the cache of a package's kernels.

    numba requires the same Python, the same processor, and the same modification time of the file of the outermost
    function.
    """
    modules = sorted(root.joinpath(*package.split(".")).glob("*.py"))
    stamps = [(file.stem, file.stat().st_mtime_ns, checksum(f"{package}.{file.stem}", root)) for file in modules]
    return _sum([repr((sys.version, version("numba"), version("numpy"), _processor(), stamps)).encode()])


@cache
def _processor() -> str:
    with suppress(OSError), Path("/proc/cpuinfo").open() as cpuinfo:
        return repr(
            sorted({line for line in cpuinfo if line.startswith(("model name", "flags", "Features", "CPU part"))})
        )
    return f"{platform.machine()} {platform.processor()}"


def _packages(name: str) -> Iterator[str]:
    """Yield the names of the packages around a module, then its own; Python runs them in this order."""
    parts = name.split(".")
    return (".".join(parts[:n]) for n in range(1, len(parts) + 1))


def _file(name: str, root: Path) -> Path | None:
    place = root.joinpath(*name.split("."))
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


@cache
def _imported(source: bytes, package: str) -> frozenset[str]:
    """Return the names that a source in a package imports; an imported name may be a module or an object in one."""
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
