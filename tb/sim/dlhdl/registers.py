"""The register port of a core, AXI4 or AXI4-Lite, by the names of its header."""

from __future__ import annotations

from cocotb.handle import SimHandleBase
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiMaster, AxiResp

from tb.dlhdl.judge import DlhdlJudge
from tb.dlhdl.registers import RegisterMap
from tb.sim.clocking import cycle

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
