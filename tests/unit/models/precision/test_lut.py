"""The two-table lookup: hand vectors, a literal oracle per pipeline, every refusal."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvdla_models import lut_fp16, lut_integer
from nvdla_models.fp16 import FP16, FP17, FP32, narrow, widen
from nvdla_models.lut import HybridLut, LutChoice, LutCounts, LutTable, LutUnit, Place, Slope
from tests.unit.models import oracles_lut
from tests.unit.models.precision import oracle
from tests.unit.models.support import refused

LE = np.arange(65, dtype=np.int16) * 100
LO = np.arange(257, dtype=np.int16) * -10


def table(entries: npt.NDArray[np.int16], start: int, select: int, **more: object) -> LutTable:
    steps = len(entries) - 1
    end = start + ((steps << select) if select >= 0 else max(steps >> -select, 1))
    return LutTable(entries, start, end, select, **more)  # type: ignore[arg-type]


def run(lut: HybridLut, *values: int, unit: LutUnit = LutUnit.SDP) -> list[int]:
    return [int(v) for v in lut_integer.lookup(lut, np.array(values, dtype=np.int64), unit).values]


LINEAR = HybridLut(
    table(LE, 0, 4, underflow=Slope(3, 1), overflow=Slope(-5, -2)),  # 0 to 1024
    table(LO, 512, 3, underflow=Slope(1, 0), overflow=Slope(7, 2)),  # 512 to 2560
)


def test_a_hit_is_interpolated_between_two_entries() -> None:
    assert run(LINEAR, 16, 24, 17, 18) == [100, 150, 106, 113]  # 106.25 and 112.5, half away from zero


def test_the_fraction_of_a_falling_table_rounds_half_away_from_zero_too() -> None:
    only_lo = HybridLut(table(LE, -5000, 0), table(LO, 0, 2))
    # Entry 0 is 0, entry 1 is -10: -2.5 becomes -3.
    assert run(only_lo, 1) == [-3]


def test_an_input_at_the_start_underflows_and_one_at_the_end_overflows_with_the_end_entries() -> None:
    result = lut_integer.lookup(LINEAR, np.array([0, 1, 1023, 1024]), LutUnit.SDP)
    assert result.le_place.tolist() == [Place.UNDERFLOW, Place.HIT, Place.HIT, Place.OVERFLOW]
    alone = HybridLut(LINEAR.le, table(LO, 1 << 20, 0))
    assert run(alone, 0) == [0]
    assert run(HybridLut(LINEAR.le, table(LO, -(1 << 20), 0)), 1024) == [6400]


def test_out_of_range_inputs_follow_the_slopes_of_both_ends() -> None:
    # Below: 0 + (x - 0) * 3 >> 1. Above, LE: 6400 + (x - 1024) * -5 << 2; LO: -2560 + (x - 2560) * 7 >> 2.
    assert run(LINEAR, -4, -1) == [-6, -2]
    upper = HybridLut(LINEAR.le, LINEAR.lo, overflow_priority=LutChoice.LO)
    assert run(LINEAR, 2561) == [6400 - 20 * (2561 - 1024)]
    assert run(upper, 2561, 2562) == [-2560 + 2, -2560 + 4]  # 1.75 and 3.5, rounded


@pytest.mark.parametrize(
    ("x", "le", "lo", "priority"),
    [
        (100, Place.HIT, Place.UNDERFLOW, None),
        (2000, Place.OVERFLOW, Place.HIT, None),
        (600, Place.HIT, Place.HIT, "hybrid_priority"),
        (-7, Place.UNDERFLOW, Place.UNDERFLOW, "underflow_priority"),
        (9999, Place.OVERFLOW, Place.OVERFLOW, "overflow_priority"),
    ],
)
def test_priority_decides_only_where_the_tables_agree(x: int, le: Place, lo: Place, priority: str | None) -> None:
    outputs = {}
    names = ("underflow_priority", "overflow_priority", "hybrid_priority")
    for name in names:
        for choice in LutChoice:
            lut = HybridLut(LINEAR.le, LINEAR.lo, **{name: choice})
            result = lut_integer.lookup(lut, np.array([x]), LutUnit.SDP)
            assert (int(result.le_place[0]), int(result.lo_place[0])) == (le, lo)
            outputs[name, choice] = int(result.values[0])
    for name in names:
        differs = outputs[name, LutChoice.LE] != outputs[name, LutChoice.LO]
        assert differs == (name == priority)


def test_an_input_above_one_table_and_below_the_other_takes_the_hybrid_priority() -> None:
    gap = (table(LE, 0, 0), table(LO, 1000, 0))  # 0 to 64, 1000 to 1256
    assert run(HybridLut(*gap), 500) == [6400]
    assert run(HybridLut(*gap, hybrid_priority=LutChoice.LO), 500) == [0]


def test_exponent_mode_indexes_by_the_leading_bit_and_measures_underflow_from_the_first_entry() -> None:
    exponent = LutTable(LE, 10, 2**31 - 1, exponent=True, index_offset=2, underflow=Slope(1, 0))
    alone = HybridLut(exponent, table(LO, 1 << 25, 0))
    # x - 10 of 4 is entry 0, of 6 halfway to entry 1, of 8 entry 1; of 3 it is one below 10 + 2**2.
    assert run(alone, 14, 16, 18, 13, 10, 0) == [0, 50, 100, -1, -4, -14]


def test_a_negative_select_multiplies_and_has_no_fraction() -> None:
    fine = HybridLut(LutTable(LE, 0, 16, index_select=-2), table(LO, 1 << 20, 0))
    assert run(fine, 1, 15, 16) == [400, 6000, 6400]


def test_sdp_saturates_at_32_bits_and_cdp_at_16() -> None:
    steep = HybridLut(table(LE, 0, 0, overflow=Slope(32767, -16)), table(LO, 0, 0))
    assert run(steep, 2**31 - 1) == [2**31 - 1]
    assert run(steep, 2**37 - 1, unit=LutUnit.CDP) == [32767]
    falling = HybridLut(table(LE, 0, 0, overflow=Slope(-32768, -16)), table(LO, 0, 0))
    # SDP saturates the slope's product before it adds the entry, then the sum.
    assert run(falling, 2**31 - 1) == [-(2**31) + 6400]
    assert run(falling, 2**37 - 1, unit=LutUnit.CDP) == [-32768]
    unshifted = HybridLut(table(LE, 0, 0, overflow=Slope(-32768, 0)), table(LO, 0, 0))
    assert run(unshifted, 2**31 - 1) == [-(2**31) + 6400]


def test_cdp_cuts_the_fraction_to_16_bits_where_sdp_keeps_35() -> None:
    entries = np.zeros(65, dtype=np.int16)
    entries[1] = 32767
    wide = HybridLut(table(entries, 0, 24), table(LO, -(1 << 30), 0))
    # 2**24 / 32767 of a step is one unit; 256 inputs share a CDP fraction.
    x = 257
    assert run(wide, x) == [1]  # 0.502, rounded
    assert run(wide, x, unit=LutUnit.CDP) == [0]  # 1/65536 * 32767 = 0.49998


slopes = st.builds(Slope, st.integers(-(2**15), 2**15 - 1), st.integers(-16, 15))
choices = st.sampled_from(list(LutChoice))


@pytest.mark.slow
@given(st.data(), st.sampled_from(list(LutUnit)), st.booleans())
def test_integer_lookups_agree_with_the_literal_oracle(draw: st.DataObject, unit: LutUnit, exponent: bool) -> None:
    rng = np.random.default_rng(draw.draw(st.integers(0, 2**32)))
    tables = []
    for size in (65, 257):
        bits = 6 if size == 65 else 8
        entries = rng.integers(-32768, 32768, size).astype(np.int16)
        start = draw.draw(st.integers(-(2**20), 2**20))
        mode = exponent and size == 65
        select = draw.draw(st.integers(-bits, 20))
        tables.append(
            LutTable(
                entries,
                start,
                start + (1 << (select + bits)),
                select,
                mode,
                draw.draw(st.integers(-8, 12)) if mode else 0,
                draw.draw(slopes),
                draw.draw(slopes),
            )
        )
    lut = HybridLut(*tables, draw.draw(choices), draw.draw(choices), draw.draw(choices))
    span = st.integers(-(2**22), 2**28) | st.integers(-(2**31), 2**31 - 1)
    near = st.integers(-3, 3).map(lambda d: tables[0].start + d) | st.integers(-3, 3).map(lambda d: tables[1].end + d)
    values = draw.draw(st.lists(span | near, min_size=1, max_size=8))
    assert run(lut, *values, unit=unit) == [oracles_lut.lookup(lut, x, unit) for x in values]


def fp32(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


def fp16(value: float) -> int:
    return int(np.float16(value).view(np.uint16))


def float_lut(exponent: bool = False, **more: object) -> HybridLut:
    le = np.arange(65).astype(np.float16).view(np.uint16)
    lo = (np.arange(257) * -2.0).astype(np.float16).view(np.uint16)
    if exponent:
        first = LutTable(le, fp32(1.0), FP32.infinity_bits - 1, 0, True, -3, Slope(fp16(4.0)), Slope(fp16(0.5)))
    else:
        first = LutTable(le, fp32(-8.0), fp32(8.0), -2, underflow=Slope(fp16(4.0)), overflow=Slope(fp16(0.5)))
    second = LutTable(lo, fp32(100.0), fp32(356.0), 0, underflow=Slope(fp16(1.0)), overflow=Slope(fp16(-1.0)))
    return HybridLut(first, second, **more)  # type: ignore[arg-type]


def run_fp16(lut: HybridLut, *values: float, unit: LutUnit = LutUnit.SDP) -> list[float]:
    bits = np.array(values, dtype=np.float32).view(np.uint32)
    return [float(v) for v in FP17.decode(lut_fp16.lookup(lut, bits, unit).values)]


@pytest.mark.parametrize("unit", list(LutUnit))
def test_fp16_linear_table_hits_underflows_and_overflows(unit: LutUnit) -> None:
    lut = float_lut()
    assert run_fp16(lut, -7.75, 0.125, -8.0, -9.0, unit=unit) == [1.0, 32.5, 0.0, -4.0]
    assert run_fp16(lut, 101.5, 356.0, 357.0, unit=unit) == [-3.0, 64 + 0.5 * 348, 64 + 0.5 * 349]


def test_fp16_exponent_table_measures_underflow_from_its_first_entry() -> None:
    lut = float_lut(exponent=True)
    # x - 1 of 2**-3 is entry 0, of 3 * 2**-3 halfway between entries 1 and 2; 1.0625 is 2**-4 below the first entry.
    assert run_fp16(lut, 1.125, 1.375, 1.0625, 1.0) == [0.0, 1.5, -0.25, -0.5]


def test_a_nan_input_underflows_and_comes_out_with_its_payload() -> None:
    nan = widen(np.array([0xFD55], dtype=np.uint16), FP32)
    result = lut_fp16.lookup(float_lut(), nan, LutUnit.SDP)
    assert result.values.tolist() == widen(np.array([0xFD55], dtype=np.uint16), FP17).tolist()
    assert (int(result.le_place[0]), int(result.lo_place[0])) == (Place.UNDERFLOW, Place.UNDERFLOW)


def test_cdp_turns_the_sign_of_a_nan_in_the_earlier_of_two_entries() -> None:
    # Measured on the public nv_full RTL: 0x7fff before 0x6d84 gave 0xffff, 0xffff before 0xdedd gave 0x7fff.
    entries = np.zeros(65, dtype=np.uint16)
    entries[:6] = 0x7FFF, 0x6D84, 0xFFFF, 0xDEDD, 0x2668, 0x7FFF
    le = LutTable(entries, fp32(0.0), fp32(64.0))
    lo = LutTable(np.zeros(257, dtype=np.uint16), fp32(0.0), fp32(256.0))
    lut = HybridLut(le, lo, LutChoice.LE, LutChoice.LE, LutChoice.LE)
    inputs = np.array([fp32(0.5), fp32(2.5), fp32(4.5)], dtype=np.uint32)
    values = lut_fp16.lookup(lut, inputs, LutUnit.CDP).values
    assert narrow(values, FP17, FP16).tolist() == [0xFFFF, 0x7FFF, 0x7FFF]


def literal_fp16_sdp_hit(low: int, high: int, fraction: Fraction) -> int:
    """Weigh two FP17 entries, rounding to FP17 after every step."""
    first = oracle.multiply(oracle.encode(1 - fraction, FP17), low, FP17)
    return oracle.add(first, oracle.multiply(oracle.encode(fraction, FP17), high, FP17), FP17)


def literal_fp16_cdp_hit(low: int, high: int, fraction: Fraction) -> int:
    """Add a part of the difference of two FP17 entries, rounding to FP17 after every step."""
    difference = oracle.decode(high, FP17) - oracle.decode(low, FP17)
    exact = oracle.decode(oracle.encode(difference, FP32), FP32)
    step = oracle.encode(exact, FP17, gradual=True)
    if difference == 0:
        step = high // FP17.sign_bit * FP17.sign_bit
    return oracle.add(low, oracle.multiply(step, oracle.encode(fraction, FP17), FP17), FP17)


@pytest.mark.slow
@pytest.mark.parametrize("unit", list(LutUnit))
@given(seed=st.integers(0, 2**32), place=st.floats(0.0, 63.9921875, width=32))
def test_fp16_hits_agree_with_the_literal_oracle(unit: LutUnit, seed: int, place: float) -> None:
    rng = np.random.default_rng(seed)
    entries = rng.integers(0, 0x7C00, 65).astype(np.uint16) | (rng.integers(0, 2, 65) << 15).astype(np.uint16)
    lut = HybridLut(
        LutTable(entries, fp32(0.0), fp32(64.0), 0),
        LutTable(np.zeros(257, np.uint16), fp32(1000.0), fp32(1256.0), 0),
    )
    result = int(lut_fp16.lookup(lut, np.array([fp32(place)], dtype=np.uint32), unit).values[0])
    exact = oracle.decode(fp32(place), FP32)
    index = exact.numerator // exact.denominator
    if exact == 0:
        assert FP17.decode(np.array([result], dtype=np.uint32))[0] == FP16.decode(entries[:1])[0]
        return
    fraction = Fraction(int((exact - index) * 2**unit.fraction_bits), 2**unit.fraction_bits)
    low, high = (int(v) for v in widen(entries[index : index + 2], FP17))
    literal = literal_fp16_sdp_hit if unit is LutUnit.SDP else literal_fp16_cdp_hit
    assert result == literal(low, high, fraction)


def test_published_counts_put_each_input_in_one_class_and_measured_counts_overlap() -> None:
    le = np.array([1, 1, 0, 0, 2, 2, 1], dtype=np.int64)
    lo = np.array([0, 1, 1, 0, 2, 0, 2], dtype=np.int64)
    assert LutCounts.published(le, lo) == LutCounts(le_hit=2, lo_hit=1, underflow=1, overflow=1, hybrid=2)
    assert LutCounts.measured(LINEAR, le, lo) == LutCounts(le_hit=3, lo_hit=2, underflow=1, overflow=2, hybrid=4)
    by_lo = replace(LINEAR, hybrid_priority=LutChoice.LO)
    assert LutCounts.measured(by_lo, le, lo) == LutCounts(le_hit=3, lo_hit=2, underflow=2, overflow=1, hybrid=4)


def refusals() -> list[tuple[str, object]]:
    zeros = np.zeros
    good_le, good_lo = LutTable(zeros(65, np.int16), 0, 64), LutTable(zeros(257, np.int16), 0, 256)
    fp_le, fp_lo = LutTable(zeros(65, np.uint16), 0, 64), LutTable(zeros(257, np.uint16), 0, 256)
    one = np.array([0])
    return [
        ("scale must be an integer from -32768 to 65535, not 65536", lambda: Slope(65536)),
        ("shift must be an integer from -16 to 15, not 16", lambda: Slope(0, 16)),
        ("entries must have the shape (65,) or (257,), not (64,)", lambda: LutTable(zeros(64, np.int16), 0, 64)),
        ("entries must be int16 or uint16 FP16 patterns, not float16", lambda: LutTable(zeros(65, np.float16), 0, 64)),
        (
            "exponent must be False for the table of 257 entries: only LE has the exponent mode",
            lambda: LutTable(zeros(257, np.int16), 0, 64, exponent=True),
        ),
        (
            "index_select must be an integer from -128 to 127, not 128",
            lambda: LutTable(zeros(65, np.int16), 0, 64, index_select=128),
        ),
        (
            "index_offset must be an integer from -128 to 127, not -129",
            lambda: LutTable(zeros(65, np.int16), 0, 64, index_offset=-129),
        ),
        ("le must have 65 entries, not 257", lambda: HybridLut(good_lo, good_lo)),
        ("lo must have 257 entries, not 65", lambda: HybridLut(good_le, good_le)),
        ("le and lo must have the same entry type, not int16 and uint16", lambda: HybridLut(good_le, fp_lo)),
        (
            "entries must be int16 for the integer pipeline, not uint16",
            lambda: lut_integer.lookup(HybridLut(fp_le, fp_lo), one, LutUnit.SDP),
        ),
        (
            "entries must be uint16 FP16 patterns for the FP16 pipeline, not int16",
            lambda: lut_fp16.lookup(HybridLut(good_le, good_lo), one.astype(np.uint32), LutUnit.SDP),
        ),
        (
            "x must be from -2147483648 to 2147483647, not 2147483648",
            lambda: lut_integer.lookup(HybridLut(good_le, good_lo), np.array([2**31]), LutUnit.SDP),
        ),
        (
            "le end must be from -2147483648 to 2147483647, not 2147483648",
            lambda: lut_integer.lookup(HybridLut(LutTable(good_le.entries, 0, 2**31), good_lo), one, LutUnit.SDP),
        ),
        (
            "lo start must be a 32-bit FP32 pattern, not -1",
            lambda: lut_fp16.lookup(
                HybridLut(fp_le, LutTable(fp_lo.entries, -1, 0)), one.astype(np.uint32), LutUnit.SDP
            ),
        ),
    ]


@pytest.mark.parametrize(("message", "build"), refusals())
def test_a_wrong_table_or_input_is_refused_with_its_rule(message: str, build: object) -> None:
    with refused(message):
        build()  # type: ignore[operator]
