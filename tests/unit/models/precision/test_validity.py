"""Tables 29 to 32, row by row, and what they refuse."""

from __future__ import annotations

import pytest

from models.errors import InputError
from models.precision import Precision
from models.validity import (
    TABLES,
    InputFormat,
    LayerKind,
    PipelinePrecision,
    check_sdp_processing,
    conversion,
)

# The printed tables: input format, output, pipeline ("-" for an invalid case), weights where there are any.
PRINTED = {
    LayerKind.CONVOLUTION: """
        image input (uint8/int16/uint16) | int8 | int8 | int8
        image input (uint8/int16/uint16) | int16 | int16 | int16
        image input (uint8/int16/uint16) | fp16 | fp16 | fp16
        image input (fp16) | int8 | - | -
        image input (fp16) | int16 | - | -
        image input (fp16) | fp16 | fp16 | fp16
        int8 feature data | int8 | int8 | int8
        int8 feature data | int16 | - | -
        int8 feature data | fp16 | - | -
        int16 feature data | int8 | - | -
        int16 feature data | int16 | int16 | int16
        int16 feature data | fp16 | - | -
        fp16 feature data | int8 | - | -
        fp16 feature data | int16 | - | -
        fp16 feature data | fp16 | fp16 | fp16""",
    LayerKind.SDP_OFFLINE: """
        int8 feature data | int8 | int32 | -
        int8 feature data | int16 | int32 | -
        int8 feature data | fp16 | - | -
        int16 feature data | int8 | int32 | -
        int16 feature data | int16 | int32 | -
        int16 feature data | fp16 | int32 | -
        fp16 feature data | int8 | - | -
        fp16 feature data | int16 | fp32 | -
        fp16 feature data | fp16 | fp32 | -""",
    LayerKind.LRN: """
        int8 feature data | int8 | int8 | -
        int8 feature data | int16 | - | -
        int8 feature data | fp16 | - | -
        int16 feature data | int8 | - | -
        int16 feature data | int16 | int16 | -
        int16 feature data | fp16 | - | -
        fp16 feature data | int8 | - | -
        fp16 feature data | int16 | - | -
        fp16 feature data | fp16 | fp16 | -""",
}
PRINTED[LayerKind.POOLING] = PRINTED[LayerKind.LRN]

ROWS = [
    (kind, index, *(cell.strip() for cell in line.split("|")))
    for kind, text in PRINTED.items()
    for index, line in enumerate(text.strip().splitlines())
]


@pytest.mark.parametrize(("kind", "index", "source", "target", "pipeline", "weight"), ROWS)
def test_each_row_is_the_printed_one(
    kind: LayerKind, index: int, source: str, target: str, pipeline: str, weight: str
) -> None:
    row = TABLES[kind][index]
    assert (row.source.value, row.target.value) == (source, target)
    assert (row.pipeline.value if row.pipeline else "-") == pipeline
    assert (row.weight.value if row.weight else "-") == weight


@pytest.mark.parametrize("kind", list(LayerKind))
def test_no_row_is_missing(kind: LayerKind) -> None:
    assert len(TABLES[kind]) == len(PRINTED[kind].strip().splitlines())


@pytest.mark.parametrize("kind", list(LayerKind))
@pytest.mark.parametrize("source", list(InputFormat))
@pytest.mark.parametrize("target", list(Precision))
def test_conversion_accepts_exactly_the_valid_rows(kind: LayerKind, source: InputFormat, target: Precision) -> None:
    valid = [row for row in TABLES[kind] if (row.source, row.target) == (source, target) and row.pipeline]
    if valid:
        assert conversion(kind, source, target) == valid[0]
    else:
        with pytest.raises(InputError, match=rf"\(Table {kind.value[0]}\)$"):
            conversion(kind, source, target)


def test_an_invalid_case_names_what_is_allowed() -> None:
    with pytest.raises(
        InputError,
        match=r"^target must be INT16 or FP16 for a SDP layer \(offline mode\) with fp16 feature data, "
        r"not INT8 \(Table 30\)$",
    ):
        conversion(LayerKind.SDP_OFFLINE, InputFormat.FP16_FEATURE, Precision.INT8)


def test_an_image_is_refused_where_only_features_are_read() -> None:
    with pytest.raises(
        InputError, match=r"^source of a pooling layer must be feature data, not image input \(fp16\) \(Table 32\)$"
    ):
        conversion(LayerKind.POOLING, InputFormat.IMAGE_FP16, Precision.FP16)


def test_the_sdp_computes_integers_in_32_bits_and_fp16_in_fp32() -> None:
    pipelines = {row.source: row.pipeline for row in TABLES[LayerKind.SDP_OFFLINE] if row.pipeline}
    assert pipelines == {
        InputFormat.INT8_FEATURE: PipelinePrecision.INT32,
        InputFormat.INT16_FEATURE: PipelinePrecision.INT32,
        InputFormat.FP16_FEATURE: PipelinePrecision.FP32,
    }


def test_int16_to_int8_must_be_processed_as_int8() -> None:
    check_sdp_processing(Precision.INT16, Precision.INT8, Precision.INT8)
    with pytest.raises(
        InputError,
        match=r"^processing must be INT8 for INT16 to INT8, not INT16: the layer would never finish$",
    ):
        check_sdp_processing(Precision.INT16, Precision.INT16, Precision.INT8)


@pytest.mark.parametrize(
    ("source", "processing", "target", "allowed"),
    [
        (Precision.FP16, Precision.INT16, Precision.INT16, "FP16"),
        (Precision.INT16, Precision.FP16, Precision.FP16, "INT8 or INT16"),
    ],
)
def test_integers_and_fp16_are_not_mixed_in_the_pipeline(
    source: Precision, processing: Precision, target: Precision, allowed: str
) -> None:
    with pytest.raises(
        InputError, match=rf"^processing must be {allowed} for {source.name} input, not {processing.name}$"
    ):
        check_sdp_processing(source, processing, target)


def accepted(source: Precision, processing: Precision, target: Precision) -> bool:
    try:
        check_sdp_processing(source, processing, target)
    except InputError:
        return False
    return True


def test_the_measured_processing_precisions_are_accepted() -> None:
    measured = {
        (Precision.INT8, Precision.INT8, Precision.INT8),
        (Precision.INT16, Precision.INT16, Precision.INT16),
        (Precision.INT16, Precision.INT16, Precision.FP16),
        (Precision.FP16, Precision.FP16, Precision.FP16),
        (Precision.FP16, Precision.FP16, Precision.INT16),
    }
    refused = {(Precision.FP16, Precision.FP16, Precision.INT8), (Precision.INT8, Precision.FP16, Precision.INT8)}
    assert {case for case in measured | refused if accepted(*case)} == measured
