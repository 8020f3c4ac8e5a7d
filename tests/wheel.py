"""The library as a wheel, built once in a run, and environments that have it installed."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import UserProvidedCacheLocator

from tests.release import ROOT, build


def uv(*options: str, **variables: str) -> None:
    """Run the installer of the tests."""
    command = [Path(sys.executable).with_name("uv"), *options, "--quiet"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, check=True)


def build_once(name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder. The first worker of a run fills the folder, and the other workers wait."""
    var = Path(os.environ["BEADBOX_VAR"])
    with (var / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (var / f"{name}.made").exists():
            make(var / name)
            (var / f"{name}.made").touch()
    return var / name


@cache
def wheel() -> Path:
    """Return the wheel of the library in this working tree."""
    (file,) = build_once("wheel", lambda folder: build(ROOT, folder, 0)).glob("*.whl")
    return file


class Environment:
    """A virtual environment, empty until the wheel is installed in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"

    def make(self, python: str = sys.executable) -> Environment:
        """Make the folder of the environment, without packages."""
        uv("venv", "--python", python, str(self.folder))
        return self

    def install(self, *extras: str, resolution: str = "highest") -> None:
        """Install the packages that the project requires, then the wheel without any further package."""
        options = ("--system-certs", "--only-binary", ":all:", "--resolution", resolution)
        extra_options = [word for extra in extras for word in ("--extra", extra)]
        environment_variable = {"VIRTUAL_ENV": str(self.folder)}
        uv("pip", "install", *options, "--requirements", "pyproject.toml", *extra_options, **environment_variable)
        uv(
            "pip",
            "install",
            "--no-index",
            f"{wheel()}[{','.join(extras)}]" if extras else str(wheel()),
            **environment_variable,
        )

    def copy_machine_code(self) -> None:
        """Copy the kernels that the library of this tree has compiled.

        The name of a cache folder contains the checksum of its sources. In the cache folder, numba names a subfolder by
        the path of the source, and checks that Python, numba, processor and source are the same.
        """
        (installed,) = self.folder.glob("lib/python*/site-packages/beadbox")
        for compiled in Path(os.environ["NUMBA_CACHE_DIR"]).glob("beadbox.*-*/"):
            *parents, module = compiled.name.partition("-")[0].split(".")[1:]
            source = installed.joinpath(*parents, f"{module}.py")
            subfolder = UserProvidedCacheLocator.get_suitable_cache_subpath(str(source))
            own_subfolder = UserProvidedCacheLocator.get_suitable_cache_subpath(
                str(ROOT / source.relative_to(installed.parent))
            )
            if (compiled / own_subfolder).exists():
                target = installed / "kernels" / "__pycache__" / compiled.name / subfolder
                shutil.copytree(compiled / own_subfolder, target, dirs_exist_ok=True)

    def run(self, program: str, **variables: str) -> Any:
        process = subprocess.run(
            [self.python, "-I", "-c", program],
            cwd=self.folder,
            env={"PATH": "", **variables},
            check=True,
            stdout=subprocess.PIPE,
        )
        return json.loads(process.stdout)


@cache
def environment_with(*extras: str) -> Environment:
    """Return an environment that all workers of a run share: the wheel with these extras and nothing else."""

    def make(folder: Path) -> None:
        environment = Environment(folder).make()
        environment.install(*extras)
        if "fast" in extras:
            environment.copy_machine_code()

    return Environment(build_once("-".join(["environment", *extras]), make))


@cache
def packages(*names: str) -> Path:
    """Return a folder with packages, for programs that need more packages than their environment has."""
    options = ("pip", "install", "--system-certs", "--only-binary", ":all:", "--no-deps")
    return build_once("-".join(["packages", *names]), lambda folder: uv(*options, "--target", str(folder), *names))
