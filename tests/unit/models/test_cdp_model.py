"""The integer CDP model against a literal oracle, measured layers, hand-computed boundaries, and its refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nvdla_models import cdp
from nvdla_models.cdp import LOCAL_SIZES, CdpParams, compute, run
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.lut import (
    INDEX_OFFSET_RANGE,
    INDEX_SELECT_RANGE,
    HybridLut,
    LutChoice,
    LutCounts,
    LutTable,
    LutUnit,
    Slope,
)
from nvdla_models.precision import Precision
from tests.unit.models import oracles_cdp, oracles_lut
from tests.unit.models.support import refused

# Bits of offset of the input converter, of a start, and of the output converter.
BITS = {Precision.INT8: (8, 22, 25), Precision.INT16: (16, 38, 32)}
RAMP_LE = np.arange(65, dtype=np.int16)
RAMP_LO = np.arange(257, dtype=np.int16)


def enter(offset: int = 0, scale: int = 1, shift: int = 0) -> Converter:
    return Converter(offset, scale, shift, ConverterEncoding.CDP_INPUT)


def leave(offset: int = 0, scale: int = 1, shift: int = 0) -> Converter:
    return Converter(offset, scale, shift, ConverterEncoding.CDP_OUTPUT)


def ramps(start: int = 0, **changes: Any) -> HybridLut:
    """Return two tables that give x - start for 0 to 64 and, where both hit, -(x - start) for 0 to 256."""
    le = LutTable(RAMP_LE, start, start + 64)
    lo = LutTable(-RAMP_LO, start, start + 256)
    return HybridLut(**({"le": le, "lo": lo} | changes))


def params(**changes: Any) -> CdpParams:
    """Return an INT8 layer that looks every element up in ``ramps`` and writes what it finds, but for ``changes``."""
    values: dict[str, Any] = {
        "local_size": None,
        "multiply": False,
        "input_converter": enter(),
        "output_converter": leave(),
        "lut": ramps(),
        "precision": Precision.INT8,
    }
    return CdpParams(**(values | changes))


def column(*channels: int, dtype: type[np.integer[Any]] = np.int8) -> np.ndarray[Any, Any]:
    """Return a cube of one position."""
    return np.array(channels, dtype=dtype).reshape(-1, 1, 1)


def one(layer: CdpParams, *channels: int, real: int | None = None) -> list[int]:
    """Run one position."""
    cube = column(*channels, dtype=layer.precision.dtype.type)
    return [int(x) for x in run(layer, cube, len(channels) if real is None else real).ravel()]


class Dice:
    """Random layers that lie where something happens: ends of ranges, ends of tables, common sense."""

    def __init__(self, seed: int, precision: Precision) -> None:
        self.rng = np.random.default_rng(seed)
        self.precision = precision

    def between(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def signed(self, bits: int) -> int:
        """Draw a signed number of any magnitude."""
        low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        kind = self.between(0, 5)
        if kind == 0:
            return low if self.between(0, 1) else high
        if kind == 1:
            return self.between(low, high)
        return max(low, min(high, self.between(-(1 << self.between(0, bits)), 1 << self.between(0, bits))))

    def slope(self) -> Slope:
        return Slope(self.signed(16), self.between(-16, 15))

    def entries(self, count: int) -> np.ndarray[Any, np.dtype[np.int16]]:
        if self.between(0, 2) == 0:
            return self.rng.choice(np.array([-32768, 32767, 0, 1, -1], dtype=np.int16), count)
        reach = 1 << self.between(1, 15)
        return self.rng.integers(-reach, reach, count).astype(np.int16)

    def table(self, count: int, near: int) -> LutTable:
        exponent = count == 65 and self.between(0, 1) == 1
        low, high = INDEX_SELECT_RANGE[LutUnit.CDP, self.precision, count]
        select = 0 if exponent else self.between(low, high)
        offset = self.between(*INDEX_OFFSET_RANGE[LutUnit.CDP, self.precision]) if exponent else 0
        if exponent and self.between(0, 1):
            offset = self.between(-4, 8)
        start = self.signed(BITS[self.precision][1])
        if self.between(0, 3):
            # Below the numbers that are looked up, by up to twice the table.
            span = min(self.between(0, 2 * ((count - 1) << max(select, 0))), 1 << (BITS[self.precision][1] - 2))
            start = near - span
        end = self.signed(38)
        return LutTable(self.entries(count), start, end, select, exponent, offset, self.slope(), self.slope())

    def layer(self) -> tuple[CdpParams, np.ndarray[Any, Any], int]:
        """Draw a layer, a column with padding channels, and the number of real ones."""
        info = np.iinfo(self.precision.dtype)
        channels = self.between(1, 20)
        reach = 1 << self.between(1, self.precision.bits)
        cube = np.clip(self.rng.integers(-reach, reach, (channels, 1, 2)), info.min, info.max)
        cube = cube.astype(self.precision.dtype)
        real = self.between(max(1, channels - 7), channels)
        bits = BITS[self.precision]
        input_converter = enter()
        if self.between(0, 1):
            input_converter = enter(self.signed(bits[0]), self.signed(16), self.between(0, 31))
        output_converter = leave(shift=self.between(0, 24))
        if self.between(0, 1):
            output_converter = leave(self.signed(bits[2]), self.signed(16), self.between(0, 63))
        local_size = [None, *LOCAL_SIZES][self.between(0, 4)]
        first = params(
            local_size=local_size,
            multiply=bool(self.between(0, 1)),
            input_converter=input_converter,
            output_converter=output_converter,
            precision=self.precision,
        )
        data = oracles_cdp.entered(first, cube[:, 0, 0].tolist(), real)
        near = oracles_cdp.looked_up(first, data, self.between(0, channels - 1))
        tables = self.table(65, near), self.table(257, near)
        choices = [LutChoice(self.between(0, 1)) for _ in range(3)]
        return replace(first, lut=HybridLut(*tables, *choices)), cube, real


@pytest.mark.parametrize("precision", [Precision.INT8, Precision.INT16])
@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 7))])
def test_every_element_of_random_layers_agrees_with_the_oracle(seed: int, precision: Precision) -> None:
    dice = Dice(seed, precision)
    for _ in range(150):
        layer, cube, real = dice.layer()
        columns = [cube[:, 0, x].tolist() for x in range(cube.shape[2])]
        expected = np.array([oracles_cdp.position(layer, values, real) for values in columns])
        np.testing.assert_array_equal(run(layer, cube, real), expected.T[:, np.newaxis].astype(cube.dtype), strict=True)


@pytest.mark.parametrize("precision", [Precision.INT8, Precision.INT16])
def test_every_lookup_of_random_layers_is_counted_as_the_oracle_does(precision: Precision) -> None:
    dice, total = Dice(31, precision), LutCounts(0, 0, 0, 0, 0)
    for _ in range(200):
        layer, cube, real = dice.layer()
        columns = [cube[:, 0, x].tolist() for x in range(cube.shape[2])]
        expected = LutCounts(0, 0, 0, 0, 0)
        for values in columns:
            expected += LutCounts(**oracles_cdp.classes(layer, values, real))
        assert compute(layer, cube, real).lut == expected
        total += expected
    assert min(total.le_hit, total.lo_hit, total.underflow, total.overflow, total.hybrid) > 100


def test_each_lookup_counts_once_and_those_of_padding_count_too() -> None:
    lo = LutTable(-RAMP_LO, 20, 52, index_select=-3)
    around = params(lut=ramps(le=LutTable(RAMP_LE, 0, 64), lo=lo))
    below, only_le, both, only_le_again, above, padding_below = -1, 5, 30, 60, 90, 7
    cube = column(below, only_le, both, only_le_again, above, padding_below)
    assert compute(around, cube, 5).lut == LutCounts(le_hit=2, lo_hit=0, underflow=2, overflow=1, hybrid=1)
    beside = params(lut=ramps(le=LutTable(RAMP_LE, -100, -36), lo=lo))
    only_le, between, only_lo = -50, -10, 40
    cube = column(only_le, between, only_lo)
    assert compute(beside, cube, 3).lut == LutCounts(le_hit=1, lo_hit=1, underflow=0, overflow=0, hybrid=1)


def test_counts_of_the_parts_that_a_cube_is_computed_in_are_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    cube = np.arange(-48, 48, dtype=np.int8).reshape(4, 4, 6)
    whole = compute(params(), cube, 4)
    monkeypatch.setattr(cdp, "channel_blocks", lambda shape: [slice(n, n + 1) for n in range(shape[0])])
    parts = compute(params(), cube, 4)
    np.testing.assert_array_equal(parts.output, whole.output, strict=True)
    assert parts.lut == whole.lut == LutCounts(0, 0, 49, 0, 47)


def test_random_layers_reach_every_place_of_both_tables() -> None:
    seen = set()
    dice = Dice(0, Precision.INT8)
    for _ in range(300):
        layer, cube, real = dice.layer()
        data = oracles_cdp.entered(layer, cube[:, 0, 0].tolist(), real)
        for channel in range(len(data)):
            x = oracles_cdp.looked_up(layer, data, channel)
            seen.add(tuple(oracles_lut.place(table, x)[0] for table in (layer.lut.le, layer.lut.lo)))
    assert len(seen) == 9


def test_a_cube_of_several_blocks_agrees_with_its_positions_alone() -> None:
    rng = np.random.default_rng(5)
    cube = rng.integers(-128, 128, (40, 31, 33), dtype=np.int8)
    layer = params(local_size=5, multiply=True, lut=ramps(start=20000), output_converter=leave(shift=9))
    whole = run(layer, cube, 37)
    for y in range(0, 31, 6):
        for x in range(33):
            alone = run(layer, cube[:, y : y + 1, x : x + 1], 37)
            np.testing.assert_array_equal(whole[:, y : y + 1, x : x + 1], alone, strict=True)


def test_a_table_without_sums_and_multiplication_passes_a_signed_element() -> None:
    le = LutTable(RAMP_LE, -32, 32)
    layer = params(lut=HybridLut(le, LutTable(RAMP_LO, 1000, 1256)), output_converter=leave(offset=32))
    assert one(layer, -31, -1, 0, 5, 31) == [-31, -1, 0, 5, 31]


@pytest.mark.parametrize(
    ("size", "sums"),
    [(3, [5, 14, 29, 50, 41]), (5, [14, 30, 55, 54, 50]), (7, [30, 55, 55, 55, 54]), (9, [55, 55, 55, 55, 55])],
)
def test_squares_of_the_neighbours_are_summed_up_to_the_cubes_ends(size: int, sums: list[int]) -> None:
    assert one(params(local_size=size), 1, 2, 3, 4, 5) == sums


def test_padding_channels_are_zero_behind_the_input_converter_whatever_lies_in_memory() -> None:
    # 5 becomes 6; the padding would become 101 but is 0: the sums are 36, 36 and 0.
    layer = params(local_size=3, input_converter=enter(offset=-1))
    assert one(layer, 5, 100, 100, real=1) == [36, 36, 0]
    product = replace(layer, multiply=True, output_converter=leave(offset=-7))
    assert one(product, 1, 100, 100, real=1) == [2 * 4 + 7, 7, 7]


def test_the_element_that_is_multiplied_has_passed_the_input_converter() -> None:
    # (3 - 1) * 2 = 4; its square 16 is looked up; 16 * 4 = 64.
    layer = params(local_size=3, multiply=True, input_converter=enter(1, 2))
    assert one(layer, 3) == [64]


def test_the_input_converter_saturates_to_nine_bits() -> None:
    # 127 * 3 becomes 255 and -128 * 3 becomes -256, whose squares are 65025 and 65536.
    tripled = params(local_size=3, input_converter=enter(scale=3), lut=ramps(start=65024))
    assert one(tripled, 127) == [1]
    coarse = LutTable(RAMP_LE, 65024, 65024 + 1024, index_select=4)
    assert one(replace(tripled, lut=ramps(le=coarse)), -128) == [32]


def test_the_factor_is_saturated_to_sixteen_bits() -> None:
    steep = LutTable(RAMP_LE, -1000, -936, overflow=Slope(32767, -16))
    lut = HybridLut(steep, LutTable(RAMP_LO, 1000, 1256), LutChoice.LE, LutChoice.LE, LutChoice.LE)
    layer = params(lut=lut, output_converter=leave(shift=8))
    assert one(layer, 5) == [127]  # 32767 / 256 = 127.99 rounds to 128, which saturates
    assert one(replace(layer, output_converter=leave(shift=9)), 5) == [64]


def test_an_output_offset_of_25_bits_is_exact() -> None:
    layer = params(lut=ramps(start=-1), output_converter=leave(offset=(1 << 24) - 1, scale=-32768, shift=32))
    assert one(layer, 0) == [127]  # (1 - 16777215) * -32768 / 2**32 = 127.99999
    assert one(replace(layer, output_converter=leave(-(1 << 24), -32768, 33)), 0) == [-64]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"local_size": 4}, "local_size must be 3, 5, 7, 9 or None, not 4"),
        ({"input_converter": leave()}, "input_converter must have the encoding CDP_INPUT, not CDP_OUTPUT"),
        ({"output_converter": enter()}, "output_converter must have the encoding CDP_OUTPUT, not CDP_INPUT"),
        ({"input_converter": enter(offset=128)}, "input_converter.offset must be an integer from -128 to 127, not 128"),
        (
            {"output_converter": leave(offset=1 << 24)},
            "output_converter.offset must be an integer from -16777216 to 16777215, not 16777216",
        ),
        (
            {"lut": HybridLut(LutTable(RAMP_LE.view(np.uint16), 0, 64), LutTable(RAMP_LO.view(np.uint16), 0, 256))},
            "lut must have int16 entries for INT8, not uint16",
        ),
        (
            {"lut": ramps(le=LutTable(RAMP_LE, 1 << 21, 0))},
            "lut.le.start must be an integer from -2097152 to 2097151, not 2097152",
        ),
        (
            {"lut": ramps(lo=LutTable(RAMP_LO, 0, 1 << 37))},
            "lut.lo.end must be an integer from -137438953472 to 137438953471, not 137438953472",
        ),
        (
            {"lut": ramps(le=LutTable(RAMP_LE, 0, 0, index_select=16))},
            "lut.le.index_select must be an integer from -6 to 15, not 16",
        ),
        (
            {"lut": ramps(lo=LutTable(RAMP_LO, 0, 0, index_select=-9))},
            "lut.lo.index_select must be an integer from -8 to 13, not -9",
        ),
        (
            {"lut": ramps(le=LutTable(RAMP_LE, 0, 0, exponent=True, index_offset=21))},
            "lut.le.index_offset must be an integer from -64 to 20, not 21",
        ),
        (
            {"lut": ramps(le=LutTable(RAMP_LE, 0, 0, underflow=Slope(32768)))},
            "lut.le.underflow.scale must be an integer from -32768 to 32767, not 32768",
        ),
        (
            {"lut": ramps(lo=LutTable(RAMP_LO, 0, 0, overflow=Slope(65535)))},
            "lut.lo.overflow.scale must be an integer from -32768 to 32767, not 65535",
        ),
    ],
)
def test_parameters_that_the_hardware_does_not_have_are_refused(changes: dict[str, Any], message: str) -> None:
    with refused(message):
        params(**changes)


def test_int16_has_wider_registers() -> None:
    le = LutTable(RAMP_LE, 1 << 36, 0, index_select=31)
    layer = params(
        lut=ramps(le=le),
        input_converter=enter(offset=-32768),
        output_converter=leave(offset=1 << 30),
        precision=Precision.INT16,
    )
    assert layer.lut.le == le


def test_a_cube_of_another_type_is_refused() -> None:
    with refused("cube must be int8, not int16"):
        run(params(), column(1, dtype=np.int16), 1)


def test_a_cube_without_three_axes_is_refused() -> None:
    with refused("cube must have the axes (C, H, W), not 1 axes"):
        run(params(), np.zeros(4, dtype=np.int8), 1)


@pytest.mark.parametrize("channels", [0, 3])
def test_more_or_less_real_channels_than_the_cube_has_are_refused(channels: int) -> None:
    with refused(f"channels must be an integer from 1 to 2, not {channels}"):
        run(params(), column(1, 2), channels)
