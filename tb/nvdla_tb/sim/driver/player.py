"""Plays a driver: takes what it asks for, one request after the other, and finds out how it ends."""

from __future__ import annotations

from pathlib import Path
from queue import Empty

from cocotb.handle import SimHandleBase

from nvdla_models.errors import InputError
from nvdla_tb.judge.detail import DriverFault, DriverFaultKind
from nvdla_tb.judge.finding import Check
from nvdla_tb.sim.backend import Backend
from nvdla_tb.sim.driver.asking import Asking, Failed, Returned
from nvdla_tb.sim.driver.carrier import Carrier
from nvdla_tb.sim.driver.record import Record
from nvdla_tb.sim.driver.server import ServedDriver
from nvdla_tb.sim.driver.thread import DriverThread
from nvdla_tb.stimulus.exchange import Driver
from nvdla_tb.stimulus.settings import BenchSettings

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
        self._driver, self._record = driver, Record(record)
        carrier = Carrier(driver.name, dut, settings, backend, line_cycles)
        self._line, asking = carrier.line, Asking(carrier, self._record)
        self._thread: DriverThread | ServedDriver
        if driver.where is None:
            self._thread = DriverThread(driver.library, driver.entry, asking)
        else:
            self._thread = ServedDriver(driver.where, asking)
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
            if isinstance(call, Returned):
                if call.code:
                    self.fault = self._found(DriverFaultKind.RETURNED, str(call.code))
                return
            if isinstance(call, Failed):
                self.fault = self._found(DriverFaultKind.CALL, str(call.error))
                return
            try:
                answer = await call()
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
