"""Both readings of the published thresholds on every measured FP16 layer; what is beyond is rejected."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from models.fp16 import FP16, Infinity
from models.tolerance import Form, Module, Tolerance, bit_identical, clip_reference
from models.tolerance_cdp import cdp, channel_window_maximum
from models.tolerance_conv import Window, direct, window_sum, winograd, winograd_published
from models.tolerance_pool import pdp, planar_window_maximum
from models.winograd_transform import tiles, transform_fp16
from tests.unit.models.precision import reference
from tests.unit.models.precision.compared import compare
from tests.unit.models.precision.conftest import Layer, Measured
from tests.unit.models.precision.test_lut_measured import programmed

Case = tuple[str, npt.NDArray[np.float64], npt.NDArray[np.uint16], Tolerance]


def direct_case(layer: Layer, form: Form = Form.MEASURED) -> Case:
    expected, scale = reference.convolution(layer)
    arrays, window = layer.arrays, reference.window_of(layer)
    return (
        layer.name,
        expected,
        arrays["output"],
        direct(arrays["input"], arrays["weight"], window, expected, scale, form),
    )


def layer_tiles(layer: Layer) -> npt.NDArray[np.uint16]:
    left, _, top, _ = layer.meta["pad_LRTB"]
    return tiles(layer.arrays["input"], left, top, *layer.arrays["output"].shape[1:])


def winograd_case(layer: Layer) -> Case:
    cut, weight = layer_tiles(layer), layer.arrays["weight_wino4x4"]
    expected = reference.winograd(cut, weight)
    return layer.name, expected, layer.arrays["output"], winograd(transform_fp16(cut), weight, expected)


def average_case(layer: Layer, form: Form = Form.MEASURED) -> Case:
    height, width = layer.meta["kernel"]
    largest = planar_window_maximum(Infinity.PDP_AVERAGE.apply(layer.arrays["input"]), height, width, Window())
    return layer.name, reference.average(layer), layer.arrays["output"], pdp(largest, form)


def cdp_case(layer: Layer, form: Form = Form.MEASURED) -> Case:
    expected, data, size = reference.normalisation(layer, programmed(layer, "CDP"))
    tolerance = cdp(channel_window_maximum(data, size), expected, form)
    return layer.name, expected, layer.arrays["output"], tolerance


def direct_layers(measured: Measured) -> list[Layer]:
    layers = measured("dc_fp16_*")
    assert len(layers) == 23
    return layers


def winograd_layers(measured: Measured) -> list[Layer]:
    layers = measured("wino_fp16_*")
    assert len(layers) == 4
    return layers


def average_layers(measured: Measured) -> list[Layer]:
    layers = measured("pdp_avg*")
    assert len(layers) == 3
    return layers


def cdp_layers(measured: Measured) -> list[Layer]:
    layers = [layer for layer in measured("cdp_*") if layer.meta["precision"] == "fp16"]
    assert len(layers) == 15
    return layers


def all_cases(measured: Measured) -> Iterator[Case]:
    yield from (direct_case(layer) for layer in direct_layers(measured))
    yield from (winograd_case(layer) for layer in winograd_layers(measured))
    yield from (average_case(layer) for layer in average_layers(measured))
    yield from (cdp_case(layer) for layer in cdp_layers(measured))


@pytest.mark.parametrize(
    ("module", "worst"), [(Module.DC, 0.50), (Module.WINOGRAD, 0.50), (Module.PDP, 0.32), (Module.CDP, 0.62)]
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


def test_the_published_dc_rule_rejects_16_of_16_correct_outputs_with_a_dominant_exponent_of_16(
    measured: Measured,
) -> None:
    (layer,) = measured("dc_fp16_8x8x32_k16_dir_e16")
    _, expected, actual, tolerance = direct_case(layer, Form.PUBLISHED)
    verdict = compare(expected, actual, tolerance)
    assert (verdict.failed, verdict.compared) == (16, 16)
    assert verdict.worst == pytest.approx(1.36, abs=0.01)
    _, _, _, tolerance = direct_case(layer)
    assert compare(expected, actual, tolerance).worst == pytest.approx(0.342, abs=0.001)


def test_the_published_dc_rule_rejects_correct_outputs_of_cancelling_products(measured: Measured) -> None:
    (layer,) = measured("dc_fp16_4x4x96_k20_cancel")
    _, expected, actual, tolerance = direct_case(layer, Form.PUBLISHED)
    verdict = compare(expected, actual, tolerance)
    assert (verdict.failed, verdict.compared) == (80, 320)


def test_an_unclipped_reference_would_reject_6_of_16_correct_outputs(measured: Measured) -> None:
    (layer,) = measured("dc_fp16_8x8x32_k16_wide")
    _, expected, actual, tolerance = direct_case(layer)
    assert tolerance.allowance is not None
    beyond = np.abs(expected - FP16.decode(actual)) > tolerance.allowance  # no clip at all
    assert int(np.count_nonzero(beyond)) == 6
    assert compare(expected, actual, tolerance).passed


def test_the_published_winograd_rule_rejects_correct_outputs_against_a_plain_convolution(measured: Measured) -> None:
    failed = []
    for layer in winograd_layers(measured):
        arrays = layer.arrays
        window = Window(pad_left=1, pad_right=1, pad_top=1, pad_bottom=1)
        expected = window_sum(FP16.decode(arrays["input"]), FP16.decode(arrays["weight"]), window)
        tolerance = winograd_published(arrays["input"], arrays["weight"], window, expected)
        failed.append(compare(expected, arrays["output"], tolerance).failed)
    assert failed == [809, 456, 394, 345]


def test_the_published_winograd_exponents_accept_a_reference_of_rounded_transforms(measured: Measured) -> None:
    worst = []
    for layer in winograd_layers(measured):
        arrays = layer.arrays
        window = Window(pad_left=1, pad_right=1, pad_top=1, pad_bottom=1)
        expected = reference.winograd(layer_tiles(layer), arrays["weight_wino4x4"])
        tolerance = winograd_published(arrays["input"], arrays["weight"], window, expected)
        worst.append(compare(expected, arrays["output"], tolerance).worst)
    assert max(worst) == pytest.approx(0.706, abs=0.001)


@pytest.mark.parametrize(("name", "accepted"), [("pdp_avg", 0.12), ("pdp_avg_infnan", 0.24), ("pdp_avg_small", 1.0)])
def test_the_published_pdp_rule_accepts_only_a_part_of_correct_averages(
    measured: Measured, name: str, accepted: float
) -> None:
    (layer,) = measured(name)
    _, expected, actual, tolerance = average_case(layer, Form.PUBLISHED)
    verdict = compare(expected, actual, tolerance)
    assert 1 - verdict.failed / verdict.compared == pytest.approx(accepted, abs=0.01)


def test_measured_maximum_pooling_is_bit_identical(measured: Measured) -> None:
    (layer,) = measured("pdp_max")
    values = layer.arrays["input"].view(np.float16)
    expected = np.lib.stride_tricks.sliding_window_view(values, (2, 2), axis=(1, 2)).max(axis=(-2, -1))
    verdict = compare(expected.view(np.uint16), layer.arrays["output"], bit_identical(Module.PDP))
    assert (verdict.passed, verdict.compared) == (True, 3136)


def test_the_published_cdp_rule_rejects_correct_outputs_of_every_layer(measured: Measured) -> None:
    accepted = {}
    for layer in cdp_layers(measured):
        name, expected, actual, tolerance = cdp_case(layer, Form.PUBLISHED)
        verdict = compare(expected, actual, tolerance)
        accepted[name] = 1 - verdict.failed / verdict.compared
    assert max(accepted.values()) < 1.0
    assert min(accepted.values()) == pytest.approx(0.42, abs=0.02)


def test_either_of_the_two_cdp_conditions_alone_would_still_reject_outputs_larger_than_the_inputs(
    measured: Measured,
) -> None:
    rejecting = set()
    for layer in cdp_layers(measured):
        name, expected, actual, _ = cdp_case(layer)
        _, data, size = reference.normalisation(layer, programmed(layer, "CDP"))
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


def test_every_measured_nan_is_where_the_reference_expects_it(measured: Measured) -> None:
    found = 0
    for name, expected, actual, tolerance in all_cases(measured):
        verdict = compare(expected, actual, tolerance)
        assert (verdict.wrong_nan, verdict.infinite) == (0, 0), name
        found += int(np.count_nonzero(np.isnan(expected)))
    assert found > 1000
