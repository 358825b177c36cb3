"""The interrupt line and GLB's status, mask and set registers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import Event, ReadWrite, RisingEdge, select

from nvdla_tb.nvdla.program.ops import INTERRUPT_UNITS, done_bit
from nvdla_tb.nvdla.program.state import GROUPS
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.sim.clocking import HIGH
from nvdla_tb.sim.csb import CsbMaster, CsbReset, CsbTimeout


class HangError(RuntimeError):
    """A wait of a test that nothing ends any more; the verdict has a finding of it."""


Watch = Callable[[str], Awaitable[None]]
"""Takes what is waited for, such as ``SDP_0``, and raises ``HangError`` once nothing moves any more."""


async def _never(_: str) -> None:
    await Event().wait()


class Interrupts(ABC):
    """Counts done events, and lets programs and tests wait for them.

    ::

        await bench.csb.write("SDP.D_OP_ENABLE", 1)
        await bench.interrupts.wait("SDP", 0)

    Attributes:
        failure: Why the line is served no longer, or None.
        failed: Event that is set then.
        watch: Ends a wait when the DUT hangs; the bench sets it, and without one nothing does.
    """

    def __init__(self, registers: RegisterMap) -> None:
        """Start without events."""
        self._registers = registers
        self._fired: Counter[tuple[str, int]] = Counter()
        self._news = Event()
        self._awaited: Counter[tuple[str, int]] = Counter()
        self.failure: CsbTimeout | None = None
        self.failed = Event()
        self.watch: Watch = _never

    @abstractmethod
    def start(self) -> None:
        """Begin to serve the line."""

    @property
    def fired(self) -> dict[tuple[str, int], int]:
        """How often each (unit, group) has fired."""
        return dict(self._fired)

    def forget(self) -> None:
        """Forget all events, as a reset of the DUT does; nobody may wait for one."""
        self._fired.clear()
        self._awaited.clear()

    def _fail(self, error: CsbTimeout) -> None:
        """Serve no longer, as CSB is dead: no task that anybody waits for would notice."""
        self.failure = error
        self.failed.set()

    async def wait(self, unit: str, group: int) -> None:
        """Return when the next not yet awaited event of a unit's group has fired.

        Args:
            unit: A unit with a done interrupt, such as ``SDP``.
            group: Its register group, 0 or 1.

        Raises:
            InputError: for a unit without a done interrupt.
            HangError: when nothing has moved for ``hang_cycles`` of the settings, or memory moves in vain.
            CsbTimeout: when the interrupt line can be served no longer.
        """
        fired = self.next(unit, group)
        await select(fired, self.watch(f"{unit}_{group}"), self.failed.wait())
        if self.failure is not None:
            raise self.failure

    def next(self, unit: str, group: int) -> Awaitable[None]:
        """Return what ends when the next not yet awaited event of a unit's group has fired; nothing watches it.

        Raises:
            InputError: for a unit without a done interrupt.
        """
        done_bit(unit, group)
        self._awaited[unit, group] += 1
        return self._until(unit, group, self._awaited[unit, group])

    async def _until(self, unit: str, group: int, number: int) -> None:
        while self._fired[unit, group] < number:
            self._news.clear()
            await self._news.wait()

    def _count(self, bits: int) -> None:
        """Note the events of one service."""
        if not bits:
            return
        for unit in INTERRUPT_UNITS:
            for group in range(GROUPS):
                self._fired[unit, group] += bits >> done_bit(unit, group) & 1
        self._news.set()


class InterruptAgent(Interrupts):
    """Serves the interrupt line: reads the status, clears exactly the bits it read, and counts events.

    ::

        interrupts = InterruptAgent(dut.dla_intr, csb)      # csb: a CsbMaster with a configuration
        interrupts.start()
        await with_timeout(interrupts.wait("SDP", 0), 100, "us")

    Clearing with all ones loses a done bit that is set between the read and the clear, and the layer seems to hang.
    """

    def __init__(self, line: SimHandleBase, csb: CsbMaster) -> None:
        """Bind the agent; ``start`` lets it serve.

        Args:
            line: The interrupt line, active high.
            csb: The master that reads and clears the status, which must know the registers.

        Raises:
            InputError: for a master without a configuration.
        """
        super().__init__(csb.registers)
        self._status = csb.find("GLB.S_INTR_STATUS")
        self._line, self._csb = line, csb

    def start(self) -> None:
        """Begin to serve the line."""
        cocotb.start_soon(self._serve())

    async def _serve(self) -> None:
        edge, rising, settled = RisingEdge(self._csb.clock), RisingEdge(self._line), ReadWrite()
        while True:
            if self._line.value != HIGH:
                await rising
            await edge
            # The line follows the status a few cycles later.
            if self._line.value != HIGH:
                continue
            # An access of the program that begins in this cycle goes first.
            await settled
            try:
                self._count(await self._csb.serve_interrupt(self._status))
            except CsbTimeout as error:
                self._fail(error)
                return
            except CsbReset:
                continue
