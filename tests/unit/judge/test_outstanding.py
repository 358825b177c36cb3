"""Requests that wait are held against what the memory interface was told."""

from __future__ import annotations

from models.config import HwConfig
from tb.judge.detail import TooManyOutstanding
from tb.judge.outstanding import OutstandingRule, limits_outstanding
from tb.nvdla.memory import Ram
from tb.nvdla.registers import RegisterMap

REGISTERS = RegisterMap.of(HwConfig.load("nv_small"))
LIMITS = REGISTERS.parse("MCIF.CFG_OUTSTANDING_CNT")


class Ports:
    """Ports that have seen so many."""

    def __init__(self) -> None:
        self.most = (0, 0)

    def __call__(self) -> dict[Ram, tuple[int, int]]:
        most, self.most = self.most, (0, 0)
        return {Ram.MC: most}


def test_one_more_than_the_register_says_may_wait() -> None:
    ports = Ports()
    rule = OutstandingRule(REGISTERS, ports)
    assert list(rule.write(LIMITS, 0x0203, busy=False)) == []
    ports.most = (4, 3)
    assert list(rule.judge()) == []
    ports.most = (5, 4)
    assert list(rule.judge()) == [
        TooManyOutstanding(Ram.MC, True, 4, 5),
        TooManyOutstanding(Ram.MC, False, 3, 4),
    ]


def test_after_a_reset_256_may_wait() -> None:
    ports = Ports()
    rule = OutstandingRule(REGISTERS, ports)
    list(rule.write(LIMITS, 0, busy=False))
    rule.reset()
    ports.most = (256, 257)
    assert list(rule.judge()) == [TooManyOutstanding(Ram.MC, False, 256, 257)]


def test_what_layers_sent_under_an_earlier_limit_may_still_wait() -> None:
    ports = Ports()
    rule = OutstandingRule(REGISTERS, ports)
    list(rule.write(LIMITS, 0x0909, busy=False))
    ports.most = (11, 0)
    assert list(rule.write(LIMITS, 0, busy=True)) == [TooManyOutstanding(Ram.MC, True, 10, 11)], "before the write"
    ports.most = (10, 10)
    assert list(rule.judge()) == []
    ports.most = (2, 0)
    assert list(rule.judge()) == [TooManyOutstanding(Ram.MC, True, 1, 2)]


def test_only_the_limits_of_the_memory_interfaces_are_followed() -> None:
    assert limits_outstanding(LIMITS)
    assert not limits_outstanding(REGISTERS.parse("MCIF.CFG_RD_WEIGHT_0"))
    assert not limits_outstanding(REGISTERS.parse("SDP.D_CVT_OFFSET"))
