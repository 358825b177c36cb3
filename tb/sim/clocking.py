"""The bench's clock and its count of cycles."""

from __future__ import annotations

from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.simtime import get_sim_time
from cocotb.triggers import RisingEdge, Timer
from cocotb.types import Logic

from tb.sim import native

PERIOD_STEPS = 2000
"""Steps of 1 ps: the DUT sees 500 MHz; nothing in a zero-delay model depends on it."""

HIGH = Logic("1")
"""Compared with, so that every sample of a pin does not build it anew."""

_epoch_steps = 0


def start_clocks(dut: SimHandleBase) -> None:
    """Drive both clocks of the DUT, in phase, and count cycles from here.

    The harness of the native back end drives them all the time; counting starts before its next edge.
    """
    global _epoch_steps
    now = int(get_sim_time("step"))
    if native.is_native(dut):
        half = PERIOD_STEPS // 2
        _epoch_steps = ((now - half) // PERIOD_STEPS + 1) * PERIOD_STEPS
        native.library().nvb_start(_epoch_steps)
        return
    _epoch_steps = now
    for name in ("dla_core_clk", "dla_csb_clk"):
        Clock(getattr(dut, name), PERIOD_STEPS, unit="step", impl="gpi").start(start_high=False)


def cycle() -> int:
    """Return how many clock cycles have passed since the clocks were started."""
    return (int(get_sim_time("step")) - _epoch_steps) // PERIOD_STEPS


def steps_of(at: int) -> int:
    """Return the time, in steps, of the rising edge that ends a cycle."""
    return _epoch_steps + at * PERIOD_STEPS + PERIOD_STEPS // 2


async def wait_cycles(clock: SimHandleBase, count: int) -> None:
    """From right behind one rising edge, wait for the one ``count`` later, asleep in between."""
    if count > 1:
        # Half a period short: a timer that ends on an edge may wake before or behind it.
        await Timer(count * PERIOD_STEPS - PERIOD_STEPS // 2, unit="step")
    await RisingEdge(clock)
