"""Which fields of a layer's registers mean nothing, as the register manual tells and apart from the field tables."""

from __future__ import annotations

from nvdla_models.config import HwConfig
from nvdla_models.lut import HybridLut
from nvdla_models.pdp import PdpParams, PoolMethod
from nvdla_models.precision import Precision
from nvdla_models.sdp import SdpParams
from nvdla_tb.nvdla.engines import chain_of
from nvdla_tb.nvdla.layers import (
    CdpLayer,
    ConvLayer,
    Layer,
    OperandSurface,
    PdpLayer,
    PooledLayer,
    SdpLayer,
    StageSource,
    is_per_channel,
)
from nvdla_tb.nvdla.registers import Field, RegisterMap
from tests.unit.nvdla.conv_strategies import unused_conv

Sources = tuple[StageSource | None, ...]

_BATCH_STRIDE = "SDP.D_DST_BATCH_STRIDE.dst_batch_stride"


def unused_fields(layer: Layer) -> list[str]:
    """Name the fields that the register manual gives no meaning in a layer of this kind."""
    match layer:
        case SdpLayer():
            return _unused_sdp(layer.params, (layer.x1, layer.x2, layer.y), layer.dst.layout.shape)
        case PdpLayer():
            return _unused_pdp(layer)
        case CdpLayer():
            return _unused_cdp(layer)
        case PooledLayer():
            return [*unused_fields(layer.producer), *_unused_between(), *_unused_pooling(layer.params)]
        case ConvLayer():
            sdp = _unused_sdp(layer.sdp, (layer.x1, layer.x2, layer.y), layer.dst.layout.shape)
            if layer.batch is not None:
                sdp.remove(_BATCH_STRIDE)
            return [*unused_conv(layer), *(name for name in sdp if name.split(".")[0] in chain_of(layer).units)]


def used_width(layer: Layer, field: Field) -> int:
    """Return how many low bits of a field the hardware uses."""
    producer = layer.producer if isinstance(layer, PooledLayer) else layer
    if field.name == "pad_value" and isinstance(producer, ConvLayer):
        return producer.params.precision.bits
    int8 = isinstance(layer, CdpLayer) and layer.params.precision is Precision.INT8
    narrow = {"datin_offset": 8, "datout_offset": 25} if int8 else {}
    if isinstance(layer, PdpLayer | PooledLayer) and layer.params.is_float and field.name.startswith("pad_value_"):
        return 17
    return 6 if field.name.endswith("_mul_shift_value") else narrow.get(field.name, field.width)


def _unused_sdp(params: SdpParams, sources: Sources, shape: tuple[int, int, int]) -> list[str]:
    fields = [_BATCH_STRIDE]
    if params.is_float:
        fields += ["SDP.D_CVT_OFFSET.cvt_offset", "SDP.D_CVT_SCALE.cvt_scale", "SDP.D_CVT_SHIFT.cvt_shift"]
    else:
        fields.append("SDP.D_FEATURE_MODE_CFG.nan_to_zero")
    stages = (("bs", "brdma", params.x1), ("bn", "nrdma", params.x2), ("ew", "erdma", params.y))
    for (low, rdma, stage), source in zip(stages, sources, strict=True):
        unit = f"SDP.D_DP_{low.upper()}"
        active = {"alu": stage is not None and stage.alu is not None, "mul": stage is not None and stage.mul}
        if stage is None:
            fields += [f"{unit}_CFG.{low}_{name}_bypass" for name in ("alu", "mul", "lut" if low == "ew" else "relu")]
        if low != "ew" and (stage is None or params.is_float):
            fields.append(f"{unit}_MUL_CFG.{low}_mul_shift_value")
        if low != "ew" and (not active["alu"] or params.is_float):
            fields.append(f"{unit}_ALU_CFG.{low}_alu_shift_value")
        if not active["alu"]:
            fields.append(f"{unit}_CFG.{low}_alu_algo")
        if not active["mul"]:
            fields.append(f"{unit}_CFG.{low}_mul_prelu")
        fields += [f"{unit}_{n.upper()}_CFG.{low}_{n}_src" for n, on in active.items() if not on]
        source = source or StageSource()
        from_memory = {name: on and getattr(source, name) is None for name, on in active.items()}
        for name, on in active.items():
            if not on or from_memory[name]:
                fields.append(f"{unit}_{name.upper()}_SRC_VALUE.{low}_{name}_operand")
        if low == "ew":
            fields += _unused_y(params, from_memory)
        fields += _unused_memory(low, rdma, source.memory, shape)
    if shape[1:] == (1, 1):
        for unit, end in (("SDP_RDMA", "src"), ("SDP", "dst")):
            fields += [
                f"{unit}.D_{end.upper()}_{axis}_STRIDE.{end}_{axis.lower()}_stride" for axis in ("LINE", "SURFACE")
            ]
    return fields


def _unused_memory(low: str, rdma: str, memory: OperandSurface | None, shape: tuple[int, int, int]) -> list[str]:
    base, cfg = f"SDP_RDMA.D_{low.upper()}", f"SDP_RDMA.D_{rdma.upper()}_CFG.{rdma}"
    fields = [f"{base}_BATCH_STRIDE.{low}_batch_stride"]
    if memory is None:
        fields += [f"{cfg}_{name}" for name in ("data_use", "data_size", "ram_type")]
        fields += [f"{base}_BASE_ADDR_{part}.{low}_base_addr_{part.lower()}" for part in ("LOW", "HIGH")]
    if memory is None or shape[1:] == (1, 1):
        fields.append(f"{cfg}_data_mode")
    if memory is None or is_per_channel(memory.layout):
        fields += [f"{base}_{axis}_STRIDE.{low}_{axis.lower()}_stride" for axis in ("LINE", "SURFACE")]
    return fields


def _unused_y(params: SdpParams, from_memory: dict[str, bool]) -> list[str]:
    y, fields = params.y, []
    for name, fetched in from_memory.items():
        unit, low = f"SDP.D_DP_EW_{name.upper()}", f"ew_{name}_cvt"
        converts = not params.is_float and fetched
        if not converts:
            fields.append(f"{unit}_CFG.{low}_bypass")
        if not converts or y is None or getattr(y, f"{name}_converter") is None:
            fields += [f"{unit}_CVT_{part.upper()}_VALUE.{low}_{part}" for part in ("offset", "scale", "truncate")]
    if y is None or not y.mul or params.is_float:
        fields.append("SDP.D_DP_EW_TRUNCATE_VALUE.ew_truncate")
    if y is None or y.lut is None:
        return fields + [
            f"{register.full_name}.{field.name}"
            for register in RegisterMap.of(HwConfig.load("nv_full"))
            if register.unit == "SDP" and register.name.startswith("S_LUT_") and "ACCESS" not in register.name
            for field in register.fields
        ]
    return fields + _unused_lut("SDP", y.lut, params.is_float)


def _unused_lut(unit: str, lut: HybridLut, is_float: bool) -> list[str]:
    fields = [f"{unit}.S_LUT_INFO.lut_le_index_{'select' if lut.le.exponent else 'offset'}"]
    if is_float:
        for table in ("le", "lo"):
            register = f"{unit}.S_LUT_{table.upper()}_SLOPE_SHIFT"
            fields += [f"{register}.lut_{table}_slope_{side}_shift" for side in ("uflow", "oflow")]
    return fields


def _unused_pdp(layer: PdpLayer) -> list[str]:
    fields = [
        "PDP_RDMA.D_CYA.cya",
        "PDP_RDMA.D_FLYING_MODE.flying_mode",
        "PDP_RDMA.D_POOLING_PADDING_CFG.pad_width",
        *_unused_of_method(layer.params),
    ]
    fields += [] if layer.params.is_float else ["PDP.D_NAN_FLUSH_TO_ZERO.nan_to_zero"]
    unused = {1: ("first", "mid", "last"), 2: ("mid",)}.get(layer.split.parts if layer.split else 1, ())
    for part in unused:
        fields += [f"{unit}.D_PARTIAL_WIDTH_IN.partial_width_in_{part}" for unit in ("PDP", "PDP_RDMA")]
        fields.append(f"PDP.D_PARTIAL_WIDTH_OUT.partial_width_out_{part}")
    return fields


def _unused_of_method(params: PdpParams) -> list[str]:
    fields = ["PDP.D_CYA.cya"]
    fields += [f"PDP.D_SRC_BASE_ADDR_{part}.src_base_addr_{part.lower()}" for part in ("LOW", "HIGH")]
    fields += [f"PDP.D_SRC_{axis}_STRIDE.src_{axis.lower()}_stride" for axis in ("LINE", "SURFACE")]
    if params.method is not PoolMethod.AVERAGE:
        fields += [f"PDP.D_POOLING_PADDING_VALUE_{n}_CFG.pad_value_{n}x" for n in range(1, 8)]
        fields += [f"PDP.D_RECIP_KERNEL_{axis}.recip_kernel_{axis.lower()}" for axis in ("WIDTH", "HEIGHT")]
    return fields


def _unused_pooling(params: PdpParams) -> list[str]:
    """Name what means nothing in PDP on the fly: what is about its source in memory, and NaN from there."""
    parts = [f"PDP.D_PARTIAL_WIDTH_{way}.partial_width_{way.lower()}" for way in ("IN", "OUT")]
    widths = [f"{part}_{place}" for part in parts for place in ("first", "mid", "last")]
    return [*_unused_of_method(params), *widths, "PDP.D_NAN_FLUSH_TO_ZERO.nan_to_zero"]


def _unused_between() -> list[str]:
    """Name what says where the output of SDP lies in memory."""
    return [
        *(f"SDP.D_DST_BASE_ADDR_{part}.dst_base_addr_{part.lower()}" for part in ("LOW", "HIGH")),
        *(f"SDP.D_DST_{axis}_STRIDE.dst_{axis.lower()}_stride" for axis in ("LINE", "SURFACE")),
        "SDP.D_DST_DMA_CFG.dst_ram_type",
    ]


def _unused_cdp(layer: CdpLayer) -> list[str]:
    fields = ["CDP.D_CYA.cya", "CDP_RDMA.D_CYA.cya"]
    if layer.params.local_size is None:
        fields.append("CDP.D_LRN_CFG.normalz_len")
    if layer.params.is_float:
        for name in ("DATIN", "DATOUT"):
            low = name.lower()
            fields += [f"CDP.D_{name}_{part.upper()}.{low}_{part}" for part in ("offset", "scale", "shifter")]
        for table in ("le", "lo"):
            edges = (f"CDP.S_LUT_{table.upper()}_{end.upper()}_HIGH.lut_{table}_{end}_high" for end in ("start", "end"))
            fields += edges
    else:
        fields.append("CDP.D_NAN_FLUSH_TO_ZERO.nan_to_zero")
    return fields + _unused_lut("CDP", layer.params.lut, layer.params.is_float)
