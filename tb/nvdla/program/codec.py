"""From a layer to the register writes that run it, and from register words back to the layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from models.config import HwConfig
from models.errors import InputError
from models.limits import SURFACE_BYTES
from tb.nvdla.layers import (
    BdmaLayer,
    CdpLayer,
    ConvLayer,
    Layer,
    PdpLayer,
    PooledLayer,
    RubikLayer,
    SdpLayer,
)
from tb.nvdla.program import bdma, cdp, conv, pdp, pooled, rubik, sdp, units
from tb.nvdla.program.copies import LAUNCHES
from tb.nvdla.program.lut import ENTRIES, LutEntries, lut_writes
from tb.nvdla.program.ops import InterruptNotify, Op, Poll, RegWrite, interrupt_of_unit
from tb.nvdla.program.table import Flat, Refused, Table, Words, decode_rows, encode_rows
from tb.nvdla.registers import RegisterMap

WordsOf = Callable[[str], Mapping[str, int]]
"""From a unit to the register words of its next group."""


class Coding(NamedTuple):
    """How the layers of an engine stand in registers.

    Attributes:
        table: Field table of all units.
        flatten: From a layer to its attributes by the names of the table.
        build: From attributes to the layer.
    """

    table: Table
    flatten: Callable[[Any], Flat]
    build: Callable[[HwConfig, Flat], Layer]


def _always(words_of: WordsOf, registers: RegisterMap) -> bool:
    return True


@dataclass(frozen=True)
class Engine:
    """Units that run a layer together.

    Attributes:
        name: What messages call it.
        units: All units that must be enabled, in the order that ``encode`` enables them.
        done_unit: The unit whose done interrupt ends the layer.
        layer: The type of its layers.
        coding: How they stand in registers.
        runs: Whether it runs this layer, among the engines for the type.
        chosen: Whether the words of its units select it, among the engines that share a unit.
    """

    name: str
    units: tuple[str, ...]
    done_unit: str
    layer: type[Layer]
    coding: Coding
    runs: Callable[[Any], bool] = lambda layer: True
    chosen: Callable[[WordsOf, RegisterMap], bool] = _always

    @property
    def lut_unit(self) -> str:
        """The unit whose lookup tables it uses, if it uses any."""
        return "SDP" if "SDP" in self.units else self.done_unit


def _pooled(producer: Coding) -> Coding:
    """Return how layers stand in registers whose result PDP pools on the fly."""
    table, flatten, build = producer
    return Coding(pooled.table(table), partial(pooled.flatten, flatten), partial(pooled.build, build))


def _from_memory(words_of: WordsOf, registers: RegisterMap) -> bool:
    return not units.is_flying("SDP", words_of("SDP"), registers)


def _without_operands(words_of: WordsOf, registers: RegisterMap) -> bool:
    words = words_of("SDP")
    return units.is_flying("SDP", words, registers) and not units.takes_operands(words, registers)


def _with_operands(words_of: WordsOf, registers: RegisterMap) -> bool:
    words = words_of("SDP")
    return units.is_flying("SDP", words, registers) and units.takes_operands(words, registers)


def _to_memory(chosen: Callable[[WordsOf, RegisterMap], bool]) -> Callable[[WordsOf, RegisterMap], bool]:
    """Return the condition under which SDP's output goes to memory."""
    return lambda words_of, registers: not units.hands_on(words_of("SDP"), registers) and chosen(words_of, registers)


def _to_pdp(chosen: Callable[[WordsOf, RegisterMap], bool]) -> Callable[[WordsOf, RegisterMap], bool]:
    """Return the condition under which SDP's output goes to PDP, and PDP's input comes from SDP."""
    return lambda words_of, registers: (
        units.hands_on(words_of("SDP"), registers)
        and units.takes_from_sdp(words_of("PDP"), registers)
        and chosen(words_of, registers)
    )


def _pdp_from_memory(words_of: WordsOf, registers: RegisterMap) -> bool:
    return not units.takes_from_sdp(words_of("PDP"), registers)


def _fetches(layer: ConvLayer) -> bool:
    """Return whether SDP_RDMA takes part in a convolution."""
    return any(source is not None and source.memory is not None for source in (layer.x1, layer.x2, layer.y))


_SDP = Coding(sdp.TABLE, sdp.flatten, sdp.build)
_CONV = Coding(conv.TABLE, conv.flatten, conv.build)
_CONV_WITH_OPERANDS = Coding(conv.TABLE_WITH_OPERANDS, conv.flatten, conv.build)

BDMA = Engine("BDMA", units.BDMA, "BDMA", BdmaLayer, Coding(bdma.TABLE, bdma.flatten, bdma.build))
ENGINES = (
    Engine("SDP", units.SDP, "SDP", SdpLayer, _SDP, chosen=_to_memory(_from_memory)),
    Engine(
        "CONV",
        units.CONV_WITH_OPERANDS,
        "SDP",
        ConvLayer,
        _CONV_WITH_OPERANDS,
        runs=_fetches,
        chosen=_to_memory(_with_operands),
    ),
    Engine("CONV", units.CONV, "SDP", ConvLayer, _CONV, chosen=_to_memory(_without_operands)),
    Engine("PDP", units.PDP, "PDP", PdpLayer, Coding(pdp.TABLE, pdp.flatten, pdp.build), chosen=_pdp_from_memory),
    Engine(
        "SDP-PDP",
        units.SDP_TO_PDP,
        "PDP",
        PooledLayer,
        _pooled(_SDP),
        runs=lambda layer: isinstance(layer.producer, SdpLayer),
        chosen=_to_pdp(_from_memory),
    ),
    Engine(
        "CONV-PDP",
        units.CONV_WITH_OPERANDS_TO_PDP,
        "PDP",
        PooledLayer,
        _pooled(_CONV_WITH_OPERANDS),
        runs=lambda layer: _fetches(layer.producer),
        chosen=_to_pdp(_with_operands),
    ),
    Engine("CONV-PDP", units.CONV_TO_PDP, "PDP", PooledLayer, _pooled(_CONV), chosen=_to_pdp(_without_operands)),
    Engine("CDP", units.CDP, "CDP", CdpLayer, Coding(cdp.TABLE, cdp.flatten, cdp.build)),
    Engine("RUBIK", units.RUBIK, "RBK", RubikLayer, Coding(rubik.TABLE, rubik.flatten, rubik.build)),
    BDMA,
)


def done_unit_of(unit: str) -> str:
    """Return the unit that ends the layers that a unit takes part in, those that are pooled on the fly apart.

    Raises:
        Refused: for a unit without a model.
    """
    for engine in ENGINES:
        if unit in engine.units:
            return engine.done_unit
    raise Refused(f"{unit}.D_OP_ENABLE.op_en must stay DISABLE: {unit} is not modelled")


def chosen_engine(unit: str, words_of: WordsOf, registers: RegisterMap) -> Engine | None:
    """Return the engine that a unit takes part in, as register words say, or None when they do not fit together."""
    return next((e for e in ENGINES if unit in e.units and e.chosen(words_of, registers)), None)


def engine_of(layer: Layer) -> Engine:
    """Return the engine that runs a layer."""
    return next(engine for engine in ENGINES if isinstance(layer, engine.layer) and engine.runs(layer))


def uses_lut(layer: Layer) -> bool:
    """Return whether a layer reads its engine's lookup tables, which both register groups share."""
    return ENTRIES in engine_of(layer).coding.flatten(layer)


def encode(
    layer: Layer, config: HwConfig, group: int | Mapping[str, int] = 0, sync_id: str | None = None
) -> tuple[Op, ...]:
    """Return the program that runs one layer.

    Args:
        layer: The layer.
        config: The configuration it runs on.
        group: Register group, 0 or 1, of all units or by unit: units take turns each on its own, so they
            differ when one took part in a layer that another did not.
        sync_id: Name of the event raised when its interrupt fires; None for no notification. Where SDP hands
            its output to PDP, SDP's own interrupt raises ``<sync_id>_sdp``.

    Returns:
        The entries of the lookup tables that the layer uses, pointer writes, every register of the units'
        tables, the wait for the convolution buffer's flush if the layer needs it, OP_ENABLE of each unit
        (RDMA units first, and then from the end of a pipeline), and the interrupt notification.

    Raises:
        Refused: for a layer that the registers cannot hold.
        InputError: for a group that does not exist, or a layer of another configuration.
    """
    if layer.src.layout.config != config:
        raise InputError(f"layer must be laid out for {config.name}, not {layer.src.layout.config.name}")
    registers = RegisterMap.of(config)
    engine = engine_of(layer)
    groups = {unit: group if isinstance(group, int) else group[unit] for unit in engine.units}
    for number in groups.values():
        if number not in (0, 1):
            raise InputError(f"group must be 0 or 1, not {number}")
    if isinstance(layer, BdmaLayer):
        return encode_copies((layer,), config, groups["BDMA"], sync_id)
    coding = engine.coding
    flat = coding.flatten(layer)
    words = encode_rows(coding.table, flat, registers)
    ops: list[Op] = list(lut_writes(engine.lut_unit, flat[ENTRIES])) if ENTRIES in flat else []
    for unit in engine.units:
        ops.append(RegWrite(f"{unit}.S_POINTER", groups[unit]))
        ops += [RegWrite(f"{unit}.{register}", value) for register, value in words[unit].items()]
    if "CDMA" in engine.units:
        ops.append(Poll("CDMA.S_CBUF_FLUSH_STATUS", 1))
    ops += [RegWrite(f"{unit}.D_OP_ENABLE", 1) for unit in engine.units]
    if sync_id is not None:
        if isinstance(layer, PooledLayer):
            # SDP raises its own interrupt, which a later layer that ends in SDP would take for its end.
            ops.append(InterruptNotify("SDP", groups["SDP"], f"{sync_id}_sdp"))
        ops.append(InterruptNotify(interrupt_of_unit(engine.done_unit), groups[engine.done_unit], sync_id))
    return tuple(ops)


def encode_copies(
    layers: Sequence[BdmaLayer], config: HwConfig, group: int = 0, sync_id: str | None = None
) -> tuple[Op, ...]:
    """Return the program that runs copies as one group of BDMA.

    Args:
        layers: The copies, at most 20, with one RAM of the destinations.
        config: The configuration they run on.
        group: 0 or 1.
        sync_id: Name of the event raised when its interrupt fires; None for no notification.

    Raises:
        Refused: for a copy that the registers cannot hold.
    """
    registers = RegisterMap.of(config)
    table, flatten, _ = BDMA.coding
    ops: list[Op] = []
    for layer in layers:
        words = encode_rows(table, flatten(layer), registers)["BDMA"]
        ops += [RegWrite(f"BDMA.{register}", value) for register, value in words.items()]
        ops.append(RegWrite("BDMA.CFG_OP", 1))
    ops.append(RegWrite(f"BDMA.{LAUNCHES[group]}", 1))
    if sync_id is not None:
        ops.append(InterruptNotify("BDMA", group, sync_id))
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
    table, _, build = engine.coding
    layer = build(config, decode_rows(table, words, RegisterMap.of(config)) | {ENTRIES: lut})
    for verb, surface in (("read", layer.src), ("written", layer.dst)):
        if surface.layout.nbytes > SURFACE_BYTES:
            raise Refused(
                f"{engine.name}: what is {verb} must have at most {SURFACE_BYTES} bytes, not {surface.layout.nbytes}"
            )
    return layer
