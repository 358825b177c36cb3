"""Carries out what a driver asks for, on either back end."""

from __future__ import annotations

from pathlib import Path
from queue import Empty
from typing import Any

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import First, RisingEdge, Timer

from nvdla_models.errors import InputError
from nvdla_tb.judge.detail import DriverFault, DriverFaultKind
from nvdla_tb.judge.finding import Check
from nvdla_tb.nvdla.memory import MemoryFault, MemoryImage, Ram
from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.sim.backend import Backend
from nvdla_tb.sim.clocking import HIGH, PERIOD_STEPS, cycle, wait_cycles
from nvdla_tb.sim.driver import calls
from nvdla_tb.sim.driver.record import Record
from nvdla_tb.sim.driver.thread import DriverThread
from nvdla_tb.stimulus.exchange import Driver
from nvdla_tb.stimulus.settings import BenchSettings

_RAMS = (Ram.MC, Ram.CVSRAM)
_LONGEST_CYCLES = 1 << 32

CHECKS = {
    DriverFaultKind.IDLES: Check.HANG,
    DriverFaultKind.WAITS: Check.HANG,
    DriverFaultKind.SILENT: Check.HANG,
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
        self._driver, self._backend, self._line_cycles = driver, backend, line_cycles
        self._registers, self._settings = backend.csb.registers, settings
        self._clock, self._line = dut.dla_core_clk, dut.dla_intr
        self._status = self._registers.address(self._registers.register("GLB", "S_INTR_STATUS"))
        self._record = Record(record)
        self._thread = DriverThread(driver.library, driver.entry, self._registers, self._record)
        self._cleared = 0
        self.fault: DriverFault | None = None
        self._waits = False

    async def play(self) -> None:
        """Run the driver until it returns, or cannot go on, which is its ``fault`` then.

        Raises:
            CsbTimeout: when a request or its answer does not come through.
        """
        self._thread.start()
        while True:
            try:
                # The simulation stands still meanwhile.
                call = self._thread.calls.get(timeout=self._driver.silent_seconds)
            except Empty:
                self.fault = self._found(DriverFaultKind.SILENT, f"{self._driver.silent_seconds:g}")
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
            self._thread.answers.put(answer)

    def fault_at_end(self, is_stuck: bool) -> DriverFault | None:
        """Return what the driver did wrong; it does when nothing moves any more and it is not at its end."""
        if not is_stuck:
            return self.fault
        return self._found(DriverFaultKind.WAITS if self._waits else DriverFaultKind.IDLES)

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
                return await self._wait(most_cycles)
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
            self._cleared = cycle()

    async def _wait(self, most_cycles: int) -> bool:
        """Return whether the line is high at an edge of the clock before so many cycles are over."""
        deadline = cycle() + _checked(most_cycles) if most_cycles else None
        lag = self._cleared + self._line_cycles - cycle()
        if self._cleared and lag > 0:
            # The line follows the status that was cleared a few cycles later.
            await wait_cycles(self._clock, lag)
        self._waits = True
        while True:
            if self._line.value != HIGH:
                left = None if deadline is None else deadline - cycle()
                if left is not None and left <= 0:
                    break
                rising = RisingEdge(self._line)
                await (rising if left is None else First(rising, Timer(left * PERIOD_STEPS, unit="step")))
            await RisingEdge(self._clock)
            if self._line.value == HIGH:
                break
        self._waits = False
        return bool(self._line.value == HIGH)

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
