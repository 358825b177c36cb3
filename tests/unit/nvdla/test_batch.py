"""Batches: several cubes of one convolution, each of which is judged like a layer of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_models.fp16 import FP16
from nvdla_models.layout import WeightLayout
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, YStage
from nvdla_tb.explain import record
from nvdla_tb.explain.memory import Patch
from nvdla_tb.explain.seen import Seen
from nvdla_tb.explain.writers import SeenLayer
from nvdla_tb.judge.counters import CounterBoard
from nvdla_tb.judge.detail import WrongCounter
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.predictor import predict
from nvdla_tb.nvdla.layers import Batch, ConvLayer, PooledLayer, StageSource, Surface, on_the_fly
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.surfaces import WeightSurface
from tests.unit.nvdla.conv_samples import conv_params, image_conv, small_conv
from tests.unit.nvdla.registers_helper import Tracked, cases, check_refused, misfits, refused
from tests.unit.nvdla.samples import FULL, SMALL, small_pdp, surface

BATCH = Batch(3, 0x1_0000, 0x2_0000)


def batched(precision: Precision = Precision.INT8, batch: Batch | None = BATCH) -> ConvLayer:
    """Return ``small_conv`` of nv_full, 9x5x3, whose lines are four atoms long."""
    layer = small_conv(FULL, precision)
    return replace(
        layer,
        dst=Surface(replace(layer.dst.layout, line_stride_bytes=128, surface_stride_bytes=640), 0x2000),
        batch=batch,
    )


def memory_of(layer: ConvLayer, seed: int) -> MemoryImage:
    """Return a memory with random bytes wherever the cubes of a layer and its weights lie."""
    rng = np.random.default_rng(seed)
    image = MemoryImage()
    for cube in layer.cubes:
        assert isinstance(cube.src, Surface)
        image.write(cube.src.address, rng.integers(0, 256, cube.src.layout.nbytes, dtype=np.uint8))
    image.write(layer.weights.address, rng.integers(0, 256, layer.weights.layout.nbytes, dtype=np.uint8))
    return image


def test_the_cubes_lie_evenly_apart() -> None:
    cubes = batched().cubes
    assert [cube.src.address for cube in cubes if isinstance(cube.src, Surface)] == [0x1000, 0x1_1000, 0x2_1000]
    assert [cube.dst.address for cube in cubes] == [0x2000, 0x2_2000, 0x4_2000]
    assert all(cube.batch is None and cube.cubes == (cube,) for cube in cubes)


def test_a_batch_starts_a_layer_for_each_cube_and_ends_them_with_one_interrupt() -> None:
    tracked = Tracked(FULL)
    tracker, started = tracked.tracker, tracked.program(batched())
    assert [layer.name for layer in started] == [f"layer {n} (CONV, group 0, cube {n})" for n in range(3)]
    assert tuple(layer.layer for layer in started) == batched().cubes
    assert [tracker.interrupts_of(layer) for layer in started[:-1]] == [(), ()]
    assert set(tracker.interrupts_of(started[-1])) == {("SDP", 0), ("CACC", 0), ("CDMA_DAT", 0), ("CDMA_WT", 0)}
    assert tracker.running == tuple(started)
    assert tracker.finish("SDP", 0) == started
    assert tracker.running == ()
    assert [layer.index for layer in tracked.program(batched(batch=None), 1)] == [3]


@pytest.mark.parametrize("precision", [Precision.INT8, Precision.INT16, Precision.FP16])
def test_each_cube_gives_what_it_gives_alone(precision: Precision) -> None:
    layer = batched(precision)
    image = memory_of(layer, 5)

    def read(ram: Ram, address: int, nbytes: int) -> NDArray[np.uint8]:
        return image.read_array(address, nbytes)

    together = [predict(started, read) for started in Tracked(FULL).program(layer)]
    for cube, expectation in zip(layer.cubes, together, strict=True):
        (alone,) = Tracked(FULL).program(cube)
        expected = predict(alone, read)
        assert (expectation.address, expectation.layout) == (expected.address, expected.layout)
        np.testing.assert_array_equal(expectation.data, expected.data)
    assert len({expectation.data.tobytes() for expectation in together}) == 3


def test_counters_count_all_cubes_and_weights_once() -> None:
    layer = batched(Precision.FP16)
    image = memory_of(layer, 6)
    nan = FP16.infinity_bits | 1
    for cube in layer.cubes:
        assert isinstance(cube.src, Surface)
        image.write(cube.src.address, cube.src.layout.pack(np.zeros((10, 4, 5), np.float16)))
    weights = np.zeros((9, 10, 2, 3), np.uint16)
    weights[0, :2, 0, 0] = nan
    image.write(layer.weights.address, layer.weights.layout.pack(weights.view(np.float16)))
    for cube in layer.cubes[1:]:
        assert isinstance(cube.src, Surface)
        image.write(cube.src.address, np.array([nan & 0xFF, nan >> 8], np.uint8))
    tracked, board = Tracked(FULL), CounterBoard(lambda unit: 0, dict.fromkeys(Ram, 0))
    started = tracked.program(layer)
    for cube in started:
        board.start(cube, predict(cube, lambda _, address, nbytes: image.read_array(address, nbytes)).counts)
    assert board.check("CDMA", "D_NAN_INPUT_DATA_NUM", 0, 7) is None, "nothing is judged while a layer runs"
    for ended in tracked.tracker.finish("SDP", 0):
        board.end(ended.index)
    assert board.check("CDMA", "D_NAN_INPUT_DATA_NUM", 0, 2) is None
    assert board.check("CDMA", "D_NAN_INPUT_WEIGHT_NUM", 0, 2) is None
    assert board.judged == 2
    wrong = WrongCounter("CDMA.D_NAN_INPUT_WEIGHT_NUM", expected=2, at_least=False, got=6)
    assert board.check("CDMA", "D_NAN_INPUT_WEIGHT_NUM", 0, 6) == (LayerId(2, "CONV", 0, cube=2, cubes=3), wrong)


def blank(nbytes: int) -> Patch:
    return Patch(0, np.zeros(nbytes, np.uint8), np.ones(nbytes, np.bool_))


def test_the_record_of_a_failed_run_keeps_the_cubes(tmp_path: Path) -> None:
    started = Tracked(FULL).program(batched())
    seen = Seen(
        tuple(SeenLayer(one, one.layer.dst.layout, Ram.MC, blank(one.layer.dst.layout.nbytes), 0) for one in started),
        (),
    )
    record.save(tmp_path / record.FILE_NAME, seen, FULL, "nv_full")
    loaded = record.seen_of(record.read_record(tmp_path / record.FILE_NAME), FULL)
    assert [layer.started for layer in loaded.layers] == started
    assert [layer.started.name for layer in loaded.layers] == [one.name for one in started]


WIDE = WeightSurface(WeightLayout(FULL, Precision.INT8, (9, 130, 2, 3)), 0x3000)
MISFITS = misfits(
    batched(),
    ({"batch": replace(BATCH, cubes=1)}, "batch.cubes must be 2 to 32, not 1"),
    ({"batch": replace(BATCH, cubes=33)}, "batch.cubes must be 2 to 32, not 33"),
    ({"batch": replace(BATCH, src_stride_bytes=16)}, "batch.src_stride_bytes must be a multiple of 32 bytes, not 16"),
    (
        {"batch": replace(BATCH, dst_stride_bytes=0x1_0020)},
        "batch.dst_stride_bytes must be a multiple of 64 bytes, not 65568",
    ),
    (
        {"src": replace(batched().src, address=(1 << 64) - 0x2_0000)},
        "batch.src_stride_bytes must leave room for 3 cubes in the 64-bit address space, not 65536",
    ),
    (
        {"batch": replace(BATCH, dst_stride_bytes=512)},
        "batch.dst_stride_bytes must keep the 3 cubes of dst apart, not 512",
    ),
    (
        {"dst": replace(batched().dst, address=0x2020)},
        "dst.address must be a multiple of 64 bytes in a batch, not 0x2020",
    ),
    (
        {"dst": surface((9, 5, 3), 0x2000, FULL)},
        "dst.line_stride_bytes must be a multiple of 64 bytes in a batch, not 0x60",
    ),
    (
        {"batch": replace(BATCH, cubes=32), "src": surface((130, 4, 5), 0x1000, FULL), "weights": WIDE},
        "data_banks must hold 128 slices of 7 entries, not 1 banks of 256 entries",
    ),
)


@pytest.mark.parametrize(("layer", "changes", "message"), MISFITS)
def test_a_batch_that_does_not_fit_is_refused(layer: ConvLayer, changes: dict[str, Any], message: str) -> None:
    with refused(message):
        replace(layer, **changes)


def test_interleaved_cubes_do_not_overlap() -> None:
    layout = replace(batched().dst.layout, line_stride_bytes=384, surface_stride_bytes=1920)
    layer = replace(batched(), dst=Surface(layout, 0x2000), batch=Batch(3, 0, 128))
    assert [cube.dst.address for cube in layer.cubes] == [0x2000, 0x2080, 0x2100]


def test_the_strides_of_one_pixel_need_no_alignment() -> None:
    layer = batched()
    one = replace(
        layer,
        src=surface((10, 2, 3), 0x1000, FULL),
        dst=surface((9, 1, 1), 0x2000, FULL),
        params=conv_params(),
        cbuf=replace(layer.cbuf, release_slices=1),
    )
    assert len(one.cubes) == 3


def test_what_was_not_measured_in_a_batch_is_refused() -> None:
    equal = YStage(AluOp.EQUAL, mul=False, mul_prelu=False)
    compared = {"sdp": replace(batched().sdp, y=equal), "y": StageSource(alu=1)}
    with refused("batch.cubes must be 1 for a comparison, which writes no cube, not 3"):
        replace(batched(), **compared)
    with refused("batch.cubes must be 1 for image input, not 3"):
        replace(image_conv(), batch=BATCH)
    with refused("batch.cubes must be 1 on nv_small, which has no batches, not 3"):
        replace(small_conv(SMALL), batch=BATCH)
    pool = small_pdp(config=FULL)
    narrow = replace(batched(batch=None).params, pad_right=0)
    producer = replace(batched(batch=None), params=narrow, dst=on_the_fly(FULL, Precision.INT8, (9, 5, 2)))
    with refused("producer must not be a batch, whose cubes reach PDP in turns"):
        PooledLayer(replace(producer, batch=Batch(2, 0, 0x4000)), pool.dst, pool.params)


@pytest.mark.parametrize(
    ("layer", "changes", "message"),
    cases(
        batched(),
        (
            "CDMA.D_BATCH_NUMBER.batches",
            0,
            "CSC.D_BATCH_NUMBER.batches must agree with CDMA.D_BATCH_NUMBER.batches (1), not 3",
        ),
        (
            "SDP.D_DST_BATCH_STRIDE.dst_batch_stride",
            0,
            ": batch.dst_stride_bytes must keep the 3 cubes of dst apart, not 0",
        ),
    ),
)
def test_a_program_of_a_batch_is_refused_with_its_register(
    layer: ConvLayer, changes: dict[str, int], message: str
) -> None:
    check_refused(layer, changes, message)


def test_other_configurations_lack_batches() -> None:
    assert [name for name in ("nv_small", "nv_small_256", "nv_large_rtl") if HwConfig.load(name).batch_enable] == []
