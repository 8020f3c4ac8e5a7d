"""The environment of a person's shell, without what tests and ``make`` have put into it, and its browser."""

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
"""Variables that would lead a program to the settings and servers of the tests, or have ``make`` print its folder."""


def of_a_shell() -> dict[str, str]:
    """The variables that a program inherits which a person starts."""
    return {name: value for name, value in os.environ.items() if name not in OURS and not name.startswith("PYTEST_")}


def chromium() -> str | None:
    """Return the path of the browser that ``CHROMIUM`` names, else of Chromium without windows; ``None`` without it."""
    return shutil.which(os.environ.get("CHROMIUM") or "chromium-headless-shell")
