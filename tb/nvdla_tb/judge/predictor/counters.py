"""Values that the statistics counters of a layer must read, as far as they do not depend on timing.

Source: precision document, "Converter statistics"; LUT programming, "LUT Statistics"; measured on the public
    nv_full RTL.
"""

from __future__ import annotations

from collections.abc import Mapping

from nvdla_models.lut import LutCounts
from nvdla_models.precision import Precision
from nvdla_models.sdp import SdpResult
from nvdla_tb.judge.counters import Count, Counts
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import SdpLayer

_LUT = {"UFLOW": "underflow", "OFLOW": "overflow", "HYBRID": "hybrid", "LE_HIT": "le_hit", "LO_HIT": "lo_hit"}

_ONCE = ("CDMA.D_NAN_INPUT_WEIGHT_NUM", "CDMA.D_INF_INPUT_WEIGHT_NUM")
"""Counters that a batch counts once, because its weights are fetched once; measured on the public nv_full RTL."""


def counted(started: StartedLayer, processed: SdpResult, before: Mapping[str, int]) -> Counts:
    """Return the values that the enabled counters of SDP and the units before it must read.

    Args:
        started: A layer that SDP ends, or hands on to PDP.
        processed: Result of SDP, with its counts.
        before: Counts of the convolution core.
    """
    found, counting = processed.counts, started.counting
    counts = {name: Count(value) for name, value in before.items() if not (started.cube and name in _ONCE)}
    if "SDP.perf_sat_en" in counting:
        full = Precision.INT16 in started.layer.dst.layout.config.feature_data_types
        counts["SDP.D_PERF_OUT_SATURATION"] = Count(found.saturation_full if full else found.saturation)
    if "SDP.perf_nan_inf_count_en" in counting:
        counts["SDP.D_STATUS_NAN_INPUT_NUM"] = counts["SDP.D_STATUS_INF_INPUT_NUM"] = Count(0)
        counts["SDP.D_STATUS_NAN_OUTPUT_NUM"] = Count(found.nan_output)
    if "SDP_RDMA.perf_nan_inf_count_en" in counting and isinstance(started.layer, SdpLayer):
        counts["SDP_RDMA.D_STATUS_NAN_INPUT_NUM"] = Count(found.nan_input)
        counts["SDP_RDMA.D_STATUS_INF_INPUT_NUM"] = Count(found.infinity_input)
    if "SDP.perf_lut_en" in counting and found.lut is not None:
        counts |= lookups("SDP", found.lut, at_least=True)
    if found.unequal or (isinstance(started.layer, SdpLayer) and started.layer.params.compares):
        counts["SDP.D_STATUS"] = Count(int(found.unequal))
    return counts


def lookups(unit: str, counts: LutCounts, *, at_least: bool) -> dict[str, Count]:
    """Return what the five statistics of a unit's lookup tables must read.

    Args:
        unit: SDP or CDP.
        counts: What the layer's inputs count.
        at_least: Whether the unit also counts slots of its pipeline without an input.
    """
    return {f"{unit}.D_PERF_LUT_{name}": Count(getattr(counts, field), at_least) for name, field in _LUT.items()}
