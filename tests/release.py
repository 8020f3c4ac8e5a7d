"""Builds a release of the last commit in ``var/release``: source archive, wheel and notes; ``make release`` runs it.

The program publishes nothing. It fails if files have changed since the commit, if a second build differs from the first
in a byte, or if the wheel, the site and the change log do not have the version of ``beadbox.__version__``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from beadbox import __version__

ROOT = Path(__file__).resolve().parent.parent
CHANGE_LOG = ROOT / "docs" / "CHANGELOG.md"
RELEASE_SECTION = re.compile(
    r"^## (?P<version>\S+) \(\d{4}-\d\d-\d\d\)\n(?P<notes>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL
)
"""A release in the change log: a heading with version and date, and its notes."""
FOOTER = re.compile(r"<span>Beadbox ([^<]+)</span>")


class ReleaseError(Exception):
    """The commit cannot be released; the message says why."""


def build(tree: Path, folder: Path, commit_time_s: int) -> list[Path]:
    """Build the source archive and the wheel of a tree. Their files get the time of the commit."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", folder],
        cwd=tree,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(commit_time_s)},
        check=True,
        capture_output=True,
    )
    return sorted(folder.iterdir())


def build_twice(tree: Path, folder: Path, commit_time_s: int) -> list[Path]:
    """Build a tree, then build the source archive of this build again. Return the files of the first build.

    Raises:
        ReleaseError: the second build differs.
    """
    files = build(tree, folder / "first", commit_time_s)
    with tarfile.open(next(file for file in files if file.name.endswith(".tar.gz"))) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    second_files = build(source, folder / "second", commit_time_s)
    contents = ({file.name: file.read_bytes() for file in build_files} for build_files in (files, second_files))
    first, second = contents
    if differing := sorted(name for name in first | second if first.get(name) != second.get(name)):
        raise ReleaseError(f"The second build differs from the first: {', '.join(differing)}.")
    return files


def latest_release(change_log: str) -> re.Match[str]:
    """Return the first release of the change log.

    Raises:
        ReleaseError: there is no heading with a version and a date.
    """
    release = RELEASE_SECTION.search(change_log)
    if release is None:
        raise ReleaseError('The change log has no heading such as "## 0.9.0 (2026-11-27)".')
    return release


def site_versions(var: Path) -> dict[str, str]:
    """Return the versions that the site reports. The site writes its files into the folder ``var``.

    No server has to run: without servers the health page names the silent parts, and still has a version.
    """
    os.environ |= {"BEADBOX_TEST_VAR": str(var), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    import django
    from django.test import Client

    django.setup()
    client = Client(SERVER_NAME="localhost")
    footer = FOOTER.search(client.get("/about").content.decode())
    return {
        "/api/health": client.get("/api/health").json().get("version", "none"),
        "the footer": footer[1] if footer else "none",
    }


def check_versions(versions: dict[str, str]) -> None:
    """Check that every place has the version of the library.

    Raises:
        ReleaseError: a place has another version, or none.
    """
    if others := [f"{place} has {version}" for place, version in versions.items() if version != __version__]:
        raise ReleaseError(f"beadbox.__version__ is {__version__}, but {', '.join(others)}.")


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True).stdout


def release(target: Path) -> list[Path]:
    """Build the release of the last commit in a folder, and return its files.

    Raises:
        ReleaseError: the commit cannot be released.
    """
    if changed := git("status", "--porcelain", "--untracked-files=no").decode():
        raise ReleaseError(f"Files have changed since the last commit:\n{changed.rstrip()}")
    latest = latest_release(CHANGE_LOG.read_text())
    with TemporaryDirectory() as folder:
        check_versions({"docs/CHANGELOG.md": latest["version"], **site_versions(Path(folder))})
        tree = Path(folder) / "tree"
        with tarfile.open(fileobj=BytesIO(git("archive", "HEAD"))) as archive:
            archive.extractall(tree, filter="data")
        files = build_twice(tree, Path(folder), int(git("log", "-1", "--format=%ct")))
        check_versions({file.name: file.name.removesuffix(".tar.gz").split("-")[1] for file in files})
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        notes = target / "notes.md"
        notes.write_text(f"# Beadbox {__version__}\n\n{latest['notes'].strip()}\n")
        return [notes, *(Path(shutil.copy(file, target)) for file in files)]


if __name__ == "__main__":
    try:
        for release_file in release(ROOT / "var" / "release"):
            sys.stdout.write(f"{release_file.relative_to(ROOT)}\n")
    except ReleaseError as error:
        sys.exit(f"make release: {error}")
