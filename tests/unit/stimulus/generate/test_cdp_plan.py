"""CDP layers from descriptions: tables end where they should, the order of layers spares them, mistakes are named."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from models.config import HwConfig
from models.lut import LutChoice, Slope
from tb.nvdla.layers import CdpLayer, Layer
from tb.nvdla.memory import MemoryImage
from tb.nvdla.program.ops import RegWrite, SyncWait
from tb.stimulus.generate.describe import PlanError, Table
from tb.stimulus.generate.engines import build_layer
from tb.stimulus.generate.layers.workshop import Workshop
from tb.stimulus.generate.sequence import sequence
from tb.stimulus.refusal import refusal

SMALL = HwConfig.load("nv_small")
LUT = {
    "hybrid": "lo",
    "entries": [-5, 6],
    "le": {"start": -7, "exponent": -2, "underflow": [-3, 4]},
    "lo": {"start": 100, "select": 3, "overflow": [5, -6]},
}


def build(**description: Any) -> CdpLayer:
    shop = Workshop(SMALL, MemoryImage(limit=1 << 32), np.random.default_rng(1))
    table = Table("layer", {"engine": "CDP", "shape": [9, 2, 3], "lut": LUT} | description)
    layer = build_layer(shop, "l0", table, ())
    assert isinstance(layer, CdpLayer)
    return layer


def refused(message: str) -> pytest.RaisesExc[PlanError]:
    return pytest.raises(PlanError, match=rf"^{re.escape(message)}$")


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
    shop = Workshop(SMALL, MemoryImage(limit=1 << 32), np.random.default_rng(1))
    layers: list[Layer] = []
    for name, keys in (("l0", {"lut": LUT}), ("l1", {"same_lut": True}), ("l2", {"same_lut": True})):
        table = Table("layer", {"engine": "CDP", "shape": [9, 2, 3]} | keys)
        layers.append(build_layer(shop, name, table, layers))
    ops = sequence(layers, SMALL, in_turn=False)
    waits = [op.sync_id for op in ops if isinstance(op, SyncWait) and op.target == "CDP"]
    assert waits == ["layer_0"]
    assert sum(isinstance(op, RegWrite) and op.register == "CDP.S_LUT_ACCESS_CFG" for op in ops) == 2
    assert refusal(ops, SMALL) is None


def test_tables_of_a_layer_that_is_not_there_are_refused() -> None:
    with refused("layer.same_lut must not be set without a CDP layer of INT8 before it"):
        build(lut=None, same_lut=True)


@pytest.mark.parametrize("table", ["le", "lo"])
def test_a_missing_table_is_named(table: str) -> None:
    with refused(f"layer.lut lacks the key {table}"):
        build(lut={name: part for name, part in LUT.items() if name != table})


def test_a_layer_that_says_nothing_of_its_tables_has_plain_ones() -> None:
    shop = Workshop(SMALL, MemoryImage(limit=1 << 32), np.random.default_rng(1))
    layer = build_layer(shop, "l0", Table("layer", {"engine": "CDP", "shape": [1, 1, 1], "local_size": 3}), ())
    assert isinstance(layer, CdpLayer)
    le, lo = layer.params.lut.le, layer.params.lut.lo
    assert (le.start, le.index_offset, lo.start, lo.index_select) == (0, 2, 0, 8)
    assert -200 <= min(le.entries.min(), lo.entries.min()) < max(le.entries.max(), lo.entries.max()) <= 200


def test_an_unknown_key_of_a_table_is_named() -> None:
    with refused("layer.lut.lo has no key step; allowed: end, exponent, overflow, select, start, underflow"):
        build(lut={**LUT, "lo": {"start": 0, "step": 3}})


def test_a_table_out_of_the_hardwares_range_is_refused() -> None:
    with refused("layer: index select must be from -8 to 13 for CDP INT8, not 14"):
        build(lut={**LUT, "lo": {"start": 0, "select": 14}})
