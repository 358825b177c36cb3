"""Expected top ports of a configuration, a user's port map, and the comparison with real RTL."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from models.config import HwConfig
from models.reading import read_toml
from tb.run.errors import PortError

_DATA = Path(__file__).with_suffix(".toml")
_SIGNAL = re.compile(r"(?P<name>\w+)(?:\[(?P<width>\w+)\])?")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")


@dataclass(frozen=True)
class Port:
    """One top-level port; ``direction`` is ``input``, ``output`` or ``inout`` as the DUT sees it."""

    name: str
    direction: str
    width: int


@dataclass(frozen=True)
class PortMap:
    """How a user's RTL differs in its top ports from the configuration's.

    Attributes:
        names: Canonical name to the user's name.
        ties: Extra input of the user's RTL to the constant it is held at.
        open: Extra outputs of the user's RTL that stay unconnected.
        absent: Canonical inputs that the user's RTL does not have.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    ties: Mapping[str, int] = field(default_factory=dict)
    open: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()

    def actual(self, canonical: str) -> str:
        """Return the name of a canonical port in the user's RTL."""
        return self.names.get(canonical, canonical)


def expected_ports(config: HwConfig) -> tuple[Port, ...]:
    """Return the top ports that a DUT of this configuration has.

    Source: ports of the public NV_nvdla in nv_small, nv_large and nv_full.
    """
    widths = {"address_bits": config.memif_address_width_bits}
    memories = {"nvdla_core2dbb_": config.primary_memif_width_bytes}
    if config.secondary_memif_enable:
        memories["nvdla_core2cvsram_"] = config.secondary_memif_width_bytes
    ports = []
    for group_name, group in _groups().items():
        for prefix in group["prefixes"]:
            if group_name == "memory":
                if prefix not in memories:
                    continue
                widths |= {"data_bits": 8 * memories[prefix], "strobe_bits": memories[prefix]}
            for direction in ("input", "output"):
                for text in group[f"{direction}s"]:
                    ports.append(_port(prefix, text, direction, widths))
    return tuple(ports)


def load_port_map(path: Path, config: HwConfig) -> PortMap:
    """Read a user's port map.

    The file may hold ``open = [...]``, ``absent = [...]``, a table ``[ports]`` (canonical name =
    user's name) and a table ``[tie]`` (user's input = constant).

    Args:
        path: The TOML file.
        config: Configuration whose ports the map speaks of.

    Raises:
        PortError: for an unreadable file, an unknown key or port, an ill-typed value, a name used twice.
    """
    raw = read_toml(path, PortError)
    allowed = {"ports": dict, "tie": dict, "open": list, "absent": list}
    for key, value in raw.items():
        if key not in allowed:
            raise PortError(f"{path}: unknown key {key}; allowed: {', '.join(allowed)}")
        if not isinstance(value, allowed[key]):
            raise PortError(
                f"{path}: {key} must be a {'table' if allowed[key] is dict else 'list of names'}, not {value!r}"
            )
    known = {port.name: port for port in expected_ports(config)}
    for key in ("open", "absent"):
        for name in raw.get(key, []):
            if not isinstance(name, str):
                raise PortError(f"{path}: {key} must be a list of names, not {name!r}")
    names = raw.get("ports", {})
    for canonical in (*names, *raw.get("absent", [])):
        if canonical not in known:
            raise PortError(f"{path}: {canonical} is not a port of {config.name}")
    for name in raw.get("absent", []):
        if known[name].direction != "input":
            raise PortError(f"{path}: absent may list inputs only, not the output {name}")
        if name in names:
            raise PortError(f"{path}: {name} is both absent and renamed")
    for name, value in raw.get("tie", {}).items():
        if type(value) is not int or value < 0:
            raise PortError(f"{path}: tie of {name} must be a non-negative integer, not {value!r}")
    _check_user_names(path, names, raw, known)
    return PortMap(names, raw.get("tie", {}), tuple(raw.get("open", [])), tuple(raw.get("absent", [])))


def check(config: HwConfig, top: str, actual: Sequence[Port], port_map: PortMap) -> None:
    """Compare the RTL's top ports with the configuration's.

    Args:
        config: Configuration that is to be tested.
        top: Name of the RTL's top module, for the message.
        actual: Ports of that module.
        port_map: The user's renamed, tied, open and absent ports.

    Raises:
        PortError: listing every missing port, every difference in direction or width, and
            every extra port that is neither tied nor open.
    """
    present = {port.name: port for port in actual}
    differences = []
    used = set()
    for port in expected_ports(config):
        if port.name in port_map.absent:
            continue
        name = port_map.actual(port.name)
        used.add(name)
        label = port.name if name == port.name else f"{port.name} (as {name})"
        if name not in present:
            differences.append(f"missing {port.direction} {label}, {_bits(port.width)}")
            continue
        found = present[name]
        if found.direction != port.direction:
            differences.append(f"{label} must be {port.direction}, not {found.direction}")
        if found.width != port.width:
            differences.append(f"{label} must have {_bits(port.width)}, not {found.width}")
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
    if differences:
        lines = "\n".join(f"  {difference}" for difference in differences)
        raise PortError(f"ports of {top} differ from {config.name} in {_places(len(differences))}:\n{lines}")


def _places(count: int) -> str:
    return "1 place" if count == 1 else f"{count} places"


def _tie_problems(name: str, value: int, port: Port | None) -> list[str]:
    if port is None or port.direction != "input":
        return [f"tied port {name} is not an input of the RTL"]
    if value >> port.width:
        return [f"tie of {name} must fit {_bits(port.width)}, not {value}"]
    return []


def _check_user_names(path: Path, names: Mapping[str, Any], raw: Mapping[str, Any], known: Mapping[str, Port]) -> None:
    """Refuse names that are no identifiers and a user's port that is used twice."""
    absent = raw.get("absent", [])
    taken: dict[str, str] = {}
    uses = [(names.get(name, name), f"port {name}") for name in known if name not in absent]
    uses += [(name, "tie") for name in raw.get("tie", {})] + [(name, "open") for name in raw.get("open", [])]
    for name, use in uses:
        if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
            raise PortError(f"{path}: {use} needs a Verilog identifier, not {name!r}")
        if name in taken:
            raise PortError(f"{path}: {name} is used twice, as {taken[name]} and as {use}")
        taken[name] = use


def _bits(width: int) -> str:
    return "1 bit" if width == 1 else f"{width} bits"


@cache
def _groups() -> dict[str, Any]:
    with _DATA.open("rb") as file:
        return tomllib.load(file)


def _port(prefix: str, text: str, direction: str, widths: Mapping[str, int]) -> Port:
    match = _SIGNAL.fullmatch(text)
    if match is None:
        raise PortError(f"{_DATA.name}: {text} must be a name or name[width]")
    width = match["width"] or "1"
    return Port(prefix + match["name"], direction, widths[width] if width in widths else int(width))
