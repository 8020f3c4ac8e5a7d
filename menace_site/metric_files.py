"""The figures of all processes of a machine, each in files of its own, added up when somebody asks.

That is prometheus-client's multiprocess mode, with two things added to it. A process is known by its number and by when
it began, so that one which is given a dead one's number does not go on with its gauges. And what dead processes have
counted is kept in one file for all of them: theirs are cleared, and no sum ever falls.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from prometheus_client import values
from prometheus_client.metrics_core import Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

DEAD = "dead"
SUMMED = ("counter", "histogram")
"""Kinds of metrics whose figures stay when their process is gone; a gauge says how something is now."""


def metric_files_open(folder: Path) -> None:
    """Keep figures in this folder from now on. To be called before the first metric is made."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    values.ValueClass = values.MultiProcessValue(lambda: _own_name(os.getpid()))


def metric_files_read() -> Iterable[Metric]:
    """The figures of all processes that write into the folder, and of those that did; clears what the dead have left.

    One reader at a time: while files are put together a figure would be in two of them, or in none.
    """
    folder = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])
    with (folder / "reader.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for kind in SUMMED:
            _bury(folder, kind)
        for file in _left(folder, "gauge"):
            file.unlink()
        return list(MultiProcessCollector.merge([str(file) for file in sorted(folder.glob("*.db"))]))


def _bury(folder: Path, kind: str) -> None:
    """Add what dead processes have counted to the file for all of them, and delete theirs."""
    left = _left(folder, kind)
    if not left:
        return
    kept, new = folder / f"{kind}_{DEAD}.db", folder / f"{kind}_{DEAD}.new"
    sums: dict[str, float] = {}
    for file in [*left, *([kept] if kept.exists() else [])]:
        for key, value, *_ in MmapedDict.read_all_values_from_file(str(file)):
            sums[key] = sums.get(key, 0.0) + value
    new.unlink(missing_ok=True)
    written = MmapedDict(str(new))
    for key, value in sums.items():
        written.write_value(key, value, 0.0)
    written.close()
    new.replace(kept)
    for file in left:
        file.unlink()


def _left(folder: Path, kind: str) -> list[Path]:
    """Files of a kind whose process is gone."""
    found = [(file, file.stem.rpartition("_")[2]) for file in folder.glob(f"{kind}_*.db")]
    return [file for file, name in found if name != DEAD and name != _name(int(name.partition("-")[0]))]


@cache
def _own_name(pid: int) -> str:
    """The name of this process, whose number is given as it is another one after a fork."""
    return _name(pid) or str(pid)


def _name(pid: int) -> str | None:
    """What a process that lives is called: its number and, where the system tells, when it began."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        if Path("/proc/self/stat").exists():
            return None
    else:
        state, *more = told.rpartition(")")[2].split()
        return None if state == "Z" else f"{pid}-{more[18]}"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return str(pid)
