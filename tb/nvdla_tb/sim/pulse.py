"""The simulator's side of the pulse: shows its time to the launcher, and answers whether Python is in control."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable
from functools import cache

import cocotb
from cocotb.task import Task
from cocotb.triggers import Timer

from nvdla_tb.stimulus.pulse import PULSE, Pulse, shared

_shows: Task[None] | None = None


def begin(epoch_steps: int, cycle_steps: int, show: Callable[[int], None] | None = None) -> None:
    """Show the time from now on, if a launcher asks for it.

    Args:
        epoch_steps: When cycle 0 begins.
        cycle_steps: Length of a cycle.
        show: Has the simulator itself write its time to an address; without it Python writes it at every rising edge.
    """
    global _shows
    pulse = _pulse()
    if pulse is None:
        return
    pulse.epoch_steps, pulse.cycle_steps = epoch_steps, cycle_steps
    if show is not None:
        show(ctypes.addressof(pulse))
        return
    if _shows is not None:
        _shows.cancel()
    _shows = cocotb.start_soon(_show(pulse, epoch_steps, cycle_steps))


@cache
def _pulse() -> Pulse | None:
    """Return the pulse of this process, which answers the launcher's questions from now on."""
    file = os.environ.get(PULSE)
    if file is None:
        return None
    pulse = shared(int(file))

    def answer(*_: object) -> None:
        pulse.answers += 1

    # Python runs a handler between two of its own instructions, and never while the simulator computes.
    signal.signal(signal.SIGUSR1, answer)
    signal.siginterrupt(signal.SIGUSR1, False)
    pulse.pid = os.getpid()
    return pulse


async def _show(pulse: Pulse, epoch_steps: int, cycle_steps: int) -> None:
    """Write the time of each rising edge before the RTL sees it: a timer ends before its time step is evaluated."""
    now = epoch_steps
    await Timer(cycle_steps // 2, unit="step")
    now += cycle_steps // 2
    while True:
        pulse.time_steps = now
        await Timer(cycle_steps, unit="step")
        now += cycle_steps
