"""A new site in an empty folder: it answers before its kernels are compiled, on every supported Python."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest

from menace_site.local import servers
from tests.bench.prepared import prepare
from tests.conftest import CannotTry
from tests.site.test_supervisor import Run, read
from tests.waiting import HANG_S, wait_until

PYTHONS = ("3.11", "3.12", "3.13")
OWN_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def start_run_of_site(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    runs: list[Run] = []

    def start_run(**environment: Any) -> Run:
        runs.append(Run(tmp_path / "var", NUMBA_CACHE_DIR=str(tmp_path / "numba"), **environment))
        runs[-1].wait_until_serving()
        return runs[-1]

    yield start_run
    for run in runs:
        run.process.terminate()
        run.wait_for_end()


class Api:
    """An API client of a run, as one guest."""

    def __init__(self, run: Run) -> None:
        self.url = f"http://localhost:{run.port}"
        self.cookies = CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def __call__(self, path: str, body: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Return status and JSON of an answer; retry while the fallback responder answers for a starting process."""
        answers: list[tuple[int, dict[str, Any]]] = []

        def is_answered() -> bool:
            answers.append(self._ask(path, body))
            return answers[-1][1].get("code") != "unavailable"

        assert wait_until(is_answered), answers[-1]
        return answers[-1]

    def _ask(self, path: str, body: dict[str, Any] | None) -> tuple[int, dict[str, Any]]:
        headers = {"Content-Type": "application/json"}
        token = next((cookie.value for cookie in self.cookies if cookie.name == "csrftoken"), None)
        headers |= {"X-CSRFToken": token} if token else {}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode() if body else None, headers)
        try:
            with self.opener.open(request, timeout=HANG_S) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


def manage(run: Run, *words: str, **environment: str) -> str:
    """Run a management command in the folder of a run, by its Python, and return the output."""
    process = subprocess.run(
        [run.python, "manage.py", *words],
        cwd=servers.BASE_DIR,
        env={**run.environment, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def play(run: Run) -> None:
    """Begin a match with a machine, and play a move, which the machine answers."""
    api = Api(run)
    status, room = api("/api/rooms", {"game": "noughts-and-crosses", "opponent": "menace"})
    assert status == 201, room
    status, state = api(f"/api/rooms/{room['code']}/move", {"move": "5", "ply": 0})
    assert (status, state.get("ply")) == (200, 2), state


def web_processes(run: Run) -> list[str]:
    web = run.children()["web"]
    return read(Path(f"/proc/{web}/task/{web}/children")).split()


def raise_priority(run: Run) -> None:
    """Raise the compiler to normal priority, so that it gets its share of a busy machine. Only root may do so."""
    for pid in run.processes():
        with contextlib.suppress(PermissionError, ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, int(pid), 0)


@pytest.mark.soak
def test_site_answers_before_its_kernels_are_compiled(
    start_run_of_site: Callable[..., Run], record_property: Callable[[str, object], None]
) -> None:
    """Running processes take over the compiled kernels without a restart."""
    run = start_run_of_site()
    api, health = Api(run), "/api/ai/health"
    status, response = api(health)
    assert (status, response["code"]) == (503, "busy"), "the engine is compiled already"
    play(run)
    assert "games" in manage(run, "train", "menace-first", "--games=1000", BEADBOX_KERNELS="ready")
    assert api(health)[0] == 503, "the engine was compiled faster than the training"
    before = web_processes(run)
    assert len(before) > 1
    raise_priority(run)
    assert wait_until(lambda: api(health)[0] == 200), read(run.output)
    assert wait_until(lambda: "Kernels: ready" in read(run.output)), read(run.output)
    assert web_processes(run) == before, "the processes changed to the compiled kernels without a restart"
    assert "boxes add up" in manage(run, "audit")
    record_property("tried", f"Python {OWN_PYTHON}")


def find_python(version: str) -> str | None:
    """Return the path of a working Python of this version, from PATH or pyenv."""
    pyenv_pythons = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for python in [shutil.which(f"python{version}"), *map(str, pyenv_pythons)]:
        script = "import sys; print('{}.{}'.format(*sys.version_info))"
        if python is None:
            continue
        process = subprocess.run([python, "-c", script], capture_output=True, text=True, check=False)
        if process.stdout.strip() == version:
            return python
    return None


@pytest.fixture
def prepare_python(tmp_path: Path) -> Callable[[str], str | None]:
    """Return a function that finds a Python and gives it the site's packages, in a new environment."""

    def find(version: str) -> str | None:
        python = find_python(version)
        if python is None:
            return None
        folder = tmp_path / "environment"
        own = str(folder / "bin" / "python")
        subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
        uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--require-hashes", "--system-certs"]
        for more in (["-r", "requirements.txt"], ["--no-deps", "-r", "menace_site/servers.txt"]):
            subprocess.run([*uv, "--python", own, *more], cwd=servers.BASE_DIR, check=True)
        return own

    return find


def test_oldest_supported_python_is_tested() -> None:
    project = tomllib.loads((servers.BASE_DIR / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={PYTHONS[0]}"


@pytest.mark.soak
@pytest.mark.parametrize("version", [version for version in PYTHONS if version != OWN_PYTHON])
def test_every_other_python_starts_plays_trains_and_audits(
    version: str,
    start_run_of_site: Callable[..., Run],
    prepare_python: Callable[[str], str | None],
    tmp_path: Path,
    cannot_try: CannotTry,
    record_property: Callable[[str, object], None],
) -> None:
    python = prepare_python(version)
    if python is None:
        cannot_try(f"Python {version}, which it does not have")
        return
    prepare(tmp_path / "var")
    run = start_run_of_site(python=python, BEADBOX_KERNELS="plain")
    play(run)
    # Also by numba: a small kernel is compiled for it.
    manage(run, "train", "him", "--games=1", BEADBOX_KERNELS="")
    assert "boxes add up" in manage(run, "audit")
    record_property("tried", f"Python {version}")
