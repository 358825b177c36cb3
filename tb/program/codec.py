"""From a layer to the register writes that run it, and from register words back to the layer."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from models.config import HwConfig
from tb.layers import CdpLayer, Layer, PdpLayer, SdpLayer
from tb.program import cdp, pdp, sdp
from tb.program.lut import ENTRIES, LutEntries, lut_writes
from tb.program.ops import InterruptNotify, Op, RegWrite
from tb.program.table import Flat, Refused, Table, Words, decode_rows, encode_rows
from tb.registers import RegisterMap


@dataclass(frozen=True)
class Engine:
    """A unit that runs layers, with the RDMA units that must be enabled along with it."""

    name: str
    units: tuple[str, ...]
    layer: type
    module: ModuleType

    @property
    def table(self) -> Table:
        """The unit's field table."""
        table: Table = self.module.TABLE
        return table

    def flatten(self, layer: Any) -> Flat:
        """Return a layer's attributes by the names of the table."""
        flat: Flat = self.module.flatten(layer)
        return flat

    def build(self, config: HwConfig, flat: Flat) -> Layer:
        """Return the layer that attributes describe."""
        layer: Layer = self.module.build(config, flat)
        return layer


ENGINES = (
    Engine("SDP", sdp.UNITS, SdpLayer, sdp),
    Engine("PDP", pdp.UNITS, PdpLayer, pdp),
    Engine("CDP", cdp.UNITS, CdpLayer, cdp),
)
UNMODELLED_UNITS = ("CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC", "BDMA", "RBK")
"""Units whose OP_ENABLE is refused: nothing predicts what they write."""


def engine_of_unit(unit: str) -> Engine:
    """Return the engine that a unit belongs to.

    Raises:
        Refused: for a unit without a model.
    """
    for engine in ENGINES:
        if unit in engine.units:
            return engine
    raise Refused(f"{unit}.D_OP_ENABLE.op_en must stay DISABLE: {unit} is not modelled")


def engine_of(layer: Layer) -> Engine:
    """Return the engine that runs a layer."""
    return next(engine for engine in ENGINES if isinstance(layer, engine.layer))


def uses_lut(layer: Layer) -> bool:
    """Return whether a layer reads its engine's lookup tables, which both register groups share."""
    return ENTRIES in engine_of(layer).flatten(layer)


def encode(layer: Layer, config: HwConfig, group: int = 0, sync_id: str | None = None) -> tuple[Op, ...]:
    """Return the program that runs one layer.

    Args:
        layer: The layer.
        config: The configuration it runs on.
        group: Register group, 0 or 1.
        sync_id: Name of the event raised when its interrupt fires; None for no notification.

    Returns:
        The entries of the lookup tables that the layer uses, pointer writes, every register of the units'
        tables, OP_ENABLE of each unit (RDMA units first), and the interrupt notification.

    Raises:
        Refused: for a layer that the registers cannot hold.
        ValueError: for a group that does not exist, or a layer of another configuration.
    """
    if layer.src.layout.config != config:
        raise ValueError(f"layer must be laid out for {config.name}, not {layer.src.layout.config.name}")
    if group not in (0, 1):
        raise ValueError(f"group must be 0 or 1, not {group}")
    registers = RegisterMap.of(config)
    engine = engine_of(layer)
    flat = engine.flatten(layer)
    words = encode_rows(engine.table, flat, registers)
    ops: list[Op] = list(lut_writes(engine.name, flat[ENTRIES])) if ENTRIES in flat else []
    for unit in engine.units:
        ops.append(RegWrite(f"{unit}.S_POINTER", group))
        ops += [RegWrite(f"{unit}.{register}", value) for register, value in words[unit].items()]
    ops += [RegWrite(f"{unit}.D_OP_ENABLE", 1) for unit in engine.units]
    if sync_id is not None:
        ops.append(InterruptNotify(engine.name, group, sync_id))
    return tuple(ops)


def decode(engine: Engine, words: Words, config: HwConfig, lut: LutEntries | None = None) -> Layer:
    """Return the layer that register words program.

    Args:
        engine: The engine that is enabled.
        words: Register words by unit and register name.
        config: The configuration they belong to.
        lut: Entries of the engine's lookup tables, if it has any.

    Raises:
        Refused: naming register, field and rule, when they are illegal or need what is not modelled.
    """
    return engine.build(config, decode_rows(engine.table, words, RegisterMap.of(config)) | {ENTRIES: lut})
