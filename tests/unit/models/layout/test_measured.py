"""Bytes measured on the public nv_full RTL are what the packers make from the arrays of the same file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from nvdla_models.config import HwConfig
from nvdla_models.layout import (
    CompressedWeightLayout,
    FeatureLayout,
    OperandLayout,
    WeightLayout,
    WinogradWeightLayout,
)
from nvdla_models.precision import Precision
from tests.measured import MeasuredLayer

FULL = HwConfig.load("nv_full")
GUARD_BYTES = 256
ALLOCATION_BYTES = 64


def as_precision(array: npt.NDArray[Any], precision: Precision) -> npt.NDArray[Any]:
    """Return stored bit patterns as the dtype of the precision."""
    return array.view(precision.dtype)


def precision_of(layer: MeasuredLayer, *keys: str) -> Precision:
    """Return the first of the meta entries that exists."""
    return Precision(next(layer.meta[key] for key in keys if key in layer.meta))


def with_array(layers: Iterable[MeasuredLayer], *names: str) -> list[MeasuredLayer]:
    """Return the layers that have all these arrays; there must be some."""
    chosen = [layer for layer in layers if all(name in layer.arrays for name in names)]
    assert chosen
    return chosen


def test_direct_convolution_weights_are_the_measured_bytes(measured_layers: list[MeasuredLayer]) -> None:
    layers = [
        layer
        for layer in with_array(measured_layers, "weight", "raw_weight")
        if not layer.meta["winograd"] and not layer.meta["compressed"]
    ]
    assert len(layers) == 17
    for layer in layers:
        precision = precision_of(layer, "precision")
        weights = as_precision(layer.arrays["weight"], precision)
        layout = WeightLayout(FULL, precision, weights.shape)
        raw = layer.arrays["raw_weight"]
        np.testing.assert_array_equal(layout.pack(weights), raw, strict=True, err_msg=layer.name)
        assert layout.unpack(raw).tobytes() == weights.tobytes(), layer.name
        assert layout.nbytes == layer.meta["weight_bytes"], layer.name


def test_compressed_weights_are_the_measured_bytes(measured_layers: list[MeasuredLayer]) -> None:
    layers = with_array(measured_layers, "weight", "raw_weight", "raw_wmb", "raw_wgs")
    assert len(layers) == 4
    for layer in layers:
        precision = precision_of(layer, "precision")
        weights = as_precision(layer.arrays["weight"], precision)
        layout = CompressedWeightLayout(WeightLayout(FULL, precision, weights.shape))
        surfaces = layout.pack(weights)
        for name in ("weight", "wmb", "wgs"):
            packed = surfaces.weights if name == "weight" else getattr(surfaces, name)
            np.testing.assert_array_equal(packed, layer.arrays[f"raw_{name}"], strict=True, err_msg=layer.name)
        raw = [layer.arrays[f"raw_{name}"] for name in ("weight", "wmb", "wgs")]
        assert layout.unpack(*raw).tobytes() == weights.tobytes(), layer.name
        assert layout.wmb_nbytes == layer.meta["wmb_bytes"], layer.name


def test_winograd_weights_are_the_measured_bytes(measured_layers: list[MeasuredLayer]) -> None:
    layers = [layer for layer in with_array(measured_layers, "weight_wino4x4") if layer.meta["winograd"]]
    assert len(layers) == 6
    for layer in layers:
        precision = precision_of(layer, "precision")
        weights = as_precision(layer.arrays["weight"], precision)
        layout = WinogradWeightLayout(FULL, precision, weights.shape)
        converted = layout.convert(weights)
        expected = as_precision(layer.arrays["weight_wino4x4"], precision)
        assert converted[:, : weights.shape[1]].tobytes() == expected.tobytes(), layer.name
        assert not converted[:, weights.shape[1] :].any(), layer.name
        np.testing.assert_array_equal(layout.pack(converted), layer.arrays["raw_weight"], strict=True)
        assert layout.unpack(layer.arrays["raw_weight"]).tobytes() == converted.tobytes(), layer.name


def test_input_features_are_the_measured_bytes(measured_layers: list[MeasuredLayer]) -> None:
    layers = [layer for layer in with_array(measured_layers, "input", "raw_input") if layer.meta.get("mode") != "merge"]
    assert len(layers) == 35
    for layer in layers:
        precision = precision_of(layer, "precision")
        cube = as_precision(layer.arrays["input"], precision)
        strides = (layer.meta["in_line_stride"], layer.meta["in_surface_stride"])
        layout = FeatureLayout(FULL, precision, cube.shape, *strides)
        raw = layer.arrays["raw_input"]
        assert layout.unpack(raw).tobytes() == cube.tobytes(), layer.name
        np.testing.assert_array_equal(layout.pack(cube), raw, strict=True, err_msg=layer.name)


def test_output_features_are_the_measured_bytes(measured_layers: list[MeasuredLayer]) -> None:
    layers = [
        layer for layer in with_array(measured_layers, "output", "raw_output") if layer.meta.get("mode") != "split"
    ]
    assert len(layers) > 100
    for layer in layers:
        precision = precision_of(layer, "out_precision", "precision")
        cube = as_precision(layer.arrays["output"], precision)
        strides = tuple(
            next(layer.meta[key] for key in (f"out_{kind}", f"dst_{kind}", kind) if key in layer.meta)
            for kind in ("line_stride", "surface_stride")
        )
        layout = FeatureLayout(FULL, precision, cube.shape, *strides)
        raw = layer.arrays["raw_output"]
        assert layout.nbytes == raw.size, layer.name
        assert layout.unpack(raw).tobytes() == cube.tobytes(), layer.name
        mine, hardware = layout.pack(cube), raw
        written = ~layout.padding_mask()
        np.testing.assert_array_equal(mine[written], hardware[written], strict=True, err_msg=layer.name)


def test_operand_layouts_have_the_measured_allocation(measured_layers: list[MeasuredLayer]) -> None:
    bases = {"bs_op": "0x80800000", "bn_op": "0x80a00000", "ew_op": "0x80c00000"}
    checked = 0
    for layer in measured_layers:
        allocated = dict(layer.meta.get("memory", []))
        for name, base in bases.items():
            stage = layer.meta.get("stages", layer.meta).get(name[:2]) or {}
            if name not in layer.arrays or base not in allocated:
                continue
            operands = layer.arrays[name]
            precision = precision_of(layer, "proc_precision", "precision")
            both = stage["use"] == "both"
            shape = operands.shape[:-1] if both else operands.shape
            components = ("alu", "mul") if both else (stage["use"],)
            cube = shape if len(shape) == 3 else (shape[0], 1, 1)
            layout = OperandLayout.packed(FULL, precision, cube, components, operands.dtype.itemsize)
            room = allocated[base] - GUARD_BYTES
            assert room - ALLOCATION_BYTES < layout.nbytes <= room, layer.name
            checked += 1
    assert checked > 40
