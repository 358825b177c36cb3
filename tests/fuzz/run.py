"""Feeding a reader with inputs, within limits of time and memory."""

from __future__ import annotations

import random
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType

from nvdla_models.errors import InputError
from tests.fuzz.readers import Reader

SECONDS = 2.0
"""Processor time that one input may take."""

ADDRESS_SPACE_BYTES = 2 << 30
"""Memory that a reader may ask for beyond what the process has at its start."""

_SHARE_UNCHANGED = 50


class Overtime(BaseException):
    """An input that takes too long; no handler of the bench catches it."""


@dataclass
class Tally:
    """What became of a reader's inputs.

    Attributes:
        inputs: how many there were.
        accepted: how many were read.
        slowest: seconds of processor time of the slowest.
        slowest_number: which that was.
        largest_bytes: growth of the process's memory.
        findings: exceptions that are no ``InputError``, by kind and place, with the number of the first input.
        counts: how often each of these occurred.
    """

    inputs: int = 0
    accepted: int = 0
    slowest: float = 0.0
    slowest_number: int = -1
    largest_bytes: int = 0
    findings: dict[str, tuple[int, str]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def refused(self) -> int:
        """How many were refused as they should be."""
        return self.inputs - self.accepted - self.counts.total()


def input_of(reader: Reader, seed: int, number: int, samples: list[bytes]) -> bytes:
    """Return an input by its number: the same for the same reader, seed and number."""
    rng = random.Random(f"{reader.name}/{seed}/{number}")
    sample = rng.choice(samples)
    return sample if number % _SHARE_UNCHANGED == 0 else reader.mutate(rng, sample)


def fault_of(reader: Reader, data: bytes, folder: Path, tally: Tally | None = None) -> tuple[str, str] | None:
    """Give a reader an input; return the kind of a finding and its text, None when it was read or refused as it should.

    Args:
        reader: The reader.
        data: The input.
        folder: Where it is read.
        tally: Counts what is read, if given.
    """
    try:
        reader.read(data, folder)
    except InputError as error:
        if str(error).isprintable():
            return None
        return f"unprintable {type(error).__name__} at {_place(error)}", ascii(str(error))[:200]
    except (Exception, Overtime) as error:
        return f"{type(error).__name__} at {_place(error)}", str(error)[:200]
    if tally is not None:
        tally.accepted += 1
    return None


def feed(reader: Reader, seed: int, numbers: range) -> Tally:
    """Give a reader inputs and say what became of them, in this process."""
    tally, samples = Tally(), reader.samples()
    with tempfile.TemporaryDirectory(prefix="nvdla-fuzz-") as name, warnings.catch_warnings(), _alarm():
        warnings.simplefilter("ignore")
        folder = Path(name)
        before = _peak_bytes()
        for number in numbers:
            data = input_of(reader, seed, number, samples)
            started = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                fault = fault_of(reader, data, folder, tally)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            if fault is not None:
                kind, text = fault
                tally.findings.setdefault(kind, (number, text))
                tally.counts[kind] += 1
            tally.inputs += 1
            taken = time.process_time() - started
            if taken > tally.slowest:
                tally.slowest, tally.slowest_number = taken, number
        tally.largest_bytes = _peak_bytes() - before
    return tally


def feed_apart(reader: Reader, seed: int, inputs: int) -> Tally:
    """Do the same in a process of its own, whose memory is limited."""
    context = get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(there, reader, seed, range(inputs)))
    process.start()
    there.close()
    try:
        tally: Tally = here.recv()
    except EOFError:
        tally = Tally(inputs=inputs)
        tally.findings["the process died"] = (-1, "")
        tally.counts["the process died"] += 1
    process.join()
    return tally


def _send(there: Connection, reader: Reader, seed: int, numbers: range) -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + ADDRESS_SPACE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    there.send(feed(reader, seed, numbers))


@contextmanager
def _alarm() -> Iterator[None]:
    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise Overtime(f"more than {SECONDS:g} s")

    before = signal.signal(signal.SIGPROF, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGPROF, before)


def _place(error: BaseException) -> str:
    """Return the last line of the project that an exception passed."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/models/" in frame.filename or "/tb/" in frame.filename] or list(frames)
    frame = [frame for frame in own if "site-packages" not in frame.filename][-1]
    return f"{'/'.join(Path(frame.filename).parts[-3:])}:{frame.lineno}"


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
