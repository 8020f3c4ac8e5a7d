"""The figures of all processes of a machine, each in files of its own, added up when somebody asks.

That is prometheus-client's multiprocess mode, with three things added to it. A process is known by its number and by
when it began, so that one which is given a dead one's number does not go on with its gauges. What dead processes have
counted is kept in one file for all of them: theirs are cleared, and no sum ever falls. And no file is written to before
the disk has room for it: it is mapped, and who writes where there is none is killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from prometheus_client import values
from prometheus_client.metrics_core import Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

logger = logging.getLogger(__name__)

FILE_BYTES = 1 << 16
"""What a file begins with; it doubles."""
FIGURE_BYTES = 28
"""What a figure takes at most, besides its name."""
TRY_AGAIN_S = 10.0
"""After so long it is looked again whether there is room for what had none."""
DEAD = "dead"
SUMMED = ("counter", "histogram")
"""Kinds of metrics whose figures stay when their process is gone; a gauge says how something is now."""


def metric_files_open(folder: Path) -> None:
    """Keep figures in this folder from now on. To be called before the first metric is made."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    values.MmapedDict = _Figures  # type: ignore[attr-defined, assignment]  # the only place where it can be told
    values.ValueClass = values.MultiProcessValue(lambda: _own_name(os.getpid()))


class _Figures(MmapedDict):
    """The figures of this process, in a file where there is room for them.

    A figure that finds none is not told for now. Whoever counts it knows it, and writes all of it each time, so that
    nothing is lost once there is room again.
    """

    _m: Any = None
    _f: Any = None
    _try_at = 0.0

    def __init__(self, filename: str) -> None:
        self._fname = filename
        self._positions: dict[str, int] = {}

    def read_value(self, key: str) -> tuple[float, float]:
        """A figure and its time; nothing of one that has no place."""
        return super().read_value(key) if self._has(key) else (0.0, 0.0)

    def write_value(self, key: str, value: float, timestamp: float) -> None:
        """Write a figure, if it has a place or is given one."""
        if self._has(key):
            super().write_value(key, value, timestamp)

    def _has(self, key: str) -> bool:
        if key not in self._positions and time.monotonic() >= self._try_at:
            try:
                self._make_room(len(key.encode()) + FIGURE_BYTES)
            except OSError:
                self._try_at = time.monotonic() + TRY_AGAIN_S
            else:
                self._try_at = 0.0
                return True
        return key in self._positions

    def _make_room(self, n_bytes: int) -> None:
        """Raises OSError if the disk has none; then nothing has changed."""
        if self._m is None:
            _reserve(Path(self._fname), FILE_BYTES)
            super().__init__(self._fname)
        if self._used + n_bytes > self._capacity:
            _reserve(Path(self._fname), self._capacity * 2)  # so the library, which does the same, finds it done


def _reserve(file: Path, n_bytes: int) -> None:
    """Have a file so long, with blocks of the disk for all of it. Raises OSError, and leaves it as it was."""
    with file.open("ab", buffering=0) as opened:
        before = opened.tell()
        try:
            while (missing := n_bytes - opened.tell()) > 0:
                opened.write(bytes(missing))
        except OSError:
            opened.truncate(before)
            raise


def metric_files_read() -> Iterable[Metric]:
    """The figures of all processes that write into the folder, and of those that did; clears what the dead have left.

    One reader at a time: while files are put together a figure would be in two of them, or in none.
    """
    folder = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])
    with _alone(folder):
        for kind in SUMMED:
            with contextlib.suppress(OSError):  # no room: they stay, and are added up as they are
                _bury(folder, kind)
        for file in _left(folder, "gauge"):
            file.unlink()
        files = sorted(folder.glob("*.db"))
        try:
            return _together(files)
        except Exception:  # whatever somebody finds who reads what is no file of figures
            return _together([file for file in files if _is_whole(file)])


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    own = os.open(folder, os.O_RDONLY)  # a file for it might find no room
    try:
        fcntl.flock(own, fcntl.LOCK_EX)
        yield
    finally:
        os.close(own)


def _together(files: Iterable[Path]) -> list[Metric]:
    return list(MultiProcessCollector.merge([str(file) for file in files]))


def _is_whole(file: Path) -> bool:
    """Whether it can be read. One of a process that was killed as it began cannot, nor what a power cut may leave."""
    try:
        _together([file])
    except Exception:  # as above
        return False
    return True


def _bury(folder: Path, kind: str) -> None:
    """Add what dead processes have counted to the file for all of them, and delete theirs."""
    left = _left(folder, kind)
    if not left:
        return
    kept, new = folder / f"{kind}_{DEAD}.db", folder / f"{kind}_{DEAD}.new"
    sums: dict[str, float] = {}
    for file in [*left, *([kept] if kept.exists() else [])]:
        if not _is_whole(file):
            logger.warning("cannot read %s: what was counted there is lost", file.name)
            continue
        for key, value, *_ in MmapedDict.read_all_values_from_file(str(file)):
            sums[key] = sums.get(key, 0.0) + value
    new.unlink(missing_ok=True)
    _reserve(new, 8 + sum(len(key.encode()) + FIGURE_BYTES for key in sums))
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
