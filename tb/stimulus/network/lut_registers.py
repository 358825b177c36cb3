"""Lookup tables of SDP and CDP: from their descriptor to registers, as the public driver writes them."""

from __future__ import annotations

from tb.nvdla.program.lut import edge_fields, lut_writes
from tb.nvdla.program.ops import RegWrite
from tb.nvdla.program.table import SIGNED, Flat, Table, row, written_words
from tb.nvdla.registers import RegisterMap
from tb.stimulus.network.tables import LOW, PATTERN

_EDGES = ("le_start", "le_end", "lo_start", "lo_end")
_SIDES = (("underflow", "uflow"), ("overflow", "oflow"))
_SLOPES = tuple((table, *side) for table in ("le", "lo") for side in _SIDES)


def _table(unit: str) -> Table:
    info = f"{unit}.S_LUT_INFO.lut"
    return (
        row("method", f"{unit}.S_LUT_CFG.lut_le_function"),
        row("underflow_priority", f"{unit}.S_LUT_CFG.lut_uflow_priority"),
        row("overflow_priority", f"{unit}.S_LUT_CFG.lut_oflow_priority"),
        row("hybrid_priority", f"{unit}.S_LUT_CFG.lut_hybrid_priority"),
        row("le_offset", f"{info}_le_index_offset", codec=SIGNED, when="!method"),
        row("le_offset", f"{info}_le_index_select", codec=SIGNED, when="method"),
        row("lo_fraction", f"{info}_lo_index_select", codec=SIGNED),
        *(row(edge, *edge_fields(unit, edge.upper()), codec=LOW) for edge in _EDGES),
        *(
            row(
                f"{table}_{side}.scale",
                f"{unit}.S_LUT_{table.upper()}_SLOPE_SCALE.lut_{table}_slope_{short}_scale",
                codec=PATTERN,
            )
            for table, side, short in _SLOPES
        ),
        *(
            row(
                f"{table}_{side}.shift",
                f"{unit}.S_LUT_{table.upper()}_SLOPE_SHIFT.lut_{table}_slope_{short}_shift",
                codec=SIGNED,
                when="!float",
            )
            for table, side, short in _SLOPES
        ),
    )


TABLES = {unit: _table(unit) for unit in ("SDP", "CDP")}


def load(unit: str, flat: Flat, *, is_float: bool, registers: RegisterMap) -> tuple[RegWrite, ...]:
    """Return the writes that load both tables and what stands beside them.

    Args:
        unit: SDP or CDP.
        flat: The descriptor's fields.
        is_float: Whether the layer computes in FP16, whose slopes are patterns.
        registers: Those of the configuration.

    Raises:
        Refused: for a value that its field cannot hold.
    """
    entries = tuple(tuple(word & 0xFFFF for word in flat[name]) for name in ("le", "lo"))
    words = written_words(TABLES[unit], flat | {"float": is_float}, registers)[unit]
    return (*lut_writes(unit, (entries[0], entries[1])), *(RegWrite(f"{unit}.{n}", word) for n, word in words.items()))
