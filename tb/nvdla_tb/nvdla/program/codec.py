"""From a layer to the register writes that run it, and from register words back to the layer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.limits import SURFACE_BYTES
from nvdla_tb.nvdla.engines import Chain, chain_of
from nvdla_tb.nvdla.layers import BdmaLayer, Layer, PooledLayer
from nvdla_tb.nvdla.program.bdma import LAUNCHES
from nvdla_tb.nvdla.program.lut import ENTRIES, LutEntries, lut_writes
from nvdla_tb.nvdla.program.ops import InterruptNotify, Op, Poll, RegWrite, interrupt_of_unit
from nvdla_tb.nvdla.program.table import Refused, Words, decode_rows, encode_rows, ignored_bits
from nvdla_tb.nvdla.registers import RegisterMap


def uses_lut(layer: Layer) -> bool:
    """Return whether a layer reads its chain's lookup tables, which both register groups share."""
    return ENTRIES in chain_of(layer).coding.flatten(layer)


def encode(
    layer: Layer,
    config: HwConfig,
    group: int | Mapping[str, int] = 0,
    sync_id: str | None = None,
    *,
    loads_tables: bool = True,
    ignored: np.random.Generator | None = None,
) -> tuple[Op, ...]:
    """Return the program that runs one layer.

    Args:
        layer: The layer.
        config: The configuration it runs on.
        group: Register group, 0 or 1, of all units or by unit: units take turns each on its own, so they
            differ when one took part in a layer that another did not.
        sync_id: Name of the event raised when its interrupt fires; None for no notification. Where SDP hands
            its output to PDP, SDP's own interrupt raises ``<sync_id>_sdp``.
        loads_tables: False leaves out the lookup tables and their parameters, which an earlier layer has loaded.
        ignored: What fields hold that the layer does not use; without it their values after reset.

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
    coding = chain.coding
    flat = coding.flatten(layer)
    words = encode_rows(coding.table, flat, registers)
    if ignored is not None:
        for unit, of_unit in ignored_bits(coding.table, flat, registers).items():
            for register, bits in of_unit.items():
                words[unit][register] ^= int(ignored.integers(0, 1 << 32)) & bits
    is_copy = isinstance(layer, BdmaLayer)
    ops: list[Op] = list(lut_writes(chain.lut_unit, flat[ENTRIES])) if ENTRIES in flat and loads_tables else []
    for unit in chain.units:
        ops += [] if is_copy else [RegWrite(f"{unit}.S_POINTER", groups[unit])]
        ops += [
            RegWrite(f"{unit}.{register}", value)
            for register, value in words[unit].items()
            if loads_tables or not register.startswith("S_LUT_")
        ]
    if is_copy:
        # BDMA has no groups of registers and no OP_ENABLE: a copy takes a slot, and a group is launched.
        ops += [RegWrite("BDMA.CFG_OP", 1), RegWrite(f"BDMA.{LAUNCHES[groups['BDMA']]}", 1)]
    else:
        ops += [Poll("CDMA.S_CBUF_FLUSH_STATUS", 1)] if "CDMA" in chain.units else []
        ops += [RegWrite(f"{unit}.D_OP_ENABLE", 1) for unit in chain.units]
    if sync_id is not None:
        if isinstance(layer, PooledLayer):
            # SDP raises its own interrupt, which a later layer that ends in SDP would take for its end.
            ops.append(InterruptNotify("SDP", groups["SDP"], f"{sync_id}_sdp"))
        ops.append(InterruptNotify(interrupt_of_unit(chain.done_unit), groups[chain.done_unit], sync_id))
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
