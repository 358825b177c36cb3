"""The integer SDP model against a literal oracle, at hand-computed boundaries, and its refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, Operands, SdpParams, SdpStage, YStage, compute, output_converter, run
from tests.unit.models import oracles_sdp
from tests.unit.models.support import refused

INT8, INT16 = Precision.INT8, Precision.INT16

IDENTITY = output_converter(offset=0, scale=1, shift=0)
PASS = SdpStage(alu=None, alu_shift=0, mul=False, mul_prelu=False, mul_shift=0, relu=False)


def one(value: int, stage: SdpStage | None, alu: int | None = None, mul: int | None = None) -> int:
    """Pass one 32-bit element through X1 and an identity converter with INT16 output."""
    operands = None
    if stage is not None:
        operands = Operands(None if alu is None else np.array(alu), None if mul is None else np.array(mul))
    params = SdpParams(stage, None, IDENTITY, INT8, INT16)
    return int(run(params, np.array([[[value]]], dtype=np.int32), operands).item())


def stage(**changes: Any) -> SdpStage:
    """Return a stage that passes its data, but for ``changes``."""
    values: dict[str, Any] = {
        "alu": None,
        "alu_shift": 0,
        "mul": False,
        "mul_prelu": False,
        "mul_shift": 0,
        "relu": False,
    }
    return SdpStage(**(values | changes))


def extreme(rng: np.random.Generator, bits: int) -> int:
    """Draw a signed number of any magnitude, with the limits often among them."""
    if rng.random() < 0.25:
        return int(rng.choice([-(1 << (bits - 1)), (1 << (bits - 1)) - 1, 0, 1, -1]))
    width = int(rng.integers(1, bits + 1))
    return int(rng.integers(-(1 << (width - 1)), 1 << (width - 1)))


def random_shift(rng: np.random.Generator) -> int:
    return int(rng.integers(64) if rng.random() < 0.3 else rng.integers(20))


def random_stage(rng: np.random.Generator) -> SdpStage | None:
    if rng.random() < 0.2:
        return None
    alu = [None, AluOp.MAX, AluOp.MIN, AluOp.SUM][int(rng.integers(4))]
    mul, prelu, relu = (bool(x) for x in rng.integers(2, size=3))
    return SdpStage(alu, random_shift(rng), mul, prelu, random_shift(rng), relu)


def random_operand(rng: np.random.Generator, shape: tuple[int, int, int]) -> NDArray[np.int16]:
    shapes: list[tuple[int, ...]] = [(), (shape[0], 1, 1), shape]
    kind = shapes[int(rng.integers(3))]
    count = int(np.prod(kind, dtype=np.int64))
    return np.array([extreme(rng, 16) for _ in range(count)], dtype=np.int16).reshape(kind)


def random_operands(rng: np.random.Generator, params: SdpStage | None, shape: tuple[int, int, int]) -> Operands | None:
    if params is None:
        return None
    alu = random_operand(rng, shape) if params.alu is not None else None
    return Operands(alu, random_operand(rng, shape) if params.mul else None)


def spread(operands: Operands | None, shape: tuple[int, int, int], index: tuple[int, ...]) -> list[int | None]:
    """Return ALU and multiplier operand of one element."""
    if operands is None:
        return [None, None]
    return [None if o is None else int(np.broadcast_to(o, shape)[index]) for o in (operands.alu, operands.mul)]


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 20))])
def test_every_element_of_random_layers_agrees_with_the_oracle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(100):
        c, h, w = (int(n) for n in rng.integers(1, 4, size=3))
        shape = (c, h, w)
        x1, x2 = random_stage(rng), random_stage(rng)
        converter = output_converter(extreme(rng, 32), extreme(rng, 16), random_shift(rng))
        output = [INT8, INT16][int(rng.integers(2))]
        params = SdpParams(x1, x2, converter, INT8, output)
        bits, dtype = [(8, np.int8), (32, np.int32)][int(rng.integers(2))]
        cube = np.array([extreme(rng, bits) for _ in range(c * h * w)], dtype=dtype).reshape(shape)
        o1, o2 = random_operands(rng, x1, shape), random_operands(rng, x2, shape)

        expected = np.empty(shape, dtype=output.dtype)
        for index in np.ndindex(shape):
            data = oracles_sdp.stage(x1, int(cube[index]), *spread(o1, shape, index))
            data = oracles_sdp.stage(x2, data, *spread(o2, shape, index))
            expected[index] = oracles_sdp.convert(converter, data, 8 * output.nbytes)
        np.testing.assert_array_equal(run(params, cube, o1, o2), expected, strict=True)


def random_y(rng: np.random.Generator, shape: tuple[int, int, int]) -> tuple[YStage, Operands]:
    """Return Y and its operands: 32 bits from registers, 16 from memory, those with a converter or none."""
    alu = [None, AluOp.MAX, AluOp.MIN, AluOp.SUM][int(rng.integers(4))]
    mul = bool(rng.integers(2))
    drawn: dict[str, NDArray[Any] | None] = {"alu": None, "mul": None}
    converters = {}
    for name in [name for name, on in (("alu", alu), ("mul", mul)) if on]:
        if rng.random() < 0.4:
            drawn[name] = np.array(extreme(rng, 32))
            continue
        operand = random_operand(rng, shape)
        drawn[name] = np.broadcast_to(operand, shape) if operand.ndim == 0 else operand
        if rng.random() < 0.6:
            shift = random_shift(rng)
            converter = Converter(extreme(rng, 32), extreme(rng, 16), shift, ConverterEncoding.SDP_OPERAND)
            converters[f"{name}_converter"] = converter
    truncate = int(rng.integers(1024) if rng.random() < 0.1 else rng.integers(64)) if mul else 0
    return YStage(alu, mul, mul and bool(rng.integers(2)), truncate, **converters), Operands(**drawn)


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 10))])
def test_every_element_of_random_layers_through_y_agrees_with_the_oracle(seed: int) -> None:
    rng = np.random.default_rng([seed, 1])
    for _ in range(200):
        c, h, w = (int(n) for n in rng.integers(1, 4, size=3))
        shape = (c, h, w)
        y, operands = random_y(rng, shape)
        converter = output_converter(extreme(rng, 32), extreme(rng, 16), random_shift(rng))
        params = SdpParams(None, None, converter, INT16, INT16, y)
        cube = np.array([extreme(rng, 32) for _ in range(c * h * w)], dtype=np.int32).reshape(shape)
        expected = np.empty(shape, np.int16)
        for index in np.ndindex(shape):
            taken = []
            for name, operand, value in zip(
                ("alu", "mul"), (operands.alu, operands.mul), spread(operands, shape, index), strict=True
            ):
                assert (operand is None) == (value is None)
                if operand is not None and value is not None:
                    value = oracles_sdp.y_operand(getattr(y, f"{name}_converter"), value, operand.ndim > 0)
                taken.append(value)
            data = oracles_sdp.y_stage(y, int(cube[index]), *taken)
            expected[index] = oracles_sdp.convert(converter, data, 16)
        np.testing.assert_array_equal(run(params, cube, None, None, operands), expected, strict=True)


def test_a_cube_of_several_blocks_agrees_with_its_channels_alone() -> None:
    rng = np.random.default_rng(7)
    shape = (9, 130, 70)
    cube = rng.integers(-128, 128, shape, dtype=np.int8)
    params = SdpParams(
        stage(alu=AluOp.SUM, alu_shift=3, mul=True, mul_shift=4),
        stage(alu=AluOp.MAX, mul=True, mul_prelu=True, mul_shift=2),
        output_converter(-5, 77, 6),
        INT8,
        INT8,
    )
    per_channel = Operands(rng.integers(-99, 99, (9, 1, 1)), rng.integers(-99, 99, (9, 1, 1)))
    per_element = Operands(rng.integers(-99, 99, shape), rng.integers(-99, 99, shape))
    whole = run(params, cube, per_channel, per_element)
    for c in range(9):
        assert per_channel.alu is not None
        assert per_channel.mul is not None
        assert per_element.alu is not None
        assert per_element.mul is not None
        part = slice(c, c + 1)
        alone = run(
            params,
            cube[part],
            Operands(per_channel.alu[part], per_channel.mul[part]),
            Operands(per_element.alu[part], per_element.mul[part]),
        )
        np.testing.assert_array_equal(whole[part], alone, strict=True)


def test_both_stages_bypassed_give_the_converted_input() -> None:
    cube = np.array([-128, -1, 0, 127], dtype=np.int8).reshape(1, 1, 4)
    params = SdpParams(None, None, output_converter(1, 3, 1), INT8, INT8)
    expected = np.array([-128, -3, -2, 127], dtype=np.int8).reshape(1, 1, 4)
    np.testing.assert_array_equal(run(params, cube), expected, strict=True)


def test_int16_passes_as_int16() -> None:
    cube = np.array([-32768, 32767], dtype=np.int16).reshape(1, 1, 2)
    params = SdpParams(None, None, IDENTITY, INT16, INT16)
    np.testing.assert_array_equal(run(params, cube), cube, strict=True)


def test_int16_saturates_to_int8() -> None:
    cube = np.array([-32768, 32767], dtype=np.int16).reshape(1, 1, 2)
    params = SdpParams(None, None, IDENTITY, INT16, INT8)
    assert run(params, cube).ravel().tolist() == [-128, 127]


def test_converter_is_exact_at_the_limits_of_its_registers() -> None:
    # (-2**31 - (2**31 - 1)) * -32768 = 2**47 - 2**15; >> 47 rounds to 1, >> 48 to 0 (just below a half).
    cube = np.full((1, 1, 1), -(2**31), dtype=np.int32)
    for shift, expected in ((46, 2), (47, 1), (48, 0), (63, 0), (0, 127)):
        converter = output_converter(2**31 - 1, -32768, shift)
        params = SdpParams(None, None, converter, INT8, INT8)
        assert run(params, cube).item() == expected


def test_the_alu_keeps_its_33rd_bit_for_the_multiplier() -> None:
    # (2**31 - 1 + 2**31 - 1) * 1 >> 20 = 4096 - 2**-19, not the 2048 of a sum saturated to 32 bits.
    assert one(2**31 - 1, stage(alu=AluOp.SUM, alu_shift=63, mul=True, mul_shift=20), alu=1, mul=1) == 4096


def test_the_stage_saturates_to_32_bits_after_the_multiplier() -> None:
    saturating = stage(mul=True)
    then = stage(mul_shift=16)
    params = SdpParams(saturating, then, IDENTITY, INT8, INT16)
    cube = np.array([[[2**31 - 1, -(2**31)]]], dtype=np.int32)
    result = run(params, cube, Operands(None, np.array(7)))
    assert result.ravel().tolist() == [32767, -32768]


def test_the_right_shift_acts_although_the_multiplier_is_bypassed() -> None:
    assert one(100, stage(mul_shift=3)) == 13
    assert one(-100, stage(mul_shift=3)) == -13


def test_prelu_scales_negative_numbers_only() -> None:
    leaky = stage(mul=True, mul_prelu=True, mul_shift=2)
    assert one(-100, leaky, mul=3) == -75
    assert one(100, leaky, mul=3) == 100
    assert one(0, leaky, mul=3) == 0


def test_prelu_passes_the_low_32_bits_of_a_positive_sum() -> None:
    # 2**31 - 1 + 2**15 wraps to -(2**31) + 2**15 - 1 in 32 bits.
    leaky = stage(alu=AluOp.SUM, alu_shift=1, mul=True, mul_prelu=True)
    assert one(2**31 - 1, leaky, alu=2**14, mul=1) == -32768
    assert one(2**31 - 1, stage(alu=AluOp.SUM, alu_shift=1, mul=True), alu=2**14, mul=1) == 32767


def test_prelu_without_multiplier_does_nothing() -> None:
    assert one(-100, stage(mul_prelu=True, mul_shift=1)) == -50
    assert one(100, stage(mul_prelu=True, mul_shift=1)) == 50


def test_relu_comes_after_the_multiplier() -> None:
    assert one(-100, stage(mul=True, relu=True), mul=-2) == 200
    assert one(100, stage(mul=True, relu=True), mul=-2) == 0


@pytest.mark.parametrize(("alu", "expected"), [(AluOp.MAX, [-4, -4, 5]), (AluOp.MIN, [-128, -5, -4])])
def test_max_and_min_compare_with_the_shifted_operand(alu: AluOp, expected: list[int]) -> None:
    cube = np.array([-128, -5, 5], dtype=np.int8).reshape(1, 1, 3)
    params = SdpParams(stage(alu=alu, alu_shift=2), None, IDENTITY, INT8, INT8)
    assert run(params, cube, Operands(np.array(-1), None)).ravel().tolist() == expected


@pytest.mark.parametrize(
    ("source", "allowed"), [("INT8", "INT8 or INT16"), ("INT16", "INT8 or INT16 or FP16"), ("FP16", "INT16 or FP16")]
)
def test_only_the_conversions_of_table_30_exist(source: str, allowed: str) -> None:
    for target in Precision:
        if target.name in allowed.split(" or "):
            SdpParams(None, None, IDENTITY, Precision[source], target)
            continue
        what = f"a SDP layer (offline mode) with {source.lower()} feature data"
        with refused(f"target must be {allowed} for {what}, not {target.name} (Table 30)"):
            SdpParams(None, None, IDENTITY, Precision[source], target)


@pytest.mark.parametrize("field", ["alu_shift", "mul_shift"])
@pytest.mark.parametrize("shift", [-1, 64])
def test_stage_refuses_shifts_beyond_six_bits(field: str, shift: int) -> None:
    with refused(f"{field} must be an integer from 0 to 63, not {shift}"):
        stage(**{field: shift})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((2**31, 1, 0), "offset must be an integer from -2147483648 to 2147483647, not 2147483648"),
        ((0, -32769, 0), "scale must be an integer from -32768 to 32767, not -32769"),
        ((0, 1.5, 0), "scale must be an integer from -32768 to 32767, not 1.5"),
        ((0, 1, 64), "shift must be an integer from 0 to 63, not 64"),
    ],
)
def test_converter_refuses_values_that_its_registers_cannot_hold(values: tuple[Any, ...], message: str) -> None:
    with refused(message):
        output_converter(*values)


@pytest.mark.parametrize("dtype", [np.int16, np.uint8, np.int64, np.float16])
def test_cube_of_another_type_than_the_input_precision_is_refused(dtype: type) -> None:
    params = SdpParams(None, None, IDENTITY, INT8, INT8)
    with refused(f"cube must be int8 or int32, not {np.dtype(dtype)}"):
        run(params, np.zeros((1, 1, 1), dtype=dtype))


def test_cube_without_three_axes_is_refused() -> None:
    params = SdpParams(None, None, IDENTITY, INT8, INT8)
    with refused("cube must have the axes (C, H, W), not 2 axes"):
        run(params, np.zeros((4, 4), dtype=np.int8))


ADDS = stage(alu=AluOp.SUM)
MULTIPLIES = stage(mul=True)


@pytest.mark.parametrize(
    ("params", "operands", "message"),
    [
        (None, Operands(None, None), "x1_operands must be None, because x1 is bypassed"),
        (ADDS, None, "x1 ALU operand must be given, because the x1 ALU is active"),
        (MULTIPLIES, None, "x1 multiplier operand must be given, because the x1 multiplier is active"),
        (PASS, Operands(np.array(1), None), "x1 ALU operand must be None, because the x1 ALU is bypassed"),
        (ADDS, Operands(np.array(1.0), None), "x1 ALU operand must be of a signed integer dtype, not float64"),
        (
            ADDS,
            Operands(np.zeros((2, 1, 1), dtype=np.int8), None),
            "x1 ALU operand must have the shape (), (3, 1, 1) or (3, 2, 2), not (2, 1, 1)",
        ),
        (ADDS, Operands(np.array(32768), None), "x1 ALU operand must be from -32768 to 32767, not 32768"),
        (
            MULTIPLIES,
            Operands(None, np.array(-32769)),
            "x1 multiplier operand must be from -32768 to 32767, not -32769",
        ),
    ],
)
def test_operands_that_do_not_fit_the_stage_are_refused(
    params: SdpStage | None, operands: Operands | None, message: str
) -> None:
    layer = SdpParams(params, None, IDENTITY, INT8, INT8)
    with refused(message):
        run(layer, np.zeros((3, 2, 2), dtype=np.int8), operands)


def test_a_refusal_names_the_second_stage() -> None:
    layer = SdpParams(None, ADDS, IDENTITY, INT8, INT8)
    with refused("x2 ALU operand must be given, because the x2 ALU is active"):
        run(layer, np.zeros((3, 2, 2), dtype=np.int8))


@pytest.mark.parametrize(
    ("value", "shift", "counted", "counted_full"),
    [
        (65535, 0, 0, 0),
        (65536, 0, 1, 0),
        (65537, 0, 1, 1),
        (131071, 1, 1, 0),  # 65535.5 is rounded to 65536
        (131073, 1, 1, 0),  # 65536.5 to 65537
        (131074, 1, 1, 1),
        (-65536, 0, 0, 0),
        (-65537, 0, 1, 0),
        (-65538, 0, 1, 1),
        (-131073, 1, 1, 0),
        (-131075, 1, 1, 1),  # -65537.5 is cut off to -65538
    ],
)
def test_saturated_outputs_are_counted_as_each_build_does(
    value: int, shift: int, counted: int, counted_full: int
) -> None:
    params = SdpParams(None, None, output_converter(0, 1, shift), INT16, INT16)
    counts = compute(params, np.array([[[value]]], dtype=np.int32)).counts
    assert (counts.saturation, counts.saturation_full) == (counted, counted_full)


def test_an_infinite_register_operand_of_y_gives_infinities_that_do_not_count_as_saturated() -> None:
    """Y computes x times infinity plus infinity, with the pattern 0x7F800000 as 2**128 (worked out by hand).

    The sum of 2**128 and a smaller positive number keeps the exponent field 255, so it is an FP32 NaN, whose ten low
    bits of the fraction FP16 keeps: 0x7FC00000 is written as 0x7C00, and 0x7F880200 as the NaN 0x7E00.

    Source: read off the public nv_full RTL, adder, multiplier, narrowing and statistics of saturation. The counter was
        measured on one layer, of which the sum alone is known: it counts less than all that has the exponent of 65504
        or more and is no NaN.
    """
    infinity = np.array(0x7F800000, dtype=np.uint32)
    y = YStage(AluOp.SUM, mul=True)
    params = SdpParams(None, None, output_converter(0, 1, 0), Precision.FP16, Precision.FP16, y=y)
    data = np.array([0x0000, 0x3C00, 0x3800, 0x2C01, 0xBC00], dtype=np.uint16).reshape(5, 1, 1)
    result = compute(params, data, y_operands=Operands(infinity, infinity))
    assert [hex(pattern) for pattern in result.cube.ravel()] == ["0x7bff", "0x7bff", "0x7c00", "0x7e00", "0x7bff"]
    counts = result.counts
    assert (counts.saturation, counts.saturation_full, counts.nan_output) == (3, 3, 1)
