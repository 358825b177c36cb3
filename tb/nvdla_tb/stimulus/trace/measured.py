"""Layers measured on the real hardware: one ``.npz`` file each, read as a scenario.

A file holds arrays, and a JSON text ``meta``. ``registers`` in it lists the register writes in their order,
``memory`` the allocations, ``status_read_after_done`` the counters; ``raw_output`` is what the hardware left at
the destination. Operands stand as raw bytes, or as arrays that are laid out as the registers say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout import FeatureLayout, OperandLayout
from nvdla_models.limits import MEMORY_BYTES, SURFACE_BYTES
from nvdla_models.precision import Precision
from nvdla_models.reading import parse_json, shown
from nvdla_tb.array_files import read_arrays, text_of
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import (
    CheckFile,
    InterruptNotify,
    MemInit,
    MemLoad,
    Op,
    Poll,
    RegRead,
    RegWrite,
    SyncWait,
)
from nvdla_tb.nvdla.registers import RegisterError, RegisterMap
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.trace.errors import TraceError
from nvdla_tb.stimulus.trace.words import ADDRESS_LIMIT, WORD_LIMIT

CONFIG = "nv_full"
"""The configuration that all files were measured on."""

_DONE = "done"
_LUT_ENTRIES = " x"
_BYTE = re.compile(r"0x[0-9a-fA-F]{1,2}")
_LOOKUPS = "SDP.D_PERF_LUT_"
"""Counters that go on in idle slots of the pipeline: a slower memory gives more.

Source: measured on the public nv_full RTL, on which one layer read 344 and 5020 with two memories.
"""
_RAW = {"raw_weight": "CDMA.D_WEIGHT_ADDR_{}", "raw_wmb": "CDMA.D_WMB_ADDR_{}", "raw_wgs": "CDMA.D_WGS_ADDR_{}"}
_OPERANDS = {f"{stage.lower()}_op": f"SDP_RDMA.D_{stage}_BASE_ADDR_{{}}" for stage in ("BS", "BN", "EW")}


@dataclass(frozen=True)
class _Ends:
    """Where an engine reads and writes: the unit that shows that it runs, and the registers of both addresses."""

    enabled: str
    source: str
    destination: str
    interrupt: str


_ENGINES = (
    _Ends("CDMA", "CDMA.D_DAIN_ADDR_{}_0", "SDP.D_DST_BASE_ADDR_{}", "SDP"),
    _Ends("SDP_RDMA", "SDP_RDMA.D_SRC_BASE_ADDR_{}", "SDP.D_DST_BASE_ADDR_{}", "SDP"),
    _Ends("PDP_RDMA", "PDP_RDMA.D_SRC_BASE_ADDR_{}", "PDP.D_DST_BASE_ADDR_{}", "PDP"),
    _Ends("CDP_RDMA", "CDP_RDMA.D_SRC_BASE_ADDR_{}", "CDP.D_DST_BASE_ADDR_{}", "CDP"),
    _Ends("RBK", "RBK.D_DAIN_ADDR_{}", "RBK.D_DAOUT_ADDR_{}", "RUBIK"),
)


def read_measured(file: MeasuredFile, config: HwConfig) -> Scenario:
    """Return a scenario that expects the measured bytes and counters.

    Args:
        file: A file with register writes.
        config: The configuration to play it on, which is the one that was measured.

    Returns:
        Allocations with their contents, the register writes, the interrupt, a read of each counter, and the
        comparison with the bytes that the hardware left, those included that it did not write.

    Raises:
        TraceError: naming file, key, rule and value.
    """
    return _Reader(file, config).scenario()


@dataclass(frozen=True)
class MeasuredFile:
    """Contents of a file: arrays as stored, FP16 as uint16 patterns, and its own description."""

    path: Path
    arrays: Mapping[str, NDArray[Any]]
    meta: Mapping[str, Any]

    @classmethod
    def load(cls, path: Path) -> MeasuredFile:
        """Read a file.

        Raises:
            TraceError: when it is no such file.
        """
        arrays = read_arrays(path, error=TraceError)
        if "meta" not in arrays:
            raise TraceError(f"{path}: the file must hold meta, not only {', '.join(sorted(arrays))}")
        meta = parse_json(text_of(arrays.pop("meta"), f"{path}: meta", TraceError), f"{path}: meta", TraceError)
        if not isinstance(meta, dict):
            raise TraceError(f"{path}: meta must be a JSON object, not {shown(meta)}")
        return cls(path, arrays, meta)

    def error(self, message: str) -> TraceError:
        """Return an error about this file."""
        return TraceError(f"{self.path}: {message}")

    def get(self, key: str, kind: type) -> Any:
        """Return an entry of ``meta``.

        Raises:
            TraceError: when it is absent or of another type.
        """
        value = self.meta.get(key)
        if type(value) is not kind:
            raise self.error(f"{key} must be {kind.__name__}, not {shown(repr(value))}")
        return value

    def array(self, key: str) -> NDArray[Any]:
        """Return an array.

        Raises:
            TraceError: when it is absent.
        """
        if key not in self.arrays:
            raise self.error(f"the file must hold {key}, not only {', '.join(sorted(self.arrays))}")
        return self.arrays[key]

    def raw(self, key: str) -> bytes:
        """Return an array of bytes.

        Raises:
            TraceError: when it is absent, empty, or not of bytes.
        """
        array = self.array(key)
        if array.dtype != np.uint8 or array.ndim != 1 or not array.size:
            raise self.error(f"{key} must be uint8 (N,), not {array.dtype} {array.shape}")
        return array.tobytes()

    def precision(self, *keys: str) -> Precision:
        """Return the precision under the first key that ``meta`` has.

        Raises:
            TraceError: when there is none, or an unknown one.
        """
        for key in keys:
            if key in self.meta:
                named = {precision.value: precision for precision in Precision}
                value = self.meta[key]
                if not isinstance(value, str) or value not in named:
                    raise self.error(f"{key} must be one of {', '.join(named)}, not {value!r}")
                return named[value]
        raise self.error(f"meta must hold {' or '.join(keys)}")

    @property
    def is_described(self) -> bool:
        """Whether it describes its layer instead of listing register writes."""
        return "registers" not in self.meta

    @property
    def family(self) -> str:
        """The kind of layer and its precisions, such as ``sdp int16 to fp16``, and whether registers are there."""
        kind = self.path.stem.partition("_")[0]
        if self.is_described:
            return f"{kind} {Precision.FP16.value}, described"
        source = self.precision("in_precision", "precision").value
        target = self.precision("out_precision", "precision").value
        return f"{kind} {source}" if source == target else f"{kind} {source} to {target}"


class _Reader:
    """Makes a scenario from one file."""

    def __init__(self, file: MeasuredFile, config: HwConfig) -> None:
        self._file = file
        self._config = config
        self._registers = RegisterMap.of(config)
        self._writes = tuple(self._register_writes())
        self._words = {write.register: write.value for write in self._writes}
        self._loads: list[MemLoad] = []

    def scenario(self) -> Scenario:
        file = self._file
        ends = self._ends
        self._load(self._address(ends.source), self._input(), "input")
        for key, register in _RAW.items():
            if key in file.arrays:
                self._load(self._address(register), file.raw(key), key)
        for key, register in _OPERANDS.items():
            if key in file.arrays:
                self._load(self._address(register), self._operands(key), key)
        destination, output = self._address(ends.destination), file.raw("raw_output")
        self._check_room(destination, len(output), "raw_output")
        group = self._words.get(f"{ends.destination.partition('.')[0]}.S_POINTER", 0) & 1
        golden = CheckFile(_DONE, Ram.MC, destination, len(output), ((0, output),), f"{file.path.stem}_output.dat")
        ops: list[Op] = [*self._inits(destination), *self._loads, *self._program()]
        ops += [InterruptNotify(ends.interrupt, group, _DONE), *self._counters(), golden]
        return Scenario(file.path.stem, CONFIG, tuple(ops), self._file.get("seed", int))

    @property
    def _ends(self) -> _Ends:
        for ends in _ENGINES:
            if f"{ends.enabled}.D_OP_ENABLE" in self._words:
                return ends
        units = ", ".join(ends.enabled for ends in _ENGINES)
        raise self._file.error(f"registers must enable one of {units}")

    def _register_writes(self) -> Iterator[RegWrite]:
        for entry in self._file.get("registers", list):
            if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str):
                raise self._file.error(f"registers must be [UNIT.REGISTER, value], not {entry!r}")
            name, value = entry
            values = [value]
            if value is None and _LUT_ENTRIES in name:
                name, values = self._entries(name)
            self._unit(name)
            for word in values:
                yield RegWrite(name, self._word(name, word))

    def _unit(self, register: str) -> str:
        try:
            return self._registers.parse(register).unit
        except RegisterError as error:
            raise self._file.error(str(error)) from error

    def _word(self, register: str, value: object) -> int:
        if type(value) is not int or not 0 <= value < WORD_LIMIT:
            raise self._file.error(f"{shown(register)} must be 0 to {WORD_LIMIT - 1:#x}, not {shown(repr(value))}")
        return value

    def _entries(self, text: str) -> tuple[str, list[int]]:
        """Return register and words of ``UNIT.REGISTER x65 (array lut_le)``."""
        name, _, rest = text.partition(_LUT_ENTRIES)
        count, _, key = rest.removesuffix(")").partition(" (array ")
        array = self._file.array(key)
        if array.dtype != np.uint16 or str(array.size) != count:
            raise self._file.error(f"{key} must be uint16 ({count},), not {array.dtype} {array.shape}")
        return name, array.tolist()

    def _program(self) -> Iterator[Op]:
        """Yield the writes; software waits for the convolution buffer before it enables anything."""
        waits = self._ends.enabled == "CDMA"
        for write in self._writes:
            if waits and write.register.endswith(".D_OP_ENABLE"):
                waits = False
                yield Poll("CDMA.S_CBUF_FLUSH_STATUS", 1)
            yield write

    def _counters(self) -> Iterator[Op]:
        counters = self._file.meta.get("status_read_after_done", {})
        if not isinstance(counters, dict):
            raise self._file.error(f"status_read_after_done must be a table, not {shown(repr(counters))}")
        waiting: set[str] = set()
        for name, value in counters.items():
            word, unit = self._word(name, value), self._unit(name)
            if unit not in waiting:
                waiting.add(unit)
                yield SyncWait(unit, _DONE)
            yield RegRead(name, None if name.startswith(_LOOKUPS) else word)

    @cached_property
    def _rooms(self) -> tuple[tuple[int, int], ...]:
        """Address and size of each allocation."""
        rooms = []
        for entry in self._file.get("memory", list):
            if not isinstance(entry, list) or [type(part) for part in entry] != [str, int]:
                raise self._file.error(f"memory must be [address, size], not {entry!r}")
            try:
                start = int(entry[0], 16)
            except ValueError:
                raise self._file.error(f"memory must be [address, size], not {shown(entry)}") from None
            if not (0 <= start < ADDRESS_LIMIT and 1 <= entry[1] <= MEMORY_BYTES):
                raise self._file.error(
                    f"memory must be an address of 64 bits and 1 to {MEMORY_BYTES} bytes, not {shown(entry)}"
                )
            rooms.append((start, entry[1]))
        widened = tuple((start, self._with_weights(start, size)) for start, size in rooms)
        if sum(size for _, size in widened) > MEMORY_BYTES:
            raise self._file.error(f"memory must be at most {MEMORY_BYTES} bytes")
        return widened

    def _with_weights(self, start: int, nbytes: int) -> int:
        """Return the size of an allocation that holds all that CDMA reads of weights, and may hold less of them.

        Source: measured on the public nv_full RTL: compressed weights are read up to D_WEIGHT_BYTES, too.
        """
        fetched = self._words.get("CDMA.D_WEIGHT_BYTES", 0)
        return max(nbytes, fetched) if fetched and start == self._address(_RAW["raw_weight"]) else nbytes

    def _inits(self, destination: int) -> Iterator[MemInit]:
        text = self._file.meta.get("dst_prefill", "0x0")
        if not isinstance(text, str) or not _BYTE.fullmatch(text):
            raise self._file.error(f"dst_prefill must be 0x0 to 0xff, not {shown(repr(text))}")
        for address, nbytes in self._rooms:
            yield MemInit(Ram.MC, address, nbytes, int(text, 16) if address == destination else 0)

    def _address(self, register: str) -> int:
        low, high = (register.format(half) for half in ("LOW", "HIGH"))
        if low not in self._words:
            raise self._file.error(f"registers must hold {low}")
        return self._words.get(high, 0) << 32 | self._words[low]

    def _check_room(self, address: int, nbytes: int, key: str) -> None:
        if not any(start <= address and address + nbytes <= start + size for start, size in self._rooms):
            raise self._file.error(f"memory must have room for the {nbytes} bytes of {key} at {address:#x}")

    def _load(self, address: int, data: bytes, key: str) -> None:
        self._check_room(address, len(data), key)
        self._loads.append(MemLoad(Ram.MC, address, ((0, data),), f"{self._file.path.stem}_{key}.dat"))

    def _input(self) -> bytes:
        if "raw_input" in self._file.arrays:
            return self._file.raw("raw_input")
        precision = self._file.precision("in_precision", "precision")
        unit = self._ends.source.partition(".")[0]
        strides = [self._words.get(f"{unit}.D_SRC_{kind}_STRIDE", 0) for kind in ("LINE", "SURFACE")]
        cube = self._as(self._file.array("input"), precision.dtype, "input")
        try:
            layout = FeatureLayout(self._config, precision, cube.shape, *strides)
            if layout.nbytes > SURFACE_BYTES:
                raise InputError(f"a surface must have at most {SURFACE_BYTES} bytes, not {layout.nbytes}")
            return layout.pack(cube).tobytes()
        except InputError as error:
            raise self._file.error(f"input: {error}") from error

    def _operands(self, key: str) -> bytes:
        stages = self._file.meta.get("stages", self._file.meta)
        stage = (stages.get(key[:2]) if isinstance(stages, dict) else None) or {}
        use = stage.get("use") if isinstance(stage, dict) else None
        if use not in ("alu", "mul", "both"):
            raise self._file.error(f"use of {key} must be alu, mul or both, not {use!r}")
        array = self._file.array(key)
        components = ("alu", "mul") if use == "both" else (use,)
        if not 1 <= array.ndim <= 3 + len(components) - 1 or (use == "both" and array.shape[-1] != 2):
            pairs = " and a last axis of 2" if use == "both" else ""
            raise self._file.error(f"{key} must have 1 to 3 axes{pairs}, not the shape {array.shape}")
        # Several components are the last axis; operands per channel have no other.
        planes = np.moveaxis(array, -1, 0) if use == "both" else array[np.newaxis]
        shape = (*planes.shape[1:], 1, 1)[:3]
        precision = self._file.precision("proc_precision", "precision")
        try:
            layout = OperandLayout.packed(self._config, precision, shape, components, array.dtype.itemsize)
        except InputError as error:
            raise self._file.error(f"{key}: {error}") from error
        cubes = [self._as(plane.reshape(shape), layout.component_dtype, key) for plane in planes]
        return layout.pack(dict(zip(components, cubes, strict=True))).tobytes()

    def _as(self, array: NDArray[Any], dtype: np.dtype[Any], key: str) -> NDArray[Any]:
        """Return bit patterns as numbers of the same size."""
        if array.dtype.itemsize != dtype.itemsize:
            raise self._file.error(f"{key} must have elements of {dtype.itemsize} bytes, not {array.dtype}")
        return np.ascontiguousarray(array).view(dtype)
