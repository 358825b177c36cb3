"""The two-table lookup of SDP and CDP: what is programmed, and how a table is chosen.

The documents call the tables X and Y; the registers call X ``LE`` (linear or exponent, 65 entries)
and Y ``LO`` (linear only, 257 entries). The lookups are in ``nvdla_models.lut_integer`` and
``nvdla_models.lut_fp16``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from nvdla_models.arithmetic import check_range, limits
from nvdla_models.errors import InputError
from nvdla_models.fp16 import FP32
from nvdla_models.precision import Precision

LE_ENTRIES = 65
LO_ENTRIES = 257

IntArray = npt.NDArray[np.int64]


class LutUnit(Enum):
    """The unit that holds the LUT: name, bits of its integer input, bits of the index fraction.

    Source: LUT programming, introduction ("only difference ... bit-depth"); the fractions and the
        38th bit of the CDP's start registers measured on the public nv_full RTL.
    """

    SDP = ("SDP", 32, 35)
    CDP = ("CDP", 38, 16)

    @property
    def input_bits(self) -> int:
        """Bits of the signed integer input and of the start and end registers."""
        return self.value[1]

    @property
    def fraction_bits(self) -> int:
        """Bits of the interpolation fraction; what is below is cut off."""
        return self.value[2]


INDEX_SELECT_RANGE = {
    (LutUnit.SDP, Precision.INT8, LE_ENTRIES): (-6, 25),
    (LutUnit.SDP, Precision.INT8, LO_ENTRIES): (-8, 23),
    (LutUnit.SDP, Precision.INT16, LE_ENTRIES): (-6, 25),
    (LutUnit.SDP, Precision.INT16, LO_ENTRIES): (-8, 23),
    (LutUnit.SDP, Precision.FP16, LE_ENTRIES): (-128, 121),
    (LutUnit.SDP, Precision.FP16, LO_ENTRIES): (-128, 119),
    (LutUnit.CDP, Precision.INT8, LE_ENTRIES): (-6, 15),
    (LutUnit.CDP, Precision.INT8, LO_ENTRIES): (-8, 13),
    (LutUnit.CDP, Precision.INT16, LE_ENTRIES): (-6, 31),
    (LutUnit.CDP, Precision.INT16, LO_ENTRIES): (-8, 29),
    (LutUnit.CDP, Precision.FP16, LE_ENTRIES): (-128, 121),
    (LutUnit.CDP, Precision.FP16, LO_ENTRIES): (-128, 119),
}
"""Allowed INDEX_SELECT of a linear table.

Source: programming guide, "LUT".
"""

INDEX_OFFSET_RANGE = {
    (LutUnit.SDP, Precision.INT8): (-64, 31),
    (LutUnit.SDP, Precision.INT16): (-64, 31),
    (LutUnit.SDP, Precision.FP16): (-126, 127),
    (LutUnit.CDP, Precision.INT8): (-64, 20),
    (LutUnit.CDP, Precision.INT16): (-64, 36),
    (LutUnit.CDP, Precision.FP16): (-126, 127),
}
"""Allowed LE_INDEX_OFFSET of an exponent table.

Source: programming guide, "LUT".
"""


class LutChoice(IntEnum):
    """A one-bit priority field: which table's output is taken.

    Source: LUT programming, "Hit/Miss behavior".
    """

    LE = 0
    LO = 1


class Place(IntEnum):
    """Where an input lies relative to one table."""

    UNDERFLOW = 0
    HIT = 1
    OVERFLOW = 2


@dataclass(frozen=True)
class Slope:
    """The slope of the straight line that continues a table beyond its end.

    Args:
        scale: a signed 16-bit integer, or an FP16 pattern in the FP16 pipeline.
        shift: signed, 5 bits; right if positive, left if negative; not used for FP16.

    Raises:
        InputError: when a value does not fit its register.

    Source: LUT programming, "Out-of-range control".
    """

    scale: int = 0
    shift: int = 0

    def __post_init__(self) -> None:
        check_range("scale", self.scale, -(1 << 15), (1 << 16) - 1)
        check_range("shift", self.shift, *limits(5))


@dataclass(frozen=True, eq=False)
class LutTable:
    """One table.

    Args:
        entries: (65,) or (257,), int16, or uint16 patterns in the FP16 pipeline.
        start: of the covered range: a signed integer, or an FP32 pattern in the FP16 pipeline.
        end: of the covered range, likewise.
        index_select: binary logarithm of the distance between two entries, signed, 8 bits; linear.
        exponent: whether the entries lie at ``start + 2**(index_offset + i)``; only LE can.
        index_offset: exponent of entry 0, signed, 8 bits; exponent mode.
        underflow: slope below the table.
        overflow: slope above the table.

    Raises:
        InputError: when a value does not fit its register or the entries have no table's size.

    Source: LUT programming, "Exponential mode", "Linear mode", "Out-of-range control".
    """

    entries: npt.NDArray[Any]
    start: int
    end: int
    index_select: int = 0
    exponent: bool = False
    index_offset: int = 0
    underflow: Slope = Slope()
    overflow: Slope = Slope()

    def __post_init__(self) -> None:
        if self.entries.shape not in ((LE_ENTRIES,), (LO_ENTRIES,)):
            raise InputError(f"entries must have the shape (65,) or (257,), not {self.entries.shape}")
        if self.entries.dtype not in (np.int16, np.uint16):
            raise InputError(f"entries must be int16 or uint16 FP16 patterns, not {self.entries.dtype}")
        if self.exponent and self.entries.shape != (LE_ENTRIES,):
            raise InputError("exponent must be False for the table of 257 entries: only LE has the exponent mode")
        check_range("index_select", self.index_select, *limits(8))
        check_range("index_offset", self.index_offset, *limits(8))

    def __eq__(self, other: object) -> bool:
        """Compare every entry and every parameter."""
        return isinstance(other, LutTable) and self._key() == other._key()

    def __hash__(self) -> int:
        """Hash what equality compares."""
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        others = (getattr(self, field.name) for field in fields(self) if field.name != "entries")
        return (self.entries.dtype, self.entries.tobytes(), *others)

    @property
    def last(self) -> int:
        """Index of the last entry: 64 or 256."""
        return len(self.entries) - 1


@dataclass(frozen=True)
class HybridLut:
    """Both tables and the priorities.

    Args:
        le: the table of 65 entries (X).
        lo: the table of 257 entries (Y), linear.
        underflow_priority: taken when both tables underflow.
        overflow_priority: taken when both tables overflow.
        hybrid_priority: taken when both hit, or when one underflows and the other overflows.

    Raises:
        InputError: when a table has the other's size or the two have different entry types.

    Source: LUT programming, "Hit/Miss behavior".
    """

    le: LutTable
    lo: LutTable
    underflow_priority: LutChoice = LutChoice.LE
    overflow_priority: LutChoice = LutChoice.LE
    hybrid_priority: LutChoice = LutChoice.LE

    def __post_init__(self) -> None:
        for name, table, size in (("le", self.le, LE_ENTRIES), ("lo", self.lo, LO_ENTRIES)):
            if len(table.entries) != size:
                raise InputError(f"{name} must have {size} entries, not {len(table.entries)}")
        if self.le.entries.dtype != self.lo.entries.dtype:
            raise InputError(
                f"le and lo must have the same entry type, not {self.le.entries.dtype} and {self.lo.entries.dtype}"
            )

    def choose(self, le_place: IntArray, lo_place: IntArray) -> IntArray:
        """Return the :class:`LutChoice` of each input.

        Args:
            le_place: :class:`Place` in LE, any shape.
            lo_place: :class:`Place` in LO, same shape.
        """
        only_le = (le_place == Place.HIT) & (lo_place != Place.HIT)
        only_lo = (lo_place == Place.HIT) & (le_place != Place.HIT)
        both_below = (le_place == Place.UNDERFLOW) & (lo_place == Place.UNDERFLOW)
        both_above = (le_place == Place.OVERFLOW) & (lo_place == Place.OVERFLOW)
        return np.select(
            [only_le, only_lo, both_below, both_above],
            [LutChoice.LE, LutChoice.LO, self.underflow_priority, self.overflow_priority],
            self.hybrid_priority,
        ).astype(np.int64)


@dataclass(frozen=True)
class LutCounts:
    """The five statistics of a layer.

    Source: LUT programming, "LUT Statistics".
    """

    le_hit: int
    lo_hit: int
    underflow: int
    overflow: int
    hybrid: int

    def __add__(self, other: LutCounts) -> LutCounts:
        """Return the statistics of the inputs of both."""
        return LutCounts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    @classmethod
    def measured(cls, lut: HybridLut, le_place: IntArray, lo_place: IntArray) -> LutCounts:
        """Count as SDP does.

        ``le_hit`` and ``lo_hit`` count every hit of the table, also where both hit; ``hybrid`` counts
        every input that hits at all; a miss counts where it lies in the table whose output is taken.
        The hardware's registers hold these numbers plus a surplus of idle pipeline slots that does not
        depend on the data, so a check can only ask for "at least".

        Args:
            lut: the tables.
            le_place: :class:`Place` in LE, any shape.
            lo_place: :class:`Place` in LO, same shape.

        Source: measured on the public nv_full and nv_large RTL.
        """
        taken = np.where(lut.choose(le_place, lo_place) == LutChoice.LO, lo_place, le_place)
        masks = (le_place == Place.HIT, lo_place == Place.HIT)
        places = (Place.UNDERFLOW, Place.OVERFLOW, Place.HIT)
        return cls(*(int(np.count_nonzero(mask)) for mask in (*masks, *(taken == place for place in places))))

    @classmethod
    def published(cls, le_place: IntArray, lo_place: IntArray) -> LutCounts:
        """Count as the document says, and CDP does: each input in exactly one of the five.

        An input that hits both tables, or lies below one and above the other, is ``hybrid``.

        Args:
            le_place: :class:`Place` in LE, any shape.
            lo_place: :class:`Place` in LO, same shape.

        Source: LUT programming, "LUT Statistics"; CDP measured on the public nv_small and nv_large RTL.
        """
        le_hit, lo_hit = le_place == Place.HIT, lo_place == Place.HIT
        below = (le_place == Place.UNDERFLOW) & (lo_place == Place.UNDERFLOW)
        above = (le_place == Place.OVERFLOW) & (lo_place == Place.OVERFLOW)
        one = le_hit ^ lo_hit
        masks = (one & le_hit, one & lo_hit, below, above, ~(one | below | above))
        return cls(*(int(np.count_nonzero(mask)) for mask in masks))


@dataclass(frozen=True, eq=False)
class LutResult:
    """The result of a lookup.

    Attributes:
        values: int64, or FP17 patterns in the FP16 pipeline; the input's shape.
        le_place: :class:`Place` in LE, int64.
        lo_place: :class:`Place` in LO, int64.
    """

    values: npt.NDArray[Any]
    le_place: IntArray
    lo_place: IntArray


def linear_end(start: int | Fraction, select: int, entries: int, unit: LutUnit, precision: Precision) -> Fraction:
    """Return the end of a linear table: ``start + 2**(select + 6)``, or 8 for 257 entries.

    Args:
        start: encoded value of entry 0.
        select: INDEX_SELECT.
        entries: 65 or 257.
        unit: SDP or CDP.
        precision: precision of the pipeline.

    Raises:
        InputError: when ``select`` is outside the hardware's range, or for FP16 the start is so large that
            the end would equal it.

    Source: programming guide, "LUT".
    """
    low, high = INDEX_SELECT_RANGE[unit, precision, entries]
    if not low <= select <= high:
        raise InputError(f"index select must be from {low} to {high} for {unit.name} {precision.name}, not {select}")
    width = (entries - 1) * Fraction(2) ** select
    if precision is Precision.FP16 and abs(Fraction(start)) >= width * 2**24:
        raise InputError(
            f"start must be below {width * 2**24} in magnitude, not {start}: FP32 cannot tell the ends apart"
        )
    return start + width


def exponent_end(start: int | Fraction, offset: int, unit: LutUnit, precision: Precision) -> Fraction:
    """Return the end of an exponent table: ``start + 2**(offset + 64)``, or the largest the registers hold.

    Args:
        start: encoded value below entry 0.
        offset: LE_INDEX_OFFSET.
        unit: SDP or CDP.
        precision: precision of the pipeline.

    Raises:
        InputError: when ``offset`` is outside the hardware's range.

    Source: programming guide, "LUT".
    """
    low, high = INDEX_OFFSET_RANGE[unit, precision]
    if not low <= offset <= high:
        raise InputError(f"index offset must be from {low} to {high} for {unit.name} {precision.name}, not {offset}")
    largest = FP32.max_value if precision is Precision.FP16 else limits(unit.input_bits)[1]
    return min(start + Fraction(2) ** (offset + LE_ENTRIES - 1), Fraction(largest))
