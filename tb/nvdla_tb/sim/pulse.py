"""The simulator's side of the pulse: shows its time to the launcher, and answers whether Python is in control."""

from __future__ import annotations

import atexit
import os
import signal
import time
from collections.abc import Callable
from functools import cache

import cocotb
from cocotb.task import Task
from cocotb.triggers import Timer

from nvdla_tb.stimulus.pulse import PULSE, Pulse, shared

_MOST_CYCLES = 64
_SLOW_SECONDS = 0.001
"""Processor time of a cycle from which on the time is written in each, which costs some hundredths of that."""

_shows: Task[None] | None = None


def begin(epoch_steps: int, cycle_steps: int, show: Callable[[int], None] | None = None) -> None:
    """Show the time from now on, if a launcher asks for it.

    Args:
        epoch_steps: When cycle 0 begins.
        cycle_steps: Length of a cycle.
        show: Has the simulator itself write its time to the start of a file, given by number; without it Python
            writes it now and then.
    """
    global _shows
    pulse = _pulse()
    if pulse is None:
        return
    pulse.epoch_steps, pulse.cycle_steps, pulse.every_cycles = epoch_steps, cycle_steps, 1
    if show is not None:
        show(_file(os.environ[PULSE]))
        return
    if _shows is not None:
        _shows.cancel()
    _shows = cocotb.start_soon(_show(pulse, epoch_steps, cycle_steps))


@cache
def _file(place: str) -> int:
    """Open the launcher's file, which simulators need not inherit: those of vendors are started by other programs."""
    return os.open(place, os.O_RDWR | os.O_CLOEXEC)


@cache
def _pulse() -> Pulse | None:
    """Return the pulse of this process, which answers the launcher's questions from now on."""
    place = os.environ.get(PULSE)
    if place is None:
        return None
    pulse = shared(_file(place))

    def answer(*_: object) -> None:
        pulse.answers += 1

    def end() -> None:
        pulse.pid = 0
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)

    # Python runs a handler between two of its own instructions, and never while the simulator computes.
    signal.signal(signal.SIGUSR1, answer)
    signal.siginterrupt(signal.SIGUSR1, False)
    # At its end it takes its handlers away, after which a late question would kill the process.
    atexit.register(end)
    pulse.pid = os.getpid()
    return pulse


async def _show(pulse: Pulse, epoch_steps: int, cycle_steps: int) -> None:
    """Write the time of rising edges before the RTL sees them: a timer ends before its time step is evaluated."""
    await Timer(cycle_steps // 2, unit="step")
    now, every = epoch_steps + cycle_steps // 2, 1
    while True:
        pulse.time_steps, pulse.every_cycles = now, every
        before = time.process_time()
        await Timer(every * cycle_steps, unit="step")
        now += every * cycle_steps
        every = 1 if time.process_time() - before > every * _SLOW_SECONDS else _MOST_CYCLES
