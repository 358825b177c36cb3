"""The thresholds on every measured FP16 layer: all outputs are accepted, and what is beyond is rejected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from nvdla_models.fp16 import FP16
from nvdla_models.tolerance import Module, Tolerance, clip_reference
from nvdla_models.tolerance.cdp import cdp, channel_window_maximum
from nvdla_models.tolerance.conv import Window
from nvdla_models.tolerance.pool import pdp, planar_window_maximum
from tests.measured import Measured, MeasuredLayer
from tests.unit.models.precision import reference
from tests.unit.models.precision.compared import compare

Case = tuple[str, npt.NDArray[np.float64], npt.NDArray[np.uint16], Tolerance]


def convolution_case(layer: MeasuredLayer) -> Case:
    tolerated, output = reference.played(layer).tolerated, layer.arrays["output"]
    assert tolerated is not None
    rule, real = tolerated.tolerance, slice(len(output))
    assert rule.allowance is not None
    return layer.name, tolerated.reference[real], output, replace(rule, allowance=rule.allowance[real])


def average_case(layer: MeasuredLayer) -> Case:
    height, width = layer.meta["kernel"]
    largest = planar_window_maximum(reference.finite(layer.arrays["input"]), height, width, Window())
    return layer.name, reference.average(layer), layer.arrays["output"], pdp(largest)


def cdp_case(layer: MeasuredLayer) -> Case:
    expected, data, size = reference.normalisation(layer)
    return layer.name, expected, layer.arrays["output"], cdp(channel_window_maximum(data, size), expected)


def cdp_layers(measured: Measured) -> list[MeasuredLayer]:
    return [layer for layer in measured("cdp_*") if layer.meta["precision"] == "fp16"]


def all_cases(measured: Measured) -> Iterator[Case]:
    yield from (convolution_case(layer) for layer in [*measured("dc_fp16_*"), *measured("wino_fp16_*")])
    yield from (average_case(layer) for layer in measured("pdp_avg*"))
    yield from (cdp_case(layer) for layer in cdp_layers(measured))


@pytest.mark.parametrize(
    ("module", "worst"), [(Module.DC, 0.51), (Module.WINOGRAD, 0.50), (Module.PDP, 0.32), (Module.CDP, 0.62)]
)
def test_the_measured_rule_accepts_every_output_of_the_hardware(
    measured: Measured, module: Module, worst: float
) -> None:
    compared, largest = 0, 0.0
    for name, expected, actual, tolerance in all_cases(measured):
        if tolerance.module is module:
            verdict = compare(expected, actual, tolerance)
            assert verdict.passed, f"{name}: {verdict}"
            compared += verdict.compared
            largest = max(largest, verdict.worst)
    assert compared == {Module.DC: 8256, Module.WINOGRAD: 4992, Module.PDP: 9408, Module.CDP: 37800}[module]
    assert worst - 0.1 < largest < worst  # neither rejected nor far too wide


def test_every_output_moved_just_beyond_its_allowance_is_rejected_and_just_inside_accepted(
    measured: Measured,
) -> None:
    rejected = accepted = 0
    for name, expected, actual, tolerance in all_cases(measured):
        assert tolerance.allowance is not None
        compared = ~np.isnan(expected)
        for sign in (-1.0, 1.0):
            edge = clip_reference(np.where(compared, expected, 0.0) + sign * tolerance.allowance)
            outside = next_fp16(edge, sign, beyond=True)
            reachable = compared & ~FP16.is_infinite(outside)
            verdict = compare(expected, np.where(reachable, outside, actual).astype(np.uint16), tolerance)
            assert verdict.failed == np.count_nonzero(reachable), f"{name}: {verdict}"
            rejected += verdict.failed
            inside = next_fp16(edge, sign, beyond=False)
            verdict = compare(expected, np.where(compared, inside, actual).astype(np.uint16), tolerance)
            assert verdict.passed, f"{name}: {verdict}"
            accepted += int(np.count_nonzero(compared))
    assert rejected > 100_000
    assert accepted > 100_000


def next_fp16(edge: npt.NDArray[np.float64], sign: float, beyond: bool) -> npt.NDArray[np.uint16]:
    """Return the FP16 number nearest to each edge on its outer or inner side, as float16 rounds it."""
    with np.errstate(over="ignore"):
        near = edge.astype(np.float16)
        toward = np.float16(sign * np.inf if beyond else -sign * np.inf)
        step = np.nextafter(near, toward)
    past = near.astype(np.float64) * sign > edge * sign
    on_edge = near.astype(np.float64) == edge
    keep = past if beyond else ~past | on_edge
    return np.where(keep, near, step).astype(np.float16).view(np.uint16)


def test_one_element_beyond_its_allowance_is_found_and_named(measured: Measured) -> None:
    rng = np.random.default_rng(11)
    for name, expected, actual, tolerance in all_cases(measured):
        assert tolerance.allowance is not None
        sign = np.where(expected > 0, -1.0, 1.0)
        edge = clip_reference(np.nan_to_num(expected) + sign * tolerance.allowance)
        candidates = np.argwhere(~np.isnan(expected) & (np.abs(edge) < FP16.max_value))
        if not len(candidates):
            # Allowances beyond the FP16 range: only the saturated value itself can be judged.
            assert "overflow" in name
            continue
        place = tuple(int(v) for v in candidates[rng.integers(len(candidates))])
        altered = actual.copy()
        altered[place] = next_fp16(edge[place][np.newaxis], float(sign[place]), beyond=True)[0]
        verdict = compare(expected, altered, tolerance)
        assert (verdict.failed, verdict.first_failed_at) == (1, place), name


def test_an_unclipped_reference_would_reject_6_of_16_correct_outputs(measured: Measured) -> None:
    (layer,) = measured("dc_fp16_8x8x32_k16_wide")
    _, expected, actual, tolerance = convolution_case(layer)
    assert tolerance.allowance is not None
    beyond = np.abs(expected - FP16.decode(actual)) > tolerance.allowance  # no clip at all
    assert int(np.count_nonzero(beyond)) == 6
    assert compare(expected, actual, tolerance).passed


def test_either_of_the_two_cdp_conditions_alone_would_still_reject_outputs_larger_than_the_inputs(
    measured: Measured,
) -> None:
    rejecting = set()
    for layer in cdp_layers(measured):
        name, expected, actual, _ = cdp_case(layer)
        _, data, size = reference.normalisation(layer)
        verdict = compare(expected, actual, pdp(channel_window_maximum(data, size)))
        if not verdict.passed:
            rejecting.add(name)
    assert rejecting == {
        "cdp_lrn3_pow",
        "cdp_lrn5_pow",
        "cdp_mulbypass_lrn3",
        "cdp_sqbypass_lrn3",
        "cdp_sqmulbypass",
    }
