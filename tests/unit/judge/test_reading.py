"""Layers that end without having read anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from nvdla_tb.judge.detail import NothingRead
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.reading import ReadRule
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.program.conv_buffer import Fetch
from tests.unit.nvdla.conv_samples import small_conv
from tests.unit.nvdla.samples import small_sdp

SDP = StartedLayer(0, "SDP", 1, small_sdp((3, 2, 2), 0x1000, 0x2000), groups={"SDP_RDMA": 0, "SDP": 1})
CONV = StartedLayer(1, "CONV", 0, small_conv(), groups={"CDMA": 0, "SDP": 0})


class Port:
    """A port that counts reads."""

    def __init__(self) -> None:
        self.reads = 5
        self.rule = ReadRule(lambda: self.reads)

    def enable(self) -> None:
        self.rule.enable("SDP_RDMA", 0)
        self.rule.enable("SDP", 1)


def test_a_layer_that_read_nothing_until_its_end_is_found_once() -> None:
    port = Port()
    port.enable()
    port.rule.start(SDP)
    assert list(port.rule.end(SDP, 90)) == [Finding(Check.MEMORY, NothingRead(), 90, SDP.id)]
    assert list(port.rule.finish(95)) == []


def test_a_layer_whose_end_was_not_seen_is_judged_at_the_end() -> None:
    port = Port()
    port.enable()
    port.rule.start(SDP)
    assert list(port.rule.finish(95)) == [Finding(Check.MEMORY, NothingRead(), 95, SDP.id)]


def test_what_a_unit_reads_before_its_layer_is_complete_counts() -> None:
    port = Port()
    port.rule.enable("SDP_RDMA", 0)
    port.reads += 1
    port.rule.enable("SDP", 1)
    port.rule.start(SDP)
    assert list(port.rule.end(SDP, 90)) == []


def test_what_was_read_before_the_first_enable_does_not_count() -> None:
    port = Port()
    port.enable()
    port.reads += 1
    port.enable()
    port.rule.start(SDP)
    assert len(list(port.rule.end(SDP, 90))) == 1


@pytest.mark.parametrize(("fetch", "found"), [(Fetch(data=False), 1), (Fetch(data=False, weights=False), 0)])
def test_a_convolution_that_finds_all_in_the_buffer_need_not_read(fetch: Fetch, found: int) -> None:
    port = Port()
    port.rule.enable("CDMA", 0)
    port.rule.start(replace(CONV, fetch=fetch))
    assert len(list(port.rule.end(CONV, 90))) == found


@pytest.mark.parametrize("forget", [lambda port: port.rule.reset(), lambda port: setattr(port, "rule", ReadRule(None))])
def test_nothing_is_judged_after_a_reset_or_without_ports(forget: Callable[[Port], None]) -> None:
    port = Port()
    port.enable()
    port.rule.start(SDP)
    forget(port)
    assert list(port.rule.end(SDP, 90)) == []
    port.enable()
    assert list(port.rule.finish(95)) == []
