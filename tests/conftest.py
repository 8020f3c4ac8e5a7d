"""A private PostgreSQL and Valkey for the run, started once, whatever number of workers share it."""

import contextlib
import os
import shutil
from pathlib import Path

import pytest

from menace_site import servers

_running = contextlib.ExitStack()


def pytest_configure(config: pytest.Config) -> None:
    """Start what no URL names, in the controlling process only: xdist's workers find it at the same place."""
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    var = Path(os.environ["BEADBOX_VAR"])
    _running.callback(shutil.rmtree, var, ignore_errors=True)
    _running.enter_context(
        servers.throwaway_servers(
            var, database=not os.environ.get("DATABASE_URL"), redis=not os.environ.get("REDIS_URL")
        )
    )


def pytest_unconfigure(config: pytest.Config) -> None:
    _running.close()
