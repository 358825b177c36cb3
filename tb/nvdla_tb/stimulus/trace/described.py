"""Measured layers whose file holds no register writes but says in words what was programmed.

Their writes are those that ``encode`` makes from the description: playing them checks the models and the
encoder, not what was written to the hardware.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.cbuf import bank_bytes, bank_entries, feature_entries
from nvdla_models.config import HwConfig
from nvdla_models.conv import ConvParams
from nvdla_models.errors import InputError
from nvdla_models.layout import FeatureLayout, WeightLayout
from nvdla_models.pdp import PdpParams, PoolMethod
from nvdla_models.precision import Precision
from nvdla_models.reading import shown
from nvdla_models.sdp import SdpParams, output_converter
from nvdla_tb.nvdla.layers import ConvLayer, PdpLayer, Surface
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import CheckFile, MemInit, MemLoad, Op
from nvdla_tb.nvdla.surfaces import CbufUse, WeightSurface
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.trace.errors import TraceError
from nvdla_tb.stimulus.trace.measured import CONFIG, MeasuredFile

_DONE = "done"
_SOURCE, _WEIGHTS, _DESTINATION = 0x80000000, 0x80100000, 0x80400000
_SEED = 0
_HEXADECIMAL = re.compile(r"(0x)?[0-9a-fA-F]{1,8}\b")


def read_described(file: MeasuredFile, config: HwConfig) -> Scenario:
    """Return a scenario that programs what a file describes and expects the measured output.

    Args:
        file: A file without register writes: an FP16 convolution without padding, or an FP16 pooling.
        config: The configuration to play it on, which is the one that was measured.

    Raises:
        TraceError: naming file, key, rule and value.
    """
    unit = file.get("unit", str)
    builders: dict[str, Callable[[MeasuredFile, HwConfig], ConvLayer | PdpLayer]] = {
        "conv direct, FP16": _convolution,
        "PDP, FP16": _pooling,
    }
    if unit not in builders:
        raise file.error(f"unit must be one of {', '.join(builders)}, not {unit!r}")
    try:
        layer = builders[unit](file, config)
    except TraceError:
        raise
    except InputError as error:
        raise file.error(str(error)) from error
    name = file.path.stem
    loads = {"input": (_SOURCE, layer.src.layout.pack(_cube(file, "input")).tobytes())}
    if isinstance(layer, ConvLayer):
        loads["weight"] = (_WEIGHTS, layer.weights.layout.pack(_cube(file, "weight")).tobytes())
    output = layer.dst.layout.pack(_cube(file, "output")).tobytes()
    ops: list[Op] = [MemInit(Ram.MC, _DESTINATION, len(output))]
    ops += [MemLoad(Ram.MC, address, ((0, data),), f"{name}_{key}.dat") for key, (address, data) in loads.items()]
    ops += encode(layer, config, sync_id=_DONE)
    ops.append(CheckFile(_DONE, Ram.MC, _DESTINATION, len(output), ((0, output),), f"{name}_output.dat"))
    return Scenario(file.path.stem, CONFIG, tuple(ops), _SEED)


def _convolution(file: MeasuredFile, config: HwConfig) -> ConvLayer:
    stride, padding, dilation = (file.get(key, int) for key in ("stride", "padding", "dilation"))
    params = ConvParams(
        stride_x=stride,
        stride_y=stride,
        dilation_x=dilation,
        dilation_y=dilation,
        pad_left=padding,
        pad_right=padding,
        pad_top=padding,
        pad_bottom=padding,
        pad_value=0,
        truncate=0,
        precision=Precision.FP16,
        nan_to_zero=file.get("nan_flush", bool),
    )
    source = _surface(file, config, "input", _SOURCE)
    weight = file.array("weight")
    if weight.ndim != 4:
        raise file.error(f"weight must be (K, C, R, S), not of the shape {weight.shape}")
    kernels, channels, rows, columns = weight.shape
    layout = WeightLayout(config, Precision.FP16, (kernels, channels, rows, columns))
    _, height, width = source.layout.shape
    entries = feature_entries(config, Precision.FP16, layout.shape[1], width)
    cbuf = CbufUse(
        data_banks=-(-entries * height // bank_entries(config, 1)),
        weight_banks=-(-layout.nbytes // bank_bytes(config, 1)),
        release_slices=height,
    )
    processing = SdpParams(None, None, output_converter(0, 1, 0), Precision.FP16, Precision.FP16)
    destination = _surface(file, config, "output", _DESTINATION)
    return ConvLayer(source, WeightSurface(layout, _WEIGHTS), destination, params, processing, cbuf)


def _pooling(file: MeasuredFile, config: HwConfig) -> PdpLayer:
    kernel_width, kernel_height = _pair(file, "kernel")
    stride_x, stride_y = _pair(file, "stride")
    padding = file.get("padding", int)
    methods = {method.value: method for method in PoolMethod}
    name = file.get("method", str)
    if name not in methods:
        raise file.error(f"method must be one of {', '.join(methods)}, not {shown(repr(name))}")
    method = methods[name]
    reciprocal = _reciprocal(file) if method is PoolMethod.AVERAGE else 0
    params = PdpParams(
        method=method,
        kernel_width=kernel_width,
        kernel_height=kernel_height,
        stride_x=stride_x,
        stride_y=stride_y,
        pad_left=padding,
        pad_right=padding,
        pad_top=padding,
        pad_bottom=padding,
        pad_values=(0,) * 7,
        recip_width=reciprocal,
        recip_height=reciprocal,
        precision=Precision.FP16,
        nan_to_zero=file.get("nan_to_zero", bool),
    )
    source = _surface(file, config, "input", _SOURCE)
    return PdpLayer(source, _surface(file, config, "output", _DESTINATION), params)


def _pair(file: MeasuredFile, key: str) -> tuple[int, int]:
    values = file.get(key, list)
    if [type(value) for value in values] != [int, int]:
        raise file.error(f"{key} must be two integers, not {shown(values)}")
    return values[0], values[1]


def _reciprocal(file: MeasuredFile) -> int:
    """Return the number that ``recip`` begins with."""
    match = _HEXADECIMAL.match(file.get("recip", str))
    if match is None:
        raise file.error(f"recip must begin with a hexadecimal number, not {shown(file.meta['recip'])}")
    return int(match[0], 16)


def _surface(file: MeasuredFile, config: HwConfig, key: str, address: int) -> Surface:
    array = file.array(key)
    if array.ndim != 3:
        raise file.error(f"{key} must be (C, H, W), not of the shape {array.shape}")
    channels, height, width = array.shape
    return Surface(FeatureLayout.packed(config, Precision.FP16, (channels, height, width)), address)


def _cube(file: MeasuredFile, key: str) -> NDArray[Any]:
    """Return an array of patterns as numbers.

    Raises:
        TraceError: when it does not hold 16-bit patterns.
    """
    array = file.array(key)
    if array.dtype != np.uint16:
        raise file.error(f"{key} must be uint16, not {array.dtype}")
    return np.ascontiguousarray(array).view(Precision.FP16.dtype)
