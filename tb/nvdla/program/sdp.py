"""SDP layers in registers: from a layer to the attributes of the field table, and back."""

from __future__ import annotations

from dataclasses import dataclass

from models.config import HwConfig
from models.sdp import SdpParams, output_converter
from models.validity import FEATURE_FORMAT, LayerKind, conversion
from tb.nvdla.layers import SdpLayer, StageSource, Surface, processing_precision, strides_are_ignored
from tb.nvdla.program.common import build_surface, check_precision, field_of, flatten_surface
from tb.nvdla.program.sdp_stages import build_x, build_y, flatten_stage
from tb.nvdla.program.sdp_table import CONVERTER_PARTS, TABLE
from tb.nvdla.program.table import Flat, Refused, blame, blame_attributes

__all__ = ["TABLE", "Processing", "build", "build_processing", "flatten", "flatten_processing"]

_NEUTRAL = {"offset": 0, "scale": 1, "shift": 0}


@dataclass(frozen=True)
class Processing:
    """SDP's processing, whatever its input comes from."""

    params: SdpParams
    dst: Surface
    x1: StageSource | None
    x2: StageSource | None
    y: StageSource | None


def flatten(layer: SdpLayer) -> Flat:
    """Return a layer's attributes by the names of ``TABLE``."""
    processing = Processing(layer.params, layer.dst, layer.x1, layer.x2, layer.y)
    return flatten_surface("src", layer.src) | flatten_processing(processing)


def flatten_processing(processing: Processing) -> Flat:
    """Return the attributes of SDP apart from its source in memory, by the names of ``TABLE``."""
    params = processing.params
    channel, height, width = processing.dst.layout.shape
    return {
        "shape.channel": channel,
        "shape.height": height,
        "shape.width": width,
        "input_precision": params.input_precision,
        "processing_precision": processing_precision(params.input_precision, params.output_precision),
        "float": params.is_float,
        "output_precision": params.output_precision,
        "nan_to_zero": params.nan_to_zero,
        **flatten_surface("dst", processing.dst),
        **flatten_stage("x1", params.x1, processing.x1),
        **flatten_stage("x2", params.x2, processing.x2),
        **flatten_stage("y", params.y, processing.y),
        **{f"converter.{part}": getattr(params.converter, part) for part in CONVERTER_PARTS},
    }


def build(config: HwConfig, flat: Flat) -> SdpLayer:
    """Return the layer that decoded attributes describe.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    input_precision = check_precision(config, TABLE, flat, "input_precision")
    shape = (flat["shape.channel"], flat["shape.height"], flat["shape.width"])
    if strides_are_ignored(shape):
        flat |= {f"src.{name}_stride_bytes": config.memory_atomic_bytes for name in ("line", "surface")}
    processing = build_processing(config, flat)
    src = build_surface(config, TABLE, flat, "src", shape, input_precision)
    with blame_attributes(TABLE, ""):
        return SdpLayer(src, processing.dst, processing.params, processing.x1, processing.x2, processing.y)


def build_processing(config: HwConfig, flat: Flat) -> Processing:
    """Return SDP's part of decoded attributes, apart from its source.

    Args:
        config: The configuration.
        flat: Attributes by the names of ``TABLE``; those of units that take no part may be missing.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    shape = (flat["shape.channel"], flat["shape.height"], flat["shape.width"])
    y, y_source = build_y(config, flat, shape)
    check_precision(config, TABLE, flat, "processing_precision")
    output_precision = check_precision(config, TABLE, flat, "output_precision")
    _check_processing(flat)
    if strides_are_ignored(shape):
        flat |= {f"dst.{name}_stride_bytes": config.memory_atomic_bytes for name in ("line", "surface")}
    dst = build_surface(config, TABLE, flat, "dst", shape, output_precision)
    x1, x1_source = build_x(config, flat, "x1", shape)
    x2, x2_source = build_x(config, flat, "x2", shape)
    converter = {part: flat.get(f"converter.{part}", neutral) for part, neutral in _NEUTRAL.items()}
    with blame_attributes(TABLE, ""):
        params = SdpParams(
            x1,
            x2,
            output_converter(**converter),
            flat["input_precision"],
            output_precision,
            y,
            flat.get("nan_to_zero", False),
        )
    return Processing(params, dst, x1_source, x2_source, y_source)


def _check_processing(flat: Flat) -> None:
    source, target, got = (flat[f"{name}_precision"] for name in ("input", "output", "processing"))
    with blame((field_of(TABLE, "output_precision"),)):
        conversion(LayerKind.SDP_OFFLINE, FEATURE_FORMAT[source], target)
    expected = processing_precision(source, target)
    if got is not expected:
        field = field_of(TABLE, "processing_precision")
        raise Refused(f"{field} must be {expected.name} from {source.name} to {target.name}, not {got.name}")
