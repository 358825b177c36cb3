"""When a fused convolution starts and ends, and what its units do on their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nvdla_models.layout import WeightLayout
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import ConvLayer
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import InterruptNotify, Op, Poll, RegWrite, done_bit
from nvdla_tb.nvdla.program.table import Refused
from nvdla_tb.nvdla.surfaces import WeightSurface
from nvdla_tb.stimulus.refusal import refusal
from tests.unit.nvdla.conv_samples import biased_conv, image_conv, small_conv
from tests.unit.nvdla.registers_helper import Tracked, refused
from tests.unit.nvdla.samples import FULL, SMALL, small_sdp

PIPELINE = ("CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA")
ALONE = ("SDP", *PIPELINE)
STATUS = "GLB.S_INTR_STATUS"


@pytest.fixture
def played() -> Tracked:
    return Tracked()


@pytest.fixture
def busy(played: Tracked) -> Tracked:
    """Return a tracker whose first convolution runs."""
    played.program(small_conv(), 0)
    return played


def kept(layer: ConvLayer, banks: int = 2) -> ConvLayer:
    """Return a layer after which nothing of the weights stays in the convolution buffer."""
    return replace(layer, cbuf=replace(layer.cbuf, skip_weight_release=True, weight_banks=banks))


@pytest.mark.parametrize("last", ALONE)
def test_a_convolution_starts_when_its_last_unit_is_enabled(played: Tracked, last: str) -> None:
    assert played.program(small_conv(), 0, but=(last,)) == []
    (started,) = played.write(f"{last}.D_OP_ENABLE", 1)
    assert (started.name, started.layer) == ("layer 0 (CONV, group 0)", small_conv())


@pytest.mark.parametrize("last", ["SDP_RDMA", *ALONE])
def test_operands_in_memory_wait_for_rdma_too(played: Tracked, last: str) -> None:
    assert played.program(biased_conv(), 0, but=(last,)) == []
    (started,) = played.write(f"{last}.D_OP_ENABLE", 1)
    assert started.layer == biased_conv()


def test_the_pipeline_alone_starts_nothing(played: Tracked) -> None:
    assert played.program(small_conv(), 0, but=("SDP",)) == []
    assert played.tracker.layers_seen == 0


def test_the_done_bit_of_sdp_ends_the_layer_and_frees_all_units(busy: Tracked) -> None:
    assert busy.enabled(*ALONE) == [True] * 6
    (ended,) = busy.read(STATUS, 1 << done_bit("SDP", 0))
    assert ended.layer == small_conv()
    assert busy.enabled(*ALONE) == [False] * 6
    assert [busy.tracker.state.consumer(unit) for unit in ALONE] == [1] * 6
    assert busy.tracker.running == ()


def test_cacc_gives_the_pipeline_back_while_sdp_still_runs(busy: Tracked) -> None:
    assert busy.read(STATUS, 1 << done_bit("CACC", 0)) == []
    assert busy.enabled(*ALONE) == [True, *[False] * 5]
    assert len(busy.tracker.running) == 1
    assert len(busy.read(STATUS, 1 << done_bit("SDP", 0) | 1 << done_bit("CACC", 0))) == 1


def test_cdma_is_done_when_data_and_weights_are(busy: Tracked) -> None:
    busy.read(STATUS, 1 << done_bit("CDMA_WT", 0))
    assert busy.enabled("CDMA", "CSC") == [True, True]
    busy.read(STATUS, 1 << done_bit("CDMA_WT", 0) | 1 << done_bit("CDMA_DAT", 0))
    assert busy.enabled("CDMA", "CSC") == [False, True]


def test_the_done_bits_of_the_other_group_free_nothing(busy: Tracked) -> None:
    assert busy.read(STATUS, sum(1 << done_bit(unit, 1) for unit in ("SDP", "CACC", "CDMA_WT", "CDMA_DAT"))) == []
    assert busy.enabled(*ALONE) == [True] * 6


def test_an_idle_status_frees_the_unit_alone(busy: Tracked) -> None:
    assert busy.read("CSC.S_STATUS", 2 << 16) == []
    assert busy.enabled("CDMA", "CSC", "CACC") == [True, False, True]
    assert len(busy.read("SDP.S_STATUS", 0)) == 1


def test_a_freed_unit_takes_the_next_program_and_keeps_it(played: Tracked) -> None:
    played.program(kept(small_conv()), 0)
    played.read(STATUS, 1 << done_bit("CACC", 0))
    played.program(kept(small_conv(), 3), 1)
    later = kept(small_conv(), 4)
    assert played.program(later, dict.fromkeys(PIPELINE, 0) | {"SDP": 0}, but=("SDP",)) == []
    assert len(played.read(STATUS, 1 << done_bit("SDP", 0) | 1 << done_bit("CACC", 0))) == 1
    assert played.enabled(*PIPELINE) == [True] * 5
    for op in encode(later, SMALL):
        if isinstance(op, RegWrite) and op.register.startswith("SDP."):
            started = played.write(op.register, op.value)
    assert [s.layer for s in started] == [later]


def test_units_take_turns_each_on_its_own(played: Tracked) -> None:
    played.program(small_sdp(), 0)
    played.read(STATUS, 1)
    groups = dict.fromkeys(PIPELINE, 0) | {"SDP": 1}
    (started,) = played.program(kept(small_conv()), groups)
    assert (started.index, started.group) == (1, 1)
    played.read(STATUS, 3)
    played.write(STATUS, 3)
    groups = dict.fromkeys(PIPELINE, 1) | {"SDP": 0, "SDP_RDMA": 1}
    (started,) = played.program(kept(biased_conv()), groups)
    assert (started.index, started.group) == (2, 0)


def test_sdp_from_memory_queues_behind_a_convolution(busy: Tracked) -> None:
    (started,) = busy.program(small_sdp(), {"SDP": 1, "SDP_RDMA": 0})
    assert (started.name, started.layer) == ("layer 1 (SDP, group 1)", small_sdp())
    assert [s.layer for s in busy.read(STATUS, 3)] == [small_conv(), small_sdp()]


def test_rdma_that_fetches_nothing_passes(played: Tracked) -> None:
    played.write("SDP_RDMA.S_POINTER", 0)
    played.write("SDP_RDMA.D_FEATURE_MODE_CFG", 1)
    played.write("SDP_RDMA.D_OP_ENABLE", 1)
    assert len(played.program(small_conv(), 0)) == 1
    played.read(STATUS, 1)
    assert len(played.program(small_sdp(), 1)) == 1


def test_rdma_that_fetches_waits_for_a_layer_that_takes_it(played: Tracked) -> None:
    played.program(biased_conv(), 0, but=ALONE)
    assert len(played.program(kept(small_conv()), 0)) == 1
    assert played.tracker.state.enabled("SDP_RDMA", 0)
    groups = dict.fromkeys(ALONE, 1) | {"SDP_RDMA": 0}
    assert [s.layer for s in played.program(kept(biased_conv()), groups, but=("SDP_RDMA",))] == [kept(biased_conv())]


def test_weights_behind_padding_of_earlier_ones_are_refused(busy: Tracked) -> None:
    message = (
        "CDMA.D_BANK.weight_bank must differ from that of layer 0 (CONV, group 0), not 2: 12 entries of padding after "
        "its weights stay in the convolution buffer in front of the next weights"
    )
    with refused(message, Refused):
        busy.program(small_conv(), 1)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (small_conv(), replace(small_conv(), cbuf=replace(small_conv().cbuf, weight_banks=3))),
        (small_conv(), replace(small_conv(), cbuf=replace(small_conv().cbuf, data_banks=2))),
        (kept(small_conv()), small_conv()),
    ],
)
def test_other_banks_or_kept_weights_leave_nothing(played: Tracked, first: ConvLayer, second: ConvLayer) -> None:
    played.program(first, 0)
    assert [s.layer for s in played.program(second, 1)] == [second]


def test_a_reset_empties_the_convolution_buffer(busy: Tracked) -> None:
    busy.tracker.reset()
    assert len(busy.program(small_conv(), 0)) == 1


@pytest.mark.parametrize(("kernels", "left"), [(1, 8), (2, 1), (9, 12), (32, 0)])
def test_padding_is_counted_in_entries_that_the_weights_do_not_reach(kernels: int, left: int) -> None:
    weights = WeightSurface(WeightLayout(SMALL, Precision.INT8, (kernels, 10, 2, 3)), 0)
    assert weights.stored_entries - weights.used_entries == left


@pytest.mark.parametrize(("nbytes", "left"), [(544, 0), (552, 1), (632, 11), (640, 12)])
def test_only_what_the_registers_say_is_fetched_and_can_be_left(nbytes: int, left: int) -> None:
    weights = replace(small_conv().weights, whole_bytes=nbytes)
    assert weights.stored_entries - weights.used_entries == left
    assert weights.fetched_bytes == nbytes


def test_weights_may_end_with_the_last_entry_of_the_buffer_that_they_reach() -> None:
    exact = replace(small_conv(), weights=replace(small_conv().weights, whole_bytes=544))
    played = Tracked()
    assert [s.layer for s in played.program(exact, 0)] == [exact]
    assert [s.layer for s in played.program(exact, 1)] == [exact]


def test_entries_of_128_bytes_leave_nothing() -> None:
    rng = np.random.default_rng(5)
    for kernels, channels in rng.integers(1, 60, (50, 2)).tolist():
        weights = WeightSurface(WeightLayout(FULL, Precision.INT8, (kernels, channels, 2, 3)), 0)
        assert weights.stored_entries == weights.used_entries


def test_a_program_of_several_convolutions_is_judged_before_it_is_played() -> None:
    ops: list[Op] = [*encode(kept(small_conv()), SMALL, 0, "a"), *encode(image_conv(), SMALL, 1, "b")]
    assert refusal(tuple(ops), SMALL) is None
    notified = [op for op in ops if isinstance(op, InterruptNotify)]
    assert [(op.unit, op.group) for op in notified] == [("SDP", 0), ("SDP", 1)]
    assert sum(isinstance(op, Poll) for op in ops) == 2
