"""Surfaces of FP16 and of INT16 made of it: inside the allowance passes, beyond fails, exactly when asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from nvdla_models.errors import InputError
from nvdla_models.fp16 import FP16
from nvdla_models.layout import Element, FeatureLayout
from nvdla_models.precision import Precision
from nvdla_models.tolerance import Module, Tolerance, bit_identical
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.detail import Mismatch
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.predictor import Expectation
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.judge.tolerated import Tolerated
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.stimulus.generate.plan import PlanEntry
from nvdla_tb.stimulus.model import play_model
from tests.unit.nvdla.samples import BASE, FULL, expected, mismatch

LAYOUT = FeatureLayout(FULL, Precision.FP16, (3, 2, 2), 96, 256)  # a line of 64 bytes, 32 bytes of gap
PADDED = (16, 2, 2)
REFERENCE = np.arange(64, dtype=np.float64).reshape(PADDED) - 20.0
RULE = Tolerance(Module.DC, "a rule", np.full(PADDED, 0.25))
WHOLE_LAYOUT = FeatureLayout(FULL, Precision.FP16, PADDED, 96, 256)


def patterns(values: NDArray[np.float64]) -> NDArray[np.uint16]:
    return values.astype(np.float16).view(np.uint16)


def packed(bits: NDArray[np.uint16]) -> NDArray[np.uint8]:
    return WHOLE_LAYOUT.pack(bits.view(np.float16))


def tolerant(
    tolerance: Tolerance = RULE, reference: NDArray[np.float64] | NDArray[np.uint16] = REFERENCE
) -> Expectation:
    plain = expected(layout=LAYOUT, data=packed(patterns(REFERENCE)))
    return replace(plain, tolerated=Tolerated(reference, tolerance))


def written(values: NDArray[np.float64], expectation: Expectation, *, exact: bool = False) -> Verdict:
    board = Scoreboard(exact)
    board.expect(expectation)
    write(board, packed(patterns(values)))
    return board.finish()


def write(board: Scoreboard, data: NDArray[np.uint8], byte_lanes: int = 0xFFFFFFFF) -> None:
    for line in (0, 96):
        for atom in (0, 32):
            at = line + atom
            board.write_beats(Beats.of(Ram.MC, BASE + at, data[at : at + 32].tobytes(), byte_lanes, at, 1))


def moved(by: float, place: tuple[int, int, int] = (1, 0, 1)) -> NDArray[np.float64]:
    values = REFERENCE.copy()
    values[place] += by
    return values


@pytest.mark.parametrize("by", [0.0, 0.25, -0.25])
def test_an_error_inside_the_allowance_passes_and_its_part_is_reported(by: float) -> None:
    verdict = written(moved(by), tolerant())
    assert verdict.ending is Ending.PASSED
    assert verdict.judged_bytes == 128
    (margin,) = verdict.margins
    assert (margin.elements, margin.worst, margin.module) == (64, abs(by) / 0.25, "CC DC")
    assert verdict.worst_margin == margin.worst
    if by:
        assert margin.at == Element(1, 0, 1)


@pytest.mark.parametrize("place", [(1, 0, 1), (12, 1, 0)])
def test_an_error_beyond_the_allowance_fails_padding_channels_included(place: tuple[int, int, int]) -> None:
    verdict = written(moved(0.28125, place), tolerant())
    assert verdict.ending is Ending.MISMATCH
    (finding,) = verdict.findings
    assert (finding.check, mismatch(finding).elements, mismatch(finding).element) == (Check.VALUE, 1, Element(*place))
    assert verdict.worst_margin == 1.125


def test_a_failure_tells_values_allowance_and_rule() -> None:
    (finding,) = written(moved(-3.0), tolerant()).findings
    right, wrong = patterns(np.array([-15.0, -18.0])).tolist()
    # The two numbers differ in their upper byte alone, but an element is wrong as a whole.
    assert right & 0xFF == wrong & 0xFF == 0x80
    rule = "-18 instead of -15 within 0.25, a rule"
    detail = Mismatch(2, 1, Ram.MC, BASE + 34, Element(1, 0, 1), expected=0x80, got=0x80, axi_id=1, rule=rule)
    assert finding == Finding(Check.VALUE, detail, 32, LayerId(0, "SDP", 0))


INTEGERS = FeatureLayout(FULL, Precision.INT16, (3, 2, 2), 96, 256)
ALL_INTEGERS = FeatureLayout(FULL, Precision.INT16, PADDED, 96, 256)


@pytest.mark.parametrize(
    ("by", "exact", "passes"), [(0, True, True), (2, False, True), (-3, False, False), (1, True, False)]
)
def test_int16_that_is_made_of_fp16_has_an_allowance_of_integers(by: int, exact: bool, passes: bool) -> None:
    numbers = REFERENCE.astype(np.int16)
    plain = expected(layout=INTEGERS, data=ALL_INTEGERS.pack(numbers))
    rule = replace(RULE, allowance=np.full(PADDED, 2.0))
    board = Scoreboard(exact)
    board.expect(replace(plain, tolerated=Tolerated(REFERENCE, rule)))
    numbers[1, 0, 1] += by
    write(board, ALL_INTEGERS.pack(numbers))
    verdict = board.finish()
    assert (verdict.ending is Ending.PASSED) == passes
    if not exact:
        assert verdict.worst_margin == abs(by) / 2.0
    if not passes and not exact:
        assert mismatch(verdict.findings[0]).rule == "-18 instead of -15 within 2, a rule"


def test_a_convolution_of_fp16_with_results_in_int16_is_allowed_any_order_of_its_sums() -> None:
    layer = {
        **{"engine": "CONV", "precision": "fp16", "output_precision": "int16", "shape": [128, 4, 4], "kernels": 64},
        **{"kernel": [3, 3], "numbers": "wide", "weight_numbers": "wide"},
        "x1": {"mul": True, "mul_operand": "element", "numbers": "wide"},
    }
    apart = 0
    for seed in range(6):
        scenario = PlanEntry("summed", "", "nv_full", {"layer": [layer]}).build(FULL, seed)
        (found,) = play_model(scenario, FULL).expectations
        assert isinstance(found, Expectation)
        assert found.tolerated is not None
        reference, allowance = found.tolerated.reference, found.tolerated.tolerance.allowance
        assert allowance is not None
        assert (reference == np.round(reference)).all()
        assert (allowance >= 1.0).all()
        assert np.median(allowance) <= 16.0
        exact = found.layout.unpack(found.data)
        assert (np.abs(exact - reference) <= allowance).all()
        apart += np.count_nonzero(exact != reference)
    assert apart, "the model adds in another order than the reference"


def test_a_nan_that_sdp_makes_zero_must_be_zero() -> None:
    layer = {
        **{"engine": "CONV", "precision": "fp16", "shape": [36, 2, 2], "kernels": 16, "kernel": [1, 1]},
        **{"numbers": "special", "weight_numbers": "special", "nan_to_zero": True},
    }
    scenario = PlanEntry("flushed", "", "nv_full", {"layer": [layer]}).build(FULL, 1)
    (found,) = play_model(scenario, FULL).expectations
    assert isinstance(found, Expectation)
    assert found.tolerated is not None
    assert not np.isnan(found.layout.unpack(found.data)).any()
    assert not np.isnan(found.tolerated.reference).any()


def test_exact_compares_with_the_bit_accurate_bytes() -> None:
    verdict = written(moved(0.015625), tolerant(), exact=True)
    assert [(finding.check, mismatch(finding).elements) for finding in verdict.findings] == [(Check.VALUE, 1)]
    assert verdict.margins == []
    assert written(REFERENCE, tolerant(), exact=True).ending is Ending.PASSED


def test_an_element_is_judged_once_both_bytes_are_there() -> None:
    board = Scoreboard()
    board.expect(tolerant())
    data = packed(patterns(moved(7.0)))
    write(board, data, byte_lanes=0x55555555)
    board.judge_pending()
    assert board.verdict.findings == []
    write(board, data, byte_lanes=0xAAAAAAAA)
    verdict = board.finish()
    assert [(finding.check, mismatch(finding).elements) for finding in verdict.findings] == [(Check.VALUE, 1)]
    assert verdict.margins[0].elements == 64


def test_half_an_element_is_a_missing_write() -> None:
    board = Scoreboard()
    board.expect(tolerant())
    write(board, packed(patterns(REFERENCE)), byte_lanes=0xFFFFFFFB)
    verdict = board.finish()
    assert [(f.check, mismatch(f).nbytes, mismatch(f).elements) for f in verdict.findings] == [(Check.MISSING, 4, 4)]
    assert verdict.margins[0].elements == 60


@pytest.mark.parametrize(("by", "ending"), [(0.0, Ending.PASSED), (0.0625, Ending.MISMATCH)])
def test_a_repeated_element_must_repeat_what_was_written_first(by: float, ending: Ending) -> None:
    board = Scoreboard()
    board.expect(tolerant())
    write(board, packed(patterns(moved(0.125))))
    board.judge_pending()
    write(board, packed(patterns(moved(0.125 + by))))
    verdict = board.finish()
    assert verdict.ending is ending
    assert [finding.check for finding in verdict.findings] == ([] if by == 0 else [Check.DOUBLE])


def test_a_write_into_a_stride_gap_is_stray_with_a_tolerance_too() -> None:
    board = Scoreboard()
    board.expect(tolerant())
    write(board, packed(patterns(REFERENCE)))
    board.write_beats(Beats.of(Ram.MC, BASE + 64, bytes(32), 1, 0, 1))
    assert [(f.check, mismatch(f).nbytes) for f in board.finish().findings] == [(Check.STRAY, 1)]


def test_patterns_without_allowance_must_agree_but_for_the_payload_of_a_nan() -> None:
    reference = patterns(REFERENCE)
    reference[2, 1, 1] = 0x7E01
    rule = tolerant(bit_identical(Module.SDP), reference)
    values = FP16.decode(reference)
    verdict = written(values, rule)
    assert (verdict.ending, verdict.worst_margin) == (Ending.PASSED, 0.0)
    values[0, 0, 0] = np.nan
    values[2, 1, 1] = 5.0
    verdict = written(values, rule)
    first = mismatch(verdict.findings[0])
    assert first.elements == 2
    assert first.rule == "nan instead of -20, bit-by-bit identical"


def test_bytes_stay_tolerated_when_their_expectation_is_too_old_to_be_explained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nvdla_tb.judge.scoreboard.HISTORY_BYTES", 300)
    board = Scoreboard()
    board.expect(tolerant())
    tolerated = board.tolerated_bytes(Ram.MC, BASE, 96)
    assert np.flatnonzero(~tolerated).tolist() == list(range(64, 96))
    later = [expected(layout=LAYOUT, address=BASE + 0x1000 * number) for number in (1, 2, 3)]
    for expectation in later:
        board.expect(expectation)
    # The first two of four are dropped: more than 300 bytes came after each.
    assert [expectation for expectation, _ in board.expected] == later[1:]
    assert board.tolerated_bytes(Ram.MC, BASE, 96).tolist() == tolerated.tolist()
    assert not board.tolerated_bytes(Ram.MC, BASE + 0x1000, 96).any()


def test_a_layer_that_writes_nothing_has_no_margin() -> None:
    board = Scoreboard()
    board.expect(tolerant())
    verdict = board.finish()
    assert verdict.margins == []
    assert verdict.findings[0].check is Check.MISSING


def test_a_reference_of_another_shape_is_refused() -> None:
    message = r"^reference must have the shape \(16, 2, 2\) with padding channels, not \(3, 2, 2\)$"
    with pytest.raises(InputError, match=message):
        tolerant(reference=REFERENCE[:3])
    with pytest.raises(
        InputError, match=r"^allowance must have the shape \(16, 2, 2\) with padding channels, not \(1,\)$"
    ):
        tolerant(replace(RULE, allowance=np.ones(1)))


def test_a_tolerance_of_integers_is_refused() -> None:
    with pytest.raises(InputError, match=r"^tolerated must be None for INT8, which is compared exactly$"):
        replace(expected(), tolerated=Tolerated(REFERENCE, RULE))
