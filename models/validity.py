"""Conversions between precisions that each kind of layer supports: Tables 29 to 32 as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from models.errors import InputError
from models.precision import Precision


class InputFormat(Enum):
    """The configured input format, as the tables name it."""

    IMAGE_INTEGER = "image input (uint8/int16/uint16)"
    IMAGE_FP16 = "image input (fp16)"
    INT8_FEATURE = "int8 feature data"
    INT16_FEATURE = "int16 feature data"
    FP16_FEATURE = "fp16 feature data"


class PipelinePrecision(Enum):
    """The precision that a pipeline really computes in."""

    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    FP16 = "fp16"
    FP32 = "fp32"


class LayerKind(Enum):
    """The layers that have a table: its number and its title's end."""

    CONVOLUTION = (29, "convolutional layer")
    SDP_OFFLINE = (30, "SDP layer (offline mode)")
    LRN = (31, "LRN layer")
    POOLING = (32, "pooling layer")


@dataclass(frozen=True)
class Conversion:
    """One row of a table.

    Attributes:
        source: configured input format.
        target: configured output precision.
        pipeline: real precision in the pipeline, None for an invalid case.
        weight: precision of the weights, None for an invalid case and where there are none.
    """

    source: InputFormat
    target: Precision
    pipeline: PipelinePrecision | None
    weight: Precision | None = None


_INT8, _INT16, _FP16 = Precision.INT8, Precision.INT16, Precision.FP16
_IMAGE, _IMAGE_FP16 = InputFormat.IMAGE_INTEGER, InputFormat.IMAGE_FP16
FEATURE_FORMAT = {_INT8: InputFormat.INT8_FEATURE, _INT16: InputFormat.INT16_FEATURE, _FP16: InputFormat.FP16_FEATURE}
"""The input format of feature data of each precision."""

_SAME = {_INT8: PipelinePrecision.INT8, _INT16: PipelinePrecision.INT16, _FP16: PipelinePrecision.FP16}


def _unchanged(weights: bool) -> tuple[Conversion, ...]:
    """Return the nine feature rows of a layer that does not convert."""
    return tuple(
        Conversion(
            FEATURE_FORMAT[source],
            target,
            _SAME[source] if source is target else None,
            source if weights and source is target else None,
        )
        for source in Precision
        for target in Precision
    )


TABLES: dict[LayerKind, tuple[Conversion, ...]] = {
    LayerKind.CONVOLUTION: (
        Conversion(_IMAGE, _INT8, PipelinePrecision.INT8, _INT8),
        Conversion(_IMAGE, _INT16, PipelinePrecision.INT16, _INT16),
        Conversion(_IMAGE, _FP16, PipelinePrecision.FP16, _FP16),
        Conversion(_IMAGE_FP16, _INT8, None),
        Conversion(_IMAGE_FP16, _INT16, None),
        Conversion(_IMAGE_FP16, _FP16, PipelinePrecision.FP16, _FP16),
        *_unchanged(weights=True),
    ),
    LayerKind.SDP_OFFLINE: (
        Conversion(InputFormat.INT8_FEATURE, _INT8, PipelinePrecision.INT32),
        Conversion(InputFormat.INT8_FEATURE, _INT16, PipelinePrecision.INT32),
        Conversion(InputFormat.INT8_FEATURE, _FP16, None),
        Conversion(InputFormat.INT16_FEATURE, _INT8, PipelinePrecision.INT32),
        Conversion(InputFormat.INT16_FEATURE, _INT16, PipelinePrecision.INT32),
        Conversion(InputFormat.INT16_FEATURE, _FP16, PipelinePrecision.INT32),
        Conversion(InputFormat.FP16_FEATURE, _INT8, None),
        Conversion(InputFormat.FP16_FEATURE, _INT16, PipelinePrecision.FP32),
        Conversion(InputFormat.FP16_FEATURE, _FP16, PipelinePrecision.FP32),
    ),
    LayerKind.LRN: _unchanged(weights=False),
    # The printed Table 32 lists int8 to int16 twice; the second row stands for int8 to fp16.
    LayerKind.POOLING: _unchanged(weights=False),
}
"""Every row, valid or not, in the printed order.

Source: formats document, "Precision Conversion", Tables 29 to 32.
"""


def conversion(kind: LayerKind, source: InputFormat, target: Precision) -> Conversion:
    """Return the row of a supported conversion.

    Raises:
        InputError: for an invalid case, or when the layer cannot read the format at all.

    Source: formats document, Tables 29 to 32.
    """
    number, title = kind.value
    valid = [row for row in TABLES[kind] if row.source is source and row.pipeline is not None]
    for row in valid:
        if row.target is target:
            return row
    allowed = " or ".join(row.target.name for row in valid)
    if not allowed:
        raise InputError(f"source of a {title} must be feature data, not {source.value} (Table {number})")
    raise InputError(f"target must be {allowed} for a {title} with {source.value}, not {target.name} (Table {number})")


def check_sdp_processing(source: Precision, processing: Precision, target: Precision) -> None:
    """Refuse a processing precision of an SDP layer with which the hardware fails.

    Source and target must also be a row of Table 30. FP16 data are processed as FP16 and integers as
    integers; INT16 to INT8 must be processed as INT8, with INT16 the layer never finishes.

    Raises:
        InputError: for a mixture, or for INT16 to INT8 processed as INT16.

    Source: formats document, Table 30; INT16 to INT8 measured on the public nv_full RTL.
    """
    conversion(LayerKind.SDP_OFFLINE, FEATURE_FORMAT[source], target)
    if (source is _FP16) != (processing is _FP16):
        allowed = "FP16" if source is _FP16 else "INT8 or INT16"
        raise InputError(f"processing must be {allowed} for {source.name} input, not {processing.name}")
    if (source, processing, target) == (_INT16, _INT16, _INT8):
        raise InputError("processing must be INT8 for INT16 to INT8, not INT16: the layer would never finish")
