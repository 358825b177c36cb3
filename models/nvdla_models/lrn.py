"""Local response normalisation as CDP does it: both tables of the factor that each element is multiplied by.

CDP sums the squares of the elements around one and looks the factor up, between entries by a straight line. The factor
falls steeply at first and slowly then. So of integers both tables are laid out in several ways, and those that err
least are taken. Sums of FP16 have no largest: one table reaches as far as the factor falls most, one beyond all sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.cdp import LOCAL_SIZES, CdpParams
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.errors import InputError
from nvdla_models.fixed_point import multipliers
from nvdla_models.fp16 import FP16, FP32
from nvdla_models.lut import LE_ENTRIES, LO_ENTRIES, HybridLut, LutChoice, LutTable, LutUnit
from nvdla_models.lut_integer import lookup
from nvdla_models.precision import Precision

_ENTRY_MOST = (1 << 15) - 1
_TRIED_SUMS = 1024
_MORE_BITS = 5
_EXPONENT_END = 1 << (LutUnit.CDP.input_bits - 2)
"""End of a table whose last entry lies beyond every sum."""

_HALF_OFFSET = -28
_HALF_END = 1 << (LE_ENTRIES - 1 + _HALF_OFFSET)
"""Beyond each sum of nine squares of FP16; a table from its 64th root of 2 on has 64 octaves before it."""

_HALF_STEPS = 8
"""Least entries up to the sum at which it is as large as the bias; the table ends at 16 to 32 times that sum."""

_Floats = NDArray[np.float64]
_Factor = Callable[[_Floats], _Floats]


def normalisation(
    precision: Precision,
    channels: int,
    size: int,
    *,
    alpha: float,
    beta: float,
    bias: float,
    src_scale: float = 1.0,
    dst_scale: float = 1.0,
) -> CdpParams:
    """Return the layer that computes ``x / (bias + alpha / size * sum of the squares around x) ** beta``.

    Args:
        precision: Precision of both cubes.
        channels: Of the cube; fewer than the window keep sums small.
        size: Channels of the window around each element: 3, 5, 7 or 9.
        alpha: As in the formula.
        beta: As in the formula.
        bias: As in the formula, above 0.
        src_scale: The real number that an integer 1 of the input stands for; 1 in FP16.
        dst_scale: Likewise of the output.

    Raises:
        InputError: for a window that CDP does not have, a negative alpha, or a bias or scale that is not above 0.
    """
    if size not in LOCAL_SIZES:
        raise InputError(f"size must be 3, 5, 7 or 9, which CDP has, not {size}")
    for name, value in (("bias", bias), ("src_scale", src_scale), ("dst_scale", dst_scale)):
        if not value > 0:
            raise InputError(f"{name} must be above 0, not {value}")
    if not alpha >= 0:
        raise InputError(f"alpha must be at least 0, not {alpha}")
    if precision is Precision.FP16 and (src_scale, dst_scale) != (1.0, 1.0):
        raise InputError(f"src_scale and dst_scale must be 1 for FP16, not {src_scale} and {dst_scale}")

    def factor(sums: _Floats) -> _Floats:
        return np.asarray((bias + alpha / size * src_scale * src_scale * sums) ** -beta)

    if precision is Precision.FP16:
        lut, output = _of_halves(factor, size, alpha, bias), Converter(0, 1, 0, ConverterEncoding.CDP_OUTPUT)
    else:
        most = precision.limits[1]
        lut, unit = _best(factor, min(size, channels) * most**2, most)
        scale, shift = multipliers(np.full(1, unit * src_scale / dst_scale))
        output = Converter(0, int(scale[0]), shift, ConverterEncoding.CDP_OUTPUT)
    return CdpParams(
        size,
        multiply=True,
        input_converter=Converter(0, 1, 0, ConverterEncoding.CDP_INPUT),
        output_converter=output,
        lut=lut,
        precision=precision,
    )


def _of_halves(factor: _Factor, size: int, alpha: float, bias: float) -> HybridLut:
    """Return tables of FP16: a straight one up to where the factor falls slowly, and an exponential one."""
    with np.errstate(divide="ignore"):
        bend = np.log2(np.float64(bias) * size) - np.log2(np.float64(alpha) * _HALF_STEPS)
    step = 2.0 ** np.clip(np.floor(bend), _HALF_OFFSET, np.log2(_HALF_END / (LO_ENTRIES - 1)))

    def table(places: _Floats, **layout: Any) -> LutTable:
        entries = np.clip(factor(places), 0, FP16.max_value).astype("<f2").view("<u2")
        start, end = FP32.encode(np.array([0.0, places[-1]]))
        return LutTable(entries, int(start), int(end), **layout)

    le = table(
        np.exp2(np.arange(LE_ENTRIES, dtype=np.float64) + _HALF_OFFSET), exponent=True, index_offset=_HALF_OFFSET
    )
    lo = table(np.arange(LO_ENTRIES, dtype=np.float64) * step, index_select=int(np.log2(step)))
    return _hybrid(le, lo, LutChoice.LO)


def _best(factor: _Factor, reach: int, most: int) -> tuple[HybridLut, float]:
    """Return the tables with the smallest error of a product over all sums up to ``reach``, and the value of a step."""
    small = np.geomspace(1, reach, _TRIED_SUMS)
    sums = np.unique(np.concatenate([small, np.linspace(0, reach, _TRIED_SUMS)]).astype(np.int64))
    exact = factor(sums.astype(np.float64))
    # No element is larger than the root of the sum that it is part of.
    largest = np.minimum(np.sqrt(sums), most)

    def error(tables: tuple[HybridLut, float]) -> float:
        lut, unit = tables
        return float((largest * np.abs(lookup(lut, sums, LutUnit.CDP).values * unit - exact)).max())

    coarsest = float(exact[0]) / _ENTRY_MOST
    finest = max(float(exact[-1]) / _ENTRY_MOST, coarsest / 2**_MORE_BITS)
    units = [coarsest]
    while units[-1] / 2 >= finest:
        units.append(units[-1] / 2)
    found = [(lut, unit) for unit in units for lut in _layouts(_steps(factor, unit), reach)]
    return min(found, key=error)


def _steps(factor: _Factor, unit: float) -> _Factor:
    """Return the factor in steps: entries for elements that are small anyhow may end at the largest."""
    return lambda sums: np.minimum(factor(sums) / unit, _ENTRY_MOST)


def _layouts(factor: _Factor, reach: int) -> Iterator[HybridLut]:
    """Yield tables that reach all sums together: a fine one for small sums, a coarse one for the others."""
    coarse_le, coarse_lo = _select(LE_ENTRIES, reach), _select(LO_ENTRIES, reach)
    exponent = _exponent(factor)
    whole = _linear(factor, LO_ENTRIES, 0, coarse_lo)
    for select in range(coarse_le):
        yield _hybrid(_linear(factor, LE_ENTRIES, 0, select), whole, LutChoice.LE)
    yield _hybrid(exponent, _linear(factor, LO_ENTRIES, 1 << coarse_lo, coarse_lo), LutChoice.LO)
    for select in range(coarse_lo + 1):
        fine = _linear(factor, LO_ENTRIES, 0, select)
        yield _hybrid(exponent, fine, LutChoice.LO)
        yield _hybrid(_linear(factor, LE_ENTRIES, 0, coarse_le), fine, LutChoice.LO)


def _hybrid(le: LutTable, lo: LutTable, preferred: LutChoice) -> HybridLut:
    # A sum of 0 underflows both tables, and belongs to an element that is 0.
    return HybridLut(le, lo, LutChoice.LE, LutChoice.LO, preferred)


def _select(entries: int, reach: int) -> int:
    """Return the binary logarithm of the smallest distance with which a table from 0 on reaches beyond a sum."""
    return (reach // (entries - 1)).bit_length()


def _linear(factor: _Factor, entries: int, start: int, select: int) -> LutTable:
    places = (start + (np.arange(entries) << select)).astype(np.float64)
    end = start + ((entries - 1) << select)
    return LutTable(_entries(factor(places)), start, end, index_select=select)


def _exponent(factor: _Factor) -> LutTable:
    places = np.exp2(np.arange(LE_ENTRIES, dtype=np.float64))
    return LutTable(_entries(factor(places)), 0, _EXPONENT_END, exponent=True)


def _entries(values: _Floats) -> NDArray[np.int16]:
    return np.rint(values).astype(np.int16)
