"""Another user of the same machine, whom tests that run as root can play."""

from __future__ import annotations

import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

STRANGER = 65534
"""The id of a user that owns nothing, *nobody* on most systems."""

needs_strangers = pytest.mark.skipif(os.geteuid() != 0, reason="only root can play another user")


@contextmanager
def common_folder() -> Iterator[Path]:
    """Give a folder like ``/tmp``, in which each user may leave files; pytest's own are closed to strangers."""
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o1777)
        yield folder
    finally:
        shutil.rmtree(folder)


def as_stranger(act: Callable[[], object]) -> None:
    """Do something as the other user, in a process of its own, which must not raise."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(STRANGER)
            os.setuid(STRANGER)
            act()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
