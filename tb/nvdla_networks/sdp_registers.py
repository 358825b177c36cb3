"""SDP: from its descriptors to SDP_RDMA and SDP, as the public driver writes them."""

from __future__ import annotations

from nvdla_networks.descriptors import CubeType
from nvdla_networks.errors import NetworkError
from nvdla_networks.tables import FP16, INT8, PATTERN, RAM, size_rows, stride_rows
from nvdla_tb.nvdla.program.common import halves
from nvdla_tb.nvdla.program.table import FLAG, INVERTED_FLAG, MINUS_ONE, PLAIN, SIGNED, Flat, Row, Table, row

_LAYER, _KERNEL, _POINT = range(3)
_NONE, _MUL, _ADD, _BOTH = range(4)
_NO_ACT, _RELU, _LUT, _PRELU = range(4)
_USES = {_NONE: 0, _MUL: 0, _ADD: 1, _BOTH: 2}

_STAGES = (("x1", "BS", "BRDMA"), ("x2", "BN", "NRDMA"), ("y", "EW", "ERDMA"))


def _fetch_rows(stage: str, name: str, rdma: str) -> tuple[Row, ...]:
    """Return the rows of what SDP_RDMA fetches for a stage."""
    cfg, fetched = f"SDP_RDMA.D_{rdma}_CFG.{rdma.lower()}", f"{stage}.fetched"
    return (
        row(fetched, f"{cfg}_disable", codec=INVERTED_FLAG),
        row(f"{stage}.use", f"{cfg}_data_use"),
        row(f"{stage}.two_bytes", f"{cfg}_data_size", codec=FLAG),
        row(f"{stage}.per_point", f"{cfg}_data_mode", codec=FLAG),
        row(f"at.{stage}.type", f"{cfg}_ram_type", codec=RAM),
        row(f"at.{stage}.address", *halves(f"SDP_RDMA.D_{name}_BASE_ADDR_{{}}"), when=fetched),
        *stride_rows(f"at.{stage}", "SDP_RDMA", name, when=fetched),
    )


def _switch_rows(stage: str, name: str) -> tuple[Row, ...]:
    """Return the rows of what a stage does, and of which parts are passed by."""
    cfg = f"SDP.D_DP_{name}_CFG.{name.lower()}"
    last = ("lut", "lut_bypass") if name == "EW" else ("relu", "relu_bypass")
    return (
        row(f"{stage}.enable", f"{cfg}_bypass", codec=INVERTED_FLAG),
        row(f"{stage}.adds", f"{cfg}_alu_bypass", codec=INVERTED_FLAG),
        row(f"{stage}.alu_type", f"{cfg}_alu_algo"),
        row(f"{stage}.multiplies", f"{cfg}_mul_bypass", codec=INVERTED_FLAG),
        row(f"{stage}.prelu", f"{cfg}_mul_prelu", codec=FLAG),
        row(f"{stage}.{last[0]}", f"{cfg}_{last[1]}", codec=INVERTED_FLAG),
    )


def _x_rows(stage: str, name: str) -> tuple[Row, ...]:
    unit, low = f"SDP.D_DP_{name}", name.lower()
    adds, enabled, layer = f"{stage}.enable & {stage}.adds", f"{stage}.enable", f"{stage}.enable & !{stage}.memory"
    return (
        *_switch_rows(stage, name),
        row(f"{stage}.memory", f"{unit}_ALU_CFG.{low}_alu_src", codec=FLAG, when=adds),
        row(f"{stage}.shift", f"{unit}_ALU_CFG.{low}_alu_shift_value", when=adds),
        row(f"{stage}.alu", f"{unit}_ALU_SRC_VALUE.{low}_alu_operand", codec=PATTERN, when=layer),
        row(f"{stage}.memory", f"{unit}_MUL_CFG.{low}_mul_src", codec=FLAG, when=enabled),
        row(f"{stage}.truncate", f"{unit}_MUL_CFG.{low}_mul_shift_value", when=enabled),
        row(f"{stage}.mul", f"{unit}_MUL_SRC_VALUE.{low}_mul_operand", codec=PATTERN, when=layer),
    )


def _y_rows() -> tuple[Row, ...]:
    rows = [*_switch_rows("y", "EW")]
    for part, does in (("alu", "adds"), ("mul", "multiplies")):
        unit, low = f"SDP.D_DP_EW_{part.upper()}", f"ew_{part}"
        on = f"y.enable & y.{does}"
        rows += [
            row("y.memory", f"{unit}_CFG.{low}_src", codec=FLAG, when=on),
            row(f"y.{part}_cvt.enable", f"{unit}_CFG.{low}_cvt_bypass", codec=INVERTED_FLAG, when=on),
            row(f"y.{part}", f"{unit}_SRC_VALUE.{low}_operand", codec=PATTERN, when=f"{on} & !y.memory"),
            *(
                row(
                    f"y.{part}_cvt.{name}",
                    f"{unit}_CVT_{name.upper()}_VALUE.{low}_cvt_{name}",
                    codec=SIGNED if name != "truncate" else PLAIN,
                    when=f"{on} & y.memory",
                )
                for name in ("offset", "scale", "truncate")
            ),
        ]
    return (*rows, row("y.truncate", "SDP.D_DP_EW_TRUNCATE_VALUE.ew_truncate", when="y.enable"))


RDMA_TABLE: Table = (
    row("fly", "SDP_RDMA.D_FEATURE_MODE_CFG.flying_mode", codec=FLAG),
    row("conv_mode", "SDP_RDMA.D_FEATURE_MODE_CFG.winograd", codec=FLAG),
    row("src_precision", "SDP_RDMA.D_FEATURE_MODE_CFG.in_precision"),
    row("proc_precision", "SDP_RDMA.D_FEATURE_MODE_CFG.proc_precision"),
    row("dst_precision", "SDP_RDMA.D_FEATURE_MODE_CFG.out_precision"),
    row("batch_num", "SDP_RDMA.D_FEATURE_MODE_CFG.batch_number", codec=MINUS_ONE),
    *size_rows("at.src", "SDP_RDMA", "D_DATA_CUBE_{}", "{}"),
    row("at.src.type", "SDP_RDMA.D_SRC_DMA_CFG.src_ram_type", codec=RAM, when="!fly"),
    row("at.src.address", *halves("SDP_RDMA.D_SRC_BASE_ADDR_{}"), when="!fly"),
    *stride_rows("at.src", "SDP_RDMA", "SRC", when="!fly"),
    *(entry for stage in _STAGES for entry in _fetch_rows(*stage)),
)

TABLE: Table = (
    *size_rows("at.src", "SDP", "D_DATA_CUBE_{}", "{}"),
    row("at.dst.address", *halves("SDP.D_DST_BASE_ADDR_{}"), when="!handed_on"),
    *stride_rows("at.dst", "SDP", "DST", when="!handed_on"),
    *_x_rows("x1", "BS"),
    *_x_rows("x2", "BN"),
    *_y_rows(),
    row("fly", "SDP.D_FEATURE_MODE_CFG.flying_mode", codec=FLAG),
    row("handed_on", "SDP.D_FEATURE_MODE_CFG.output_dst", codec=FLAG),
    row("conv_mode", "SDP.D_FEATURE_MODE_CFG.winograd", codec=FLAG),
    row("batch_num", "SDP.D_FEATURE_MODE_CFG.batch_number", codec=MINUS_ONE),
    row("at.dst.type", "SDP.D_DST_DMA_CFG.dst_ram_type", codec=RAM),
    row("batch_stride", "SDP.D_DST_BATCH_STRIDE.dst_batch_stride", when="batched"),
    row("proc_precision", "SDP.D_DATA_FORMAT.proc_precision"),
    row("dst_precision", "SDP.D_DATA_FORMAT.out_precision"),
    row("out_cvt.offset", "SDP.D_CVT_OFFSET.cvt_offset", codec=SIGNED),
    row("out_cvt.scale", "SDP.D_CVT_SCALE.cvt_scale", codec=SIGNED),
    row("out_cvt.truncate", "SDP.D_CVT_SHIFT.cvt_shift"),
)


def derive(flat: Flat) -> Flat:
    """Return the values that the tables take beside the descriptors themselves.

    Raises:
        NetworkError: for a stage that no descriptor can mean.
    """
    derived: Flat = {
        "fly": flat["at.src.type"] == CubeType.HARDWARE,
        "handed_on": flat["at.dst.type"] == CubeType.HARDWARE,
        "batched": flat["batch_num"] > 1,
        "proc_precision": _processing(flat["src_precision"], flat["dst_precision"]),
    }
    for stage, _, _ in _STAGES:
        derived |= _derive_stage(stage, flat)
    derived["rdma"] = not derived["fly"] or any(flat[f"{s}.enable"] and flat[f"{s}.mode"] for s, _, _ in _STAGES)
    return derived


def _processing(source: int, destination: int) -> int:
    if source == FP16:
        return FP16
    return INT8 if destination == INT8 else source


def _derive_stage(stage: str, flat: Flat) -> Flat:
    most = {"type": _BOTH, "mode": _POINT, "act": _PRELU}
    for name, limit in most.items():
        if flat[f"{stage}.{name}"] > limit:
            raise NetworkError(f"{name} of stage {stage} must be 0 to {limit}, not {flat[f'{stage}.{name}']}")
    kind, mode, act = (flat[f"{stage}.{name}"] for name in most)
    if flat[f"{stage}.enable"] and act == (_LUT if stage != "y" else _RELU):
        wrong, has = ("a table", "ReLU") if stage != "y" else ("ReLU", "a table")
        raise NetworkError(f"act of stage {stage}, which has {has}, must not be {wrong}")
    return {
        f"{stage}.memory": mode != _LAYER,
        f"{stage}.fetched": bool(flat[f"{stage}.enable"]) and kind != _NONE and mode != _LAYER,
        f"{stage}.use": _USES[kind],
        f"{stage}.two_bytes": flat[f"{stage}.precision"] != INT8,
        f"{stage}.per_point": mode != _KERNEL,
        f"{stage}.adds": kind in (_ADD, _BOTH),
        f"{stage}.multiplies": kind in (_MUL, _BOTH),
        f"{stage}.relu": act == _RELU,
        f"{stage}.prelu": act == _PRELU,
        f"{stage}.lut": act == _LUT,
    }
