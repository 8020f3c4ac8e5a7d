"""The environment of a person's shell, without variables that tests and ``make`` have set, and the browser's path."""

import os
import shutil

OURS = {
    "BEADBOX_LOCAL",
    "BEADBOX_TEST_VAR",
    "BEADBOX_VAR",
    "DATABASE_URL",
    "DJANGO_SETTINGS_MODULE",
    "MAKEFLAGS",
    "MAKELEVEL",
    "METRICS_DIR",
    "REDIS_PREFIX",
    "REDIS_URL",
}
"""Variables that lead a program to the tests' settings and servers, or make ``make`` print its folder."""


def of_a_shell() -> dict[str, str]:
    """Return the environment of a program started by a person."""
    return {name: value for name, value in os.environ.items() if name not in OURS and not name.startswith("PYTEST_")}


def chromium() -> str | None:
    """Return the path of the browser in ``CHROMIUM``, else of headless Chromium; ``None`` if there is none."""
    return shutil.which(os.environ.get("CHROMIUM") or "chromium-headless-shell")
