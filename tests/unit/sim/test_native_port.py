"""The harness is told the allocations of a scenario once, before time goes on."""

from __future__ import annotations

import ctypes
from collections.abc import Coroutine

import cocotb
import pytest

from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.sim import native_port
from nvdla_tb.sim.native import Lease

BASE, GAP = 0x8000_0000, 0x100


class Harness:
    """What a harness is told: the ranges of each call."""

    def __init__(self) -> None:
        self.told: list[list[int]] = []

    def nvb_port_allocate(self, port: int, ranges: int, count: int) -> None:
        """Take a copy of the ranges, first and last addresses in turn."""
        assert port == 0
        self.told.append(list((ctypes.c_uint64 * (2 * count)).from_address(ranges)))


def test_many_allocations_are_told_once_and_later_ones_again(monkeypatch: pytest.MonkeyPatch) -> None:
    harness, waiting = Harness(), list[Coroutine[None, None, None]]()
    monkeypatch.setattr(native_port, "library", lambda: harness)
    monkeypatch.setattr(cocotb, "start_soon", waiting.append)
    image = MemoryImage(store=native_port.NativePages(Ram.MC, Lease()))
    for number in range(500):
        image.allocate_merged("region", BASE + number * GAP, 0x40)
    _run_all(waiting)
    assert harness.told == [[end for n in range(500) for end in (BASE + n * GAP, BASE + n * GAP + 0x3F)]]
    image.allocate_merged("joined", BASE, 500 * GAP)
    _run_all(waiting)
    assert harness.told[1:] == [[BASE, BASE + 500 * GAP - 1]]


def _run_all(waiting: list[Coroutine[None, None, None]]) -> None:
    """Run what was started to its end, as cocotb does when the task that allocates waits."""
    while waiting:
        with pytest.raises(StopIteration):
            waiting.pop().send(None)
