"""Who plays a run: one process at a time, which holds a lock that goes with it, however it ends."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from nvdla_models.errors import InputError
from nvdla_models.reading import read_text, shown
from nvdla_tb.run import folders
from nvdla_tb.run.regress.store import Run

LOCK_FILE = ".lock"
"""In the folder of a run: whoever plays the run holds its lock, and names itself in it."""

_NO_LOCKS = frozenset((errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP))
"""What file systems without locks say, such as those of some networks."""

_MOST_BYTES = 1000


@contextmanager
def held(run: Run) -> Iterator[None]:
    """Let no other process play a run for the time of the block; where files have no locks, nobody is kept from it.

    Raises:
        InputError: when another process plays it.
    """
    lock = folders.made(run.folder.parent, run.folder.name) / LOCK_FILE
    with ExitStack() as until_the_end:
        try:
            until_the_end.enter_context(folders.alone(lock, None))
            lock.write_text(f"process {os.getpid()} on {os.uname().nodename}\n", encoding="utf-8")
        except BlockingIOError as error:
            raise InputError(f"{_said(run, lock)}: wait for its end, or end that process") from error
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        yield


def being_played(run: Run) -> str | None:
    """Return that a run is being played, and by whom, None when no process holds it or nobody can know."""
    lock = run.folder / LOCK_FILE
    return _said(run, lock) if folders.is_held(lock) else None


def _said(run: Run, lock: Path) -> str:
    by = ""
    with suppress(InputError):
        by = read_text(lock, _MOST_BYTES).strip()
    return f"run {run.id} is being played" + (f" by {shown(by)}" if by else "")
