"""The pulse of a simulator: its simulation time, in memory that the launcher shares.

RTL that loops within one time step lets the simulator call nobody any more, and Python's threads rest while it
computes. So the time lies in memory, where the launcher finds it whatever the simulator does.
"""

from __future__ import annotations

import mmap
import os
import sys
from ctypes import Structure, c_int64

PULSE = "NVDLA_PULSE"
"""The environment variable that tells a simulator where it finds the file."""


class Pulse(Structure):
    """The shared memory; it begins with zeros. The time stands first, where the compiled harness writes it.

    Attributes:
        time_steps: simulation time, or that of the cycle in which it was last written.
        epoch_steps: when cycle 0 began.
        cycle_steps: length of a cycle, 0 before the bench counts any.
        every_cycles: how many cycles later it is written again, 1 when it is always right.
        pid: process of the simulator, 0 before and after it answers questions.
        answers: how many questions Python has answered in the simulator.
    """

    _fields_ = tuple(
        (name, c_int64) for name in ("time_steps", "epoch_steps", "cycle_steps", "every_cycles", "pid", "answers")
    )

    time_steps: int
    epoch_steps: int
    cycle_steps: int
    every_cycles: int
    pid: int
    answers: int

    @property
    def cycle(self) -> int | None:
        """The cycle that the time lies in, None before the bench counts any."""
        return (self.time_steps - self.epoch_steps) // self.cycle_steps if self.cycle_steps else None


def new_file() -> int | None:
    """Return the number of an open file for a pulse, which nobody else finds; None where there is no such file."""
    if sys.platform != "linux":
        return None
    file = os.memfd_create("pulse")
    os.ftruncate(file, mmap.PAGESIZE)
    return file


def place_of(file: int) -> str:
    """Return where other processes of this user find an open file, for as long as it is open here."""
    return f"/proc/{os.getpid()}/fd/{file}"


def shared(file: int) -> Pulse:
    """Return the pulse in an open file."""
    return Pulse.from_buffer(mmap.mmap(file, mmap.PAGESIZE))
