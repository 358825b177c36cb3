"""Small loadables, written with the package's own builder: as tests want them, or wrong in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import flatbuffers
import numpy as np
from flatbuffers import number_types
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_networks import descriptors as d
from nvdla_networks.compiled import Compiled
from nvdla_networks.descriptors import EngineId, Event
from nvdla_networks.flat import BYTES, STRING, Kind, Table, Vector
from nvdla_networks.loadable import LOADABLE, parse_loadable
from nvdla_networks.network import Network
from nvdla_networks.scenario import Results, play_networks, results_of
from nvdla_tb.stimulus.model import Played, play_model

SMALL, FULL = HwConfig.load("nv_small"), HwConfig.load("nv_full")
VERSION = (0, 12, 3)
FLAGS = {
    **{"B": number_types.Uint8Flags, "H": number_types.Uint16Flags, "h": number_types.Int16Flags},
    **{"I": number_types.Uint32Flags, "i": number_types.Int32Flags, "Q": number_types.Uint64Flags},
}
NO_EDGE = {"index": -1, "event": 1}


def on_model(
    networks: Sequence[Network], inputs: Sequence[Sequence[NDArray[Any] | None]], config: HwConfig = SMALL
) -> tuple[Played, Results]:
    """Return what the reference model makes of networks one after the other, and their outputs.

    Raises:
        AssertionError: when the bench refuses a layer.
    """
    playing = play_networks("test", networks, inputs)
    played = play_model(playing.scenario, config)
    assert played.verdict.refused is None, played.verdict.refused
    return played, results_of(played, playing)


def flat_file(table: Table, record: Mapping[str, Any]) -> bytes:
    """Return a flatbuffer that holds a table."""
    builder = flatbuffers.Builder(1024)
    builder.Finish(_table(builder, table, record))
    return bytes(builder.Output())


def _table(builder: Any, table: Table, record: Mapping[str, Any]) -> int:
    children = {name: _child(builder, kind, record[name]) for name, kind in table.slots.items() if name in record}
    builder.StartObject(len(table.slots))
    for number, (name, kind) in enumerate(table.slots.items()):
        if name not in record:
            continue
        child = children[name]
        if child is not None:
            builder.PrependUOffsetTRelativeSlot(number, child, 0)
            continue
        assert isinstance(kind, str)
        values = record[name] if isinstance(record[name], tuple) else (record[name],)
        flags = FLAGS[kind[-1]]
        builder.Prep(flags.bytewidth, flags.bytewidth * len(values))
        for value in reversed(values):
            builder.Prepend(flags, value)
        builder.Slot(number)
    return int(builder.EndObject())


def _child(builder: Any, kind: Kind, value: Any) -> int | None:
    """Return the place of what a table has a link to, None for numbers, which stand in it."""
    if kind == STRING:
        return int(builder.CreateString(value))
    if kind == BYTES:
        return int(builder.CreateByteVector(value))
    if not isinstance(kind, Vector):
        return None
    if isinstance(kind.of, str) and kind.of != STRING:
        flags = FLAGS[kind.of[-1]]
        builder.StartVector(flags.bytewidth, len(value), flags.bytewidth)
        for element in reversed(value):
            builder.Prepend(flags, element)
        return int(builder.EndVector())
    ends = [_table(builder, kind.of, e) if isinstance(kind.of, Table) else builder.CreateString(e) for e in value]
    builder.StartVector(4, len(ends), 4)
    for end in reversed(ends):
        builder.PrependUOffsetTRelative(end)
    return int(builder.EndVector())


def packed(dtype: np.dtype[Any], values: Mapping[str, Any]) -> bytes:
    """Return a structure whose fields are given by dotted names; all others are 0."""
    record = np.zeros(1, dtype)
    for name, value in values.items():
        at = record[0]
        *path, last = name.split(".")
        for part in path:
            at = at[int(part)] if part.isdecimal() else at[part]
        at[int(last) if last.isdecimal() else last] = value
    return record.tobytes()


@dataclass
class Op:
    """One operation: its descriptor and surfaces by dotted names, and what it leads to as (engine, index, event)."""

    engine: EngineId
    operation: dict[str, Any]
    surface: dict[str, Any]
    consumers: tuple[tuple[EngineId, int, int], ...] = ()
    fused_parent: tuple[int, int] | None = None
    dependencies: int | None = None


@dataclass
class Design:
    """A loadable with one hardware task, and what stands in its tables unless a test says otherwise.

    Places 0 to 4 of the address list are descriptors, those behind them ``buffers`` of (bytes, contents).
    """

    ops: list[Op]
    buffers: list[tuple[int, bytes | None]]
    network: dict[str, Any] = field(default_factory=dict)
    luts: bytes = b""
    inputs: tuple[dict[str, Any], ...] = ()
    outputs: tuple[dict[str, Any], ...] = ()
    version: tuple[int, int, int] = VERSION

    def record(self) -> dict[str, Any]:
        """Return the tables of the loadable."""
        blobs = {f"descriptors{n}": data for n, data in enumerate(self._descriptors()) if data}
        memories = [self._memory(n, len(data), f"descriptors{n}") for n, data in enumerate(self._descriptors()) if data]
        for number, (nbytes, contents) in enumerate(self.buffers, start=5):
            name = f"contents{number}"
            if contents is not None:
                blobs[name] = contents
            memory = self._memory(number, nbytes, name if contents is not None else None)
            memory["flags"] |= 4 * any(t["mem_id"] == number for t in self.inputs)
            memory["flags"] |= 8 * any(t["mem_id"] == number for t in self.outputs)
            memories.append(memory)
        ids = [memory["id"] for memory in memories]
        used = [n if n in ids else 0 for n in range(5 + len(self.buffers))]
        return {
            "version": (0, 7, 0),
            "task_list": [{"id": 0, "interface": 1, "address_list": used}],
            "memory_list": memories,
            "address_list": [{"id": n, "mem_id": n, "offset": 0, "size": 1} for n in ids],
            "event_list": [],
            "blobs": [
                {"name": name, "size": len(data), "interface": 1, "version": self.version, "data": data}
                for name, data in blobs.items()
            ],
            "tensor_desc_list": [*self.inputs, *self.outputs],
            "submit_list": [{"id": 0, "task_id": [0]}],
        }

    def file(self, **changes: Any) -> bytes:
        """Return the file, with tables exchanged."""
        return flat_file(LOADABLE, self.record() | changes)

    def place(self, config: HwConfig = SMALL) -> Network:
        """Return the network that the file is read into."""
        return Compiled("test", parse_loadable(self.file()), config).place()

    @staticmethod
    def _memory(number: int, nbytes: int, name: str | None) -> dict[str, Any]:
        memory = {"id": number, "domain": 0, "flags": 1, "size": nbytes, "alignment": 4096}
        return memory | ({"flags": 3, "contents": [name], "offsets": [0]} if name else {})

    def _descriptors(self) -> list[bytes]:
        heads = {
            f"op_head.{engine.value}": next((n for n, op in enumerate(self.ops) if op.engine is engine), -1)
            for engine in EngineId
        }
        network = {
            "operations": 1,
            "surfaces": 2,
            "dependencies": 3,
            "luts": 4 if self.luts else -1,
            "statistics": -1,
            "num_rois": 1,
            "num_operations": len(self.ops),
            "num_luts": len(self.luts) // d.LUT.itemsize,
            **heads,
            **self.network,
        }
        surfaces = d.surfaces_of(VERSION)
        return [
            packed(d.NETWORK, network),
            b"".join(packed(d.OPERATIONS[op.engine], op.operation) for op in self.ops),
            b"".join(packed(surfaces[op.engine], op.surface) for op in self.ops),
            b"".join(self._dependency(number, op) for number, op in enumerate(self.ops)),
            self.luts,
        ]

    def _dependency(self, number: int, op: Op) -> bytes:
        counted = sum(1 for other in self.ops for _, index, _ in other.consumers if index == number)
        counted += sum(1 for other in self.ops if other.fused_parent and other.fused_parent[0] == number)
        fields: dict[str, Any] = {f"consumers.{n}.{k}": v for n in range(6) for k, v in NO_EDGE.items()}
        fields |= {f"fused_parent.{k}": v for k, v in NO_EDGE.items()}
        for engine, index, event in op.consumers:
            fields |= {f"consumers.{engine.value}.index": index, f"consumers.{engine.value}.event": event}
        if op.fused_parent is not None:
            fields |= {"fused_parent.index": op.fused_parent[0], "fused_parent.event": op.fused_parent[1]}
        count = counted if op.dependencies is None else op.dependencies
        return packed(d.DEPENDENCY, {"index": number, "engine": op.engine.value, "dependency_count": count, **fields})


def cube(
    name: str, position: int, shape: tuple[int, int, int], config: HwConfig = SMALL, **rest: Any
) -> dict[str, Any]:
    """Return the fields of a packed INT8 cube."""
    channels, height, width = shape
    atom = config.memory_atomic_bytes
    line = width * atom
    fields = {
        "address": position,
        "size": -(-channels // atom) * height * line,
        "width": width,
        "height": height,
        "channel": channels,
        "line_stride": line,
        "surf_stride": height * line,
        **rest,
    }
    return {f"{name}.{key}": value for key, value in fields.items()}


def copy_op(src: int, dst: int, shape: tuple[int, int, int] = (8, 2, 3), **rest: Any) -> Op:
    """Return an SDP operation that passes a cube of INT8 on."""
    operation = {"lut_index": -1, "out_cvt.scale": 1, "out_cvt.enable": 1, "batch_num": 1}
    surface = cube("src", src, shape) | cube("dst", dst, shape)
    return Op(EngineId.SDP, operation | rest.pop("operation", {}), surface | rest.pop("surface", {}), **rest)


def tensor(name: str, memory: int, shape: tuple[int, int, int], **rest: Any) -> dict[str, Any]:
    """Return the description of an INT8 tensor in atoms of 8 bytes, without gaps."""
    channels, height, width = shape
    return {
        "name": name,
        "id": memory,
        "mem_id": memory,
        "size": -(-channels // 8) * height * width * 8,
        "data_type": 4,
        "pixel_format": 37,
        "n": 1,
        "c": channels,
        "h": height,
        "w": width,
        "stride_0": 1,
        "stride_1": 8 * width,
        "stride_2": 8 * width * height,
        **rest,
    }


SHAPE = (8, 2, 3)


def copying(count: int = 1) -> Design:
    """Return a design of copies one after the other, from place 5 to place 5 + count."""
    ops = [copy_op(5 + n, 6 + n) for n in range(count)]
    for number, op in enumerate(ops[:-1]):
        op.consumers = ((EngineId.SDP, number + 1, 1),)
    return Design(
        ops,
        [(48, None)] * (count + 1),
        inputs=(tensor("data", 5, SHAPE),),
        outputs=(tensor("result", 5 + count, SHAPE),),
    )


def conv_op(src: int, weights: int, **rest: Any) -> Op:
    """Return a convolution of ``SHAPE`` with 8 kernels of 1 x 1, whose output goes to SDP."""
    conv = {
        **{"entry_per_slice": 3, "data_format": 36, "fetch_grain": 1, "batch": 1, "data_bank": 1, "weight_bank": 1},
        **{"release": 2, "input_width_csc": 3, "input_height_csc": 2, "input_channel_csc": 8},
        **{"kernel_width_csc": 1, "kernel_height_csc": 1, "kernel_channel_csc": 8},
        **{"output_width_cmac": 3, "output_height_cmac": 2, "bytes_per_kernel": 8},
        **{"stride_x": 1, "stride_y": 1, "dilation_x": 1, "dilation_y": 1, "out_cvt.scale": 1},
    }
    surface = {
        **cube("src", src, SHAPE),
        **cube("weight", weights, (8, 1, 1), size=64),
        **cube("dst", -1, SHAPE, type=2),
    }
    return Op(EngineId.CONV, conv, surface, **rest)


def taking_op(dst: int, conv: int, **rest: Any) -> Op:
    """Return an SDP operation that puts into memory what a convolution hands over."""
    return copy_op(-1, dst, surface={"src.type": 2, "src.address": -1}, fused_parent=(conv, Event.ENABLED), **rest)


def convolving() -> Design:
    """Return a design of one convolution from place 5 to place 6, with weights that change nothing at place 7."""
    design = copying()
    ops = [conv_op(5, 7, consumers=((EngineId.SDP, 1, Event.PROGRAMMED),)), taking_op(6, 0)]
    return replace(design, ops=ops, buffers=[*design.buffers, (64, np.eye(8, dtype=np.int8).tobytes())])


def residual() -> Design:
    """Return a design that uses three engines and both groups: convolution, pooling, convolution, and a sum.

    The first convolution goes from place 5 to 6, pooling to 7, the second convolution to 8, and the sum of 6 and 8 to
    9. Weights lie at 10: those of a shift by one channel.
    """
    pool = {"split_num": 1, "pool_mode": 1, "pool_width": 1, "stride_x": 1, "stride_y": 1, "pad_right": 1}
    pooled = Op(
        EngineId.PDP,
        pool | {"pad_value.0": -128},
        cube("src", 6, SHAPE) | cube("dst", 7, SHAPE),
        ((EngineId.CONV, 3, Event.COMPLETED),),
    )
    stage = {"x1.enable": 1, "x1.type": 2, "x1.mode": 2, "x1.alu_type": 2, "x1.mul": 1}
    total = copy_op(6, 9, operation=stage, surface=cube("x1", 8, SHAPE))
    first = conv_op(5, 10, consumers=((EngineId.CONV, 3, Event.PROGRAMMED), (EngineId.SDP, 1, Event.PROGRAMMED)))
    taken = taking_op(6, 0, consumers=((EngineId.PDP, 2, Event.COMPLETED), (EngineId.SDP, 4, Event.PROGRAMMED)))
    second = conv_op(7, 10, consumers=((EngineId.SDP, 4, Event.PROGRAMMED),))
    last = taking_op(8, 3, consumers=((EngineId.SDP, 5, Event.COMPLETED),))
    weights = np.roll(np.eye(8, dtype=np.int8), 1, axis=0).tobytes()
    return Design(
        [first, taken, pooled, second, last, total],
        [(48, None)] * 5 + [(64, weights)],
        inputs=(tensor("data", 5, SHAPE),),
        outputs=(tensor("result", 9, SHAPE),),
    )


def residual_of(data: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return what the network of :func:`residual` computes, by hand."""
    first = np.roll(data, 1, axis=0)
    beside = np.concatenate([first[:, :, 1:], np.full_like(first[:, :, :1], -128)], axis=2)
    second = np.roll(np.maximum(first, beside), 1, axis=0)
    return np.clip(first.astype(np.int16) + second, -128, 127).astype(np.int8)
