"""cocotb tests, started by test_port_rules.py on a simulator that knows X."""

from __future__ import annotations

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.types import LogicArray

from nvdla_models.config import HwConfig
from nvdla_tb.gate_tests.checkers import pass_through
from nvdla_tb.judge.detail import UnknownPin
from nvdla_tb.judge.finding import Check
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.sim.bench import Bench

CONFIG = HwConfig.load("nv_small")


@cocotb.test()
async def an_unknown_payload_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    bus = bench.slaves[Ram.MC].bus
    # The pins of a port do not change, but for this test.
    object.__setattr__(bus, "rdata", UnknownData(bus.rdata))
    await bench.run(pass_through(bench))
    verdict = bench.finish()
    assert verdict.ending.is_failure
    bench.expect_findings(*{finding.check for finding in verdict.findings})
    unknown = [finding for finding in verdict.findings if isinstance(finding.detail, UnknownPin)]
    assert {(finding.detail.ram, finding.detail.pin) for finding in unknown} == {(Ram.MC, "rdata"), (Ram.MC, "wdata")}
    for finding in unknown:
        assert finding.check is Check.PROTOCOL
        assert "X" in finding.detail.value
        assert set(finding.detail.value) <= set("01X")
        assert finding.cycle is not None


class UnknownData:
    """The read data of a port, whose lowest bit is never driven."""

    def __init__(self, signal: SimHandleBase) -> None:
        self._signal = signal

    @property
    def value(self) -> LogicArray:
        return self._signal.value

    @value.setter
    def value(self, word: int) -> None:
        self._signal.value = LogicArray(f"{word:064b}"[:-1] + "X")
