"""PDP layers in registers: PDP_RDMA and PDP."""

from __future__ import annotations

from nvdla_models.config import HwConfig
from nvdla_models.pdp import RECIPROCAL_BITS, PdpParams, PoolMethod
from nvdla_tb.nvdla.layers import PdpLayer, Surface, WidthSplit
from nvdla_tb.nvdla.program.common import (
    AXES,
    PRECISION,
    build_surface,
    check_precision,
    field_of,
    flatten_surface,
    surface_rows,
)
from nvdla_tb.nvdla.program.table import (
    FLAG,
    MINUS_ONE,
    SIGNED,
    Fixed,
    Flat,
    LowBits,
    Named,
    Refused,
    Row,
    Table,
    View,
    blame,
    blame_attributes,
    row,
    rows,
)

_METHOD = Named(((PoolMethod.AVERAGE, 0), (PoolMethod.MAX, 1), (PoolMethod.MIN, 2)))
_UNITS = ("PDP", "PDP_RDMA")
_PARTS = ("first", "middle", "last")
_PARAMETERS = (
    *("method", "kernel_width", "kernel_height", "stride_x", "stride_y"),
    *("pad_left", "pad_right", "pad_top", "pad_bottom"),
    *("recip_width", "recip_height", "precision", "nan_to_zero"),
)


def _split_rows() -> tuple[Row, ...]:
    """Return the rows of the split: widths of the parts, in both units, where there are several."""
    found: list[Row] = []
    for part, field in zip(_PARTS, ("first", "mid", "last"), strict=True):
        when = "split & split.has_middle" if part == "middle" else "split"
        for way, holders in (("in", _UNITS), ("out", ("PDP",))):
            names = [f"{unit}.D_PARTIAL_WIDTH_{way.upper()}.partial_width_{way}_{field}" for unit in holders]
            found += rows(f"split.{part}_{way}", *names, codec=MINUS_ONE, when=when)
    return tuple(found)


TABLE: Table = (
    Fixed("PDP.D_OPERATION_MODE_CFG.flying_mode", 1, "PDP_RDMA is enabled, so the input lies in memory"),
    # Public firmware leaves 0 there: no unit of the public RTL reads it.
    row("off_flying", "PDP_RDMA.D_FLYING_MODE.flying_mode", codec=FLAG, significant=False),
    *(
        row(f"in.{axis}", f"{unit}.D_DATA_CUBE_IN_{axis.upper()}.cube_in_{axis}", codec=MINUS_ONE)
        for axis in AXES
        for unit in ("PDP_RDMA", "PDP")
    ),
    *(row(f"out.{axis}", f"PDP.D_DATA_CUBE_OUT_{axis.upper()}.cube_out_{axis}", codec=MINUS_ONE) for axis in AXES),
    *rows("precision", *(f"{unit}.D_DATA_FORMAT.input_data" for unit in _UNITS), codec=PRECISION),
    View("float", "PDP.D_DATA_FORMAT.input_data", lambda bits: bits == 2),
    row("nan_to_zero", "PDP.D_NAN_FLUSH_TO_ZERO.nan_to_zero", codec=FLAG, when="float"),
    *surface_rows("src", "PDP_RDMA", "SRC", "D_SRC_RAM_CFG.src_ram_type"),
    *surface_rows("src", "PDP", "SRC", "", significant=False),
    *surface_rows("dst", "PDP", "DST", "D_DST_RAM_CFG.dst_ram_type"),
    row("method", "PDP.D_OPERATION_MODE_CFG.pooling_method", codec=_METHOD),
    View("average", "PDP.D_OPERATION_MODE_CFG.pooling_method", lambda bits: bits == 0),
    *rows("kernel_width", *(f"{unit}.D_POOLING_KERNEL_CFG.kernel_width" for unit in _UNITS), codec=MINUS_ONE),
    row("kernel_height", "PDP.D_POOLING_KERNEL_CFG.kernel_height", codec=MINUS_ONE),
    *rows("stride_x", *(f"{unit}.D_POOLING_KERNEL_CFG.kernel_stride_width" for unit in _UNITS), codec=MINUS_ONE),
    row("stride_y", "PDP.D_POOLING_KERNEL_CFG.kernel_stride_height", codec=MINUS_ONE),
    row("pad_left", "PDP.D_POOLING_PADDING_CFG.pad_left"),
    row("pad_left", "PDP_RDMA.D_POOLING_PADDING_CFG.pad_width", significant=False),
    row("pad_right", "PDP.D_POOLING_PADDING_CFG.pad_right"),
    row("pad_top", "PDP.D_POOLING_PADDING_CFG.pad_top"),
    row("pad_bottom", "PDP.D_POOLING_PADDING_CFG.pad_bottom"),
    *(
        row(
            f"pad_value_{n}x",
            f"PDP.D_POOLING_PADDING_VALUE_{n}_CFG.pad_value_{n}x",
            codec=codec,
            when=f"average & {when}",
        )
        for codec, when in ((SIGNED, "!float"), (LowBits(RECIPROCAL_BITS), "float"))
        for n in range(1, 8)
    ),
    row("recip_width", "PDP.D_RECIP_KERNEL_WIDTH.recip_kernel_width", when="average"),
    row("recip_height", "PDP.D_RECIP_KERNEL_HEIGHT.recip_kernel_height", when="average"),
    *rows("parts", *(f"{unit}.D_OPERATION_MODE_CFG.split_num" for unit in _UNITS), codec=MINUS_ONE),
    View("split", "PDP.D_OPERATION_MODE_CFG.split_num", lambda bits: bits >= 1),
    View("split.has_middle", "PDP.D_OPERATION_MODE_CFG.split_num", lambda bits: bits >= 2),
    *_split_rows(),
)


def flatten(layer: PdpLayer) -> Flat:
    """Return a layer's attributes by the names of ``TABLE``."""
    split = layer.split
    flat: Flat = {
        **flatten_pooling(layer.src.layout.shape, layer.dst, layer.params),
        **flatten_surface("src", layer.src),
        "off_flying": True,
        "parts": split.parts if split else 1,
    }
    if split is not None:
        flat |= {f"split.{part}_{way}": getattr(split, f"{part}_{way}") for part in _PARTS for way in ("in", "out")}
    return flat


def flatten_pooling(shape: tuple[int, ...], dst: Surface, params: PdpParams) -> Flat:
    """Return the attributes of a pooling apart from its source in memory; ``shape`` is that of the input, (C, H, W)."""
    return {
        **{f"in.{axis}": size for axis, size in zip(AXES, shape, strict=True)},
        **{f"out.{axis}": size for axis, size in zip(AXES, dst.layout.shape, strict=True)},
        **flatten_surface("dst", dst),
        **{name: getattr(params, name) for name in _PARAMETERS},
        **{f"pad_value_{n}x": value for n, value in enumerate(params.pad_values, start=1)},
    }


def build(config: HwConfig, flat: Flat) -> PdpLayer:
    """Return the layer that decoded attributes describe.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    precision = check_precision(config, TABLE, flat, "precision")
    channels, height, width = (flat[f"in.{axis}"] for axis in AXES)
    src = build_surface(config, TABLE, flat, "src", (channels, height, width), precision)
    params, dst = build_pooling(config, flat)
    with blame(field_of(TABLE, "parts")):
        return PdpLayer(src, dst, params, _build_split(flat))


def build_pooling(config: HwConfig, flat: Flat) -> tuple[PdpParams, Surface]:
    """Return a pooling and its destination from decoded attributes.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    precision = check_precision(config, TABLE, flat, "precision")
    out_channels, out_height, out_width = (flat[f"out.{axis}"] for axis in AXES)
    if out_channels != flat["in.channel"]:
        raise Refused(
            f"{field_of(TABLE, 'out.channel')}: must be the {flat['in.channel']} channels in, not {out_channels}"
        )
    dst = build_surface(config, TABLE, flat, "dst", (out_channels, out_height, out_width), precision)
    values = {name: flat[name] for name in _PARAMETERS if name in flat}
    if not flat["average"]:
        values |= {"recip_width": 0, "recip_height": 0}
    with blame_attributes(TABLE, ""):
        params = PdpParams(pad_values=tuple(flat.get(f"pad_value_{n}x", 0) for n in range(1, 8)), **values)
    for axis, size in (("height", params.output_height), ("width", params.output_width)):
        with blame(field_of(TABLE, f"in.{axis}")):
            expected = size(flat[f"in.{axis}"])
        if flat[f"out.{axis}"] != expected:
            raise Refused(f"{field_of(TABLE, f'out.{axis}')}: must be {expected}, not {flat[f'out.{axis}']}")
    return params, dst


def _build_split(flat: Flat) -> WidthSplit | None:
    if not flat["split"]:
        return None
    widths = {f"{part}_{way}": flat.get(f"split.{part}_{way}", 0) for part in _PARTS for way in ("in", "out")}
    return WidthSplit(flat["parts"], **widths)
