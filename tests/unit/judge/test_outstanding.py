"""Requests that wait are held against what the memory interface was told."""

from __future__ import annotations

from collections.abc import Iterable

from nvdla_models.config import HwConfig
from nvdla_tb.judge.detail import AnyDetail, WrongOutstanding
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.outstanding import OutstandingRule, limits_outstanding
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.registers import RegisterMap

REGISTERS = RegisterMap.of(HwConfig.load("nv_small"))
LIMITS = REGISTERS.parse("MCIF.CFG_OUTSTANDING_CNT")


class Ports:
    """Ports that have seen so many."""

    def __init__(self) -> None:
        self.most, self.busy = (0, 0), False

    def __call__(self) -> dict[Ram, tuple[int, int]]:
        most, self.most = self.most, (0, 0)
        return {Ram.MC: most}


def details(findings: Iterable[Finding]) -> list[AnyDetail]:
    """Return the details of findings about memory."""
    found = list(findings)
    assert {finding.check for finding in found} <= {Check.MEMORY}
    return [finding.detail for finding in found]


def test_one_more_than_the_register_says_may_wait() -> None:
    ports = Ports()
    rule = OutstandingRule(REGISTERS, ports, lambda: ports.busy)
    assert details(rule.write(LIMITS, 0x0203, None)) == []
    ports.most = (4, 3)
    assert details(rule.finish(None)) == []
    ports.most = (5, 4)
    assert details(rule.finish(None)) == [
        WrongOutstanding(Ram.MC, True, 4, 5),
        WrongOutstanding(Ram.MC, False, 3, 4),
    ]


def test_after_a_reset_256_may_wait() -> None:
    ports = Ports()
    rule = OutstandingRule(REGISTERS, ports, lambda: ports.busy)
    details(rule.write(LIMITS, 0, None))
    rule.reset()
    ports.most = (256, 257)
    assert details(rule.finish(None)) == [WrongOutstanding(Ram.MC, False, 256, 257)]


def test_what_layers_sent_under_an_earlier_limit_may_still_wait() -> None:
    ports = Ports()
    rule = OutstandingRule(REGISTERS, ports, lambda: ports.busy)
    details(rule.write(LIMITS, 0x0909, None))
    ports.most, ports.busy = (11, 0), True
    assert details(rule.write(LIMITS, 0, None)) == [WrongOutstanding(Ram.MC, True, 10, 11)], "before the write"
    ports.most = (10, 10)
    assert details(rule.finish(None)) == []
    ports.most = (2, 0)
    assert details(rule.finish(None)) == [WrongOutstanding(Ram.MC, True, 1, 2)]


def test_only_the_limits_of_the_memory_interfaces_are_followed() -> None:
    assert limits_outstanding(LIMITS)
    assert not limits_outstanding(REGISTERS.parse("MCIF.CFG_RD_WEIGHT_0"))
    assert not limits_outstanding(REGISTERS.parse("SDP.D_CVT_OFFSET"))
    ports = Ports()
    rule = OutstandingRule(REGISTERS, ports, lambda: False)
    ports.most = (300, 0)
    assert details(rule.write(REGISTERS.parse("MCIF.CFG_RD_WEIGHT_0"), 0, None)) == []
    assert len(details(rule.write(LIMITS, 0, None))) == 1


def test_limits_that_the_last_layer_must_reach() -> None:
    ports = Ports()
    rule = OutstandingRule(REGISTERS, ports, lambda: ports.busy, {Ram.MC})
    enable = REGISTERS.parse("PDP.D_OP_ENABLE")
    assert details(rule.write(LIMITS, 0x0203, None)) == [], "before the first layer"
    ports.most = (4, 3)
    assert details(rule.write(enable, 1, None)) == [], "of an earlier layer"
    ports.most = (4, 2)
    ports.busy = True
    assert details(rule.write(enable, 1, None)) == [], "the other unit of the layer is enabled"
    assert details(rule.finish(None)) == [WrongOutstanding(Ram.MC, False, 3, 2)]
    ports.most = (4, 3)
    assert details(rule.finish(None)) == []


def test_limits_that_were_reached_are_not_asked_for_again_at_a_second_verdict() -> None:
    ports = Ports()
    rule = OutstandingRule(REGISTERS, ports, lambda: ports.busy, {Ram.MC})
    assert details(rule.write(LIMITS, 0x0203, None)) == []
    ports.most = (4, 3)
    assert details(rule.finish(None)) == []
    ports.most = (0, 0)
    assert details(rule.finish(None)) == []
