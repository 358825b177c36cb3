"""Where hand-overs inside the RTL and clients of the memory interface are watched, and a beat that was seen there.

A TOML file of hand-overs names the clients, by the paths of their signals without ``_valid``, ``_ready`` and ``_pd``:

    [[reader]]
    unit = "SDP_RDMA"
    id = 1                                # on the memory port
    request = "u_o.sdp2mcif_rd_req"       # pd: address, and 15 bits of atoms less one
    answer = "u_o.mcif2sdp_rd_rsp"        # pd: an atom, and its mask
    credit = "u_o.sdp2mcif_rd_cdt_lat_fifo_pop"    # 1 when the unit has room for another atom; may be left out

    [[writer]]
    unit = "SDP"
    id = 1
    request = "u_o.sdp2mcif_wr_req"       # pd: an atom and its mask under a highest bit of 1; under 0 a command:
                                          # address, 13 bits of atoms less one, whether an answer is asked for
    answer = "u_o.mcif2sdp_wr_rsp_complete"

Addresses, atoms and the port's data have as many bits as on the port. The order of one client's accesses is kept.

Source: unit description of the public hardware documents, "Memory interface"; measured on the public nv_small RTL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from nvdla_models.errors import InputError
from nvdla_tb.judge.port_rules import PORT_PREFIX
from nvdla_tb.nvdla.memory import Ram

MOST_BITS = 64
MOST_DELAY = 1000


class StageError(InputError):
    """A file of hand-overs, or one of these, that cannot be used; the message names it and the rule."""


class Tap(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Signals of a hand-over, as paths from the RTL's top.

    Attributes:
        name: What it is called.
        valid: Signal that is 1 for a beat.
        ready: Signal that is 1 when a beat is taken; None when every valid one is.
        data: Signals, from bit 0 up.
        mask: Signals with a bit an element, 0 for one that counts as 0; empty for none.
        element_bits: Bits of an element.
        address: Signal of where it is written, or of the entry of the convolution buffer; None for neither.
        delay: Cycles by which the data come after valid.
        is_pin: Whether the signals are pins of the device, by their canonical names.
        sides: Signals beside the data, by what they say.

    A path may end with the bits that are meant, as in ``unit.pd[33]`` or ``unit.pd[11:8]``, but for valid and ready.
    """

    name: str
    valid: str
    ready: str | None = None
    data: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()
    element_bits: Annotated[int, Meta(ge=1, le=MOST_BITS)] = 8
    address: str | None = None
    delay: Annotated[int, Meta(ge=0, le=MOST_DELAY)] = 0
    is_pin: bool = False
    sides: Mapping[str, str] = {}

    @property
    def paths(self) -> tuple[str, ...]:
        """All of its signals."""
        single = [path for path in (self.valid, self.ready, self.address) if path is not None]
        return (*single, *self.data, *self.mask, *self.sides.values())

    def must(self, holds: bool, rule: str) -> None:
        """Refuse the tap when a rule does not hold."""
        if not holds:
            raise StageError(f"{self.name}: {rule}")


@dataclass(frozen=True)
class Handover:
    """One beat.

    Attributes:
        cycle: cycle of the handshake.
        data: as bytes, bit 0 first.
        address: where it is written, or the entry of the convolution buffer; None for neither.
        unknown: which bits are neither 0 nor 1, as bytes; empty for none.
        sides: the numbers beside the data, in the order of their tap; None for one with unknown bits.
    """

    cycle: int
    data: bytes
    address: int | None = None
    unknown: bytes = b""
    sides: tuple[int | None, ...] = ()


@dataclass(frozen=True)
class Tapped:
    """What was seen at a tap.

    Attributes:
        beats: In the order of their handshakes.
        bits: Of each data signal.
        is_offered: Whether a beat is offered and not taken at the end.
    """

    beats: Sequence[Handover] = ()
    bits: tuple[int, ...] = ()
    is_offered: bool = False


MOST_ID = (1 << 16) - 1

READ_SIZE_BITS, WRITE_SIZE_BITS = 15, 13
_MASKED_BYTES = 8
"""Bytes for which there is a bit in a mask: the atom of nv_small."""


def _port(channel: str, *data: str) -> Tap:
    pins = f"{PORT_PREFIX[Ram.MC]}_{channel}_{channel}"
    data_pins = tuple(f"{pins}{pin}" for pin in data)
    return Tap(name=f"port {channel}", valid=f"{pins}valid", ready=f"{pins}ready", data=data_pins, is_pin=True)


AR = _port("ar", "addr", "len", "id")
R = _port("r", "data", "id")
AW = _port("aw", "addr", "len", "id")
W = _port("w", "data", "strb")
B = _port("b", "id")
PORT = (AR, R, AW, W, B)
"""What is watched of the memory port."""


class Client(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A unit that reads or writes; see the module for the fields."""

    unit: str
    id: Annotated[int, Meta(ge=0, le=MOST_ID)]
    request: str
    answer: str

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f"{self.unit}, id {self.id}"


class Reader(Client, frozen=True):
    """A unit that reads."""

    credit: str | None = None

    @property
    def taps(self) -> tuple[Tap, ...]:
        """Its requests, their answers, and the credits that it returns, if it does."""
        requests = _packed(f"reads of {self.name}", self.request)
        answers = _packed(f"answers to reads of {self.name}", self.answer)
        if self.credit is None:
            return requests, answers
        return requests, answers, Tap(name=f"credits of reads of {self.name}", valid=self.credit)


class Writer(Client, frozen=True):
    """A unit that writes."""

    @property
    def taps(self) -> tuple[Tap, Tap]:
        """Its requests, and their answers."""
        return _packed(f"writes of {self.name}", self.request), Tap(
            name=f"answers to writes of {self.name}", valid=self.answer
        )


def _packed(name: str, path: str) -> Tap:
    return Tap(name=name, valid=f"{path}_valid", ready=f"{path}_ready", data=(f"{path}_pd",))


def check_widths(readers: Sequence[Reader], writers: Sequence[Writer], bits: Mapping[str, tuple[int, ...]]) -> None:
    """Check that requests and answers are as wide as the memory port makes them.

    Args:
        readers: Units that read.
        writers: Units that write.
        bits: Of each data signal of each tap, by its name.

    Raises:
        StageError: when one is not.
    """
    if not (readers or writers):
        return
    address, atom = bits[AR.name][0], bits[R.name][0]
    packed = atom + -(-atom // (8 * _MASKED_BYTES))
    wanted = [(reader.taps[0], address + READ_SIZE_BITS) for reader in readers]
    wanted += [(reader.taps[1], packed) for reader in readers]
    wanted += [(writer.taps[0], packed + 1) for writer in writers]
    for tap, width in wanted:
        if bits[tap.name] != (width,):
            raise StageError(
                f"{tap.data[0]} must have {width} bits with {address} bits of address and {atom} of data on the memory "
                f"port, not {bits[tap.name][0]}"
            )
