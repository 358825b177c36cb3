"""Layers measured on the real hardware, made into scenarios, and into traces that anyone can play.

    python -m tests.measured FOLDER OUT
    nvdla-tb trace --model-only --exact --config nv_full OUT

A layer is an ``.npz`` of arrays, FP16 as uint16 patterns, and a JSON text ``meta``: ``registers`` are the register
writes in their order, ``memory`` the allocations, ``status_read_after_done`` the counters; ``raw_output`` is what the
hardware left at the destination. A layer without register writes says in words what was programmed: its writes are
those that ``encode`` makes of it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from nvdla_models.cbuf import bank_bytes, bank_entries, feature_entries
from nvdla_models.config import HwConfig
from nvdla_models.conv import ConvParams
from nvdla_models.layout import FeatureLayout, OperandLayout, WeightLayout
from nvdla_models.pdp import PdpParams, PoolMethod
from nvdla_models.precision import Precision
from nvdla_models.sdp import SdpParams, output_converter
from nvdla_tb.nvdla.layers import ConvLayer, PdpLayer, Surface
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program import ops
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.surfaces import CbufUse, WeightSurface
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.trace import write
from tests.references import MEASURED, NO_MEASURED
from tests.repository import ROOT

CARRIED = ROOT / "tests" / "data" / "measured"
"""The few layers that the project has."""

FULL = HwConfig.load("nv_full")
_DONE = "done"
_SOURCE, _WEIGHTS, _DESTINATION = 0x80000000, 0x80100000, 0x80400000
_LOOKUPS = "SDP.D_PERF_LUT_"
"""Counters that go on in idle slots of the pipeline: a slower memory gives more."""

_RAW = {"raw_weight": "CDMA.D_WEIGHT_ADDR_{}", "raw_wmb": "CDMA.D_WMB_ADDR_{}", "raw_wgs": "CDMA.D_WGS_ADDR_{}"}
_ENDS = {
    "CDMA": ("CDMA.D_DAIN_ADDR_{}_0", "SDP.D_DST_BASE_ADDR_{}", "SDP"),
    "SDP_RDMA": ("SDP_RDMA.D_SRC_BASE_ADDR_{}", "SDP.D_DST_BASE_ADDR_{}", "SDP"),
    "CDP_RDMA": ("CDP_RDMA.D_SRC_BASE_ADDR_{}", "CDP.D_DST_BASE_ADDR_{}", "CDP"),
    "RBK": ("RBK.D_DAIN_ADDR_{}", "RBK.D_DAOUT_ADDR_{}", "RUBIK"),
}
"""By the unit that is enabled first: the registers of source and destination, and the interrupt."""


@dataclass(frozen=True, eq=False)
class MeasuredLayer:
    """One measured layer: arrays as stored and what the file says of itself."""

    name: str
    arrays: dict[str, npt.NDArray[Any]]
    meta: dict[str, Any]


Measured = Callable[[str], list[MeasuredLayer]]


def load(path: Path) -> MeasuredLayer:
    """Read one layer."""
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files if key != "meta"}
        return MeasuredLayer(path.stem, arrays, json.loads(str(file["meta"])))


def load_measured(pattern: str = "*") -> list[MeasuredLayer]:
    """Return the measured layers whose names match; skip the test when the files are absent."""
    if not MEASURED.is_dir():
        pytest.skip(NO_MEASURED)
    return [load(path) for path in sorted(MEASURED.glob(f"{pattern}.npz"))]


def carried(name: str) -> Scenario:
    """Return one of the layers that the project has as a scenario."""
    return scenario_of(load(CARRIED / f"{name}.npz"))


def write_traces(folder: Path, out: Path) -> None:
    """Write every layer of a folder as a trace."""
    for path in sorted(folder.glob("*.npz")):
        write(scenario_of(load(path)), out / path.stem)


def scenario_of(layer: MeasuredLayer) -> Scenario:
    """Return a scenario that expects the bytes and counters that were measured."""
    program = _measured(layer) if "registers" in layer.meta else _described(layer)
    return Scenario(layer.name, FULL.name, tuple(program), layer.meta.get("seed", 0))


def _measured(layer: MeasuredLayer) -> Iterator[ops.Op]:
    """Yield what was programmed, the counters and the comparison."""
    words = dict(layer.meta["registers"])
    engine = next(unit for unit in _ENDS if f"{unit}.D_OP_ENABLE" in words)
    source, target, interrupt = _ENDS[engine]

    def address(register: str) -> int:
        return int(words.get(register.format("HIGH"), 0) << 32 | words[register.format("LOW")])

    destination, fetched = address(target), words.get("CDMA.D_WEIGHT_BYTES", 0)
    prefill = int(layer.meta.get("dst_prefill", "0x0"), 16)
    for text, nbytes in layer.meta["memory"]:
        start = int(text, 16)
        # Compressed weights are read up to D_WEIGHT_BYTES, too.
        room = max(nbytes, fetched) if fetched and start == address(_RAW["raw_weight"]) else nbytes
        yield ops.MemInit(Ram.MC, start, room, prefill if start == destination else 0)
    yield _load(layer, address(source), "input", _input(layer, engine, words))
    for key, register in _RAW.items():
        if key in layer.arrays:
            yield _load(layer, address(register), key, layer.arrays[key].tobytes())
    for stage in ("BS", "BN", "EW"):
        key = f"{stage.lower()}_op"
        if key in layer.arrays:
            yield _load(layer, address(f"SDP_RDMA.D_{stage}_BASE_ADDR_{{}}"), key, _operands(layer, key))
    yield from _writes(layer, engine)
    yield ops.InterruptNotify(interrupt, words.get(f"{target.partition('.')[0]}.S_POINTER", 0) & 1, _DONE)
    waiting: set[str] = set()
    for name, value in layer.meta.get("status_read_after_done", {}).items():
        unit = name.partition(".")[0]
        if unit not in waiting:
            waiting.add(unit)
            yield ops.SyncWait(unit, _DONE)
        yield ops.RegRead(name, None if name.startswith(_LOOKUPS) else value)
    yield _golden(layer, destination, layer.arrays["raw_output"].tobytes())


def _writes(layer: MeasuredLayer, engine: str) -> Iterator[ops.Op]:
    """Yield the register writes; software waits for the convolution buffer before it enables anything."""
    waits = engine == "CDMA"
    for name, value in layer.meta["registers"]:
        if waits and name.endswith(".D_OP_ENABLE"):
            waits = False
            yield ops.Poll("CDMA.S_CBUF_FLUSH_STATUS", 1)
        # All entries of a table: "UNIT.REGISTER x65 (array lut_le)".
        register, _, array = name.partition(" x")
        values = [value] if value is not None else layer.arrays[array.partition("(array ")[2][:-1]].tolist()
        yield from (ops.RegWrite(register, word) for word in values)


def _load(layer: MeasuredLayer, address: int, key: str, data: bytes) -> ops.MemLoad:
    return ops.MemLoad(Ram.MC, address, ((0, data),), f"{layer.name}_{key}.dat")


def _golden(layer: MeasuredLayer, address: int, output: bytes) -> ops.CheckFile:
    return ops.CheckFile(_DONE, Ram.MC, address, len(output), ((0, output),), f"{layer.name}_output.dat")


def _input(layer: MeasuredLayer, engine: str, words: dict[str, int]) -> bytes:
    """Return the source: raw bytes, or a cube that is laid out as the registers say."""
    if "raw_input" in layer.arrays:
        return layer.arrays["raw_input"].tobytes()
    precision = Precision(layer.meta.get("in_precision") or layer.meta["precision"])
    strides = [words.get(f"{engine}.D_SRC_{kind}_STRIDE", 0) for kind in ("LINE", "SURFACE")]
    cube = layer.arrays["input"].view(precision.dtype)
    return FeatureLayout(FULL, precision, cube.shape, *strides).pack(cube).tobytes()


def _operands(layer: MeasuredLayer, key: str) -> bytes:
    """Return the operands of a stage; several components are the last axis."""
    use = layer.meta.get("stages", layer.meta)[key[:2]]["use"]
    array = layer.arrays[key]
    planes = np.moveaxis(array, -1, 0) if use == "both" else array[np.newaxis]
    names = ("alu", "mul") if use == "both" else (use,)
    shape = (*planes.shape[1:], 1, 1)[:3]
    precision = Precision(layer.meta.get("proc_precision") or layer.meta["precision"])
    layout = OperandLayout.packed(FULL, precision, shape, names, array.dtype.itemsize)
    cubes = [np.ascontiguousarray(plane).reshape(shape).view(layout.component_dtype) for plane in planes]
    return layout.pack(dict(zip(names, cubes, strict=True))).tobytes()


def _described(layer: MeasuredLayer) -> Iterator[ops.Op]:
    """Yield the program of a layer without register writes."""
    cubes = {key: np.ascontiguousarray(array).view(Precision.FP16.dtype) for key, array in layer.arrays.items()}
    source, destination = (
        Surface(FeatureLayout.packed(FULL, Precision.FP16, cubes[key].shape), address)
        for key, address in (("input", _SOURCE), ("output", _DESTINATION))
    )
    described: ConvLayer | PdpLayer
    if "weight" in cubes:
        weights = WeightSurface(WeightLayout(FULL, Precision.FP16, cubes["weight"].shape), _WEIGHTS)
        described = _convolution(layer, source, weights, destination)
    else:
        described = PdpLayer(source, destination, _pooling(layer))
    output = destination.layout.pack(cubes["output"]).tobytes()
    yield ops.MemInit(Ram.MC, _DESTINATION, len(output))
    yield _load(layer, _SOURCE, "input", source.layout.pack(cubes["input"]).tobytes())
    if isinstance(described, ConvLayer):
        yield _load(layer, _WEIGHTS, "weight", described.weights.layout.pack(cubes["weight"]).tobytes())
    yield from encode(described, FULL, sync_id=_DONE)
    yield _golden(layer, _DESTINATION, output)


def _convolution(layer: MeasuredLayer, source: Surface, weights: WeightSurface, destination: Surface) -> ConvLayer:
    stride, dilation = layer.meta["stride"], layer.meta["dilation"]
    params = ConvParams(
        stride_x=stride,
        stride_y=stride,
        dilation_x=dilation,
        dilation_y=dilation,
        pad_left=0,
        pad_right=0,
        pad_top=0,
        pad_bottom=0,
        pad_value=0,
        truncate=0,
        precision=Precision.FP16,
        nan_to_zero=layer.meta["nan_flush"],
    )
    channels, height, width = source.layout.shape
    entries = feature_entries(FULL, Precision.FP16, channels, width)
    cbuf = CbufUse(
        data_banks=-(-entries * height // bank_entries(FULL, 1)),
        weight_banks=-(-weights.layout.nbytes // bank_bytes(FULL, 1)),
        release_slices=height,
    )
    processing = SdpParams(None, None, output_converter(0, 1, 0), Precision.FP16, Precision.FP16)
    return ConvLayer(source, weights, destination, params, processing, cbuf)


def _pooling(layer: MeasuredLayer) -> PdpParams:
    kernel_width, kernel_height = layer.meta["kernel"]
    stride_x, stride_y = layer.meta["stride"]
    reciprocal = int(layer.meta["recip"].split()[0], 16) if layer.meta["recip"] else 0
    return PdpParams(
        method=PoolMethod(layer.meta["method"]),
        kernel_width=kernel_width,
        kernel_height=kernel_height,
        stride_x=stride_x,
        stride_y=stride_y,
        pad_left=0,
        pad_right=0,
        pad_top=0,
        pad_bottom=0,
        pad_values=(0,) * 7,
        recip_width=reciprocal,
        recip_height=reciprocal,
        precision=Precision.FP16,
        nan_to_zero=layer.meta["nan_to_zero"],
    )


if __name__ == "__main__":
    write_traces(Path(sys.argv[1]), Path(sys.argv[2]))
