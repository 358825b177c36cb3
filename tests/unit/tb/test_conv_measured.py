"""Convolutions of the real hardware, from register writes to output bytes, without a simulator."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from models.config import HwConfig
from tb.memory import MemoryImage, Ram
from tb.predictor import Expectation, predict
from tb.program.ops import CheckCrc, MemInit, MemLoad, RegWrite
from tb.scenario import apply_memory_op
from tb.trace import read
from tb.tracker import LayerTracker
from tests.unit.layout.hardware_files import SHARED, MeasuredLayer, load_measured

TRACES = SHARED / "traces"
FOLDERS = [
    *sorted(TRACES.glob("nv_small/dc_*")),
    *sorted(TRACES.glob("nv_small_measured/*")),
]
INTEGER_LAYERS = ("dc_int8_5x5x96_k40_a", "dc_int16_5x5x96_k20_a", "dc_int16_5x5x96_k20_c")


def predicted(
    writes: Sequence[tuple[str, int]], config: HwConfig, memory: MemoryImage
) -> tuple[LayerTracker, list[Expectation]]:
    """Follow register writes and return what the layers they start must write."""
    tracker = LayerTracker(config)
    found = []
    for name, value in writes:
        for started in tracker.write(tracker.state.registers.parse(name), value):
            found.append(predict(started, lambda ram, address, nbytes: memory.read_array(address, nbytes)))
    return tracker, found


@pytest.mark.skipif(not FOLDERS, reason="the public traces are not in ../shared/nvdla/traces")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_golden_crc_comes_out_of_memory_and_register_writes(folder: Path) -> None:
    config = HwConfig.load("nv_small")
    scenario = read(folder, config)
    memory = MemoryImage(limit=1 << 32)
    for op in scenario.ops:
        if isinstance(op, MemInit | MemLoad):
            apply_memory_op({Ram.MC: memory}, op)
    writes = [(op.register, op.value) for op in scenario.ops if isinstance(op, RegWrite)]
    _, (expected,) = predicted(writes, config, memory)
    (check,) = (op for op in scenario.checks if isinstance(op, CheckCrc))
    gaps = memory.read_array(expected.address, len(expected.data))
    memory.write(expected.address, np.where(expected.must_write, expected.data, gaps))
    assert zlib.crc32(memory.read(check.address, check.nbytes)) == check.crc


@pytest.fixture(scope="module")
def measured() -> dict[str, MeasuredLayer]:
    return {layer.name: layer for layer in load_measured()}


@pytest.mark.parametrize("name", INTEGER_LAYERS)
def test_a_layer_measured_on_nv_full_comes_out_with_its_padding_channels(
    measured: dict[str, MeasuredLayer], name: str
) -> None:
    layer = measured[name]
    memory = MemoryImage(limit=1 << 64)
    for (address, nbytes), key in zip(layer.meta["memory"], ("raw_input", "raw_weight", None), strict=True):
        memory.extend(f"at_{address}", int(address, 16), nbytes)
        memory.fill(int(address, 16), nbytes, 0)
        if key is not None:
            memory.write(int(address, 16), layer.arrays[key])
    tracker, (expected,) = predicted(layer.meta["registers"], HwConfig.load("nv_full"), memory)
    np.testing.assert_array_equal(expected.data, layer.arrays["raw_output"], strict=True)
    assert expected.must_write.all()
    assert tracker.layers_seen == 1


def test_an_fp16_convolution_is_refused_with_the_reason(measured: dict[str, MeasuredLayer]) -> None:
    layer = measured["dc_fp16_8x8x40_k17_dil2"]
    message = "^CDMA.D_MISC_CFG.proc_precision must be INT8 or INT16, not FP16: FP16 convolution is not modelled$"
    with pytest.raises(ValueError, match=message):
        predicted(layer.meta["registers"], HwConfig.load("nv_full"), MemoryImage())
