"""The environment of a shell, without the variables that tests and ``make`` have set, and the path of the browser."""

import os
import shutil

TEST_VARIABLES = {
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
"""Variables that make a program use the settings and servers of the tests, or make ``make`` print its folder."""

CHROMIUM_ARGS = [
    "--no-sandbox",  # root has no sandbox
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",  # the tests need no network, which may be closed
    "--disable-component-update",
    "--disable-sync",
]


def shell_environment() -> dict[str, str]:
    """Return the environment of a program that is started from a shell, and not by a test."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in TEST_VARIABLES and not name.startswith("PYTEST_")
    }


def chromium() -> str | None:
    """Return the path of the browser in ``CHROMIUM``, else of headless Chromium; ``None`` without a browser."""
    return shutil.which(os.environ.get("CHROMIUM") or "chromium-headless-shell")
