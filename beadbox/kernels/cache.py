"""Where machine code is kept, and checksums of the sources that it was compiled from.

Cached machine code of a module is valid until one of its sources changes.
"""

from __future__ import annotations

import ast
import hashlib
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

ROOT = Path(__file__).parents[2]
_USER_FOLDERS = {"win32": ("LOCALAPPDATA", "AppData/Local"), "darwin": ("", "Library/Caches")}
"""The variable that names the user's folder for caches, and its place below home; other systems have that of XDG."""


@cache
def folder() -> Path | None:
    """Return the folder for machine code: ``NUMBA_CACHE_DIR``, else this package's, else the user's folder for caches.

    ``None`` if neither of the last two can be written.
    """
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(given)
    return next(filter(_is_writable, _default_folders()), None)


def _default_folders() -> Iterator[Path]:
    yield Path(__file__).parent / "__pycache__"
    variable, below_home = _USER_FOLDERS.get(sys.platform, ("XDG_CACHE_HOME", ".cache"))
    with suppress(RuntimeError):  # A user without a home folder.
        yield Path(os.environ.get(variable) or Path.home() / below_home) / "beadbox"


def _is_writable(place: Path) -> bool:
    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=place):
            return True
    return False


def checksum(module: str, root: Path = ROOT) -> str:
    """Return a short checksum of a module's source and of all modules that it imports from its outermost package."""
    return _sum(source.read_bytes() for source in sources(module, root))


def sources(module: str, root: Path = ROOT) -> list[Path]:
    """Return the files of a module and of its direct and indirect imports in its outermost package, sorted by path.

    ``root`` holds that package. Other packages beside it are not searched: an installed library stands beside NumPy.
    """
    found, left = set[Path](), [module]
    outermost = module.partition(".")[0]
    while left:
        name = left.pop()
        if name.partition(".")[0] != outermost:
            continue
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
    from importlib.metadata import version  # Only processes of a site get here, and it takes a twentieth of a second.

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
    """Return the names that a source in a package imports; an imported name may be a module or an object in one.

    Imports for type checkers alone are left out. The package of the library names everything public in this way.
    """
    names = set[str]()
    left: list[ast.AST] = [ast.parse(source)]
    while left:
        node = left.pop()
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            near = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*near, *filter(None, [node.module])])
            names |= {f"{origin}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            left += node.orelse
        else:
            left += ast.iter_child_nodes(node)
    return frozenset(names)


def _sum(parts: Iterator[bytes] | list[bytes]) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
