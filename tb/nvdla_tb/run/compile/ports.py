"""Expected top ports of a configuration, a user's port map, and the comparison with real RTL."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from nvdla_models.config import HwConfig
from nvdla_models.reading import read_toml, shown
from nvdla_tb.counting import counted
from nvdla_tb.plain_data import converted
from nvdla_tb.run.compile.kinds import (
    CSB,
    CVSRAM,
    DBB,
    PREFIXES,
    Apb,
    Axi4,
    AxiLite,
    Csb,
    Dbb,
    Pin,
    Wrapped,
    WrappedPort,
    pins_of,
    read_pins,
    wrapped_port,
)
from nvdla_tb.run.errors import PortError

_GROUPS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
_INTERRUPT = "dla_intr"
_CLOCKS = ("dla_core_clk", "dla_csb_clk")


@dataclass(frozen=True)
class Port:
    """One top-level port; ``direction`` is ``input``, ``output`` or ``inout`` as the DUT sees it."""

    name: str
    direction: str
    width: int


class PortMapFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A port map.

    Attributes:
        ports: the user's names, by canonical ones.
        tie: constants of the user's inputs.
        drive: clock or reset that the user's inputs get; ``!`` is for a reset that is active high.
        open: outputs that stay unconnected.
        absent: canonical inputs that the user's RTL does not have.
        interrupts: outputs of which any one means ``dla_intr``.
        csb: the register port, when it is of another kind.
        dbb: the memory port, when it is of another kind.
        cvsram: the second memory port, when it is of another kind.
    """

    ports: dict[str, str] = {}
    tie: dict[str, Annotated[int, Meta(ge=0)]] = {}
    drive: dict[str, Literal["dla_core_clk", "dla_csb_clk", "dla_reset_rstn", "!dla_reset_rstn"]] = {}
    open: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    interrupts: tuple[str, ...] = ()
    csb: Csb | Apb | AxiLite | None = None
    dbb: Dbb | Axi4 | None = None
    cvsram: Dbb | Axi4 | None = None


@dataclass(frozen=True)
class PortMap:
    """How a user's RTL differs in its top ports from the configuration's.

    Attributes:
        names: Canonical name to the user's name.
        ties: Extra input of the user's RTL to the constant it is held at.
        open: Extra outputs of the user's RTL that stay unconnected.
        absent: Canonical inputs that the user's RTL does not have.
        drives: Further input of the user's RTL to the clock or reset that it gets.
        interrupts: Outputs of the user's RTL of which any one means ``dla_intr``; empty for one as ``names`` says.
        wrapped: The ports of another kind than the bare ones.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    ties: Mapping[str, int] = field(default_factory=dict)
    open: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    drives: Mapping[str, str] = field(default_factory=dict)
    interrupts: tuple[str, ...] = ()
    wrapped: Mapping[str, WrappedPort] = field(default_factory=dict)

    def actual(self, canonical: str) -> str:
        """Return the name of a canonical port in the user's RTL."""
        return self.names.get(canonical, canonical)

    def is_wrapped(self, canonical: str) -> bool:
        """Return whether a canonical port is part of one that is of another kind in the user's RTL."""
        return any(canonical.startswith(PREFIXES[port]) for port in self.wrapped)

    @property
    def has_one_clock(self) -> bool:
        """Whether the user's RTL clocks CSB with the core's clock."""
        return _CLOCKS[1] in self.absent


def expected_ports(config: HwConfig) -> tuple[Port, ...]:
    """Return the top ports that a DUT of this configuration has.

    Source: ports of the public NV_nvdla in nv_small, nv_large and nv_full.
    """
    absent = () if config.secondary_memif_enable else PREFIXES[CVSRAM]
    memories = {PREFIXES[port][0]: memory_bits(config, port) for port in (DBB, CVSRAM)}
    ports = []
    for group in _GROUPS.values():
        for prefix in (prefix for prefix in group["prefixes"] if prefix not in absent):
            bits = memories.get(prefix, 0)
            words = {"address_bits": config.memif_address_width_bits, "data_bits": bits, "strobe_bits": bits // 8}
            pins = read_pins(group, {word: (width,) for word, width in words.items()})
            ports += [Port(prefix + pin.name, pin.direction, pin.widths[0]) for pin in pins]
    return tuple(ports)


def load_port_map(path: Path, config: HwConfig) -> PortMap:
    """Read a user's port map.

    Args:
        path: The TOML file.
        config: Configuration whose ports the map speaks of.

    Raises:
        PortError: for an unreadable file, an unknown key or port, an ill-typed value, a name used twice.
    """
    file = converted(read_toml(path, PortError), PortMapFile, shown(path), PortError)
    given = {CSB: file.csb, DBB: file.dbb, CVSRAM: file.cvsram}
    if file.cvsram is not None and not config.secondary_memif_enable:
        raise PortError(f"{path}: cvsram must be left out: {config.name} has no secondary memory interface")
    wrapped = {port: wrapped_port(path, port, one) for port, one in given.items() if isinstance(one, Wrapped)}
    port_map = PortMap(file.ports, file.tie, file.open, file.absent, file.drive, file.interrupts, wrapped)
    _check_canonical_names(path, port_map, config)
    _check_user_names(path, port_map, config)
    return port_map


def _check_canonical_names(path: Path, port_map: PortMap, config: HwConfig) -> None:
    """Refuse canonical names that the configuration does not have, or that the map speaks of twice."""
    known = {port.name: port for port in expected_ports(config)}
    for canonical in (*port_map.names, *port_map.absent):
        if canonical not in known:
            raise PortError(f"{path}: {canonical} is not a port of {config.name}")
        if port_map.is_wrapped(canonical):
            raise PortError(f"{path}: {canonical} is a pin of a bare port, and the map says that it is of another kind")
    for name in port_map.absent:
        if known[name].direction != "input":
            raise PortError(f"{path}: absent may list inputs only, not the output {name}")
        if name in port_map.names:
            raise PortError(f"{path}: {name} is both absent and renamed")
    if port_map.interrupts and _INTERRUPT in port_map.names:
        raise PortError(f"{path}: {_INTERRUPT} is both renamed and given as interrupts")


def check(config: HwConfig, top: str, actual: Sequence[Port], port_map: PortMap) -> None:
    """Compare the ``actual`` ports of the RTL's ``top`` with those of the configuration that is to be tested.

    Raises:
        PortError: listing every missing port, every difference in direction or width, and
            every extra port that is neither tied nor open.
    """
    present = {port.name: port for port in actual}
    differences = []
    used = set()
    wanted = [(port, port_map.actual(port.name)) for port in bare_ports(config, port_map)]
    wanted += [(Port(name, "input", 1), name) for name in port_map.drives]
    wanted += [(Port(name, "output", 1), name) for name in port_map.interrupts]
    for port, name in wanted:
        used.add(name)
        pin = Pin(port.name, port.direction, (port.width,), needed=True)
        differences += _pin_problems(pin, name, present.get(name))
    for which, wrapped in port_map.wrapped.items():
        for pin in pins_of(wrapped.kind, memory_bits(config, which)):
            name = wrapped.actual(pin.name)
            used.add(name)
            if name in present or pin.needed or pin.name in wrapped.names:
                differences += _pin_problems(pin, name, present.get(name))
        differences += _pair_problems(wrapped, present)
    for name, value in port_map.ties.items():
        differences += _tie_problems(name, value, present.get(name))
    for name in port_map.open:
        if name not in present or present[name].direction != "output":
            differences.append(f"open port {name} is not an output of {top}")
    for port in actual:
        if port.name in used or port.name in port_map.ties or port.name in port_map.open:
            continue
        remedy = "list it under open" if port.direction == "output" else "give it a value under [tie]"
        if port.direction == "inout":
            remedy = "an inout cannot be connected"
        differences.append(f"extra {port.direction} {port.name}, {_bits(port.width)}: {remedy}")
    refuse_differences(top, config.name, differences)


def bare_ports(config: HwConfig, port_map: PortMap) -> list[Port]:
    """Return the canonical ports that the user's RTL has, under whatever names."""
    skipped = (*port_map.absent, *([_INTERRUPT] if port_map.interrupts else []))
    ports = expected_ports(config)
    return [port for port in ports if port.name not in skipped and not port_map.is_wrapped(port.name)]


def refuse_differences(top: str, config: str, differences: Sequence[str]) -> None:
    """Refuse a top whose ports are not those of its configuration.

    Raises:
        PortError: listing the differences, if there are any.
    """
    if differences:
        places = counted(len(differences), "place")
        lines = (f"  {difference}" for difference in differences)
        raise PortError(f"ports of {top} differ from {config} in {places}:", *lines)


def _pin_problems(pin: Pin, name: str, found: Port | None) -> list[str]:
    """Return what is wrong with a pin, which may be missing."""
    label = pin.name if name == pin.name else f"{pin.name} (as {name})"
    if found is None:
        return [f"missing {pin.direction} {label}, {_widths(pin)}"]
    problems = []
    if found.direction != pin.direction:
        problems.append(f"{label} must be {pin.direction}, not {found.direction}")
    if found.width not in pin.widths:
        problems.append(f"{label} must have {_widths(pin)}, not {found.width}")
    return problems


_EQUAL = (
    ("awid", "bid"),
    ("arid", "rid"),
    ("awid", "arid"),
    ("wdata", "rdata"),
    ("awaddr", "araddr"),
    ("awlen", "arlen"),
)
"""Pins of AXI4 that have one width, and that are there both or not at all."""


def _pair_problems(wrapped: WrappedPort, present: Mapping[str, Port]) -> list[str]:
    """Return which pins of an AXI4 port differ although they must not."""
    if wrapped.kind != "axi4":
        return []
    problems = []
    for pair in (*_EQUAL, ("wdata", "wstrb")):
        ports = [present.get(wrapped.actual(name)) for name in pair]
        widths = [0 if port is None else port.width for port in ports]
        if pair[1] == "wstrb":
            widths[1] *= 8
        names = [wrapped.actual(name) for name in pair]
        if widths[0] != widths[1] and (all(widths) or "id" in pair[0]):
            what = "must have a bit for each byte of" if pair[1] == "wstrb" else "must be as wide as"
            problems.append(f"{names[1]} {what} {names[0]}")
    return problems


def _tie_problems(name: str, value: int, port: Port | None) -> list[str]:
    if port is None or port.direction != "input":
        return [f"tied port {name} is not an input of the RTL"]
    if value >> port.width:
        return [f"tie of {name} must fit {_bits(port.width)}, not {value}"]
    return []


def _check_user_names(path: Path, port_map: PortMap, config: HwConfig) -> None:
    """Refuse names that are no identifiers and a user's port that is used twice."""
    taken: dict[str, str] = {}
    uses = [(port_map.actual(port.name), f"port {port.name}") for port in bare_ports(config, port_map)]
    for which, wrapped in port_map.wrapped.items():
        pins = pins_of(wrapped.kind, memory_bits(config, which))
        uses += [(wrapped.actual(pin.name), f"{pin.name} of {which}") for pin in pins]
    lists = {"tie": port_map.ties, "drive": port_map.drives, "interrupt": port_map.interrupts, "open": port_map.open}
    uses += [(name, use) for use, names in lists.items() for name in names]
    for name, use in uses:
        if not _IDENTIFIER.fullmatch(name):
            raise PortError(f"{path}: {use} needs a Verilog identifier, not {name!r}")
        if name in taken:
            raise PortError(f"{path}: {name} is used twice, as {taken[name]} and as {use}")
        taken[name] = use


def memory_bits(config: HwConfig, port: str) -> int:
    """Return the data width of a memory port, or for CSB that of a register."""
    widths = {CSB: 4, DBB: config.primary_memif_width_bytes, CVSRAM: config.secondary_memif_width_bytes}
    return 8 * widths[port]


def _widths(pin: Pin) -> str:
    if len(pin.widths) > 2 and pin.widths == tuple(range(pin.widths[0], pin.widths[-1] + 1)):
        return f"{pin.widths[0]} to {pin.widths[-1]} bits"
    if len(pin.widths) > 1:
        return f"{', '.join(map(str, pin.widths[:-1]))} or {pin.widths[-1]} bits"
    return _bits(pin.widths[0])


def _bits(width: int) -> str:
    return "1 bit" if width == 1 else f"{width} bits"
