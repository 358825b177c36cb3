"""Golden traces: features, weights, operands and images unpack and repack to the same bytes.

Repacking alone only shows a permutation. That it is the right one, the CRC-32 of each layer's output proves, which the
hardware wrote and the model reaches from these bytes: ``tests/unit/nvdla/test_conv_measured.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.layout import ImageWeightLayout, WeightLayout
from nvdla_tb.judge.tracker import LayerTracker
from nvdla_tb.nvdla.layers import ConvLayer, Layer, SdpLayer
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.ops import MemInit, MemLoad, RegWrite
from nvdla_tb.nvdla.surfaces import ImageSurface, Surface
from nvdla_tb.stimulus.scenario import apply_memory_op
from nvdla_tb.stimulus.trace import read
from tests.references import TRACES, needs_traces

SMALL = HwConfig.load("nv_small")

pytestmark = needs_traces


def layers(prefix: str) -> Iterator[tuple[str, Layer, MemoryImage]]:
    """Yield the layers that traces start, and the memory before; Y is refused, which nv_small lacks."""
    folders = [folder for folder in sorted(TRACES.glob(f"nv_small*/{prefix}*")) if "_ew_" not in folder.name]
    assert folders
    for folder in folders:
        ops = read(folder, SMALL).ops
        memory, tracker = MemoryImage(limit=1 << 32), LayerTracker(SMALL)
        for op in ops:
            if isinstance(op, MemInit | MemLoad):
                apply_memory_op({Ram.MC: memory}, op)
        for op in ops:
            if isinstance(op, RegWrite):
                for started in tracker.write(tracker.state.registers.parse(op.register), op.value):
                    yield folder.name, started.layer, memory


def test_features_and_weights_repack_to_identical_bytes() -> None:
    for name, layer, memory in layers("dc_"):
        assert isinstance(layer, ConvLayer)
        assert isinstance(layer.src, Surface)
        features = layer.src.layout
        data = memory.read_array(layer.src.address, features.nbytes)
        repacked = features.pack(features.unpack(data))
        keep = ~features.padding_mask()
        np.testing.assert_array_equal(repacked[keep], data[keep], strict=True, err_msg=name)
        np.testing.assert_array_equal(features.whole_atoms.pack(features.unpack_padded(data)), data, strict=True)
        weights = layer.weights.layout
        raw = memory.read_array(layer.weights.address, weights.nbytes)
        np.testing.assert_array_equal(weights.pack(weights.unpack(raw)), raw, strict=True, err_msg=name)


def test_a_weight_order_of_one_channel_block_reads_other_kernels() -> None:
    ((_, layer, memory),) = layers("dc_13x15x64_5x3x64x16_int8_0")
    assert isinstance(layer, ConvLayer)
    layout = layer.weights.layout
    raw = memory.read_array(layer.weights.address, layout.nbytes)
    wrong = WeightLayout(HwConfig.load("nv_large"), layout.precision, layout.shape)
    assert (wrong.unpack(raw) != layout.unpack(raw)).any()


def test_images_and_their_weights_repack_to_identical_bytes() -> None:
    for name, layer, memory in layers("measured_img"):
        assert isinstance(layer, ConvLayer)
        assert isinstance(layer.src, ImageSurface)
        layout = layer.src.layout
        data = memory.read_array(layer.src.addresses[0], layout.nbytes)
        read_bytes = np.zeros(layout.nbytes, dtype=bool)
        for h in range(layout.shape[1]):
            read_bytes[h * layout.line_stride_bytes[0] :][: layout.shape[2] * 4] = True
        repacked = layout.pack(layout.unpack(data))
        np.testing.assert_array_equal(repacked[read_bytes], data[read_bytes], strict=True, err_msg=name)
        weights = layer.weights.layout
        assert isinstance(weights, ImageWeightLayout)
        raw = memory.read_array(layer.weights.address, weights.nbytes)
        extended = weights.pre_extend(weights.original(weights.unpack(raw)))
        np.testing.assert_array_equal(weights.pack(extended), raw, strict=True, err_msg=name)


def test_operands_repack_to_identical_bytes() -> None:
    proven = 0
    for name, layer, memory in layers("sdp_"):
        assert isinstance(layer, SdpLayer)
        for source in (layer.x1, layer.x2):
            if source is None or source.memory is None:
                continue
            layout = source.memory.layout
            data = memory.read_array(source.memory.address, layout.nbytes)
            whole = replace(layout, shape=(layout.padded_channels, *layout.shape[1:]))
            atoms = layout.written_mask()
            repacked = whole.pack(layout.unpack_padded(data))
            np.testing.assert_array_equal(repacked[atoms], data[atoms], strict=True, err_msg=name)
            proven += 1
    assert proven >= 2
