"""The log of a simulation on the terminal while it grows, for a run in which pytest captures nothing (``-s``)."""

from __future__ import annotations

import sys
from codecs import getincrementaldecoder
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from nvdla_tb.cli.terminal import escaped

_LOOK_SECONDS = 0.2
_PIECE_BYTES = 1 << 20


@contextmanager
def shown_live(log: Path) -> Iterator[None]:
    """Print what a log gets while the block runs.

    ::

        with shown_live(folder / LOG_NAME):
            run_job(job, setup, folder)
    """
    ended = Event()
    with ThreadPoolExecutor(1) as pool:
        printing = pool.submit(_follow, log, ended)
        try:
            yield
        finally:
            ended.set()
        printing.result()


def _follow(log: Path, ended: Event) -> None:
    decoder, at, last = getincrementaldecoder("utf-8")("replace"), 0, False
    while not last:
        last = ended.wait(_LOOK_SECONDS)
        if not log.is_file():
            continue
        with log.open("rb") as lines:
            lines.seek(at)
            while piece := lines.read(_PIECE_BYTES):
                at += len(piece)
                sys.stdout.write(escaped(decoder.decode(piece)))
        sys.stdout.flush()
