"""Prepares the files of a new site once, for all tests that start a site.

The first jobs of a new site take minutes of processor time. ``tests/conftest.py`` sets ``BEADBOX_PREPARED`` to the
folder with the prepared files. Benchmarks that run by hand begin with an empty site.
"""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from menace_site.local import servers
from tests.environment import shell_environment

COPIED = ("postgres", "static", "secret_key")
"""Files and folders copied from the prepared site. A new site creates all other files itself."""


def prepare(var: Path) -> None:
    """Fill a new site's folder. The first caller prepares the files; the others wait for them and copy them."""
    folder = os.environ.get("BEADBOX_PREPARED")
    if not folder:
        return
    finished, unfinished = Path(folder) / "made", Path(folder) / "making"
    unfinished.mkdir(parents=True, exist_ok=True)
    with (Path(folder) / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists():
            prepare_here(unfinished)
            unfinished.rename(finished)
    var.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", *(finished / name for name in COPIED), var], check=True)


def prepare_here(var: Path, **urls: str) -> None:
    """Run this program for the new site in the folder ``var``, or for the site of ``DATABASE_URL`` in ``urls``.

    The site of ``DATABASE_URL`` must already be set up.
    """
    env = {**shell_environment(), **urls, "BEADBOX_VAR": str(var), "BEADBOX_LOCAL": "1"}
    env["DJANGO_SETTINGS_MODULE"] = "menace_site.settings"
    command = [sys.executable, "-m", "tests.bench.prepared"]
    subprocess.run(command, cwd=servers.BASE_DIR, env=env, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Train the built-in machines of the site in the environment, and mark longer jobs as finished."""
    import django
    from django.core.management import call_command

    is_private = not os.environ.get("DATABASE_URL")
    with servers.private_servers(servers.var_dir(), database=is_private, redis=is_private):
        django.setup()
        from django.utils import timezone

        from beadbox.experiments.experiment import Result
        from learning.models import ExperimentRun, JobStatus, TrainingRun
        from learning.services.house import house_tournament_ensure
        from learning.workers.pairings import tournament_end
        from learning.workers.runs import RUNS, run_execute

        if is_private:
            call_command("set_up")
        while (tournament := house_tournament_ensure()) is None:
            for number in TrainingRun.objects.filter(finished_at=None).values_list("pk", flat=True):
                claimed = RUNS.claim(number)
                assert claimed is not None, "another worker has the run"
                run_execute(claimed)
        tournament_end(tournament, JobStatus.FINISHED)
        nothing = Result(figures=(), charts=()).to_json()
        ExperimentRun.objects.update(status=JobStatus.FINISHED, progress=1, result=nothing, finished_at=timezone.now())


if __name__ == "__main__":
    main()
