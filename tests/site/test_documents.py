"""The documents as a site, their examples, and the notebook."""

from __future__ import annotations

import doctest
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import ROOT

LIBRARY = ROOT / "docs" / "library"


@pytest.mark.parametrize(("document", "n_examples"), [(LIBRARY / "tutorial.md", 10), (ROOT / "beadbox/README.md", 4)])
def test_examples_in_documents_pass(document: Path, n_examples: int) -> None:
    results = doctest.testfile(str(document), module_relative=False)
    assert results.attempted > n_examples
    assert results.failed == 0


def test_reference_has_every_public_name() -> None:
    import beadbox

    text = (LIBRARY / "reference.md").read_text()
    missing = [name for name in beadbox.__all__ if name != "__version__" and f":: {name}\n" not in text]
    assert missing == []


@pytest.mark.soak
def test_documentation_site_builds_without_warnings(tmp_path: Path) -> None:
    sphinx = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "-b", "html"]
    built = subprocess.run([*sphinx, "docs", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, "")
    assert "exploitability" in (tmp_path / "library" / "reference.html").read_text()


@pytest.mark.soak
def test_notebook_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "jupyter", "execute", str(LIBRARY / "notebook.ipynb")]
    output_option = f"--output={tmp_path / 'run.ipynb'}"
    env = os.environ | {"PYTHONPATH": str(ROOT), "JUPYTER_PLATFORM_DIRS": "1"}
    run = subprocess.run([*command, output_option], env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    outputs = [
        one for cell in json.loads((tmp_path / "run.ipynb").read_text())["cells"] for one in cell.get("outputs", [])
    ]
    assert any("image/png" in one.get("data", {}) for one in outputs)
    assert "Q-learning" in "".join(line for one in outputs for line in one.get("text", []))
