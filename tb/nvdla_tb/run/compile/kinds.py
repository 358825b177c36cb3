"""The kinds of ports that a wrapped NVDLA has in place of CSB and of its memory ports, and their pins."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from nvdla_tb.run.errors import PortError

CSB, DBB, CVSRAM = "csb", "dbb", "cvsram"
"""The ports that may be of another kind, as a port map calls them."""

KINDS = {CSB: ("csb", "apb", "axi-lite"), DBB: ("dbb", "axi4"), CVSRAM: ("dbb", "axi4")}
"""What each of them may be; the first is what it is without a wrapper."""

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
        kind: One of ``KINDS``.
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


def load_wrapped(path: Path, port: str, raw: Mapping[str, Any]) -> WrappedPort | None:
    """Return what a port map's table says of a port, or None for a bare one.

    Raises:
        PortError: for an unknown kind, key or pin, and for ill-typed values.
    """
    kinds, kind = KINDS[port], raw.get("kind")
    if kind not in kinds:
        raise PortError(f"{path}: {port}.kind must be one of {', '.join(kinds)}, not {kind!r}")
    is_bare = kind == kinds[0]
    allowed: dict[str, type] = {"kind": str}
    if not is_bare:
        allowed |= {"pins": str, "names": dict} | ({"base": int} if port == CSB else {})
    for key, value in raw.items():
        if key not in allowed:
            raise PortError(f"{path}: {port} has no key {key} as {kind}; allowed: {', '.join(allowed)}")
        if type(value) is not allowed[key]:
            raise PortError(f"{path}: {port}.{key} must be a {_TYPES[allowed[key]]}, not {value!r}")
    if is_bare:
        return None
    known = [pin.name for pin in pins_of(kind, 8)]
    for name in raw.get("names", {}):
        if name not in known:
            raise PortError(f"{path}: {port}.names: {name} is not a pin of {kind}; there are {', '.join(known)}")
    base = raw.get("base", 0)
    if not 0 <= base < 1 << _ADDRESS_BITS or base % 4:
        raise PortError(f"{path}: {port}.base must be a multiple of 4 in {_ADDRESS_BITS} bits, not {base}")
    return WrappedPort(kind, raw.get("pins", "{pin}"), raw.get("names", {}), base)


_TYPES = {str: "string", dict: "table", int: "number"}


def pins_of(kind: str, data_bits: int) -> tuple[Pin, ...]:
    """Return the pins of a kind of port.

    Args:
        kind: One of ``KINDS``.
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
