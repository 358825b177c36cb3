"""``plusargs.txt`` beside an ``input.txn``: options of the public bench, of which some say how a trace is played."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nvdla_models.limits import NUMBER_BITS
from nvdla_models.reading import shown
from nvdla_tb.stimulus.trace.errors import TraceError
from nvdla_tb.stimulus.trace.files import TraceFolder

FILE_NAME = "plusargs.txt"

_POLL_CYCLES, _RETRIES = 1000, 250
"""How long the public bench waits between two reads of a poll, and how often it reads again, when nothing is said.

Source: ``slave_mem.cfg.pl`` of the public project's default branch.
"""

_MOST_POLL_CYCLES = 2_000_000
"""How long a poll lasts at most: as long as the public bench waits for an interrupt."""

_PLUSARG = re.compile(r"\+(\w+)(?:=(\S*))?", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True)
class Plusargs:
    """What the options say of how a trace is played.

    Attributes:
        poll_deadline_cycles: how long a poll may last.
        continue_on_fail: whether the trace goes on after a poll that failed.
    """

    poll_deadline_cycles: int
    continue_on_fail: bool


def read_plusargs(folder: TraceFolder) -> Plusargs:
    """Read the options of a trace; without the file they are those of the public bench.

    Options of other names are for the public bench alone, as simulators pass over those that nobody asks for.

    Raises:
        TraceError: for what is no option, and for one whose value is no number.
    """
    retries, interval, goes_on = _RETRIES, _POLL_CYCLES, False
    text, path = folder.beside(FILE_NAME), folder.path / FILE_NAME
    for number, line in enumerate(text.splitlines(), start=1):
        for word in line.partition("#")[0].split():
            match = _PLUSARG.fullmatch(word)
            if match is None:
                raise TraceError.at(path, number, f"an option must be like +NAME or +NAME=VALUE, not {shown(word)}")
            name, value = match[1], match[2]
            if name == "continue_on_fail":
                goes_on = value is None or value not in ("", "0")
            elif name in ("read_reg_poll_retries", "read_reg_poll_interval_clocks"):
                if value is None or not _NUMBER.fullmatch(value) or int(value) >> NUMBER_BITS:
                    raise TraceError.at(path, number, f"+{name} must have a number, not {shown(word)}")
                retries, interval = (int(value), interval) if name.endswith("retries") else (retries, int(value))
    # The first read is no retry.
    return Plusargs(min(max((retries + 1) * interval, 1), _MOST_POLL_CYCLES), goes_on)
