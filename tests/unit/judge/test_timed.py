"""Counters of cycles lie between what the port shows and the time that a layer took."""

from __future__ import annotations

import numpy as np
import pytest

from nvdla_tb.judge.counters import CounterBoard
from nvdla_tb.judge.detail import WrongCounter
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.timed import DATA_READ_ID
from tests.unit.nvdla.conv_samples import small_conv
from tests.unit.nvdla.samples import small_sdp

LATENCY = 50
SDP, PDP, CDMA = "SDP.D_PERF_WDMA_WRITE_STALL", "PDP.D_PERF_WRITE_STALL", "CDMA.D_PERF_DAT_READ_LATENCY"
ENABLES = {"SDP": "perf_dma_en", "PDP": "dma_en", "CDMA": "dma_en"}


class Board(CounterBoard):
    """Runs layers that take part in one unit each."""

    def __init__(self) -> None:
        super().__init__(lambda unit: 0, {Ram.MC: LATENCY})
        self.index = 0

    def run(self, unit: str, group: int, begun: int, ended: int | None, *, counting: bool = True) -> None:
        layer = small_conv() if unit == "CDMA" else small_sdp()
        flags = frozenset([f"{unit}.{ENABLES[unit]}"] if counting else [])
        self.timed.enable(unit, group, begun)
        self.start(StartedLayer(self.index, unit, group, layer, groups={unit: group}, counting=flags), {})
        if ended is not None:
            self.end(self.index, ended)
        self.index += 1

    def fetch(self, *cycles: int, axi_id: int = DATA_READ_ID) -> None:
        self.timed.reads(Ram.MC, np.array(cycles), np.full(len(cycles), axi_id))

    def wrong(self, register: str, group: int, got: int) -> tuple[int, int | None] | None:
        found = self.check(*register.split("."), group, got)
        if found is None:
            return None
        assert isinstance(found[1], WrongCounter)
        assert found[1].got == got
        return found[1].expected, found[1].most


@pytest.fixture
def board() -> Board:
    return Board()


def test_a_stall_lasts_no_longer_than_its_layer(board: Board) -> None:
    board.run("SDP", 0, 100, 400)
    assert board.wrong(SDP, 0, 301) == (0, 300)
    assert board.wrong(SDP, 0, 300) is None
    assert board.judged == 2
    board.run("SDP", 1, 500, 520)
    assert board.wrong(SDP, 1, 21) == (0, 20)


def test_stalls_of_pdp_add_up_from_the_first_layer_on(board: Board) -> None:
    board.run("PDP", 0, 100, 400)
    board.run("PDP", 1, 500, 520)
    assert board.wrong(PDP, 1, 321) == (0, 320)
    assert board.wrong(PDP, 1, 320) is None


def test_stalls_of_pdp_never_become_fewer(board: Board) -> None:
    board.run("PDP", 0, 100, 400)
    assert board.wrong(PDP, 0, 33) is None
    board.run("PDP", 1, 500, 520)
    assert board.wrong(PDP, 1, 32) == (33, 53)


@pytest.mark.parametrize("counter", [SDP, PDP])
def test_a_layer_that_does_not_count_leaves_the_count_of_the_layer_before_it(counter: str) -> None:
    board, unit = Board(), counter.partition(".")[0]
    board.run(unit, 0, 100, 400)
    board.run(unit, 1, 500, 900, counting=False)
    assert board.wrong(counter, 1, 301) == (0, 300)
    assert board.wrong(counter, 0, 33) is None
    assert board.wrong(counter, 1, 34) == (33, None)
    assert board.wrong(counter, 1, 33) is None


def test_cdma_has_counted_nothing_after_a_layer_that_does_not_count(board: Board) -> None:
    board.run("CDMA", 0, 100, 400)
    board.run("CDMA", 1, 500, 900, counting=False)
    assert board.wrong(CDMA, 1, 1) == (0, None)


def test_a_layer_moves_no_counter_of_the_other_group(board: Board) -> None:
    board.run("SDP", 0, 100, 400)
    assert board.wrong(SDP, 0, 33) is None
    board.run("SDP", 1, 500, 900)
    assert board.wrong(SDP, 0, 34) == (33, None)


def test_layers_count_in_the_order_in_which_they_run_whichever_end_is_seen_first(board: Board) -> None:
    board.run("PDP", 0, 100, None)
    board.run("PDP", 1, 110, 500, counting=False)
    assert board.wrong(PDP, 1, 10_000) is None
    board.end(0, 500)
    assert board.wrong(PDP, 1, 401) == (0, 400)
    assert board.wrong(PDP, 0, 400) is None


def test_nothing_is_known_of_the_count_of_a_unit_that_was_enabled_for_no_layer(board: Board) -> None:
    board.run("SDP", 0, 100, 400)
    board.timed.enable("SDP", 1, 500)
    board.run("SDP", 0, 600, 700, counting=False)
    assert board.wrong(SDP, 0, 10_000) is None
    assert board.judged == 0
    assert board.wrong(SDP, 0, 10_001) == (10_000, None)


def test_a_latency_is_at_least_the_time_for_which_reads_wait(board: Board) -> None:
    board.run("CDMA", 0, 100, None)
    board.fetch(99, 110, 120, 300)
    board.fetch(500, axi_id=9)
    board.end(0, 900)
    least = 10 + LATENCY + LATENCY
    assert board.wrong(CDMA, 0, least - 1) == (least, 800)
    assert board.wrong(CDMA, 0, least) is None


def test_reads_of_layers_that_overlap_are_not_told_apart(board: Board) -> None:
    board.run("CDMA", 0, 100, None)
    board.run("CDMA", 1, 110, 500)
    board.fetch(120)
    board.end(0, 600)
    assert board.wrong(CDMA, 0, 0) is None
    assert board.wrong(CDMA, 1, 0) is None
    assert board.judged == 2


def test_nothing_is_judged_before_the_end_or_without_cycles(board: Board) -> None:
    board.run("SDP", 0, 100, None)
    assert board.wrong(SDP, 0, 10_000) is None
    board.end(0, None)
    assert board.wrong(SDP, 0, 10_000) is None
    board.reset()
    assert board.wrong(SDP, 0, 10_000) is None
    assert board.judged == 0


def test_a_layer_that_does_not_read_by_a_client_says_nothing_of_its_stalls(board: Board) -> None:
    board.timed.enable("SDP_RDMA", 0, 100)
    board.start(
        StartedLayer(0, "SDP", 0, small_sdp(), groups={"SDP_RDMA": 0}, counting=frozenset(["SDP_RDMA.perf_dma_en"])), {}
    )
    board.end(0, 200)
    assert board.wrong("SDP_RDMA.D_PERF_BRDMA_READ_STALL", 0, 10_000) is None
    assert board.wrong("SDP_RDMA.D_PERF_MRDMA_READ_STALL", 0, 101) == (0, 100)


def test_a_silent_layer_clears_stalls_of_a_cube_only_when_it_reads_one(board: Board) -> None:
    counting = frozenset(["SDP_RDMA.perf_dma_en"])
    layers = [(small_sdp(), counting), (small_conv(), frozenset[str]()), (small_sdp(), frozenset[str]())]
    register, most = "SDP_RDMA.D_PERF_MRDMA_READ_STALL", []
    for index, (layer, flags) in enumerate(layers):
        board.timed.enable("SDP_RDMA", 0, 1000 * index)
        board.start(StartedLayer(index, "SDP", 0, layer, groups={"SDP_RDMA": 0}, counting=flags), {})
        board.end(index, 1000 * index + 100)
        most.append(board.wrong(register, 0, 101))
    assert most == [(0, 100), (0, 100), (0, None)]
