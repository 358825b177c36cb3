"""The lookup tables of SDP and CDP in registers: parameters, and the entries behind the access registers.

Tables and parameters exist once per unit: both register groups share them.
"""

from __future__ import annotations

import numpy as np

from nvdla_models.lut import LE_ENTRIES, LO_ENTRIES, HybridLut, LutChoice, LutTable, Slope
from nvdla_tb.nvdla.program.common import halves
from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.nvdla.program.table import INVERTED_FLAG, SIGNED, Flat, Named, Row, row
from nvdla_tb.nvdla.registers import Register

LutEntries = tuple[tuple[int, ...], tuple[int, ...]]
"""The 16-bit words of LE and of LO."""

ENTRIES = "lut.entries"
"""The attribute that holds a layer's ``LutEntries``: no row of the field table can."""

_SIZES = (LE_ENTRIES, LO_ENTRIES)
_ADDRESS_MASK = 0x3FF
_TABLES = ("le", "lo")
_CHOICE = Named(((LutChoice.LE, 0), (LutChoice.LO, 1)))
_SIDES = ("underflow", "overflow")
_PRIORITIES = (("underflow_priority", "uflow"), ("overflow_priority", "oflow"), ("hybrid_priority", "hybrid"))


class LutMemory:
    """The entries of one unit's tables, followed through the accesses to its access registers.

    Entries are 0 after reset, and the address increments after each entry. Measured on the public nv_small and nv_large
    RTL, and read off nvdlav1's: CDP's address moves only by accesses in the chosen direction and stays at the table's
    last entry; SDP's moves by every write and every read of S_LUT_ACCESS_DATA, past the end of the table, modulo 1024.
    """

    def __init__(self, unit: str) -> None:
        """Start with entries of 0, as after reset."""
        self._tables = tuple([0] * size for size in _SIZES)
        self._address = 0
        self._runs_free = unit == "SDP"

    @property
    def entries(self) -> LutEntries:
        """All entries as they are now."""
        le, lo = self._tables
        return tuple(le), tuple(lo)

    def write(self, register: Register, value: int, access: int) -> None:
        """Follow one write to a unit's shared registers; ``access`` is the word of S_LUT_ACCESS_CFG."""
        if register.name == "S_LUT_ACCESS_CFG":
            self._address = value & _ADDRESS_MASK
        elif register.name == "S_LUT_ACCESS_DATA":
            table = self._tables[access >> 16 & 1]
            if access >> 17 & 1 and self._address < len(table):
                table[self._address] = value & 0xFFFF
            self._move(access, is_write=True)

    def read(self, access: int) -> None:
        """Follow one read of S_LUT_ACCESS_DATA."""
        self._move(access, is_write=False)

    def _move(self, access: int, *, is_write: bool) -> None:
        last = len(self._tables[access >> 16 & 1]) - 1
        if self._runs_free or (is_write == bool(access >> 17 & 1) and self._address != last):
            self._address = (self._address + 1) & _ADDRESS_MASK


def edge_fields(unit: str, edge: str) -> tuple[str, ...]:
    """Return the fields of a table's start or end, such as ``LE_START``: two words in CDP, one in SDP."""
    register = f"{unit}.S_LUT_{edge}"
    return halves(f"{register}_{{}}") if unit == "CDP" else (f"{register}.lut_{edge.lower()}",)


def lut_rows(unit: str, when: str = "") -> tuple[Row, ...]:
    """Return the rows of both tables' parameters; the attribute ``float`` says whether they are FP16's.

    In FP16, starts and ends are FP32 patterns of 32 bits, slopes are FP16 patterns and are not shifted.

    Args:
        unit: SDP or CDP.
        when: Condition of all rows.
    """

    def if_all(*terms: str) -> str:
        return " & ".join(filter(None, (when, *terms)))

    rows = [row("lut.exponent", f"{unit}.S_LUT_CFG.lut_le_function", codec=INVERTED_FLAG, when=when)]
    for attribute, field in _PRIORITIES:
        rows.append(row(f"lut.{attribute}", f"{unit}.S_LUT_CFG.lut_{field}_priority", codec=_CHOICE, when=when))
    info = f"{unit}.S_LUT_INFO.lut"
    rows += [
        row("lut.le.index_offset", f"{info}_le_index_offset", codec=SIGNED, when=if_all("lut.exponent")),
        row("lut.le.index_select", f"{info}_le_index_select", codec=SIGNED, when=if_all("!lut.exponent")),
        row("lut.lo.index_select", f"{info}_lo_index_select", codec=SIGNED, when=when),
    ]
    for table in _TABLES:
        upper = table.upper()
        for edge in ("start", "end"):
            fields = edge_fields(unit, f"{upper}_{edge.upper()}")
            rows += [
                row(f"lut.{table}.{edge}", *fields, codec=SIGNED, when=if_all("!float")),
                row(f"lut.{table}.{edge}", fields[0], when=if_all("float")),
            ]
        for side in _SIDES:
            low = f"lut_{table}_slope_{'uflow' if side == 'underflow' else 'oflow'}"
            scale, shift = (f"{unit}.S_LUT_{upper}_SLOPE_{part.upper()}.{low}_{part}" for part in ("scale", "shift"))
            rows += [
                row(f"lut.{table}.{side}.scale", scale, codec=SIGNED, when=if_all("!float")),
                row(f"lut.{table}.{side}.scale", scale, when=if_all("float")),
                row(f"lut.{table}.{side}.shift", shift, codec=SIGNED, when=if_all("!float")),
            ]
    return tuple(rows)


def flatten_lut(lut: HybridLut) -> Flat:
    """Return the attributes of tables as ``lut_rows`` names them, and their entries."""
    flat: Flat = {"lut.exponent": lut.le.exponent}
    flat |= {f"lut.{attribute}": getattr(lut, attribute) for attribute, _ in _PRIORITIES}
    for name, table in zip(_TABLES, (lut.le, lut.lo), strict=True):
        flat |= {f"lut.{name}.{key}": getattr(table, key) for key in ("start", "end", "index_select", "index_offset")}
        for side in _SIDES:
            slope: Slope = getattr(table, side)
            flat |= {f"lut.{name}.{side}.scale": slope.scale, f"lut.{name}.{side}.shift": slope.shift}
    words = [tuple(table.entries.view(np.uint16).tolist()) for table in (lut.le, lut.lo)]
    return flat | {ENTRIES: (words[0], words[1])}


def build_lut(flat: Flat) -> HybridLut:
    """Return the tables that decoded attributes describe."""
    dtype = np.uint16 if flat["float"] else np.int16
    tables = []
    for name, words in zip(_TABLES, flat[ENTRIES], strict=True):
        slopes = [Slope(flat[f"lut.{name}.{side}.scale"], flat.get(f"lut.{name}.{side}.shift", 0)) for side in _SIDES]
        tables.append(
            LutTable(
                np.array(words, dtype=np.uint16).view(dtype),
                flat[f"lut.{name}.start"],
                flat[f"lut.{name}.end"],
                flat.get(f"lut.{name}.index_select", 0),
                name == "le" and flat["lut.exponent"],
                flat.get(f"lut.{name}.index_offset", 0),
                *slopes,
            )
        )
    le, lo = tables
    return HybridLut(le, lo, *(flat[f"lut.{attribute}"] for attribute, _ in _PRIORITIES))


def lut_writes(unit: str, entries: LutEntries) -> tuple[RegWrite, ...]:
    """Return the writes that load both tables from their first entry.

    Source: LUT programming, "LUT storage programming".
    """
    writes: list[RegWrite] = []
    for table, words in enumerate(entries):
        writes.append(RegWrite(f"{unit}.S_LUT_ACCESS_CFG", 1 << 17 | table << 16))
        writes += [RegWrite(f"{unit}.S_LUT_ACCESS_DATA", word) for word in words]
    return tuple(writes)
