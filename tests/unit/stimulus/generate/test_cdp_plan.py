"""CDP layers from descriptions: tables end where they should, the order of layers spares them, mistakes are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nvdla_models.lut import LutChoice, Slope
from nvdla_tb.nvdla.layers import CdpLayer
from nvdla_tb.nvdla.program.ops import RegWrite, SyncWait
from nvdla_tb.stimulus.generate.sequence import sequence
from nvdla_tb.stimulus.refusal import refusal
from tests.unit.nvdla.samples import SMALL
from tests.unit.stimulus.generate.building import build_all, build_one, refused

CDP = {"engine": "CDP", "shape": [9, 2, 3]}
LUT = {
    "hybrid": "lo",
    "entries": [-5, 6],
    "le": {"start": -7, "exponent": -2, "underflow": [-3, 4]},
    "lo": {"start": 100, "select": 3, "overflow": [5, -6]},
}


def build(**description: Any) -> CdpLayer:
    return build_one(CdpLayer, {**CDP, "lut": LUT, **description})


def test_a_description_becomes_a_layer() -> None:
    layer = build(
        local_size=7, multiply=False, input_converter=[-3, 2, 1], output_converter=[4, -5, 6], dst_gaps=[1, 2]
    )
    params = layer.params
    assert (params.local_size, params.multiply) == (7, False)
    assert (params.input_converter.offset, params.input_converter.scale, params.input_converter.shift) == (-3, 2, 1)
    assert (params.output_converter.offset, params.output_converter.scale, params.output_converter.shift) == (4, -5, 6)
    assert (layer.dst.layout.line_stride_bytes, layer.dst.layout.surface_stride_bytes) == (32, 80)
    lut = params.lut
    assert (lut.underflow_priority, lut.overflow_priority) == (LutChoice.LE, LutChoice.LE)
    assert lut.hybrid_priority is LutChoice.LO
    assert (lut.le.exponent, lut.le.index_offset) == (True, -2)
    assert (lut.le.underflow, lut.le.overflow) == (Slope(-3, 4), Slope())
    assert (lut.lo.exponent, lut.lo.index_select, lut.lo.overflow) == (False, 3, Slope(5, -6))
    assert set(np.concatenate([lut.le.entries, lut.lo.entries]).tolist()) == set(range(-5, 7))


def test_tables_end_where_the_programming_guide_wants_them() -> None:
    lut = build().params.lut
    assert (lut.le.end, lut.lo.end) == ((1 << 37) - 1, 100 + (256 << 3))
    explicit = build(lut={**LUT, "lo": {"start": 100, "end": -1}}).params.lut
    assert explicit.lo.end == -1


def test_without_words_a_layer_multiplies_and_looks_up_the_element_itself() -> None:
    params = build().params
    assert (params.local_size, params.multiply) == (None, True)


def test_layers_that_share_tables_wait_for_each_other() -> None:
    layers = [build(), build(), build()]
    ops = sequence(layers, SMALL, in_turn=False)
    waits = [op.sync_id for op in ops if isinstance(op, SyncWait) and op.target == "CDP"]
    assert waits == ["layer_0", "layer_1"]
    assert refusal(ops, SMALL) is None


def test_both_groups_work_at_once_with_tables_that_stay() -> None:
    same = {**CDP, "same_lut": True}
    _, layers = build_all({**CDP, "lut": LUT}, same, same)
    ops = sequence(layers, SMALL, in_turn=False)
    waits = [op.sync_id for op in ops if isinstance(op, SyncWait) and op.target == "CDP"]
    assert waits == ["layer_0"]
    assert sum(isinstance(op, RegWrite) and op.register == "CDP.S_LUT_ACCESS_CFG" for op in ops) == 2
    assert refusal(ops, SMALL) is None


def test_a_layer_that_says_nothing_of_its_tables_has_plain_ones() -> None:
    lut = build_one(CdpLayer, {"engine": "CDP", "shape": [1, 1, 1], "local_size": 3}).params.lut
    le, lo = lut.le, lut.lo
    assert (le.start, le.index_offset, lo.start, lo.index_select) == (0, 2, 0, 8)
    assert -200 <= min(le.entries.min(), lo.entries.min()) < max(le.entries.max(), lo.entries.max()) <= 200


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"lut": None, "same_lut": True}, "probe.same_lut must not be set without a CDP layer of INT8 before it"),
        ({"lut": LUT, "same_lut": True}, "probe.lut must be left out beside same_lut"),
        (
            {"lut": {**LUT, "lo": {"start": 0, "step": 3}}},
            "probe: lut.lo.step is unknown; allowed: start, exponent, select, end, underflow, overflow",
        ),
        (
            {"lut": {**LUT, "lo": {"start": 0, "select": 14}}},
            "probe: index select must be from -8 to 13 for CDP INT8, not 14",
        ),
    ],
)
def test_tables_that_cannot_be_are_refused(keys: dict[str, Any], message: str) -> None:
    with refused(message):
        build(**keys)
