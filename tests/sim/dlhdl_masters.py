"""Every rule of the masters of a Deep Learning HDL core is shown a master that breaks it, all in one simulation.

The core has the ports of the embedded one, and no logic: its outputs are set here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import RisingEdge
from cocotb.types import LogicArray

from dlhdl_tb.sim.masters import MASTERS, ReadPort, WritePort
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.port_rules import PortRule
from nvdla_tb.judge.wrapped_rules import AXI4_RULES, MEMORY_RULES
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.sim.clocking import start_clock, wait_cycles
from nvdla_tb.sim.draws import Draws
from nvdla_tb.stimulus.settings import PortSettings

ADDRESS_SPACE = 4
"""The rule among those of a channel that regions of memory stand for: what lies outside is a bad access."""

GOOD = {"addr": 0x8000_0000, "id": 0, "len": 0, "size": 1, "burst": 1, "lock": 0, "cache": 3, "prot": 0}
ONE_CHANNEL = len(AXI4_RULES) // 2


class Recorder:
    """Stands for judge and memory: which rules were broken, and which pins were unknown."""

    def __init__(self) -> None:
        self.rules: list[int] = []
        self.pins: list[str] = []
        self.image = self

    def broken(self, ram: Ram, rule: int, cycle: int) -> None:
        assert ram is Ram.ACTIVATION
        self.rules.append(rule)

    def unknown(self, ram: Ram, pin: str, value: str, cycle: int) -> None:
        self.pins.append(pin)

    def reads(self, *where: int) -> None:
        pass

    def writes(self, beats: Beats) -> None:
        pass

    def read(self, address: int, nbytes: int) -> bytes:
        return bytes(nbytes)

    def write_masked(self, address: int, data: bytes, strobe: int) -> None:
        pass


class Master:
    """Sets the pins of one half of the activation master."""

    def __init__(self, dut: SimHandleBase, half: str, valids: Sequence[str], ready: str) -> None:
        self.dut, self._prefix, self._valids = dut, f"{MASTERS[Ram.ACTIVATION]}_{half}_", valids
        self._set(**dict.fromkeys(valids, 0), **{ready: 1})

    def _set(self, **pins: Any) -> None:
        for name, value in pins.items():
            getattr(self.dut.dut, self._prefix + name.upper()).value = value

    async def show(self, **pins: Any) -> None:
        """Set pins until the next edge has passed."""
        self._set(**pins)
        await RisingEdge(self.dut.clk)

    async def rest(self) -> None:
        """Offer nothing for a while."""
        self._set(**dict.fromkeys(self._valids, 0))
        await wait_cycles(self.dut.clk, 30)

    async def offer(self, channel: str, **other: int) -> None:
        """Offer an address, of which some parts are not as they should be, until it is taken."""
        pins = {f"{channel}{name}": value for name, value in (GOOD | other).items()}
        await self.show(**pins, **{f"{channel}valid": 1})
        while not int(getattr(self.dut, f"{self._prefix}{channel.upper()}READY").value):
            await RisingEdge(self.dut.clk)
        await self.rest()


async def breaks(recorder: Recorder, act: Callable[[], Awaitable[None]], rule: int) -> None:
    """Check that something breaks a rule, and no other; a stall decides whether it does at once."""
    before = list(recorder.rules)
    for _ in range(40):
        await act()
        if recorder.rules != before:
            break
    assert recorder.rules == [*before, rule], [MEMORY_RULES[number] for number in recorder.rules]


@cocotb.test()
async def every_rule_of_the_masters(dut: SimHandleBase) -> None:
    dut.reset_n.value = 0
    start_clock(dut.clk)
    reader, writer = Recorder(), Recorder()
    settings = PortSettings(latency_cycles=1, ready_stall=0.8)
    write = WritePort(dut, Ram.ACTIVATION, writer, settings, Draws(1))
    ReadPort(dut, Ram.ACTIVATION, reader, settings, Draws(2), width=write.width).start()
    write.start()
    read_pins = Master(dut, "Rd", ("arvalid",), "rready")
    write_pins = Master(dut, "Wr", ("awvalid", "wvalid"), "bready")
    await wait_cycles(dut.clk, 8)
    for recorder, master, valid in ((reader, read_pins, "arvalid"), (writer, write_pins, "awvalid")):

        async def early(master: Master = master, valid: str = valid) -> None:
            await master.show(**{valid: 1})
            await master.rest()

        await breaks(recorder, early, PortRule.IN_RESET)
    dut.reset_n.value = 1
    await wait_cycles(dut.clk, 16)
    for number, (recorder, master, channel) in enumerate(((reader, read_pins, "ar"), (writer, write_pins, "aw"))):
        await address_rules(recorder, master, channel, 2 * number, len(PortRule) + ONE_CHANNEL * number)
    await data_rules(writer, write_pins, write)
    left_out = {ADDRESS_SPACE, ADDRESS_SPACE + ONE_CHANNEL}
    axi4 = (len(PortRule) + n for n in range(len(AXI4_RULES)) if n not in left_out)
    own = {*range(PortRule.LAST + 1), PortRule.IN_RESET, *axi4}
    assert {*reader.rules, *writer.rules} == own
    await read_pins.show(**{f"ar{name}": value for name, value in GOOD.items()})
    await read_pins.show(araddr=LogicArray("X" * 32), arvalid=1)
    await read_pins.rest()
    assert reader.pins == [f"{MASTERS[Ram.ACTIVATION]}_Rd_ARADDR"]


async def address_rules(recorder: Recorder, master: Master, channel: str, first: int, axi4: int) -> None:
    """Break the rules of an address channel, whose numbers are given."""

    def shown(**other: int) -> dict[str, int]:
        return {f"{channel}{name}": value for name, value in (GOOD | other).items()} | {f"{channel}valid": 1}

    # The first offer is taken at once, as the port rests until then.
    async def drop() -> None:
        await master.show(**shown())
        await master.show()
        await master.show(**{f"{channel}valid": 0})
        await master.rest()

    async def change(**other: int) -> None:
        await master.show(**shown())
        await master.show()
        await master.show(**shown(**other))
        await master.rest()

    # What changes is also let go while it waits, which was broken before and is told once.
    await breaks(recorder, drop, first)
    await breaks(recorder, lambda: change(addr=0x8000_0010), first + 1)
    for number, other in enumerate(({"size": 2}, {"burst": 0}, {"addr": 0x8000_0FFE, "len": 1}, {"lock": 1})):
        await breaks(recorder, lambda other=other: master.offer(channel, **other), axi4 + number)  # type: ignore[misc]
    await breaks(recorder, lambda: change(cache=2), axi4 + 5)


async def data_rules(recorder: Recorder, master: Master, port: WritePort) -> None:
    """Break the rules of write data."""
    beat = {"wdata": 5, "wstrb": 3, "wlast": 1, "wvalid": 1}

    async def rest() -> None:
        await master.rest()
        while port.unmatched()[1]:
            await master.offer("aw")

    async def drop() -> None:
        await master.show(**beat)
        await master.show()
        await rest()

    async def change() -> None:
        await master.show(**beat)
        await master.show()
        await master.show(wdata=6)
        await rest()

    async def no_last() -> None:
        await master.show(**beat | {"wlast": 0})
        await rest()

    await breaks(recorder, drop, 4)
    await breaks(recorder, change, 5)
    await breaks(recorder, no_last, PortRule.LAST)
