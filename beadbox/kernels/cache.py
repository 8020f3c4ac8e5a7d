"""The folder for machine code, and checksums of the sources that the code was compiled from.

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
"""By system, the variable that names the user's folder for caches, and the default folder below the home folder.

Systems that are not listed follow the XDG standard.
"""


@cache
def folder() -> Path | None:
    """Return the folder for machine code.

    The folder is ``NUMBA_CACHE_DIR`` if that variable is set, or else the first writable one of two: a folder in this
    package, and one in the user's folder for caches. ``None`` if neither is writable.
    """
    if numba_folder := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(numba_folder)
    return next(filter(_is_writable, _default_folders()), None)


def _default_folders() -> Iterator[Path]:
    yield Path(__file__).parent / "__pycache__"
    variable, below_home = _USER_FOLDERS.get(sys.platform, ("XDG_CACHE_HOME", ".cache"))
    with suppress(RuntimeError):  # ``Path.home`` raises this error for a user without a home folder.
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

    ``root`` is the folder of that package. Other packages in the folder are not searched, because the folder of an
    installed library also has NumPy and others.
    """
    found, to_search = set[Path](), [module]
    outermost = module.partition(".")[0]
    while to_search:
        name = to_search.pop()
        if name.partition(".")[0] != outermost:
            continue
        for part in _packages(name):
            file = _file(part, root)
            if file is not None and file not in found:
                found.add(file)
                package = part if file.name == "__init__.py" else part.rpartition(".")[0]
                to_search += _imported_names(file.read_bytes(), package)
    return sorted(found)


def identity(package: str, root: Path = ROOT) -> str:
    """Return a short checksum of everything that numba compares before it uses the cached kernels of a package.

    numba requires the same Python, the same processor, and the same modification time of the file of the outermost
    function.
    """
    from importlib.metadata import version  # Imported late: this takes 50 ms, and only processes of a site need it.

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
def _imported_names(source: bytes, package: str) -> frozenset[str]:
    """Return the names that a source in a package imports. A name may be a module, or an object in a module.

    Imports under ``if TYPE_CHECKING`` do not count. ``beadbox/__init__.py`` imports all its public names in this way.
    """
    names = set[str]()
    to_search: list[ast.AST] = [ast.parse(source)]
    while to_search:
        node = to_search.pop()
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*parents, *filter(None, [node.module])])
            names |= {f"{origin}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            to_search += node.orelse
        else:
            to_search += ast.iter_child_nodes(node)
    return frozenset(names)


def _sum(parts: Iterator[bytes] | list[bytes]) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
