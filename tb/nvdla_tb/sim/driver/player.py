"""Carries out what a driver asks for, on either back end."""

from __future__ import annotations

from pathlib import Path
from queue import Empty
from typing import Any

import cocotb
from cocotb.handle import SimHandleBase

from nvdla_models.errors import InputError
from nvdla_tb.judge.detail import DriverFault, DriverFaultKind
from nvdla_tb.judge.finding import Check
from nvdla_tb.nvdla.memory import MemoryFault, MemoryImage, Ram
from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.sim.backend import Backend
from nvdla_tb.sim.clocking import cycle, wait_cycles
from nvdla_tb.sim.driver import calls
from nvdla_tb.sim.driver.record import Record
from nvdla_tb.sim.driver.server import ServedDriver
from nvdla_tb.sim.driver.thread import DriverThread
from nvdla_tb.sim.line import InterruptLine
from nvdla_tb.stimulus.exchange import Driver
from nvdla_tb.stimulus.settings import BenchSettings

_RAMS = (Ram.MC, Ram.CVSRAM)
_LONGEST_CYCLES = 1 << 32

CHECKS = {
    DriverFaultKind.IDLES: Check.HANG,
    DriverFaultKind.WAITS: Check.HANG,
    DriverFaultKind.SILENT: Check.HANG,
    DriverFaultKind.ABSENT: Check.PROGRAM,
    DriverFaultKind.RETURNED: Check.TEST,
    DriverFaultKind.CALL: Check.PROGRAM,
}
"""The check that a fault fails."""


class DriverPlayer:
    """Plays one driver to its end.

    Attributes:
        fault: What the driver did wrong that ended it, or None.
    """

    def __init__(
        self,
        driver: Driver,
        dut: SimHandleBase,
        settings: BenchSettings,
        backend: Backend,
        line_cycles: int,
        record: Path | None,
    ) -> None:
        """Bind the player.

        Args:
            driver: The driver.
            dut: The top.
            settings: How long a poll may last.
            backend: What it plays on.
            line_cycles: How long the interrupt line may lag behind the registers.
            record: File for its accesses, None for none.
        """
        self._driver, self._backend = driver, backend
        self._registers, self._settings = backend.csb.registers, settings
        self._clock, self._line = dut.dla_core_clk, InterruptLine(dut, line_cycles)
        self._status = self._registers.address(self._registers.register("GLB", "S_INTR_STATUS"))
        self._record = Record(record)
        self._thread: DriverThread | ServedDriver
        if driver.where is None:
            self._thread = DriverThread(driver.library, driver.entry, self._registers, self._record)
        else:
            self._thread = ServedDriver(driver.where, self._registers, self._record)
        self.fault: DriverFault | None = None

    async def play(self) -> None:
        """Run the driver until it returns, or cannot go on, which is its ``fault`` then.

        Raises:
            CsbTimeout: when a request or its answer does not come through.
        """
        self._thread.start()
        while True:
            try:
                # The simulation stands still meanwhile.
                call = self._thread.asking.calls.get(timeout=self._driver.silent_seconds)
            except Empty:
                kind = DriverFaultKind.SILENT if self._thread.is_there else DriverFaultKind.ABSENT
                self.fault = self._found(kind, f"{self._driver.silent_seconds:g}")
                return
            match call:
                case calls.Returned(code=code):
                    if code:
                        self.fault = self._found(DriverFaultKind.RETURNED, str(code))
                    return
                case calls.Failed(error=error):
                    self.fault = self._found(DriverFaultKind.CALL, str(error))
                    return
            try:
                answer = await self._carry_out(call)
            except InputError as error:
                self.fault = self._found(DriverFaultKind.CALL, str(error))
                return
            self._thread.asking.answers.put(answer)

    def fault_at_end(self, is_stuck: bool) -> DriverFault | None:
        """Return what the driver did wrong, and answer it no more.

        It does wrong when nothing moves any more and it is not at its end.
        """
        if is_stuck:
            self.fault = self._found(DriverFaultKind.WAITS if self._line.is_awaited else DriverFaultKind.IDLES)
        self._thread.stop("" if self.fault is None else self.fault.message or f"the driver {self.fault.kind.value}")
        return self.fault

    def _found(self, kind: DriverFaultKind, message: str = "") -> DriverFault:
        return DriverFault(self._driver.name, kind, message, self._record.lines)

    async def _carry_out(self, call: calls.Call) -> Any:
        match call:
            case calls.Write(pairs=pairs):
                await self._write(pairs)
                return None
            case calls.Read(address=address):
                return await self._backend.csb.read(address)
            case calls.Wait(most_cycles=most_cycles):
                return await self._line.until_high(_checked(most_cycles) if most_cycles else None)
            case calls.Delay(cycles=cycles):
                await wait_cycles(self._clock, _checked(cycles))
                return None
        # What moves no pin takes a cycle, so that a driver that does nothing else is found to.
        await wait_cycles(self._clock, 1)
        match call:
            case calls.MemoryRead():
                memory = self._memory(call.ram, call.address, call.nbytes, reading=True)
                return memory.read(call.address, call.nbytes)
            case calls.MemoryWrite():
                self._memory(call.ram, call.address, len(call.data), reading=False).write(call.address, call.data)
            case calls.Allocate():
                memory = self._image(call.ram)
                name = f"driver_{len(memory.allocations)}"
                return memory.allocate(call.nbytes, name, call.alignment_bytes)
            case calls.Reserve():
                self._image(call.ram).allocate_merged(f"driver_{call.address:x}", call.address, call.nbytes)
            case calls.Now():
                return cycle()
            case calls.Log(text=text):
                cocotb.log.info("%s: %s", self._driver.name, text)
        return None

    async def _write(self, pairs: tuple[tuple[int, int], ...]) -> None:
        writes = [RegWrite(self._registers.find(address).full_name, value) for address, value in pairs]
        await self._backend.csb.perform(writes, self._settings.poll_deadline_cycles)
        if any(address == self._status for address, _ in pairs):
            self._line.status_written()

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
