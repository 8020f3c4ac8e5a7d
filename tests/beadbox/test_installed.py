"""The library as an installed wheel, in each Python that it supports: without and with its extras."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CannotTry
from tests.release import ROOT, build

pytestmark = pytest.mark.soak

TRAINING = Path(__file__).with_name("installed_training.py").read_text()
EXAMPLES = Path(__file__).with_name("installed_examples.py").read_text()
EXTRAS = """
from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.printing.sheets import sheets_pdf
from beadbox.printing.options import PrintOptions
from beadbox.tournaments.pairings import Entrant, swiss_round
from beadbox.tournaments.ratings import ratings

assert "numba" in sys.modules
pdf = sheets_pdf(Cabinet(game, Side.FIRST, rule), "MENACE", [(".........", [4] * 3)], PrintOptions())
assert pdf.read(4) == b"%PDF"
assert len(swiss_round([Entrant(1), Entrant(2)], {1: 0.5, 2: 0.5}, [], {1: 0, 2: 0}, lambda below: 0)) == 2
assert ratings([1, 2], [])[1].mean == 25
"""


def python_find(version: str) -> str | None:
    """Return a Python of this version: the one on PATH, or one of pyenv."""
    found = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    commands = [str(each) for each in found if each]
    # pyenv puts a command on PATH for each version, which works only for the version in use.
    return next((each for each in commands if not subprocess.run([each, "--version"], check=False).returncode), None)


class Environment:
    """An empty virtual environment, into which the wheel is installed."""

    def __init__(self, python: str, folder: Path, resolution: str) -> None:
        self.folder, self.resolution = folder, resolution
        self.python = folder / "bin" / "python"
        self.uv("venv", "--python", python, str(folder))

    def uv(self, *words: str) -> None:
        command = [Path(sys.executable).with_name("uv"), *words, "--quiet"]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "VIRTUAL_ENV": str(self.folder)}, check=True)

    def install(self, wheel: str, *extras: str) -> None:
        """Install the packages that the project asks for, then the wheel, which must be content with them."""
        words = ("--system-certs", "--only-binary", ":all:", "--resolution", self.resolution)
        self.uv("pip", "install", *words, "--requirements", "pyproject.toml", *extras)
        self.uv("pip", "install", "--no-index", wheel)

    def run(self, program: str, **variables: str) -> Any:
        done = subprocess.run(
            [self.python, "-I", "-c", program],
            cwd=self.folder,
            env={"PATH": "", **variables},
            check=True,
            stdout=subprocess.PIPE,
        )
        return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("version", "resolution"), [("3.11", "lowest-direct"), ("3.12", "highest"), ("3.13", "lowest-direct")]
)
def test_an_installed_library_trains_as_in_the_tree(
    version: str, resolution: str, tmp_path: Path, cannot_try: CannotTry
) -> None:
    python = python_find(version)
    if python is None:
        cannot_try(f"the library in Python {version}, which is not there")
        return
    done = subprocess.run([sys.executable, "-c", TRAINING], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    beads, random_state, *strength = json.loads(done.stdout)
    expected = [beads, random_state, *(pytest.approx(share, rel=0, abs=1e-12) for share in strength)]
    (wheel,) = (str(file) for file in build(ROOT, tmp_path / "wheel", 0) if file.suffix == ".whl")
    environment = Environment(python, tmp_path / "environment", resolution)

    environment.install(wheel)
    assert environment.run(TRAINING) == expected
    assert environment.run(EXAMPLES) > 0
    with pytest.raises(subprocess.CalledProcessError):
        environment.run("import numba")

    environment.install(f"{wheel}[fast,print,tournament]", "--all-extras")
    # A file in the way of the cache makes the package's folder one that cannot be written, for root too.
    (cache,) = environment.folder.glob("lib/python*/site-packages/beadbox/kernels/__pycache__")
    shutil.rmtree(cache)
    cache.touch()
    assert environment.run(TRAINING + EXTRAS, XDG_CACHE_HOME=str(tmp_path / "caches")) == expected
    assert environment.run(EXAMPLES, XDG_CACHE_HOME=str(tmp_path / "caches")) > 0
    assert [*(tmp_path / "caches" / "beadbox").rglob("*.nbc")]
