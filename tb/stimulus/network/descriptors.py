"""Descriptors of hardware and software tasks: what lies where in them, as data types of packed structures.

All are little endian. Containers have one size in all versions; what differs is the data cube inside of surfaces.

Source: the public driver's interface, versions 0.10 to 1.2.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from tb.stimulus.network.errors import NetworkError
from tb.stimulus.network.loadable import Version


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


def _packed(nbytes: int, /, **fields: tuple[int, Any]) -> np.dtype[Any]:
    """Return the type of a structure: the offset and type of each field, and the size of the whole."""
    return np.dtype(
        {
            "names": list(fields),
            "formats": [kind for _, kind in fields.values()],
            "offsets": [offset for offset, _ in fields.values()],
            "itemsize": nbytes,
        }
    )


U8, U16, I16, U32, I32, I64, F32 = "<u1", "<u2", "<i2", "<u4", "<i4", "<i8", "<f4"

NETWORK = _packed(
    40,
    operations=(0, I16),
    surfaces=(2, I16),
    dependencies=(4, I16),
    luts=(6, I16),
    roi_array=(8, I16),
    surface=(10, I16),
    statistics=(12, I16),
    op_head=(16, (I16, 6)),
    num_rois=(28, U16),
    num_operations=(30, U16),
    num_luts=(32, U16),
    num_addresses=(34, U16),
    input_layer=(36, I16),
    dynamic_roi=(38, U8),
)

EDGE = _packed(4, index=(0, I16), event=(2, U8))

DEPENDENCY = _packed(
    36,
    index=(0, I16),
    roi=(2, "<i1"),
    engine=(3, U8),
    dependency_count=(4, U8),
    consumers=(8, (EDGE, 6)),
    fused_parent=(32, EDGE),
)

CONVERTER = _packed(8, scale=(0, I16), truncate=(2, U8), enable=(3, U8), offset=(4, I32))

_CUBE_28 = _packed(
    28,
    type=(0, U16),
    address=(2, I16),
    size=(4, U32),
    width=(8, U16),
    height=(10, U16),
    channel=(12, U16),
    line_stride=(16, U32),
    surf_stride=(20, U32),
    plane_stride=(24, U32),
)
_CUBE_32 = _packed(
    32,
    type=(0, U16),
    address=(2, I16),
    offset=(4, U32),
    size=(8, U32),
    width=(12, U16),
    height=(14, U16),
    channel=(16, U16),
    line_stride=(20, U32),
    surf_stride=(24, U32),
    plane_stride=(28, U32),
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
    source=(0, I16),
    destination=(2, I16),
    line_size=(4, U32),
    line_repeat=(8, U32),
    source_line=(12, U32),
    destination_line=(16, U32),
    surface_repeat=(20, U32),
    source_surface=(24, U32),
    destination_surface=(28, U32),
)
MAX_TRANSFERS = 20
SURFACE_BYTES = 644


def cube_of(version: Version) -> np.dtype[Any]:
    """Return the type of data cubes in descriptors of a version.

    Raises:
        NetworkError: for a version whose descriptors are not known.
    """
    if version[:2] not in _CUBES:
        known = ", ".join(f"{major}.{minor}" for major, minor in _CUBES)
        raise NetworkError(f"version of the descriptors must be one of {known}, not {'.'.join(map(str, version))}")
    return _CUBES[version[:2]]


def surfaces_of(cube: np.dtype[Any]) -> dict[EngineId, np.dtype[Any]]:
    """Return the type of each engine's surfaces, with data cubes of a type."""

    def in_turn(*names: str, **rest: tuple[int, Any]) -> np.dtype[Any]:
        cubes = {name: (number * cube.itemsize, cube) for number, name in enumerate(names)}
        return _packed(SURFACE_BYTES, **cubes, **rest)

    behind = 5 * cube.itemsize
    moved = in_turn("src", "dst")
    return {
        EngineId.BDMA: _packed(
            SURFACE_BYTES,
            source_type=(0, U8),
            destination_type=(1, U8),
            number=(2, U16),
            transfers=(4, (_TRANSFER, MAX_TRANSFERS)),
        ),
        EngineId.CONV: in_turn(
            "weight", "wmb", "wgs", "src", "dst", second_plane=(behind, I64), second_line_stride=(behind + 8, U32)
        ),
        EngineId.SDP: in_turn("src", "x1", "x2", "y", "dst"),
        EngineId.PDP: moved,
        EngineId.CDP: moved,
        EngineId.RUBIK: moved,
    }


OPERATION_BYTES = 116

_CONV = _packed(
    OPERATION_BYTES,
    conv_mode=(0, U8),
    data_reuse=(1, U8),
    weight_reuse=(2, U8),
    skip_data_rls=(3, U8),
    skip_weight_rls=(4, U8),
    entry_per_slice=(6, U16),
    data_format=(8, U8),
    pixel_mapping=(9, U8),
    fetch_grain=(10, U16),
    batch=(20, U8),
    weight_format=(21, U8),
    data_bank=(22, U8),
    weight_bank=(23, U8),
    batch_stride=(24, U32),
    post_extension=(28, U8),
    pixel_override=(29, U8),
    release=(30, U16),
    input_width_csc=(32, U16),
    input_height_csc=(34, U16),
    input_channel_csc=(36, U16),
    kernel_width_csc=(38, U16),
    kernel_height_csc=(40, U16),
    kernel_channel_csc=(42, U16),
    output_width_cmac=(44, U16),
    output_height_cmac=(46, U16),
    bytes_per_kernel=(48, U32),
    mean_ry=(52, I16),
    mean_gu=(54, I16),
    mean_bv=(56, I16),
    mean_ax=(58, I16),
    mean_format=(60, U8),
    stride_x=(61, U8),
    stride_y=(62, U8),
    pad_left=(63, U8),
    pad_right=(64, U8),
    pad_top=(65, U8),
    pad_bottom=(66, U8),
    dilation_x=(67, U8),
    dilation_y=(68, U8),
    pra_truncate=(71, U8),
    in_precision=(72, U8),
    out_precision=(73, U8),
    pad_val=(74, I16),
    in_cvt=(76, CONVERTER),
    out_cvt=(84, CONVERTER),
)

_STAGE = _packed(
    32,
    enable=(0, U8),
    alu_type=(1, U8),
    type=(2, U8),
    mode=(3, U8),
    act=(4, U8),
    shift=(5, U8),
    truncate=(6, U8),
    precision=(7, U8),
    alu=(8, I32),
    mul=(12, I32),
    alu_cvt=(16, CONVERTER),
    mul_cvt=(24, CONVERTER),
)

_SDP = _packed(
    OPERATION_BYTES,
    src_precision=(0, U8),
    dst_precision=(1, U8),
    lut_index=(2, I16),
    out_cvt=(4, CONVERTER),
    conv_mode=(12, U8),
    batch_num=(13, U8),
    batch_stride=(16, U32),
    x1=(20, _STAGE),
    x2=(52, _STAGE),
    y=(84, _STAGE),
)

_PDP = _packed(
    OPERATION_BYTES,
    partial_in_first=(0, U16),
    partial_in_mid=(2, U16),
    partial_in_last=(4, U16),
    partial_out_first=(6, U16),
    partial_out_mid=(8, U16),
    partial_out_last=(10, U16),
    split_num=(12, U8),
    pool_mode=(13, U8),
    pool_width=(14, U8),
    pool_height=(15, U8),
    stride_x=(16, U8),
    stride_y=(17, U8),
    pad_left=(18, U8),
    pad_right=(19, U8),
    pad_top=(20, U8),
    pad_bottom=(21, U8),
    precision=(22, U8),
    pad_value=(24, (I32, 7)),
)

_CDP = _packed(
    OPERATION_BYTES,
    in_precision=(0, U8),
    out_precision=(1, U8),
    lut_index=(2, I16),
    in_cvt=(4, CONVERTER),
    out_cvt=(12, CONVERTER),
    local_size=(20, U8),
    bypass_sqsum=(21, U8),
    bypass_out_mul=(22, U8),
)

OPERATIONS: dict[EngineId, np.dtype[Any]] = {
    EngineId.BDMA: _packed(OPERATION_BYTES, number=(0, U16)),
    EngineId.CONV: _CONV,
    EngineId.SDP: _SDP,
    EngineId.PDP: _PDP,
    EngineId.CDP: _CDP,
    EngineId.RUBIK: _packed(OPERATION_BYTES, mode=(0, U8), precision=(1, U8), stride_x=(2, U8), stride_y=(3, U8)),
}

_SLOPE_BYTES = 4
_SLOPE = _packed(_SLOPE_BYTES, scale=(0, I16), shift=(2, "<i1"))

LUT = _packed(
    700,
    le=(0, (I16, 65)),
    lo=(130, (I16, 257)),
    le_offset=(644, "<i1"),
    lo_fraction=(646, "<i1"),
    le_start=(648, "<u8"),
    le_end=(656, "<u8"),
    lo_start=(664, "<u8"),
    lo_end=(672, "<u8"),
    le_underflow=(680, _SLOPE),
    le_overflow=(684, _SLOPE),
    lo_underflow=(688, _SLOPE),
    lo_overflow=(692, _SLOPE),
    hybrid_priority=(696, U8),
    underflow_priority=(697, U8),
    overflow_priority=(698, U8),
    method=(699, U8),
)

SOFTWARE_NETWORK = _packed(256, operations=(0, I16), buffers=(2, I16), number=(4, U16))

SOFTWARE_OPERATIONS: dict[int, np.dtype[Any]] = {
    16: _packed(16, type=(0, U8), power=(1, F32), scale=(5, F32), shift=(9, F32)),
    24: _packed(
        24, type=(0, U8), in_scale=(4, F32), out_scale=(8, F32), power=(12, F32), scale=(16, F32), shift=(20, F32)
    ),
}
"""The software operation by its size: versions do not tell the two apart."""

_SOFTWARE_CUBES: dict[int, np.dtype[Any]] = {
    16: _packed(
        256,
        address=(0, I16),
        size=(2, U32),
        format=(6, U16),
        width=(8, U16),
        height=(10, U16),
        channel=(12, U16),
        line_stride=(14, U32),
        surf_stride=(18, U32),
    ),
    24: _packed(
        256,
        address=(0, I16),
        offset=(2, U32),
        size=(6, U32),
        format=(10, U16),
        width=(12, U16),
        height=(14, U16),
        channel=(16, U16),
        line_stride=(18, U32),
        surf_stride=(22, U32),
    ),
}
SOFTWARE_BUFFERS: dict[int, np.dtype[Any]] = {
    nbytes: _packed(512, src=(0, cube), dst=(256, cube)) for nbytes, cube in _SOFTWARE_CUBES.items()
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
