"""The host of a core: it sets it up by its register port, gives frames and takes results, as batch or as stream."""

from __future__ import annotations

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.task import Task
from cocotb.triggers import Combine
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiMaster, AxiResp

from dlhdl_tb.judge import DlhdlJudge, packed_frame
from dlhdl_tb.program import ACTIVATION_BASE, WEIGHT_BASE
from dlhdl_tb.registers import RegisterMap
from dlhdl_tb.scenario import DlhdlScenario, Mode
from nvdla_tb.sim.clocking import cycle, wait_cycles

_POLL_CYCLES = 4
_BEYOND_CYCLES = 64


_AXI4, _AXI4_LITE = "AXI4", "AXI4_Lite"
_WORD_BYTES = 4


class Registers:
    """Reads and writes registers; an answer other than OKAY is a finding.

    ::

        registers = Registers(dut, RegisterMap.load(path), judge)
        await registers.write("FrameCount", 3)
        await registers.pulse("inputStart")
        if await registers.read("done"): ...
    """

    def __init__(self, dut: SimHandleBase, names: RegisterMap, judge: DlhdlJudge) -> None:
        """Bind the port: AXI4-Lite when the core has pins of that name or a port without bursts."""
        self._names, self._judge = names, judge
        reset = {"reset": dut.reset_n, "reset_active_level": False}
        lite = _AXI4_LITE if hasattr(dut, f"{_AXI4_LITE}_AWADDR") else _AXI4
        if hasattr(dut, f"{lite}_AWLEN"):
            self._port = AxiMaster(AxiBus.from_prefix(dut, lite), dut.clk, **reset)
        else:
            self._port = AxiLiteMaster(AxiLiteBus.from_prefix(dut, lite), dut.clk, **reset)

    async def read(self, name: str) -> int:
        """Return the value of a register."""
        answer = await self._port.read(self._names.offset(name), _WORD_BYTES)
        self._check(name, "read", answer.resp)
        return int.from_bytes(answer.data, "little")

    async def write(self, name: str, value: int) -> None:
        """Write a register."""
        answer = await self._port.write(self._names.offset(name), value.to_bytes(_WORD_BYTES, "little"))
        self._check(name, "write", answer.resp)

    async def pulse(self, name: str) -> None:
        """Write 1 and then 0."""
        await self.write(name, 1)
        await self.write(name, 0)

    def _check(self, name: str, what: str, response: AxiResp) -> None:
        if response != AxiResp.OKAY:
            self._judge.register(f"{what} of {name} must be answered with OKAY, not {response.name}", cycle())


class Host:
    """Plays a scenario's frames; what it sees goes to the judge.

    Attributes:
        progress: a count that changes whenever it does something besides polling.
        waiting_for: what it polls for, by side.
    """

    def __init__(self, clock: SimHandleBase, registers: Registers, scenario: DlhdlScenario, judge: DlhdlJudge) -> None:
        """Bind the host."""
        self.progress = 0
        self.waiting_for: dict[str, str] = {}
        self._clock, self._registers, self._scenario, self._judge = clock, registers, scenario, judge
        self._tasks: list[Task[None]] = []

    async def set_up(self) -> None:
        """Write base addresses and where instructions and weights lie."""
        program, registers = self._scenario.program, self._registers
        await registers.read("IPCore_Timestamp")
        await registers.write("IPCore_Enable", 1)
        await registers.write("AXI4_Master_Activation_Data_Rd_BaseAddr", ACTIVATION_BASE)
        await registers.write("AXI4_Master_Activation_Data_Wr_BaseAddr", ACTIVATION_BASE)
        await registers.write("AXI4_Master_Weight_Data_Rd_BaseAddr", WEIGHT_BASE)
        names = ("skd_ddr_addr", "conv_weight_ddr_addr", "fc_weight_ddr_addr")
        for name, place in zip(names, program.places, strict=True):
            await registers.write(name, place.offset)
        await registers.write("UseCustomBaseAddr", int(program.custom))
        if program.custom:
            await registers.write("InputBaseAddr", program.inputs.region.offset)
            await registers.write("OutputBaseAddr", program.outputs.region.offset)

    async def play(self) -> None:
        """Set the core up, give all frames and take all results."""
        await self.set_up()
        if self._scenario.host.mode is Mode.BATCH:
            await self.batch()
        else:
            await self.stream()

    async def batch(self) -> None:
        """Write all frames, start, and wait for ``done``."""
        frames = len(self._scenario.frames)
        for frame in range(frames):
            self._load(frame)
            self._judge.given(frame, cycle())
        await self._registers.write("StreamingMode", 0)
        await self._registers.write("FrameCount", frames)
        await self._registers.pulse("inputStart")
        self._moved()
        await self._wait_for("batch", "done")
        self._judge.done(cycle())

    async def stream(self) -> None:
        """Give frames when they are asked for, and take results when they are offered, each side on its own."""
        frames = len(self._scenario.frames)
        await self._registers.write("StreamingMode", 1)
        await self._registers.write("FrameCount", 0 if self._scenario.host.endless else frames)
        await self._registers.pulse("inputStart")
        self._moved()
        self._tasks = [cocotb.start_soon(self._give()), cocotb.start_soon(self._take())]
        await Combine(*self._tasks)
        await self._wait_for("end", "StreamingDone")
        if not self._scenario.host.endless:
            await wait_cycles(self._clock, _BEYOND_CYCLES)
            if await self._registers.read("InputValid") & 1:
                self._judge.asked_beyond(frames, cycle())

    def stop(self) -> None:
        """End the coroutines of a stream, as before a reset."""
        for task in self._tasks:
            task.cancel()
        self._tasks = []

    async def _give(self) -> None:
        """The input side."""
        wait = self._scenario.host.input_wait_cycles
        for frame in range(len(self._scenario.frames)):
            await self._wait_for("input", "InputValid")
            await self._ask(frame)
            if wait:
                await wait_cycles(self._clock, wait)
                await self._ask(frame)
            self._load(frame)
            self._judge.given(frame, cycle())
            await self._registers.pulse("InputNext")
            self._moved()
        if self._scenario.host.endless:
            await self._registers.pulse("InputStop")
            self._moved()

    async def _take(self) -> None:
        """The output side."""
        wait, frames = self._scenario.host.output_wait_cycles, len(self._scenario.frames)
        for frame in range(frames):
            await self._wait_for("output", "OutputValid")
            await self._look(frame)
            if wait:
                await wait_cycles(self._clock, wait)
                await self._look(frame)
            if await self._registers.read("StreamingDone") & 1:
                self._judge.streaming_done(frame, owed=True, cycle=cycle())
            self._judge.read_out(frame)
            await self._registers.pulse("OutputNext")
            self._moved()

    async def _ask(self, frame: int) -> None:
        address, nbytes = [await self._registers.read(name) for name in ("InputAddr", "InputSize")]
        self._judge.asked(frame, address, nbytes, cycle())

    async def _look(self, frame: int) -> None:
        address, nbytes = [await self._registers.read(name) for name in ("OutputAddr", "OutputSize")]
        self._judge.offered(frame, address, nbytes, cycle())

    def _load(self, frame: int) -> None:
        program = self._scenario.program
        address = ACTIVATION_BASE + program.inputs.offset(frame)
        self._judge.image.write(address, packed_frame(self._scenario, frame))

    async def _wait_for(self, side: str, name: str) -> None:
        self.waiting_for[side] = name
        while not await self._registers.read(name) & 1:
            await wait_cycles(self._clock, _POLL_CYCLES)
        del self.waiting_for[side]
        self._moved()

    def _moved(self) -> None:
        self.progress += 1
