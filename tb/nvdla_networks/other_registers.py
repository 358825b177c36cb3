"""PDP, CDP, RUBIK and lookup tables: from their descriptors to registers, as the public driver writes them."""

from __future__ import annotations

from nvdla_models.pdp import MAX_KERNEL
from nvdla_networks.descriptors import CubeType
from nvdla_networks.errors import NetworkError
from nvdla_networks.tables import FP16, LOW, PART_WIDTH, PATTERN, RAM, reciprocal, size_rows, stride_rows
from nvdla_tb.nvdla.layers import RubikMode
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program import rubik
from nvdla_tb.nvdla.program.common import PRECISION, halves
from nvdla_tb.nvdla.program.lut import edge_fields, lut_writes
from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.nvdla.program.table import FLAG, INVERTED_FLAG, MINUS_ONE, SIGNED, Flat, Row, Table, row, written_words
from nvdla_tb.nvdla.registers import RegisterMap

_PARTS = ("first", "mid", "last")
_SIDES = ("left", "right", "top", "bottom")


def _part_rows(unit: str, way: str) -> tuple[Row, ...]:
    place = f"{unit}.D_PARTIAL_WIDTH_{way.upper()}.partial_width_{way}"
    return tuple(row(f"partial_{way}_{part}", f"{place}_{part}", codec=PART_WIDTH) for part in _PARTS)


PDP_RDMA_TABLE: Table = (
    *size_rows("at.src", "PDP_RDMA", "D_DATA_CUBE_IN_{}", "cube_in_{}"),
    row("at.src.type", "PDP_RDMA.D_SRC_RAM_CFG.src_ram_type", codec=RAM),
    row("at.src.address", *halves("PDP_RDMA.D_SRC_BASE_ADDR_{}")),
    *stride_rows("at.src", "PDP_RDMA", "SRC"),
    row("precision", "PDP_RDMA.D_DATA_FORMAT.input_data"),
    row("split_num", "PDP_RDMA.D_OPERATION_MODE_CFG.split_num", codec=MINUS_ONE),
    row("pool_width", "PDP_RDMA.D_POOLING_KERNEL_CFG.kernel_width"),
    row("stride_x", "PDP_RDMA.D_POOLING_KERNEL_CFG.kernel_stride_width", codec=MINUS_ONE),
    row("pad_left", "PDP_RDMA.D_POOLING_PADDING_CFG.pad_width"),
    *_part_rows("PDP_RDMA", "in"),
)

PDP_TABLE: Table = (
    *size_rows("at.src", "PDP", "D_DATA_CUBE_IN_{}", "cube_in_{}"),
    *size_rows("at.dst", "PDP", "D_DATA_CUBE_OUT_{}", "cube_out_{}"),
    row("pool_mode", "PDP.D_OPERATION_MODE_CFG.pooling_method"),
    row("fly", "PDP.D_OPERATION_MODE_CFG.flying_mode", codec=INVERTED_FLAG),
    row("split_num", "PDP.D_OPERATION_MODE_CFG.split_num", codec=MINUS_ONE),
    *_part_rows("PDP", "in"),
    *_part_rows("PDP", "out"),
    row("pool_width", "PDP.D_POOLING_KERNEL_CFG.kernel_width"),
    row("pool_height", "PDP.D_POOLING_KERNEL_CFG.kernel_height"),
    row("stride_x", "PDP.D_POOLING_KERNEL_CFG.kernel_stride_width", codec=MINUS_ONE),
    row("stride_y", "PDP.D_POOLING_KERNEL_CFG.kernel_stride_height", codec=MINUS_ONE),
    row("reciprocal.width", "PDP.D_RECIP_KERNEL_WIDTH.recip_kernel_width"),
    row("reciprocal.height", "PDP.D_RECIP_KERNEL_HEIGHT.recip_kernel_height"),
    *(row(f"pad_{side}", f"PDP.D_POOLING_PADDING_CFG.pad_{side}") for side in _SIDES),
    *(row(f"pad_value_{n}x", f"PDP.D_POOLING_PADDING_VALUE_{n}_CFG.pad_value_{n}x", codec=SIGNED) for n in range(1, 8)),
    *stride_rows("at.src", "PDP", "SRC", when="!fly"),
    row("at.src.address", *halves("PDP.D_SRC_BASE_ADDR_{}"), when="!fly"),
    row("at.dst.address", *halves("PDP.D_DST_BASE_ADDR_{}")),
    *stride_rows("at.dst", "PDP", "DST"),
    row("at.dst.type", "PDP.D_DST_RAM_CFG.dst_ram_type", codec=RAM),
    row("precision", "PDP.D_DATA_FORMAT.input_data"),
)


def derive_pdp(flat: Flat) -> Flat:
    """Return the values that the tables take beside the descriptors themselves.

    Raises:
        NetworkError: for a kernel that is too large, or a split of what comes from SDP.
    """
    is_float = flat["precision"] == FP16
    for axis in ("width", "height"):
        if flat[f"pool_{axis}"] >= MAX_KERNEL:
            raise NetworkError(f"pool_{axis} must be 0 to {MAX_KERNEL - 1}, not {flat[f'pool_{axis}']}")
    fly = flat["at.src.type"] == CubeType.HARDWARE
    if fly and flat["split_num"] != 1:
        raise NetworkError(f"split_num must be 1 when the input comes from SDP, not {flat['split_num']}")
    return {
        "fly": fly,
        "rdma": not fly,
        **{f"reciprocal.{a}": reciprocal(flat[f"pool_{a}"] + 1, is_float=is_float) for a in ("width", "height")},
        **{f"pad_value_{n}x": 0 if is_float else value for n, value in enumerate(flat["pad_value"], start=1)},
    }


CDP_TABLE: Table = (
    *size_rows("at.src", "CDP_RDMA", "D_DATA_CUBE_{}", "{}"),
    row("at.src.address", *halves("CDP_RDMA.D_SRC_BASE_ADDR_{}")),
    *stride_rows("at.src", "CDP_RDMA", "SRC"),
    row("at.src.type", "CDP_RDMA.D_SRC_DMA_CFG.src_ram_type", codec=RAM),
    row("in_precision", "CDP_RDMA.D_DATA_FORMAT.input_data"),
    row("at.dst.address", *halves("CDP.D_DST_BASE_ADDR_{}")),
    *stride_rows("at.dst", "CDP", "DST"),
    row("at.dst.type", "CDP.D_DST_DMA_CFG.dst_ram_type", codec=RAM),
    row("in_precision", "CDP.D_DATA_FORMAT.input_data_type"),
    row("length", "CDP.D_LRN_CFG.normalz_len"),
    *(
        row(f"{cvt}.{name}", f"CDP.D_{register}_{end}.{register.lower()}_{end.lower()}", codec=codec)
        for cvt, register in (("in_cvt", "DATIN"), ("out_cvt", "DATOUT"))
        for name, end, codec in (("offset", "OFFSET", PATTERN), ("scale", "SCALE", SIGNED))
    ),
    row("in_cvt.truncate", "CDP.D_DATIN_SHIFTER.datin_shifter"),
    row("out_cvt.truncate", "CDP.D_DATOUT_SHIFTER.datout_shifter"),
    row("bypass_sqsum", "CDP.D_FUNC_BYPASS.sqsum_bypass", codec=FLAG),
    row("bypass_out_mul", "CDP.D_FUNC_BYPASS.mul_bypass", codec=FLAG),
)


def derive_cdp(flat: Flat) -> Flat:
    """Return the values that the table takes beside the descriptors themselves.

    Raises:
        NetworkError: for a window that the hardware lacks, or an output in another precision.
    """
    if flat["local_size"] not in (3, 5, 7, 9):
        raise NetworkError(f"local_size must be 3, 5, 7 or 9, not {flat['local_size']}")
    if flat["out_precision"] != flat["in_precision"]:
        raise NetworkError(
            f"out_precision of CDP must be the {flat['in_precision']} of its input, not {flat['out_precision']}"
        )
    return {"length": (flat["local_size"] - 1) // 2 - 1}


_RUBIK_ATOM_BYTES = 32


def derive_rubik(flat: Flat) -> Flat:
    """Return the attributes of the layer, by the names of RUBIK's own table.

    Raises:
        InputError: for a mode or a precision that does not exist.
    """
    mode: RubikMode = rubik.MODE.decode(flat["mode"], 2)
    surfaces = -(-flat["at.dst.channel"] * (2 if flat["precision"] else 1) // _RUBIK_ATOM_BYTES)
    derived: Flat = {
        "mode": mode,
        "precision": PRECISION.decode(flat["precision"], 2),
        "width": flat["at.src.width"],
        "height": flat["at.src.height"],
        "channels": flat["at.src.channel"],
        "out_channels": flat["at.dst.channel"],
        "column_bytes": surfaces * flat["at.src.surf_stride"],
        "rows_bytes": flat["stride_y"] * flat["at.dst.line_stride"],
    }
    for end in ("src", "dst"):
        derived |= {
            f"{end}.ram": Ram.CVSRAM if flat[f"at.{end}.type"] == CubeType.CV else Ram.MC,
            f"{end}.address": flat[f"at.{end}.address"],
            f"{end}.line_stride_bytes": flat[f"at.{end}.line_stride"],
            f"{end}.surface_stride_bytes": flat[f"at.{end}.surf_stride"],
            f"{end}.planar_stride_bytes": flat[f"at.{end}.plane_stride"],
        }
    return derived


_EDGES = ("le_start", "le_end", "lo_start", "lo_end")
_ENDS = (("underflow", "uflow"), ("overflow", "oflow"))
_SLOPES = tuple((table, *side) for table in ("le", "lo") for side in _ENDS)


def _lut_table(unit: str) -> Table:
    info = f"{unit}.S_LUT_INFO.lut"
    return (
        row("method", f"{unit}.S_LUT_CFG.lut_le_function"),
        row("underflow_priority", f"{unit}.S_LUT_CFG.lut_uflow_priority"),
        row("overflow_priority", f"{unit}.S_LUT_CFG.lut_oflow_priority"),
        row("hybrid_priority", f"{unit}.S_LUT_CFG.lut_hybrid_priority"),
        row("le_offset", f"{info}_le_index_offset", codec=SIGNED, when="!method"),
        row("le_offset", f"{info}_le_index_select", codec=SIGNED, when="method"),
        row("lo_fraction", f"{info}_lo_index_select", codec=SIGNED),
        *(row(edge, *edge_fields(unit, edge.upper()), codec=LOW) for edge in _EDGES),
        *(
            row(
                f"{table}_{side}.scale",
                f"{unit}.S_LUT_{table.upper()}_SLOPE_SCALE.lut_{table}_slope_{short}_scale",
                codec=PATTERN,
            )
            for table, side, short in _SLOPES
        ),
        *(
            row(
                f"{table}_{side}.shift",
                f"{unit}.S_LUT_{table.upper()}_SLOPE_SHIFT.lut_{table}_slope_{short}_shift",
                codec=SIGNED,
                when="!float",
            )
            for table, side, short in _SLOPES
        ),
    )


LUT_TABLES = {unit: _lut_table(unit) for unit in ("SDP", "CDP")}


def lut_loads(unit: str, flat: Flat, *, is_float: bool, registers: RegisterMap) -> tuple[RegWrite, ...]:
    """Return the writes that load both lookup tables of SDP or CDP and what stands beside them.

    Slopes of a layer that computes in FP16 are patterns.

    Raises:
        Refused: for a value that its field cannot hold.
    """
    entries = tuple(tuple(word & 0xFFFF for word in flat[name]) for name in ("le", "lo"))
    words = written_words(LUT_TABLES[unit], flat | {"float": is_float}, registers)[unit]
    return (*lut_writes(unit, (entries[0], entries[1])), *(RegWrite(f"{unit}.{n}", word) for n, word in words.items()))
