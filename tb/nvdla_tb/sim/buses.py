"""The pins of CSB and of a memory port, found by their prefix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from cocotb.handle import SimHandleBase

from nvdla_models.errors import InputError
from nvdla_tb.judge.port_rules import CHANNELS
from nvdla_tb.sim.native import NEEDS_COROUTINES, is_native

_REQUEST = {name: name for name in ("valid", "ready", "addr", "wdat", "write", "nposted")}
_ANSWER = {"answer_valid": "valid", "answer_data": "data", "write_complete": "wr_complete"}


@dataclass(frozen=True)
class CsbBus:
    """The pins of CSB, seen from the device.

    ::

        bus = CsbBus.from_prefix(dut, "csb2nvdla")                      # csb2nvdla_valid, …, nvdla2csb_data, …
        bus = CsbBus.from_prefix(dut, "cfg", answer_prefix="cfg_rsp")   # cfg_valid, …, cfg_rsp_data, …

    If names follow no prefix, pass the pins one by one: ``CsbBus(valid=dut.req, …)``.

    Attributes:
        valid: A request is offered.
        ready: The device takes it.
        addr: Word address, 16 bits.
        wdat: 32-bit word to write.
        write: The request is a write.
        nposted: The write is answered.
        answer_valid: A read is answered.
        answer_data: The word that it read.
        write_complete: A non-posted write is answered.

    Source: integration manual, "Configuration space bus".
    """

    valid: SimHandleBase
    ready: SimHandleBase
    addr: SimHandleBase
    wdat: SimHandleBase
    write: SimHandleBase
    nposted: SimHandleBase
    answer_valid: SimHandleBase
    answer_data: SimHandleBase
    write_complete: SimHandleBase

    @classmethod
    def from_prefix(cls, entity: SimHandleBase, prefix: str, answer_prefix: str | None = None) -> Self:
        """Find the pins of a module.

        Args:
            entity: Handle of the module with these ports.
            prefix: Prefix of the request pins, such as ``csb2nvdla``.
            answer_prefix: Prefix of the answer pins; by default that of requests with the words around its ``2``
                swapped.

        Raises:
            InputError: naming the missing pins.
        """
        if answer_prefix is None:
            source, two, target = prefix.partition("2")
            if not two:
                raise InputError(
                    f"answer_prefix must be given for the prefix {prefix}, which has no 2 as csb2nvdla has"
                )
            answer_prefix = f"{target}2{source}"
        request = {name: f"{prefix}_{pin}" for name, pin in _REQUEST.items()}
        answer = {name: f"{answer_prefix}_{pin}" for name, pin in _ANSWER.items()}
        return cls(**_found(entity, request | answer))


@dataclass(frozen=True)
class DbbBus:
    """The pins of a memory port, DBB or CVSRAM: a subset of AXI4, seen from the device.

    ::

        bus = DbbBus.from_prefix(dut, "nvdla_core2dbb")     # nvdla_core2dbb_ar_arvalid, …

    Source: integration manual, "DBB interface".
    """

    arvalid: SimHandleBase
    arready: SimHandleBase
    araddr: SimHandleBase
    arid: SimHandleBase
    arlen: SimHandleBase
    awvalid: SimHandleBase
    awready: SimHandleBase
    awaddr: SimHandleBase
    awid: SimHandleBase
    awlen: SimHandleBase
    wvalid: SimHandleBase
    wready: SimHandleBase
    wdata: SimHandleBase
    wstrb: SimHandleBase
    wlast: SimHandleBase
    rvalid: SimHandleBase
    rready: SimHandleBase
    rid: SimHandleBase
    rdata: SimHandleBase
    rlast: SimHandleBase
    bvalid: SimHandleBase
    bready: SimHandleBase
    bid: SimHandleBase

    @classmethod
    def from_prefix(cls, entity: SimHandleBase, prefix: str) -> Self:
        """Find the pins of a module.

        Args:
            entity: Handle of the module with these ports.
            prefix: Prefix such as ``nvdla_core2dbb``; channel and pin follow, as in ``_ar_arvalid``.

        Raises:
            InputError: naming the missing pins.
        """
        channels = CHANNELS.items()
        pins = [(channel, pin) for channel, (valid, ready, payload) in channels for pin in (valid, ready, *payload)]
        return cls(**_found(entity, {pin: f"{prefix}_{channel}_{pin}" for channel, pin in pins}))

    @property
    def bus_bytes(self) -> int:
        """Bytes of a beat."""
        return len(self.wdata) // 8


def _found(entity: SimHandleBase, names: Mapping[str, str]) -> dict[str, SimHandleBase]:
    """Return the pins of a module, given by name."""
    missing = [name for name in names.values() if not hasattr(entity, name)]
    if missing and is_native(entity):
        raise InputError(NEEDS_COROUTINES)
    if missing:
        raise InputError(f"{entity._path} must have the pins of the prefix, and lacks {', '.join(missing)}")
    return {field: getattr(entity, name) for field, name in names.items()}
