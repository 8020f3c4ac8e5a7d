"""The library as an installed wheel, in each Python that it supports: without and with its extras."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CannotTry
from tests.release import ROOT
from tests.wheel import Environment

pytestmark = pytest.mark.soak

TRAINING_PROGRAM = Path(__file__).with_name("installed_training.py").read_text()
EXAMPLES_PROGRAM = Path(__file__).with_name("installed_examples.py").read_text()
EXTRAS_PROGRAM = """
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


def find_python(version: str) -> str | None:
    """Return a Python of this version: the one on PATH, or one of pyenv."""
    found = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    commands = [str(each) for each in found if each]
    # pyenv puts a command on PATH for each version, which works only for the version in use.
    return next((each for each in commands if not subprocess.run([each, "--version"], check=False).returncode), None)


@pytest.mark.parametrize(
    ("version", "resolution"), [("3.11", "lowest-direct"), ("3.12", "highest"), ("3.13", "lowest-direct")]
)
def test_an_installed_library_trains_as_in_the_tree(
    version: str, resolution: str, tmp_path: Path, cannot_try: CannotTry
) -> None:
    python = find_python(version)
    if python is None:
        cannot_try(f"the library in Python {version}, which is not there")
        return
    process = subprocess.run([sys.executable, "-c", TRAINING_PROGRAM], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    beads, random_state, *strength = json.loads(process.stdout)
    expected = [beads, random_state, *(pytest.approx(share, rel=0, abs=1e-12) for share in strength)]
    environment = Environment(tmp_path / "environment").make(python)

    environment.install(resolution=resolution)
    assert environment.run(TRAINING_PROGRAM) == expected
    assert environment.run(EXAMPLES_PROGRAM) > 0
    with pytest.raises(subprocess.CalledProcessError):
        environment.run("import numba")

    environment.install("fast", "print", "tournament", resolution=resolution)
    # A file at the path of the cache prevents writing into the package's folder, even by root.
    (cache,) = environment.folder.glob("lib/python*/site-packages/beadbox/kernels/__pycache__")
    shutil.rmtree(cache)
    cache.touch()
    assert environment.run(TRAINING_PROGRAM + EXTRAS_PROGRAM, XDG_CACHE_HOME=str(tmp_path / "caches")) == expected
    assert environment.run(EXAMPLES_PROGRAM, XDG_CACHE_HOME=str(tmp_path / "caches")) > 0
    assert [*(tmp_path / "caches" / "beadbox").rglob("*.nbc")]
