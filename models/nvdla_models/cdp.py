"""Cross-channel data processor: local response normalisation along the channels, integer and FP16.

Every element passes through the input converter. The squares of the elements around it, along the
channels, are summed; the lookup table turns the sum into a factor, the element is multiplied by it, and
the output converter makes the result. Sum and multiplication can each be bypassed, so that the unit is
a table of its own.

Integers: the factor is saturated to 16 bits, the products and sums fit their registers, and the output
converter sees the exact product. FP16: ``nvdla_models.cdp_fp16``.

Padding channels: the hardware processes whole atoms, and takes the channels between C and the end of
the last atom as 0 after the input converter, whatever lies in memory. They add nothing to the sums of
the last channels, and are written: 0 through the output converter, or without multiplication what the
table makes of their neighbours. So pass a cube padded to whole atoms and the number of its real channels
to get every byte that is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models import cdp_fp16, lut_fp16, lut_integer
from nvdla_models.arithmetic import HARDWARE, Point, Rules, Site, channel_blocks, check_range, limits
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.errors import InputError
from nvdla_models.lut import (
    INDEX_OFFSET_RANGE,
    INDEX_SELECT_RANGE,
    LE_ENTRIES,
    LO_ENTRIES,
    HybridLut,
    LutCounts,
    LutTable,
    LutUnit,
)
from nvdla_models.precision import Precision, check_cube_array

LOCAL_SIZES = (3, 5, 7, 9)


@dataclass(frozen=True)
class Widths:
    """Bits of the signed numbers whose width depends on the precision.

    Attributes:
        input_offset: offset of the input converter.
        data: result of the input converter.
        start: start of a table, as the index is computed from it.
        output_offset: offset of the output converter.
    """

    input_offset: int
    data: int
    start: int
    output_offset: int


# INT8 as measured on the public nv_small RTL; INT16 as in the public nv_full RTL.
_WIDTHS = {
    Precision.INT8: Widths(input_offset=8, data=9, start=22, output_offset=25),
    Precision.INT16: Widths(input_offset=16, data=17, start=38, output_offset=32),
}


def widths(precision: Precision) -> Widths:
    """Return the widths of an integer precision.

    Raises:
        InputError: for FP16, whose converters do nothing.
    """
    if precision not in _WIDTHS:
        raise InputError(f"precision must be INT8 or INT16 to have converters, not {precision.name}")
    return _WIDTHS[precision]


@dataclass(frozen=True)
class CdpParams:
    """One CDP layer.

    Attributes:
        local_size: 3, 5, 7 or 9 channels whose squares are summed, or None to look the element itself up.
        multiply: whether the element is multiplied by what the table returns; else that is the result.
        input_converter: with the encoding ``CDP_INPUT``; for INT8 the hardware has 8 bits of the offset.
        output_converter: with the encoding ``CDP_OUTPUT``; for INT8 the hardware has 25 bits of the offset.
        lut: both tables, of int16 entries, or uint16 FP16 patterns.
        precision: precision of input and output.
        nan_to_zero: whether NaN counts as +0; for FP16.

    FP16 has no converters; theirs must pass everything.

    Raises:
        InputError: when a value does not fit its register or the hardware's range.

    Source: unit description, "Cross Channel Data Processor"; programming guide, "LUT"; widths measured on
        the public nv_small RTL.
    """

    local_size: int | None
    multiply: bool
    input_converter: Converter
    output_converter: Converter
    lut: HybridLut
    precision: Precision
    nan_to_zero: bool = False

    def __post_init__(self) -> None:
        if self.local_size not in (None, *LOCAL_SIZES):
            raise InputError(f"local_size must be 3, 5, 7, 9 or None, not {self.local_size!r}")
        self._check_converters()
        wanted = np.dtype(np.uint16 if self.is_float else np.int16)
        if self.lut.le.entries.dtype != wanted:
            raise InputError(
                f"lut must have {wanted} entries for {self.precision.name}, not {self.lut.le.entries.dtype}"
            )
        if self.nan_to_zero and not self.is_float:
            raise InputError(f"nan_to_zero must be False for {self.precision.name}, which has no NaN")
        _check_table("lut.le", self.lut.le, LE_ENTRIES, self.precision)
        _check_table("lut.lo", self.lut.lo, LO_ENTRIES, self.precision)

    @property
    def is_float(self) -> bool:
        """Whether the layer computes in floating point."""
        return self.precision is Precision.FP16

    def _check_converters(self) -> None:
        for name, encoding in (
            ("input_converter", ConverterEncoding.CDP_INPUT),
            ("output_converter", ConverterEncoding.CDP_OUTPUT),
        ):
            converter: Converter = getattr(self, name)
            if converter.encoding is not encoding:
                raise InputError(f"{name} must have the encoding {encoding.name}, not {converter.encoding.name}")
            if not self.is_float:
                bits = getattr(widths(self.precision), name.replace("converter", "offset"))
                check_range(f"{name}.offset", converter.offset, *limits(bits))
            elif converter != Converter(0, 1, 0, encoding):
                raise InputError(f"{name} must have offset 0, scale 1 and shift 0 for FP16, which it does not convert")


@dataclass(frozen=True, eq=False)
class CdpResult:
    """What a layer writes and counts.

    Attributes:
        output: (C, H, W) of the cube's dtype.
        lut: the statistics of the lookups, padding channels included; None for FP16, where no hardware was
            measured. What INT16 counts is the least that the registers hold: nv_full has eight lanes, of which
            INT16 and FP16 use four, and the others count again, with each four elements, what the last INT8
            layer left in them.

    Source: public nv_small and nv_large RTL, measured; of nv_full read off the public RTL.
    """

    output: NDArray[Any]
    lut: LutCounts | None


def run(params: CdpParams, cube: NDArray[Any], channels: int, rules: Rules = HARDWARE) -> NDArray[Any]:
    """Return what the CDP writes for one cube: (C, H, W) of its dtype.

    Arguments, errors and sources are those of :func:`compute`.
    """
    return compute(params, cube, channels, rules).output


def compute(params: CdpParams, cube: NDArray[Any], channels: int, rules: Rules = HARDWARE) -> CdpResult:
    """Compute what the CDP writes for one cube, and what it counts.

    Args:
        params: the layer.
        cube: (C, H, W), int8, int16 or uint16 FP16 patterns. C may include padding channels; see the
            module's description.
        channels: how many of them are real.
        rules: rules of integer arithmetic.

    Raises:
        InputError: when the cube's type or shape does not fit.

    Source: unit description, "Cross Channel Data Processor"; precision document, "CDP"; measured on the
        public nv_small RTL and, for INT16 and FP16, on the public nv_full RTL.
    """
    columns = _columns(params, cube, channels)
    result = np.empty(columns.shape, cube.dtype)
    counts = None if params.is_float else LutCounts(0, 0, 0, 0, 0)
    # A window needs all channels of a position.
    for part in channel_blocks((columns.shape[1], columns.shape[0], 1)):
        if params.is_float:
            floats = cdp_fp16.enter(columns[:, part], channels, params.nan_to_zero)
            looked_up = lut_fp16.lookup(params.lut, cdp_fp16.looked_up(params.local_size, floats), LutUnit.CDP)
            result[:, part] = cdp_fp16.leave(floats, looked_up.values, params.multiply)
            continue
        data_bits = widths(params.precision).data
        data = params.input_converter.to_width(columns[:, part], data_bits, rules.at(Site.CDP_INPUT))
        data[channels:] = 0
        rules.hand_on(Point.CDP_INPUT, data)
        sums = _window_sums(params.local_size, data, rules)
        rules.hand_on(Point.CDP_SUMS, sums)
        found = lut_integer.lookup(params.lut, sums, LutUnit.CDP, rules)
        rules.hand_on(Point.CDP_FACTORS, found.values)
        if counts is not None:
            counts += LutCounts.published(found.le_place, found.lo_place)
        product = found.values * data if params.multiply else found.values
        rules.hand_on(Point.CDP_PRODUCTS, product)
        result[:, part] = params.output_converter.convert(product, params.precision, rules.at(Site.CDP_OUTPUT))
    return CdpResult(result.reshape(cube.shape), counts)


def _columns(params: CdpParams, cube: NDArray[Any], channels: int) -> NDArray[Any]:
    """Check a cube and return it as (C, H * W)."""
    check_cube_array(cube, params.precision.pattern_dtype)
    check_range("channels", channels, 1, len(cube))
    return cube.reshape(len(cube), -1)


def _window_sums(local_size: int | None, data: NDArray[np.int64], rules: Rules) -> NDArray[np.int64]:
    """Sum the squares of ``local_size`` channels around each; channels outside the cube add nothing."""
    if local_size is None:
        return data
    half = local_size // 2
    squares = np.pad(data * data, ((half, half), (0, 0)))
    sums = np.zeros_like(data)
    for distance in range(-half, half + 1):
        if distance not in rules.left_out:
            taken = dict((rules.instead,)).get(distance, distance) if rules.instead else distance
            sums += squares[half + taken :][: len(data)]
    return sums


def _check_table(name: str, table: LutTable, entries: int, precision: Precision) -> None:
    """Refuse what the hardware's narrower registers would cut off."""
    is_float = precision is Precision.FP16
    if not is_float:
        check_range(f"{name}.start", table.start, *limits(widths(precision).start))
        check_range(f"{name}.end", table.end, *limits(LutUnit.CDP.input_bits))
    if table.exponent:
        check_range(f"{name}.index_offset", table.index_offset, *INDEX_OFFSET_RANGE[LutUnit.CDP, precision])
    else:
        check_range(f"{name}.index_select", table.index_select, *INDEX_SELECT_RANGE[LutUnit.CDP, precision, entries])
    for side in () if is_float else ("underflow", "overflow"):
        check_range(f"{name}.{side}.scale", getattr(table, side).scale, *limits(16))
