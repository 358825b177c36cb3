"""Numbers as every engine draws them: sizes at the edges of an atom, stride gaps, shifts, wide offsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision

Description = dict[str, Any]

T = TypeVar("T")

SCALE_BITS = 16

_AT_ENDS = ("lowest", "highest", "ends")


@dataclass(frozen=True)
class Cube:
    """A cube that a layer writes and the next one may read: (C, H, W), and atoms of gap after lines and surfaces."""

    shape: tuple[int, int, int]
    gaps: tuple[int, int] = (0, 0)
    precision: Precision = Precision.INT8

    @property
    def is_one_pixel(self) -> bool:
        """Whether H and W are 1, so that SDP ignores its strides."""
        return self.shape[1:] == (1, 1)


@dataclass(frozen=True)
class Axis:
    """Windows along one axis: elements, kernel, stride, dilation, padding before and after."""

    size: int
    kernel: int
    stride: int
    dilation: int
    before: int
    after: int

    @property
    def windows(self) -> int:
        """Output elements."""
        extent = (self.kernel - 1) * self.dilation + 1
        return (self.size + self.before + self.after - extent) // self.stride + 1


_ENDS = 0.15
"""Of the cubes of integers: those of the smallest or the largest number, whose sums are the largest."""


def stages_of(config: HwConfig) -> tuple[str, ...]:
    """Return which of SDP's stages X1 and X2 a build has."""
    return tuple(stage for stage, there in (("x1", config.sdp_bs_enable), ("x2", config.sdp_bn_enable)) if there)


def one_of(rng: np.random.Generator, values: Sequence[T]) -> T:
    """Return one of some values, the same that ``rng.choice`` draws in ten times the time."""
    return values[int(rng.integers(len(values)))]


def draw_precision(rng: np.random.Generator, config: HwConfig, before: Cube | None) -> Precision:
    """Draw a precision: that of the cube that is read, or any that the build has."""
    if before is not None:
        return before.precision
    allowed = config.feature_data_types
    return allowed[int(rng.integers(len(allowed)))] if len(allowed) > 1 else allowed[0]


def draw_kind(rng: np.random.Generator, precision: Precision) -> Description:
    """Return the keys that say which data a cube has; any integers need none."""
    keys: Description = {} if precision is Precision.INT8 else {"precision": precision.value}
    if precision is Precision.FP16:
        return keys | {"numbers": draw_numbers(rng)}
    return keys | ({"numbers": one_of(rng, _AT_ENDS)} if rng.random() < _ENDS else {})


def integers_of(rng: np.random.Generator) -> str:
    """Draw which integers data are: any, or those at one end or both."""
    return one_of(rng, ("any", *_AT_ENDS))


def draw_numbers(rng: np.random.Generator) -> str:
    """Draw which FP16 numbers data are: mostly those around 1."""
    return one_of(rng, ["middle", "middle", "wide", "special"])


def draw_channels(rng: np.random.Generator, config: HwConfig, most: int, precision: Precision = Precision.INT8) -> int:
    """Draw a channel count: often one, or one below, at or above a multiple of the atom."""
    atom = config.atom_elements(precision)
    corners = [1, atom - 1, atom, atom + 1, 2 * atom, 2 * atom + 1]
    drawn = one_of(rng, corners) if rng.random() < 0.5 else int(rng.integers(1, most + 1))
    return max(1, min(drawn, most))


def draw_shape(
    rng: np.random.Generator, config: HwConfig, most_elements: int, precision: Precision = Precision.INT8
) -> tuple[int, int, int]:
    """Draw a cube of about ``most_elements`` or fewer, sometimes of one pixel or one line, or long along one axis."""
    if rng.random() < 0.1:
        return draw_channels(rng, config, 200, precision), 1, 1
    if rng.random() < 0.06:
        long, short = int(rng.integers(40, most_elements // 2)), int(rng.integers(1, 3))
        channels, height, width = rng.permutation([long, short, 1]).tolist()
        return channels, height, width
    height, width = (one_of(rng, [1, 2, int(rng.integers(1, 12)), int(rng.integers(1, 40))]) for _ in range(2))
    most = max(most_elements // (height * width), config.atom_elements(precision))
    return draw_channels(rng, config, most, precision), height, width


def draw_gaps(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[int, int]:
    """Draw atoms of gap after lines and surfaces; a cube of one pixel has none."""
    if shape[1:] == (1, 1) or rng.random() < 0.6:
        return 0, 0
    return one_of(rng, [0, 1, int(rng.integers(1, 9))]), one_of(rng, [0, 1, int(rng.integers(1, 33))])


def draw_shift(rng: np.random.Generator) -> int:
    """Draw a shift of 6 bits."""
    return one_of(rng, [0, 0, 1, 2, 5, 8, 16, 31, 32, 63, int(rng.integers(0, 64))])


def draw_wide(rng: np.random.Generator, bits: int) -> int:
    """Draw a signed number of any magnitude up to ``bits`` bits, the limits among them."""
    limit = 1 << (bits - 1)
    if rng.random() < 0.1:
        return one_of(rng, [-limit, limit - 1])
    magnitude = 1 << int(rng.integers(1, bits))
    return int(rng.integers(-magnitude, magnitude))


def draw_magnitude(rng: np.random.Generator, bits: int) -> int:
    """Draw a signed number of 2 to ``bits`` bits, as likely of few as of many, and never 0."""
    magnitude = 1 << int(rng.integers(1, max(bits, 2)))
    return one_of(rng, [-1, 1]) * int(rng.integers(magnitude >> 1, magnitude))


def draw_converter(
    rng: np.random.Generator, offset_bits: int, most_shift: int, bits: int, *, wild: bool, result_bits: int = 8
) -> list[int]:
    """Draw offset, scale and shift such that the results fill so many bits.

    Args:
        rng: Randomness.
        offset_bits: Bits of the offset's register.
        most_shift: Largest shift.
        bits: Magnitude of most of what comes in.
        wild: Whether the results do not matter, so that most of them saturate.
        result_bits: Of the precision that the results have.
    """
    if wild:
        return [draw_wide(rng, offset_bits), draw_wide(rng, SCALE_BITS), int(rng.integers(0, most_shift + 1))]
    offset = draw_magnitude(rng, min(bits - 1, offset_bits)) if rng.random() < 0.5 else 0
    least = min(max(2, result_bits + 1 - bits), SCALE_BITS - 1)
    scale = draw_magnitude(rng, SCALE_BITS)
    while abs(scale).bit_length() < least:
        scale *= 2
    shift = bits + abs(scale).bit_length() - result_bits + int(rng.integers(-1, 3))
    return [offset, scale, min(max(shift, 0), most_shift)]


def source_of(
    rng: np.random.Generator, config: HwConfig, before: Cube | None, most_elements: int
) -> tuple[Cube, Description]:
    """Return the cube that a layer reads, and the keys that say so: what was before it, or one of its own."""
    if before is not None:
        return before, {"chain": True}
    precision = draw_precision(rng, config, before)
    shape = draw_shape(rng, config, most_elements, precision)
    cube = Cube(shape, draw_gaps(rng, shape), precision)
    return cube, {"shape": list(cube.shape), "src_gaps": list(cube.gaps), **draw_kind(rng, precision)}


def fit_axis(rng: np.random.Generator, size: int, axis: Axis, *, exact: bool = True) -> Axis | None:
    """Return the axis with another size and at most its stride, None where no window fits.

    The last window ends at the edge if that is ``exact``.
    """
    extent = (axis.kernel - 1) * axis.dilation + 1
    rest = size + axis.before + axis.after - extent
    if rest < 0:
        return None
    strides = [stride for stride in range(1, axis.stride + 1) if rest % stride == 0 or not exact]
    return Axis(size, axis.kernel, one_of(rng, strides), axis.dilation, axis.before, axis.after)
