"""What ``make test`` does for the browser tests on a machine that lacks something, with stand-ins for the machine."""

import os
import subprocess
from pathlib import Path

import pytest

from menace_site.servers import BASE_DIR

CHROMIUM, DRIVER, BOTH = "chromium", "libatomic1", "chromium libatomic1"


class Machine:
    """Stand-ins on the path that write down what they are asked for; there is neither Chromium nor a driver."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked = folder / "asked"
        self.has("id", "echo 0")
        self.has("apt-get", f'echo "$*" >> {self.asked}')

    def has(self, program: str, does: str = "exit 0") -> None:
        (self.folder / program).write_text(f"#!/bin/sh\n{does}\n")
        (self.folder / program).chmod(0o755)

    def make(self, target: str, **environment: str) -> subprocess.CompletedProcess[str]:
        programs = {"CHROMIUM": self.folder / "chromium", "DRIVER": self.folder / "driver"}
        names = {**programs, "DEV": "", "SERVERS": "", "TOOLS": ""}
        inherited = {name: value for name, value in os.environ.items() if name not in {"CI", "MAKEFLAGS", "MAKELEVEL"}}
        return subprocess.run(
            ["make", target, *(f"{name}={value}" for name, value in names.items())],
            cwd=BASE_DIR,
            env={**inherited, "PATH": f"{self.folder}:{os.environ['PATH']}", **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def lacks(self, missing: str) -> None:
        for package, program in ((CHROMIUM, "chromium"), (DRIVER, "driver")):
            if package not in missing.split():
                self.has(program)


@pytest.fixture
def bare(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("missing", [CHROMIUM, DRIVER, BOTH])
def test_what_is_missing_for_a_browser_is_installed_and_nothing_else(missing: str, bare: Machine) -> None:
    bare.lacks(missing)
    done = bare.make("browser")
    assert (done.returncode, done.stdout) == (0, f"Installing for the browser tests: {missing}\n")
    assert bare.asked.read_text().splitlines() == ["update", f"install --yes --no-install-recommends {missing}"]


def test_with_both_nothing_is_installed(bare: Machine) -> None:
    bare.lacks("")
    done = bare.make("browser")
    assert (done.returncode, done.stdout, bare.asked.exists()) == (0, "", False)


def test_whoever_may_not_install_is_not_asked_to(bare: Machine) -> None:
    bare.has("id", "echo 1000")
    assert bare.make("browser").returncode == 0
    assert not bare.asked.exists()


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [(CHROMIUM, "there is no Chromium. Install it"), (DRIVER, "Playwright's driver does not start. On Debian, apt in")],
)
@pytest.mark.parametrize("ci", ["", "true"])
def test_what_cannot_be_installed_is_said_in_a_sentence_and_fails_in_ci(
    ci: str, missing: str, sentence: str, bare: Machine
) -> None:
    bare.lacks(missing)
    bare.has("apt-get", "exit 1")
    done = bare.make("test-browser", CI=ci)
    assert f"The browser tests did not run: {sentence}" in done.stdout
    assert (done.returncode == 0) is (ci == "")
