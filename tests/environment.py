"""The environment of a person's shell: without what the tests, and a ``make`` that runs them, have put into it."""

import os

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
