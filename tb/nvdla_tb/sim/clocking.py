"""The clocks, resets and tied inputs that the bench drives, and its count of cycles."""

from __future__ import annotations

import cocotb
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.simtime import get_sim_time
from cocotb.triggers import RisingEdge, Timer
from cocotb.types import Logic, LogicArray

from nvdla_tb.sim import native, pulse
from nvdla_tb.sim.cycles import Cycles

PERIOD_STEPS = 2000
"""Steps of 1 ps: the DUT sees 500 MHz; nothing in a zero-delay model depends on it."""

HIGH = Logic("1")
"""Compared with, so that every sample of a pin does not build it anew."""

_UNKNOWN = str.maketrans("XZUWxzuw-", "000000000")

RESET_CYCLES = 20
QUIET_CYCLES = 16
"""Measured on the public nv_small RTL: requests in the first 0 to 6 cycles after a reset are lost."""

_TIED_LOW = (
    "global_clk_ovr_on",
    "tmc2slcg_disable_clock_gating",
    "test_mode",
    *(f"nvdla_pwrbus_ram_{part}_pd" for part in ("c", "ma", "mb", "p", "o", "a")),
)

_epoch_steps = 0


def known(value: Logic | LogicArray) -> int:
    """Return the value of a pin as a number, with 0 for what is neither 0 nor 1."""
    return int(str(value).translate(_UNKNOWN), 2)


def csb_clock(dut: SimHandleBase) -> SimHandleBase:
    """Return the clock that the registers are synchronous to, which may be the core's."""
    return dut.dla_core_clk if has_one_clock(dut) else dut.dla_csb_clk


def has_one_clock(dut: SimHandleBase) -> bool:
    """Return whether all of the DUT runs with the core's clock."""
    return hasattr(dut, "one_clock")


def drive_inputs(dut: SimHandleBase, csb_period: float, csb_phase: float) -> None:
    """Start the clocks, begin a reset, and tie the inputs that stay as they are in every test."""
    start_clocks(dut, csb_period, csb_phase)
    for name in _TIED_LOW:
        if hasattr(dut, name):
            getattr(dut, name).value = 0
    # Before the first edge: what an earlier bench left running must find nothing to ask of this one.
    drive_resets(dut, 0)


def drive_resets(dut: SimHandleBase, value: int) -> None:
    """Drive both resets of the DUT, which are active low."""
    for name in ("dla_reset_rstn", "direct_reset_"):
        getattr(dut, name).value = value


def start_clocks(dut: SimHandleBase, csb_period: float = 1.0, csb_phase: float = 0.0) -> None:
    """Drive both clocks of the DUT, and count cycles of the core's from here.

    The harness of the native back end drives them all the time; counting starts before its next edge.

    Args:
        dut: The top.
        csb_period: Period of CSB's clock, in those of the core's.
        csb_phase: How much later than in phase it rises for the first time, in periods of the core's.
    """
    global _epoch_steps
    now = int(get_sim_time("step"))
    csb_half = max(round(csb_period * PERIOD_STEPS / 2), 1)
    delay = csb_half + round(csb_phase * PERIOD_STEPS)
    if native.is_native(dut):
        half = PERIOD_STEPS // 2
        _epoch_steps = ((now - half) // PERIOD_STEPS + 1) * PERIOD_STEPS
        native.library().nvb_start(_epoch_steps, csb_half, delay)
        pulse.begin(_epoch_steps, PERIOD_STEPS, native.library().nvb_show_time)
        return
    _epoch_steps = now
    pulse.begin(_epoch_steps, PERIOD_STEPS)
    Clock(dut.dla_core_clk, PERIOD_STEPS, unit="step", impl="gpi").start(start_high=False)
    cocotb.start_soon(_start_later(dut.dla_csb_clk, csb_half, delay))


def start_clock(clock: SimHandleBase) -> None:
    """Drive the only clock of a DUT, and count its cycles from here."""
    global _epoch_steps
    _epoch_steps = int(get_sim_time("step"))
    pulse.begin(_epoch_steps, PERIOD_STEPS)
    Clock(clock, PERIOD_STEPS, unit="step", impl="gpi").start(start_high=False)


async def _start_later(clock: SimHandleBase, half_steps: int, delay_steps: int) -> None:
    """Hold a clock low until it rises for the first time."""
    clock.value = 0
    if delay_steps > half_steps:
        await Timer(delay_steps - half_steps, unit="step")
    Clock(clock, 2 * half_steps, unit="step", impl="gpi").start(start_high=False)


def cycle() -> int:
    """Return how many clock cycles have passed since the clocks were started."""
    return (int(get_sim_time("step")) - _epoch_steps) // PERIOD_STEPS


def steps_of(at: int) -> int:
    """Return the time, in steps, of the rising edge that ends a cycle."""
    return _epoch_steps + at * PERIOD_STEPS + PERIOD_STEPS // 2


async def wait_cycles(clock: SimHandleBase, count: int) -> None:
    """From right after one rising edge, wait for the one ``count`` later, asleep in between."""
    if count > 1:
        # Half a period short: a timer that ends on an edge may wake before or after it.
        await Timer(count * PERIOD_STEPS - PERIOD_STEPS // 2, unit="step")
    await RisingEdge(clock)


class DrivenCycles(Cycles):
    """The cycles of the clock that the bench drives: they follow from the time, and nothing wakes to count them."""

    def __init__(self, clock: SimHandleBase) -> None:
        """Bind the clock."""
        self._clock = clock

    def now(self) -> int:
        """Return how many have passed since the clocks were started."""
        return cycle()

    async def wait(self, count: int) -> None:
        """Wait for the rising edge ``count`` later, asleep in between."""
        await wait_cycles(self._clock, count)
