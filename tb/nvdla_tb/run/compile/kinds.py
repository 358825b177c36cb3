"""The kinds of ports that a wrapped NVDLA has in place of CSB and of its memory ports, and their pins."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec

from nvdla_tb.run.errors import PortError

CSB, DBB, CVSRAM = "csb", "dbb", "cvsram"
"""The ports that may be of another kind, as a port map calls them."""

MEMORIES = {DBB: "mc", CVSRAM: "cvsram"}
"""What the wrapper calls the memory behind a port."""

NUMBERS = {DBB: 0, CVSRAM: 1, CSB: 2}
"""What the harness calls the ports."""

PREFIXES = {CSB: ("csb2nvdla_", "nvdla2csb_"), DBB: ("nvdla_core2dbb_",), CVSRAM: ("nvdla_core2cvsram_",)}
"""How the names of their canonical pins begin."""

WIDEST_BITS = 512
"""As many data bits as the harness carries."""

_PINS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_PIN = re.compile(r"(?P<optional>\??)(?P<name>\w+)(?:\[(?P<widths>[\w|-]+)\])?")
_CHANNEL = re.compile(r"aw|ar|[wbr]")
_ADDRESS_BITS = 64


class Pin(NamedTuple):
    """One pin of a kind of port; ``direction`` is ``input`` or ``output`` as the DUT sees it."""

    name: str
    direction: str
    widths: tuple[int, ...]
    needed: bool


@dataclass(frozen=True)
class WrappedPort:
    """A port that is of another kind than the bare one.

    Attributes:
        kind: Its kind, such as ``apb``.
        pins: What the user calls a pin: ``{pin}`` stands for its name and ``{channel}`` for that of its channel; both
            are in capitals when written so.
        names: The pins that are called otherwise.
        base: Address of the first register.
    """

    kind: str
    pins: str = "{pin}"
    names: Mapping[str, str] = field(default_factory=dict)
    base: int = 0

    def actual(self, pin: str) -> str:
        """Return the user's name of a pin."""
        if pin in self.names:
            return self.names[pin]
        channel = _CHANNEL.match(pin)
        words = {"{pin}": pin, "{channel}": "" if channel is None or self.kind == "apb" else channel[0]}
        name = self.pins
        for word, meaning in words.items():
            name = name.replace(word, meaning).replace(word.upper(), meaning.upper())
        return name


class Csb(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="csb"):
    """CSB as it is without a wrapper."""


class Dbb(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="dbb"):
    """A memory port as it is without a wrapper."""


class Wrapped(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """What a port map says of a port of another kind: what its pins are called, and which are called otherwise."""

    pins: str = "{pin}"
    names: dict[str, str] = {}

    @property
    def kind(self) -> str:
        """Which kind it is."""
        return str(self.__struct_config__.tag)


class Axi4(Wrapped, frozen=True, tag="axi4"):
    """A memory port that is AXI4."""


class Apb(Wrapped, frozen=True, tag="apb"):
    """CSB behind a bridge from APB; ``base`` is the address of the first register."""

    base: int = 0


class AxiLite(Wrapped, frozen=True, tag="axi-lite"):
    """CSB behind a bridge from AXI4-Lite; ``base`` is the address of the first register."""

    base: int = 0


def wrapped_port(path: Path, port: str, wrapped: Wrapped) -> WrappedPort:
    """Return the port that a port map's table describes.

    Raises:
        PortError: for an unknown pin, and an address that no register has.
    """
    known = [pin.name for pin in pins_of(wrapped.kind, 8)]
    for name in wrapped.names:
        if name not in known:
            raise PortError(f"{path}: {port}.names.{name} is not a pin of {wrapped.kind}; there are {', '.join(known)}")
    base = wrapped.base if isinstance(wrapped, Apb | AxiLite) else 0
    if not 0 <= base < 1 << _ADDRESS_BITS or base % 4:
        raise PortError(f"{path}: {port}.base must be a multiple of 4 in {_ADDRESS_BITS} bits, not {base}")
    return WrappedPort(wrapped.kind, wrapped.pins, wrapped.names, base)


def pins_of(kind: str, data_bits: int) -> tuple[Pin, ...]:
    """Return the pins of a kind of port.

    Args:
        kind: Its kind, such as ``apb``.
        data_bits: Width of the data of the configuration's memory port; a wrapper may have made it wider.
    """
    data = tuple(data_bits << step for step in range((WIDEST_BITS // data_bits).bit_length()))
    return read_pins(_PINS[kind], {"data": data, "strobe": tuple(bits // 8 for bits in data)})


def read_pins(table: Mapping[str, list[str]], words: Mapping[str, tuple[int, ...]]) -> tuple[Pin, ...]:
    """Return the pins of a table of ``kinds.toml`` or ``ports.toml``; words stand for the widths that they name."""
    return tuple(_pin(text, direction, words) for direction in ("input", "output") for text in table[f"{direction}s"])


def _pin(text: str, direction: str, words: Mapping[str, tuple[int, ...]]) -> Pin:
    match = _PIN.fullmatch(text)
    if match is None:
        raise PortError(f"{text} must be a name or name[widths]")
    widths = match["widths"] or "1"
    return Pin(match["name"], direction, words.get(widths) or tuple(_numbers(widths)), not match["optional"])


def _numbers(text: str) -> Iterator[int]:
    for part in text.split("|"):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)
