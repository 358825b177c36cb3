"""Requests to a simulator process that plays scenario after scenario."""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tb.stimulus.exchange import Request


@contextmanager
def requests() -> Iterator[Iterator[Request]]:
    """Give the requests of ``tb.run.simulate``; each is answered when the next is taken."""
    with socket.socket(fileno=int(os.environ["NVDLA_REQUESTS"])) as connection, connection.makefile("rw") as lines:
        yield _answered(lines)


def _answered(lines: IO[str]) -> Iterator[Request]:
    for line in iter(lines.readline, ""):
        yield Request.decode(line)
        lines.write("{}\n")
        lines.flush()


@contextmanager
def output_to(path: Path) -> Iterator[None]:
    """Let everything that this process prints, the model included, go to a file.

    When the block fails, it stays so: what is said about the failure belongs to the file, too.
    """
    before = os.dup(1), os.dup(2)
    _redirect((os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND),) * 2)
    yield
    _redirect(before)


def _redirect(to: tuple[int, int]) -> None:
    """Make the standard streams write to other files, which are closed under their old numbers."""
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).fflush(None)
    os.dup2(to[0], 1)
    os.dup2(to[1], 2)
    for number in set(to):
        os.close(number)
