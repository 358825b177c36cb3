"""The statistics counters, and when their numbers are valid.

Source: precision document, "Converter statistics"; unit description, "Result statistics".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.errors import InputError
from models.fp16 import FP16
from models.precision import Precision


@dataclass(frozen=True)
class CounterSettings:
    """The settings that decide whether a counter is valid.

    Attributes:
        in_precision: precision of the data read.
        proc_precision: precision of the pipeline.
        out_precision: precision of the data written.
        saturation_enabled: PERF_SAT_EN.
        nan_inf_enabled: PERF_NAN_INF_COUNT_EN.
    """

    in_precision: Precision
    proc_precision: Precision
    out_precision: Precision
    saturation_enabled: bool
    nan_inf_enabled: bool


Condition = Callable[[CounterSettings], bool]


@dataclass(frozen=True)
class Counter:
    """One row of the tables of counters.

    Attributes:
        unit: the sub-unit.
        name: name of the counter.
        published: the valid condition of the document.
        measured: when the hardware counts.
    """

    unit: str
    name: str
    published: Condition
    measured: Condition


def _always(_: CounterSettings) -> bool:
    return True


def _never(_: CounterSettings) -> bool:
    return False


def _fp16_input(settings: CounterSettings) -> bool:
    return settings.in_precision is Precision.FP16


def _fp16_input_enabled(settings: CounterSettings) -> bool:
    return _fp16_input(settings) and settings.nan_inf_enabled


def _fp16_output_enabled(settings: CounterSettings) -> bool:
    return settings.out_precision is Precision.FP16 and settings.nan_inf_enabled


def _sdp_saturation_published(settings: CounterSettings) -> bool:
    both = settings.proc_precision is Precision.FP16 and settings.out_precision is Precision.FP16
    return settings.saturation_enabled and both


def _sdp_saturation_measured(settings: CounterSettings) -> bool:
    """Tell whether SDP counts: also for integer pipelines, but not when FP16 becomes INT16."""
    mixed = settings.proc_precision is Precision.FP16 and settings.out_precision is not Precision.FP16
    return settings.saturation_enabled and not mixed


COUNTERS = (
    Counter("CACC", "out_saturation", _always, _always),
    Counter("SDP", "out_saturation", _sdp_saturation_published, _sdp_saturation_measured),
    Counter("CDP", "out_saturation", _always, _always),
    Counter("CDMA", "inf_input_data", _fp16_input, _fp16_input),
    Counter("CDMA", "inf_input_weight", _fp16_input, _fp16_input),
    Counter("CDMA", "nan_input_data", _fp16_input, _fp16_input),
    Counter("CDMA", "nan_input_weight", _fp16_input, _fp16_input),
    Counter("SDP_RDMA", "nan_input", _fp16_input_enabled, _fp16_input_enabled),
    Counter("SDP_RDMA", "inf_input", _fp16_input_enabled, _fp16_input_enabled),
    Counter("SDP", "nan_input", _never, _never),
    Counter("SDP", "inf_input", _never, _never),
    Counter("SDP", "nan_output", _fp16_output_enabled, _fp16_output_enabled),
    Counter("CDP", "inf_input", _fp16_input, _never),
    Counter("CDP", "nan_input", _fp16_input, _never),
    Counter("CDP", "nan_output", _fp16_input, _never),
    Counter("PDP", "inf_input", _fp16_input, _fp16_input),
    Counter("PDP", "nan_input", _fp16_input, _fp16_input),
    Counter("PDP", "nan_output", _fp16_input, _fp16_input),
)
"""Every counter of both documents.

The three NaN and infinity counters of CDP read 0 after every measured layer, with up to 40 NaN in the
input; those of PDP were not measured and keep the published condition.
"""


def counter(unit: str, name: str) -> Counter:
    """Return one row.

    Raises:
        InputError: when there is no such counter.
    """
    for row in COUNTERS:
        if (row.unit, row.name) == (unit, name):
            return row
    known = ", ".join(f"{row.unit}.{row.name}" for row in COUNTERS)
    raise InputError(f"counter must be one of {known}, not {unit}.{name}")


def count_nan(bits: npt.NDArray[np.uint16]) -> int:
    """Count NaN in FP16 patterns, before any flush.

    Source: formats document, "NaN"; measured on the public nv_full RTL (a flush does not change it).
    """
    return int(np.count_nonzero(FP16.is_nan(bits)))


def count_infinity(bits: npt.NDArray[np.uint16]) -> int:
    """Count plus and minus infinity in FP16 patterns.

    Source: unit description, "Result statistics".
    """
    return int(np.count_nonzero(FP16.is_infinite(bits)))
