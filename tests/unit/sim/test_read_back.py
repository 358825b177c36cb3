"""Registers that are read back after a failure: what nobody wrote is told, what a layer that still runs has is not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from nvdla_tb.nvdla.program.state import RegisterState
from nvdla_tb.nvdla.registers import Register, RegisterMap
from nvdla_tb.sim.csb import CsbTimeout
from nvdla_tb.sim.read_back import read_back
from tests.unit.nvdla.samples import SMALL

REGISTERS = RegisterMap.of(SMALL)
IDLE, RUNNING = 0, 1
LAYERS = [
    {"D_DATAIN_SIZE_0": 0x30003, "D_DATAIN_SIZE_1": 7, "D_LINE_STRIDE": 32},
    {"D_DATAIN_SIZE_0": 0x50005, "D_DATAIN_SIZE_1": 15, "D_LINE_STRIDE": 32},
]


class Device:
    """A device with registers of its own, whose CDMA is in some state; it may stop answering."""

    def __init__(self, status: int, drops: Callable[[str], bool] = lambda _: False, answers: int = 1 << 30) -> None:
        self.state, self.status, self.drops, self.answers = RegisterState(REGISTERS), status, drops, answers
        self.csb = self

    def look(self) -> None:
        pass

    async def write(self, register: Register, value: int) -> None:
        self.take(register, value)

    async def read(self, register: Register) -> int:
        self.answers -= 1
        if self.answers < 0:
            raise CsbTimeout("no answer", accepted=True)
        if register.name == "S_STATUS":
            return self.status if register.unit == "CDMA" else IDLE
        return self.state.read(register) or 0

    def take(self, register: Register, value: int) -> None:
        if not self.drops(register.name):
            self.state.write(register, value)


def told(device: Device, *, drops: Callable[[str], bool]) -> list[str]:
    """Return what is told of a device that drops some writes of the second of two layers in one group."""
    state = RegisterState(REGISTERS)
    for number, layer in enumerate(LAYERS):
        device.drops = drops if number else lambda _: False
        for name, value in {**layer, "D_OP_ENABLE": 1}.items():
            register = REGISTERS.register("CDMA", name)
            state.write(register, value)
            device.take(register, value)
        for each in (state, device.state):
            each.finish("CDMA", 0)
    device.drops = lambda _: False
    return [str(each) for each in asyncio.run(read_back(cast("Any", device), state))]


SIZE = "CDMA.D_DATAIN_SIZE_0 of group 0 holds 0x30003, and 0x50005 was written"
DEPTH = "CDMA.D_DATAIN_SIZE_1 of group 0 holds 0x7, and 0xf was written"


@pytest.mark.parametrize(
    ("status", "lost", "lines"),
    [
        (IDLE, (), []),
        (IDLE, ("D_DATAIN_SIZE_0",), [SIZE]),
        (RUNNING, ("D_DATAIN_SIZE_0",), [SIZE]),
        (IDLE, ("D_DATAIN_SIZE_0", "D_DATAIN_SIZE_1"), [SIZE, DEPTH]),
        (RUNNING, ("D_DATAIN_SIZE_0", "D_DATAIN_SIZE_1"), []),
    ],
)
def test_registers_of_a_group_that_still_runs_the_layer_before_are_not_wrong(
    status: int, lost: tuple[str, ...], lines: list[str]
) -> None:
    assert told(Device(status), drops=lambda name: name in lost) == lines


def test_what_was_found_before_csb_stops_answering_is_told() -> None:
    first = ["D_OP_ENABLE", "D_MISC_CFG", "D_DATAIN_FORMAT", "D_DATAIN_SIZE_0", "D_DATAIN_SIZE_1"]
    assert [name for name in REGISTERS.of_unit("CDMA") if name.startswith("D_")][:5] == first
    assert told(Device(IDLE, answers=4), drops=lambda name: name.startswith("D_DATAIN_SIZE")) == [SIZE]
