"""Carries out what a driver asks for, on either back end."""

from __future__ import annotations

import cocotb
from cocotb.handle import SimHandleBase

from nvdla_models.errors import InputError
from nvdla_tb.nvdla.memory import MemoryFault, MemoryImage, Ram
from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.sim.backend import Backend
from nvdla_tb.sim.clocking import cycle, wait_cycles
from nvdla_tb.sim.line import InterruptLine
from nvdla_tb.stimulus.settings import BenchSettings

_RAMS = (Ram.MC, Ram.CVSRAM)
_LONGEST_CYCLES = 1 << 32


class Carrier:
    """What a driver may do, as coroutines of the simulation: the functions of ``nvdla_tb.h``.

    What moves no pin takes a cycle, so that a driver that does nothing else is found to.

    Attributes:
        registers: Those of the device.
        line: The interrupt line, which the driver may wait for.
    """

    def __init__(
        self, name: str, dut: SimHandleBase, settings: BenchSettings, backend: Backend, line_cycles: int
    ) -> None:
        """Bind the bench.

        Args:
            name: The driver's, for its log.
            dut: The top.
            settings: How long a poll may last.
            backend: What is played on.
            line_cycles: How long the interrupt line may lag behind the registers.
        """
        self._name, self._backend, self._settings = name, backend, settings
        self.registers = backend.csb.registers
        self._clock, self.line = dut.dla_core_clk, InterruptLine(dut, line_cycles)
        self._status = self.registers.address(self.registers.register("GLB", "S_INTR_STATUS"))

    async def reg_write(self, pairs: tuple[tuple[int, int], ...]) -> None:
        """Write registers, as pairs of address and value."""
        writes = [RegWrite(self.registers.find(address).full_name, value) for address, value in pairs]
        await self._backend.csb.perform(writes, self._settings.poll_deadline_cycles)
        if any(address == self._status for address, _ in pairs):
            self.line.status_written()

    async def reg_read(self, address: int) -> int:
        """Return the word of a register."""
        return await self._backend.csb.read(address)

    async def wait_interrupt(self, most_cycles: int) -> bool:
        """Return whether the interrupt line is high in time; 0 sets no limit."""
        return await self.line.until_high(_checked(most_cycles) if most_cycles else None)

    async def delay(self, cycles: int) -> None:
        """Let cycles pass."""
        await wait_cycles(self._clock, _checked(cycles))

    async def mem_read(self, ram: int, address: int, nbytes: int) -> bytes:
        """Return bytes of memory."""
        await wait_cycles(self._clock, 1)
        return self._memory(ram, address, nbytes, reading=True).read(address, nbytes)

    async def mem_write(self, ram: int, address: int, data: bytes) -> None:
        """Write memory."""
        await wait_cycles(self._clock, 1)
        self._memory(ram, address, len(data), reading=False).write(address, data)

    async def allocate(self, ram: int, nbytes: int, alignment_bytes: int) -> int:
        """Return the address of fresh room."""
        await wait_cycles(self._clock, 1)
        memory = self._image(ram)
        return memory.allocate(nbytes, f"driver_{len(memory.allocations)}", alignment_bytes)

    async def reserve(self, ram: int, address: int, nbytes: int) -> None:
        """Make room at an address."""
        await wait_cycles(self._clock, 1)
        self._image(ram).allocate_merged(f"driver_{address:x}", address, nbytes)

    async def cycles(self) -> int:
        """Return the cycle."""
        await wait_cycles(self._clock, 1)
        return cycle()

    async def log(self, text: str) -> None:
        """Write a line to the log."""
        await wait_cycles(self._clock, 1)
        cocotb.log.info("%s: %s", self._name, text)

    def _image(self, ram: int) -> MemoryImage:
        memories = self._backend.memories
        if ram >= len(_RAMS) or _RAMS[ram] not in memories:
            allowed = ", ".join(f"{_RAMS.index(known)} ({known.value})" for known in memories)
            raise MemoryFault(f"memory must be one of {allowed}, not {ram}")
        return memories[_RAMS[ram]]

    def _memory(self, ram: int, address: int, nbytes: int, *, reading: bool) -> MemoryImage:
        """Return the memory of an access that it takes."""
        memory = self._image(ram)
        bad = memory.first_bad_byte(address, nbytes, reading=reading) if nbytes else None
        if bad is not None:
            rule = "be allocated, reserved or loaded" if bad.outside else "have been written before it is read"
            raise MemoryFault(f"memory at {bad.address:#x} must {rule} ({bad.place})")
        return memory


def _checked(cycles: int) -> int:
    if not 1 <= cycles <= _LONGEST_CYCLES:
        raise InputError(f"cycles must be 1 to {_LONGEST_CYCLES}, not {cycles}")
    return cycles
