"""From a layer to the register writes that run it, and from register words back to the layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from models.config import HwConfig
from models.errors import InputError
from models.limits import SURFACE_BYTES
from tb.nvdla.engines import BDMA, Chain, chain_of
from tb.nvdla.layers import BdmaLayer, Layer, PooledLayer
from tb.nvdla.program.copies import LAUNCHES
from tb.nvdla.program.lut import ENTRIES, LutEntries, lut_writes
from tb.nvdla.program.ops import InterruptNotify, Op, Poll, RegWrite, interrupt_of_unit
from tb.nvdla.program.table import Refused, Words, decode_rows, encode_rows
from tb.nvdla.registers import RegisterMap


def uses_lut(layer: Layer) -> bool:
    """Return whether a layer reads its chain's lookup tables, which both register groups share."""
    return ENTRIES in chain_of(layer).coding.flatten(layer)


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
    chain = chain_of(layer)
    groups = {unit: group if isinstance(group, int) else group[unit] for unit in chain.units}
    for number in groups.values():
        if number not in (0, 1):
            raise InputError(f"group must be 0 or 1, not {number}")
    if isinstance(layer, BdmaLayer):
        return encode_copies((layer,), config, groups["BDMA"], sync_id)
    coding = chain.coding
    flat = coding.flatten(layer)
    words = encode_rows(coding.table, flat, registers)
    ops: list[Op] = list(lut_writes(chain.lut_unit, flat[ENTRIES])) if ENTRIES in flat else []
    for unit in chain.units:
        ops.append(RegWrite(f"{unit}.S_POINTER", groups[unit]))
        ops += [RegWrite(f"{unit}.{register}", value) for register, value in words[unit].items()]
    if "CDMA" in chain.units:
        ops.append(Poll("CDMA.S_CBUF_FLUSH_STATUS", 1))
    ops += [RegWrite(f"{unit}.D_OP_ENABLE", 1) for unit in chain.units]
    if sync_id is not None:
        if isinstance(layer, PooledLayer):
            # SDP raises its own interrupt, which a later layer that ends in SDP would take for its end.
            ops.append(InterruptNotify("SDP", groups["SDP"], f"{sync_id}_sdp"))
        ops.append(InterruptNotify(interrupt_of_unit(chain.done_unit), groups[chain.done_unit], sync_id))
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
    table, flatten, _ = BDMA.chains[0].coding
    ops: list[Op] = []
    for layer in layers:
        words = encode_rows(table, flatten(layer), registers)["BDMA"]
        ops += [RegWrite(f"BDMA.{register}", value) for register, value in words.items()]
        ops.append(RegWrite("BDMA.CFG_OP", 1))
    ops.append(RegWrite(f"BDMA.{LAUNCHES[group]}", 1))
    if sync_id is not None:
        ops.append(InterruptNotify("BDMA", group, sync_id))
    return tuple(ops)


def decode(chain: Chain, words: Words, config: HwConfig, lut: LutEntries | None = None) -> Layer:
    """Return the layer that register words program.

    Args:
        chain: The chain that is enabled.
        words: Register words by unit and register name.
        config: The configuration they belong to.
        lut: Entries of the chain's lookup tables, if it has any.

    Raises:
        Refused: naming register, field and rule, when they are illegal or need what is not modelled.
    """
    table, _, build = chain.coding
    layer = build(config, decode_rows(table, words, RegisterMap.of(config)) | {ENTRIES: lut})
    for name, surface in (("input", layer.src), ("output", layer.dst)):
        if surface.layout.nbytes > SURFACE_BYTES:
            raise Refused(
                f"{chain.name}: the {name} must have at most {SURFACE_BYTES} bytes, not {surface.layout.nbytes}"
            )
    return layer
