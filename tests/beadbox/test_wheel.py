"""The wheel of the library: its contents, its requirements, and the packages that an import loads."""

import subprocess
import sys
from email.parser import BytesParser
from pathlib import Path
from zipfile import ZipFile

import pytest

from beadbox import __version__
from tests import release
from tests.release import ROOT, ReleaseError, build_twice, check_versions, latest_release

MAX_WHEEL_BYTES = 1_500_000
SUFFIXES = {".py", ".json", ".gz", ".ttf", ".md", ".typed", ""}
"""File name suffixes of the library; the empty one is that of the fonts' licence."""
LATE_PACKAGES = {"jsonschema", "llvmlite", "networkx", "numba", "openskill", "pydantic", "pydantic_core", "reportlab"}
"""Packages that are imported only when they are needed."""


@pytest.fixture(scope="module")
def distribution_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Build the source archive and the wheel of the library, and return both files."""
    return build_twice(ROOT, tmp_path_factory.mktemp("release"), 1_700_000_000)


@pytest.fixture(scope="module")
def wheel(distribution_files: list[Path]) -> ZipFile:
    return ZipFile(next(file for file in distribution_files if file.suffix == ".whl"))


def test_two_builds_are_equal_and_small(distribution_files: list[Path]) -> None:
    names = [f"beadbox-{__version__}-py3-none-any.whl", f"beadbox-{__version__}.tar.gz"]
    assert [file.name for file in distribution_files] == names
    assert all(file.stat().st_size <= MAX_WHEEL_BYTES for file in distribution_files)


def test_the_wheel_holds_the_library_alone(wheel: ZipFile) -> None:
    names = {name for name in wheel.namelist() if not name.startswith(f"beadbox-{__version__}.dist-info/")}
    library = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "beadbox").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert names == library
    assert {Path(name).suffix for name in names} == SUFFIXES
    assert {"beadbox/py.typed", "beadbox/printing/fonts/NotoSans-Bold.ttf"} <= names
    assert not any(b"import django" in wheel.read(name) for name in names if name.endswith(".py"))


def test_the_wheel_names_its_requirements_and_licences(wheel: ZipFile) -> None:
    metadata = BytesParser().parsebytes(wheel.read(f"beadbox-{__version__}.dist-info/METADATA"))
    assert str(metadata.get_payload()).startswith("# Beadbox\n")
    assert "](" not in str(metadata.get_payload()), "a link would lead nowhere on the page of a package"
    requirements = metadata.get_all("Requires-Dist", [])
    assert metadata["Requires-Python"] == ">=3.11"
    assert all(">=" in requirement and "==" not in requirement.partition(";")[0] for requirement in requirements)
    assert {requirement.partition(">")[0] for requirement in requirements if "extra" not in requirement} == {
        "numpy",
        "pydantic",
    }
    extras = {
        requirement.rpartition("== ")[2].strip("'"): requirement.partition(">")[0]
        for requirement in requirements
        if "extra" in requirement
    }
    assert extras == {"fast": "numba", "print": "reportlab", "tournament": "openskill"}
    assert any(requirement.startswith("networkx") for requirement in requirements)
    assert len(metadata.get_all("License-File", [])) == 2
    licences = [wheel.read(name) for name in wheel.namelist() if name.endswith("LICENSE") and "dist-info" in name]
    assert any(b"MIT License" in licence for licence in licences)
    assert any(b"SIL OPEN FONT LICENSE" in licence for licence in licences)


IMPORT_PROGRAM = """
import sys
import beadbox
for name in ("", *sorted({*dir(beadbox), *getattr(beadbox, "__all__", [])})):
    if name:
        getattr(beadbox, name)
    print(name, *sorted({module.partition(".")[0] for module in sys.modules}))
"""


def test_importing_the_library_loads_no_late_package() -> None:
    process = subprocess.run(
        [sys.executable, "-c", IMPORT_PROGRAM], cwd=ROOT, check=True, capture_output=True, text=True, env={"PATH": ""}
    )
    loaded = {line.partition(" ")[0]: {*line.split()[1:]} & LATE_PACKAGES for line in process.stdout.splitlines()}
    assert "__version__" in loaded
    assert {name: modules for name, modules in loaded.items() if modules} == {}


PROGRAM_WITHOUT_POSIX = """
import asyncio, importlib, pkgutil, sys
import beadbox
sys.modules |= dict.fromkeys(("fcntl", "grp", "pwd", "resource", "termios"))
for module in pkgutil.walk_packages(beadbox.__path__, "beadbox."):
    # The first module reads the platform, and the second is a program.
    if module.name not in ("beadbox.kernels.compiled", "beadbox.__main__"):
        importlib.import_module(module.name)
"""


def test_the_library_needs_no_module_of_posix_alone() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM_WITHOUT_POSIX], cwd=ROOT, check=True)


def test_every_place_has_the_version_of_the_library() -> None:
    check_versions({"docs/CHANGELOG.md": latest_release(release.CHANGE_LOG.read_text())["version"]})
    with pytest.raises(ReleaseError, match=r"but the footer has 0\.8\.0"):
        check_versions({"/api/health": __version__, "the footer": "0.8.0"})


def test_notes_end_at_the_next_heading() -> None:
    text = "# Changes\n\n## 1.2.0 (2026-01-31)\n\n### Play\n\n* New.\n\n## Earlier changes\n\n* Old.\n"
    assert latest_release(text)["notes"] == "\n### Play\n\n* New.\n\n"
    with pytest.raises(ReleaseError, match="no heading"):
        latest_release("# Changes\n\n## Unreleased\n")


def test_a_build_that_differs_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_numbers = iter(range(2))
    original_build = release.build

    def build(tree: Path, folder: Path, commit_time_s: int) -> list[Path]:
        return original_build(tree, folder, commit_time_s + 2 * next(build_numbers))

    monkeypatch.setattr(release, "build", build)
    with pytest.raises(ReleaseError, match=r"differs from the first: .*\.tar\.gz"):
        build_twice(ROOT, tmp_path, 1_700_000_000)
