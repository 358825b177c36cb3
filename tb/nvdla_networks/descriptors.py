"""Descriptors of hardware and software tasks: what lies where in them, as data types of packed structures.

All are little endian. Containers have one size in all versions; what differs is the data cube inside of surfaces.

Source: the public driver's interface, versions 0.10 to 1.2.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from nvdla_networks.errors import NetworkError
from nvdla_networks.loadable import Version


class EngineId(IntEnum):
    """Engines as descriptors number them."""

    BDMA = 0
    CONV = 1
    SDP = 2
    PDP = 3
    CDP = 4
    RUBIK = 5


class Event(IntEnum):
    """The event of a producer that an operation waits for."""

    COMPLETED = 1
    PROGRAMMED = 2
    ENABLED = 3
    WEIGHTS_DONE = 4
    DATA_DONE = 5


class CubeType(IntEnum):
    """Where a data cube lies."""

    MC = 0
    CV = 1
    HARDWARE = 2


def _packed(nbytes: int, *runs: tuple[int, Any, str]) -> np.dtype[Any]:
    """Return the type of a structure.

    Args:
        nbytes: Size of the whole.
        runs: Fields of one type that lie one after the other: offset of the first, the type, and their names.
    """
    fields = [
        (name, kind, offset + number * np.dtype(kind).itemsize)
        for offset, kind, names in runs
        for number, name in enumerate(names.split())
    ]
    names, formats, offsets = zip(*fields, strict=True)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": nbytes})


U8, I8, U16, I16, U32, I32, U64, I64, F32 = "<u1", "<i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4"

NETWORK = _packed(
    40,
    (0, I16, "operations surfaces dependencies luts roi_array surface statistics"),
    (16, (I16, 6), "op_head"),
    (28, U16, "num_rois num_operations num_luts num_addresses"),
    (36, I16, "input_layer"),
    (38, U8, "dynamic_roi"),
)

EDGE = _packed(4, (0, I16, "index"), (2, U8, "event"))

DEPENDENCY = _packed(
    36,
    (0, I16, "index"),
    (2, I8, "roi"),
    (3, U8, "engine dependency_count"),
    (8, (EDGE, 6), "consumers"),
    (32, EDGE, "fused_parent"),
)

CONVERTER = _packed(8, (0, I16, "scale"), (2, U8, "truncate enable"), (4, I32, "offset"))

_SIDES, _STRIDES = "width height channel", "line_stride surf_stride plane_stride"
_CUBE_28 = _packed(28, (0, U16, "type"), (2, I16, "address"), (4, U32, "size"), (8, U16, _SIDES), (16, U32, _STRIDES))
_CUBE_32 = _packed(
    32, (0, U16, "type"), (2, I16, "address"), (4, U32, "offset size"), (12, U16, _SIDES), (20, U32, _STRIDES)
)

_CUBES: dict[tuple[int, int], np.dtype[Any]] = {
    (0, 10): _CUBE_28,
    (0, 11): _CUBE_28,
    (0, 12): _CUBE_32,
    (1, 2): _CUBE_28,
}
"""The data cube by the first two numbers of the descriptors' version."""

_TRANSFER = _packed(
    32,
    (0, I16, "source destination"),
    (4, U32, "line_size line_repeat source_line destination_line surface_repeat source_surface destination_surface"),
)
MAX_TRANSFERS = 20
SURFACE_BYTES = 644


def surfaces_of(version: Version) -> dict[EngineId, np.dtype[Any]]:
    """Return the type of each engine's surfaces in descriptors of a version.

    Raises:
        NetworkError: for a version whose descriptors are not known.
    """
    if version[:2] not in _CUBES:
        known = ", ".join(f"{major}.{minor}" for major, minor in _CUBES)
        raise NetworkError(f"version of the descriptors must be one of {known}, not {'.'.join(map(str, version))}")
    cube = _CUBES[version[:2]]
    behind = 5 * cube.itemsize
    moved = _packed(SURFACE_BYTES, (0, cube, "src dst"))
    return {
        EngineId.BDMA: _packed(
            SURFACE_BYTES,
            (0, U8, "source_type destination_type"),
            (2, U16, "number"),
            (4, (_TRANSFER, MAX_TRANSFERS), "transfers"),
        ),
        EngineId.CONV: _packed(
            SURFACE_BYTES,
            (0, cube, "weight wmb wgs src dst"),
            (behind, I64, "second_plane"),
            (behind + 8, U32, "second_line_stride"),
        ),
        EngineId.SDP: _packed(SURFACE_BYTES, (0, cube, "src x1 x2 y dst")),
        EngineId.PDP: moved,
        EngineId.CDP: moved,
        EngineId.RUBIK: moved,
    }


OPERATION_BYTES = 116

_STAGE = _packed(
    32,
    (0, U8, "enable alu_type type mode act shift truncate precision"),
    (8, I32, "alu mul"),
    (16, CONVERTER, "alu_cvt mul_cvt"),
)

OPERATIONS: dict[EngineId, np.dtype[Any]] = {
    EngineId.BDMA: _packed(OPERATION_BYTES, (0, U16, "number")),
    EngineId.CONV: _packed(
        OPERATION_BYTES,
        (0, U8, "conv_mode data_reuse weight_reuse skip_data_rls skip_weight_rls"),
        (6, U16, "entry_per_slice"),
        (8, U8, "data_format pixel_mapping"),
        (10, U16, "fetch_grain"),
        (20, U8, "batch weight_format data_bank weight_bank"),
        (24, U32, "batch_stride"),
        (28, U8, "post_extension pixel_override"),
        (30, U16, "release input_width_csc input_height_csc input_channel_csc"),
        (38, U16, "kernel_width_csc kernel_height_csc kernel_channel_csc output_width_cmac output_height_cmac"),
        (48, U32, "bytes_per_kernel"),
        (52, I16, "mean_ry mean_gu mean_bv mean_ax"),
        (60, U8, "mean_format stride_x stride_y pad_left pad_right pad_top pad_bottom dilation_x dilation_y"),
        (71, U8, "pra_truncate in_precision out_precision"),
        (74, I16, "pad_val"),
        (76, CONVERTER, "in_cvt out_cvt"),
    ),
    EngineId.SDP: _packed(
        OPERATION_BYTES,
        (0, U8, "src_precision dst_precision"),
        (2, I16, "lut_index"),
        (4, CONVERTER, "out_cvt"),
        (12, U8, "conv_mode batch_num"),
        (16, U32, "batch_stride"),
        (20, _STAGE, "x1 x2 y"),
    ),
    EngineId.PDP: _packed(
        OPERATION_BYTES,
        (0, U16, "partial_in_first partial_in_mid partial_in_last"),
        (6, U16, "partial_out_first partial_out_mid partial_out_last"),
        (12, U8, "split_num pool_mode pool_width pool_height stride_x stride_y"),
        (18, U8, "pad_left pad_right pad_top pad_bottom precision"),
        (24, (I32, 7), "pad_value"),
    ),
    EngineId.CDP: _packed(
        OPERATION_BYTES,
        (0, U8, "in_precision out_precision"),
        (2, I16, "lut_index"),
        (4, CONVERTER, "in_cvt out_cvt"),
        (20, U8, "local_size bypass_sqsum bypass_out_mul"),
    ),
    EngineId.RUBIK: _packed(OPERATION_BYTES, (0, U8, "mode precision stride_x stride_y")),
}

_SLOPE = _packed(4, (0, I16, "scale"), (2, I8, "shift"))

LUT = _packed(
    700,
    (0, (I16, 65), "le"),
    (130, (I16, 257), "lo"),
    (644, I8, "le_offset"),
    (646, I8, "lo_fraction"),
    (648, U64, "le_start le_end lo_start lo_end"),
    (680, _SLOPE, "le_underflow le_overflow lo_underflow lo_overflow"),
    (696, U8, "hybrid_priority underflow_priority overflow_priority method"),
)

SOFTWARE_NETWORK = _packed(256, (0, I16, "operations buffers"), (4, U16, "number"))

SOFTWARE_OPERATIONS: dict[int, np.dtype[Any]] = {
    16: _packed(16, (0, U8, "type"), (1, F32, "power scale shift")),
    24: _packed(24, (0, U8, "type"), (4, F32, "in_scale out_scale power scale shift")),
}
"""The software operation by its size: versions do not tell the two apart."""

_SHAPE, _FAR = "format width height channel", "line_stride surf_stride"
_SOFTWARE_CUBES: dict[int, np.dtype[Any]] = {
    16: _packed(256, (0, I16, "address"), (2, U32, "size"), (6, U16, _SHAPE), (14, U32, _FAR)),
    24: _packed(256, (0, I16, "address"), (2, U32, "offset size"), (10, U16, _SHAPE), (18, U32, _FAR)),
}
SOFTWARE_BUFFERS: dict[int, np.dtype[Any]] = {
    nbytes: _packed(512, (0, cube, "src dst")) for nbytes, cube in _SOFTWARE_CUBES.items()
}
"""Source and destination of a software operation, by the size of the operation."""


def flat(record: Any, prefix: str = "") -> dict[str, Any]:
    """Return the fields of a structure as Python values by dotted names; arrays of numbers become tuples."""
    values: dict[str, Any] = {}
    for name in record.dtype.names:
        value = record[name]
        if value.dtype.names and value.shape == ():
            values |= flat(value, f"{prefix}{name}.")
        elif value.dtype.names:
            values[f"{prefix}{name}"] = tuple(flat(entry) for entry in value)
        else:
            values[f"{prefix}{name}"] = tuple(value.tolist()) if value.shape else value.item()
    return values
