"""Every program of the repository that no other test runs, in its smallest form, to keep it working."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from beadbox import __version__
from menace_site.local.servers import BASE_DIR
from tests.bench.__main__ import ALONE, KNOWN
from tests.conftest import CannotTry
from tests.environment import shell_environment

pytestmark = pytest.mark.soak

IS_ROOT = os.geteuid() == 0


def run(*words: str, cwd: Path = BASE_DIR, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env={**shell_environment(), "SMALL": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_host_programs_pass(cannot_try: CannotTry) -> None:
    """The programs run one after the other, because their networks have the same names."""
    run_as_root(cannot_try, "-m", "tests.hosts")
    run_as_root(cannot_try, "-m", "tests.bench.hosts")
    run_as_root(cannot_try, "-m", "tests.hosts.school")


@pytest.mark.parametrize(
    "names",
    [tuple(name for name in KNOWN if name not in ALONE), *((name,) for name in ALONE)],
    ids=lambda names: names[0] if len(names) == 1 else "together",
)
def test_benchmark_program_passes(names: tuple[str, ...]) -> None:
    done = run("-m", "tests.bench", *names, BEADBOX_LOCAL="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f"{name}...\n" in done.stderr for name in names)


def test_a_release_is_built_from_the_last_commit(tmp_path: Path) -> None:
    clone = tmp_path / "beadbox"
    subprocess.run(["git", "clone", "--quiet", BASE_DIR, clone], check=True)
    done = run("-m", "tests.release", cwd=clone)
    assert done.returncode == 0, done.stdout + done.stderr
    notes, *built = (clone / name for name in done.stdout.splitlines())
    assert notes.read_text().startswith(f"# Beadbox {__version__}\n\n### ")
    assert [file.suffix for file in built] == [".whl", ".gz"]
    (clone / "README.md").write_text("Changed")
    refused = run("-m", "tests.release", cwd=clone)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.endswith("make release: Files have changed since the last commit:\n M README.md\n")


def test_failed_benchmark_is_printed_and_the_others_still_run() -> None:
    done = run(
        "-m",
        "tests.bench",
        "match-page",
        "exact-strength",
        BEADBOX_LOCAL="1",
        DATABASE_URL="postgres://app@127.0.0.1:1/app",
    )
    assert done.returncode == 1, done.stderr
    assert "FAILED: " in done.stdout
    assert "exact strength of a MENACE" in done.stdout


def test_faults_neither_lose_nor_double_moves(cannot_try: CannotTry) -> None:
    done = run("-m", "tests.site.faults")
    assert done.returncode == 0, done.stdout + done.stderr
    if not IS_ROOT:
        assert done.stdout.splitlines()[-1].startswith("Not tried: the link down, ")
        cannot_try("the faults of link, disk and clock, as only root may")


def test_archiving_program_passes(cannot_try: CannotTry) -> None:
    run_as_root(cannot_try, "-m", "tests.archiving")


def test_alert_program_passes(cannot_try: CannotTry) -> None:
    """The rules are read, and one alert of a process and one of a request fire; ``make alerts`` tries all of them."""
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        cannot_try("the alert rules, as there is no Prometheus")
        return
    done = run("-m", "pytest", "-n", "0", "tests/site/alerts.py", "-k", "promtool or clerk_hangs or request_breaks")
    assert done.returncode == 0, done.stdout + done.stderr


def test_minimal_debian_installs_a_command_and_the_library(cannot_try: CannotTry) -> None:
    done = subprocess.run(
        ["tests/bare.sh"],
        cwd=BASE_DIR,
        env={**os.environ, "BARE": "help library"},
        capture_output=True,
        text=True,
        check=False,
    )
    refusal = re.search(r"^make bare: (.*)$", done.stderr, re.MULTILINE)
    if done.returncode and refusal and not done.stdout:
        cannot_try(f"a minimal Debian: {refusal[1]}")
        return
    assert done.returncode == 0, done.stdout + done.stderr
    assert "make bare: make help passed.\n" in done.stdout
    assert done.stdout.endswith("make bare: the library passed.\n")


@pytest.mark.parametrize(
    "program", ["tests.site.faults", "tests.hosts", "tests.hosts.school", "tests.bench.hosts", "tests.archiving"]
)
def test_programs_for_root_say_so_in_their_last_line(program: str) -> None:
    code = f"import os, runpy; os.geteuid = lambda: 1000; runpy.run_module({program!r}, run_name='__main__')"
    done = run("-c", code, SMALL="", BEADBOX_VAR="/nowhere", DJANGO_SETTINGS_MODULE="tests.settings")
    assert done.returncode == 1, done.stderr
    assert "nly root may" in done.stdout.splitlines()[-1]


def run_as_root(cannot_try: CannotTry, *words: str) -> None:
    """Run a program to its end. If this machine cannot, its last line must give the reason."""
    done = run(*words)
    lines = done.stdout.splitlines()
    if not IS_ROOT and done.returncode == 1 and "nly root may" in lines[-1]:
        cannot_try(f"{words[-1]}: {lines[-1]}")
        return
    assert done.returncode == 0, done.stdout + done.stderr
