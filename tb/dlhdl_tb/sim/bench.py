"""Everything around one core: memory, registers, host and judge."""

from __future__ import annotations

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import First

from dlhdl_tb.judge import DlhdlJudge
from dlhdl_tb.registers import RegisterMap
from dlhdl_tb.scenario import DlhdlScenario
from dlhdl_tb.sim.host import Host, Registers
from dlhdl_tb.sim.masters import Masters
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.memory import MemoryImage
from nvdla_tb.sim.clocking import cycle, start_clock, wait_cycles

_RESET_CYCLES = 16
_REST_CYCLES = 256
_CHECKS_PER_DEADLINE = 8
_SETTLE_CYCLES = 100
_HELD_CYCLES = 300
_ADDRESS_LIMIT = 1 << 32


class DlhdlBench:
    """Plays one scenario on a core and judges it.

    ::

        bench = await DlhdlBench.start(dut, scenario)
        verdict = await bench.run()
    """

    def __init__(self, dut: SimHandleBase, scenario: DlhdlScenario) -> None:
        """Build the agents; ``start`` also resets the core."""
        self._dut, self._scenario = dut, scenario
        self.image = MemoryImage(limit=_ADDRESS_LIMIT)
        scenario.program.reserve(self.image)
        self.judge = DlhdlJudge(scenario, self.image)
        self.masters = Masters(dut, self.judge, scenario.settings.port, scenario.seed)
        self.registers = Registers(dut, RegisterMap.load(scenario.config.header), self.judge)
        self.host = Host(dut.clk, self.registers, scenario, self.judge)

    @classmethod
    async def start(cls, dut: SimHandleBase, scenario: DlhdlScenario) -> DlhdlBench:
        """Return a bench whose core is out of reset."""
        dut.reset_n.value = 0
        bench = cls(dut, scenario)
        start_clock(dut.clk)
        bench.masters.start()
        await wait_cycles(dut.clk, _RESET_CYCLES)
        dut.reset_n.value = 1
        await wait_cycles(dut.clk, _RESET_CYCLES)
        return bench

    async def run(self) -> Verdict:
        """Play all frames, wait until memory rests, and return the verdict."""
        host = self._scenario.host
        if host.reset_cycle is not None:
            await self._interrupted(host.reset_cycle)
        if host.hold_cycle is not None:
            cocotb.start_soon(self._held(host.hold_cycle))
        if await self._watched() and not await self._rests():
            self.judge.hang(f"memory does not rest after the last frame; {self.masters.state()}", cycle())
        return self.judge.finish(cycle())

    async def _watched(self) -> bool:
        """Play, and return whether it came to its end; a hang is a finding."""
        played, quiet = cocotb.start_soon(self.host.play()), cocotb.start_soon(self._nothing_moves())
        await First(played, quiet)
        if played.done():
            quiet.cancel()
            played.result()
            return True
        played.cancel()
        self.host.stop()
        waiting = ", ".join(self.host.waiting_for.values()) or "an answer of the register port"
        cycles = self._scenario.settings.hang_cycles
        message = f"nothing moved for {cycles} cycles while the host waits for {waiting}; {self.masters.state()}"
        self.judge.hang(message, cycle())
        return False

    async def _held(self, after_cycles: int) -> None:
        """Hold the core for a while, in which memory must rest."""
        await wait_cycles(self._dut.clk, after_cycles)
        await self.registers.write("IPCore_Enable", 0)
        await wait_cycles(self._dut.clk, _SETTLE_CYCLES)
        before = self.masters.handshakes
        await wait_cycles(self._dut.clk, _HELD_CYCLES)
        if self.masters.handshakes != before:
            self.judge.moved_while_held(cycle())
        await self.registers.write("IPCore_Enable", 1)

    async def _nothing_moves(self) -> None:
        """Return when nothing has moved for long enough."""
        limit = self._scenario.settings.hang_cycles
        step = max(limit // _CHECKS_PER_DEADLINE, 1)
        last, quiet = self._activity, 0
        while quiet < limit:
            await wait_cycles(self._dut.clk, step)
            quiet = quiet + step if self._activity == last else 0
            last = self._activity

    @property
    def _activity(self) -> tuple[int, int]:
        return self.masters.handshakes, self.host.progress

    async def _rests(self) -> bool:
        """Return whether memory rests in time."""
        for _ in range(0, self._scenario.settings.hang_cycles, _REST_CYCLES):
            last = self.masters.handshakes
            await wait_cycles(self._dut.clk, _REST_CYCLES)
            if self.masters.handshakes == last and self.masters.are_idle:
                return True
        return False

    async def _interrupted(self, reset_cycle: int) -> None:
        """Begin, and reset the core in the middle: what it has begun is completed and dropped."""
        played = cocotb.start_soon(self.host.play())
        await wait_cycles(self._dut.clk, reset_cycle)
        if played.done():
            played.result()
        played.cancel()
        self.host.stop()
        self.judge.dropping = True
        await self.registers.write("IPCore_Reset", 1)
        if not await self._rests():
            self.judge.hang(f"memory does not rest after a reset; {self.masters.state()}", cycle())
        if self._scenario.host.reset_clears:
            for name in ("FrameCount", "skd_ddr_addr", "StreamingMode"):
                self.judge.cleared(name, await self.registers.read(name), cycle())
        self.judge.begin()
        self.judge.dropping = False
