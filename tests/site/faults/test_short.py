"""The short half of ``make faults``."""

import os
import subprocess
import sys

import pytest

from menace_site.servers import BASE_DIR

pytestmark = pytest.mark.slow
OURS = {"DATABASE_URL", "REDIS_URL", "REDIS_PREFIX", "BEADBOX_VAR", "BEADBOX_TEST_VAR", "DJANGO_SETTINGS_MODULE"}
"""What would lead the site to the settings and servers of the tests."""


def test_nothing_is_lost_or_doubled_on_a_site_that_is_broken_while_people_play() -> None:
    env = {name: value for name, value in os.environ.items() if name not in OURS}
    command = [sys.executable, "-m", "tests.site.faults", "--short"]
    done = subprocess.run(command, cwd=BASE_DIR, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("in short")
