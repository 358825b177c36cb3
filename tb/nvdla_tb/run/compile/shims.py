"""Write what stands in the wrapper between canonical pins and those of a wrapped NVDLA: shims of ``hdl_stubs/shim``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nvdla_models.config import HwConfig
from nvdla_tb.judge.wrapped_rules import BROKEN
from nvdla_tb.paths import HDL
from nvdla_tb.run.compile.kinds import CSB, MEMORIES, NUMBERS, PREFIXES, WrappedPort, pins_of
from nvdla_tb.run.compile.ports import Port, PortMap, expected_ports, memory_bits

SHIM_DIR = HDL / "shim"

_MODULES = {"apb": "nvdla_shim_apb", "axi-lite": "nvdla_shim_axi_lite", "axi4": "nvdla_shim_axi4"}
_SAID = {"pready": "1'b1", "pslverr": "1'b0", "bresp": "2'd0", "rresp": "2'd0"}
"""What an output that a device lacks stands for; of AXI4's, see ``_defaults``."""

_PAST = ("valid", "ready", "id", "len", "data", "strb", "last")
"""Endings of the pins of AXI4 that go past the shim to the slave."""

_WATCHED = ("valid", "ready", "addr", "len", "size", "burst", "lock", "cache", "prot", "qos")
"""Those of the pins that the shim of AXI4 sees."""


def canonical_ports(config: HwConfig, port_map: PortMap, actual: Sequence[Port]) -> tuple[Port, ...]:
    """Return the canonical ports, those of wrapped memory ports as wide as the user's ``actual`` ones."""
    present = {port.name: port.width for port in actual}
    ports = []
    for port in expected_ports(config):
        wrapped = next((name for name in port_map.wrapped if port.name.startswith(PREFIXES[name])), None)
        if wrapped is not None and wrapped != CSB:
            pin = port.name.removeprefix(PREFIXES[wrapped][0]).partition("_")[2]
            if pin.endswith(_PAST):
                port = replace(port, width=present.get(port_map.wrapped[wrapped].actual(pin), port.width))
        ports.append(port)
    return tuple(ports)


def marks(config: HwConfig, port_map: PortMap, actual: Sequence[Port]) -> list[Port]:
    """Return the wrapper's ports by which the bench knows what is wrapped.

    The input ``bus_mc`` or ``bus_cvsram`` is as many bits wide as a wrapped memory port has bytes; nothing else is made
    of it.
    """
    ports = [Port("one_clock", "input", 1)] if port_map.has_one_clock else []
    widths = {port.name: port.width for port in actual}
    for name, wrapped in port_map.wrapped.items():
        broken = _broken(name, wrapped)
        ports.append(Port(broken, "output", BROKEN[broken].rules))
        if name in MEMORIES:
            ports.append(Port(f"bus_{MEMORIES[name]}", "input", widths[wrapped.actual("wdata")] // 8))
    return ports


def shim_text(config: HwConfig, port_map: PortMap, actual: Sequence[Port]) -> tuple[str, list[str]]:
    """Return the shims as Verilog, and the connections of the user's top, whose ports ``actual`` are, to them."""
    widths = {port.name: port.width for port in actual}
    text, connected = "", []
    for name, wrapped in port_map.wrapped.items():
        of_pins = {
            pin.name: widths[wrapped.actual(pin.name)]
            for pin in pins_of(wrapped.kind, memory_bits(config, name))
            if wrapped.actual(pin.name) in widths
        }
        shim = _registers if name == CSB else _memory
        body, nets = shim(config, port_map, name, of_pins)
        text += body
        connected += [f".{wrapped.actual(pin)}({net})" for pin, net in nets.items()]
    return text, connected


def harness_text(port_map: PortMap) -> str:
    """Return the instances that hand broken rules to the harness."""
    text = ""
    for name, wrapped in port_map.wrapped.items():
        broken = _broken(name, wrapped)
        clock = csb_clock(port_map) if name == CSB else "dla_core_clk"
        parameters = f"#(.PORT({NUMBERS[name]}), .FIRST({BROKEN[broken].first}), .RULES({BROKEN[broken].rules}))"
        pins = [f".clk({clock})", f".broken({broken})"]
        text += instance(f"nvdla_harness_rules {parameters}", f"harness_rules_{NUMBERS[name]}", pins)
    return text


def csb_clock(port_map: PortMap) -> str:
    """Return the clock of the user's registers."""
    return "dla_core_clk" if port_map.has_one_clock else "dla_csb_clk"


def _registers(config: HwConfig, port_map: PortMap, name: str, widths: Mapping[str, int]) -> tuple[str, dict[str, str]]:
    wrapped = port_map.wrapped[name]
    nets = {pin: f"{name}_{pin}" for pin in widths}
    address = widths["paddr" if wrapped.kind == "apb" else "awaddr"]
    canonical = [port.name for port in expected_ports(config) if port.name.startswith(PREFIXES[CSB])]
    pins = [f".clk({csb_clock(port_map)})", ".reset_n(dla_reset_rstn)", *(f".{pin}({pin})" for pin in canonical)]
    pins += [f".{pin}({net})" for pin, net in nets.items()]
    outputs = [pin.name for pin in pins_of(wrapped.kind, 8) if pin.direction == "output"]
    pins += [f".{pin}({_SAID[pin]})" for pin in outputs if pin not in nets]
    parameters = f"#(.ADDRESS_BITS({address}), .BASE(64'd{wrapped.base}))"
    declared = "".join(f"  wire {vector(width)}{nets[pin]};\n" for pin, width in widths.items())
    pins.append(f".broken({_broken(name, wrapped)})")
    return declared + instance(f"{_MODULES[wrapped.kind]} {parameters}", f"{name}_shim", pins), nets


def _memory(config: HwConfig, port_map: PortMap, name: str, widths: Mapping[str, int]) -> tuple[str, dict[str, str]]:
    prefix = PREFIXES[name][0]
    text, nets = "", {}
    for pin, width in widths.items():
        if pin.endswith(_PAST):
            nets[pin] = f"{prefix}{_channel(pin)}_{pin}"
        elif pin.endswith("user") and pin[0] in "br":
            nets[pin] = f"{width}'d0"
        elif pin.endswith(("user", "region")):
            nets[pin] = ""
        else:
            nets[pin] = f"{name}_{pin}"
            text += f"  wire {vector(width)}{nets[pin]};\n"
    answers = [pin for pin in ("bresp", "rresp") if pin in nets]
    if answers:
        pins = [f".{pin}({prefix}{pin[0]}_{pin})" for pin in ("bvalid", "bready", "rvalid", "rready")]
        pins += [".clk(dla_core_clk)", ".reset_n(dla_reset_rstn)", *(f".{pin}({nets[pin]})" for pin in answers)]
        text += instance("nvdla_shim_errors", f"{name}_errors", pins)
    # A device without ids has one.
    for pin in ("awid", "arid"):
        if pin not in widths:
            text += f"  assign {prefix}{_channel(pin)}_{pin} = 8'd0;\n"
    for pin in ("awaddr", "araddr"):
        text += f"  assign {prefix}{_channel(pin)}_{pin} = {nets[pin]};\n"
    defaults = _defaults(widths["wdata"] // 8)
    pins = [".clk(dla_core_clk)", ".reset_n(dla_reset_rstn)"]
    for channel in ("aw", "ar"):
        pins += [f".{channel}{pin}({nets.get(f'{channel}{pin}', defaults.get(pin))})" for pin in _WATCHED]
    sizes = f".DATA_BITS({widths['wdata']}), .ADDRESS_BITS({widths['awaddr']})"
    pins.append(f".broken({_broken(name, port_map.wrapped[name])})")
    module = f"{_MODULES['axi4']} #({sizes}, .MEMORY_BITS({config.memif_address_width_bits}))"
    return text + instance(module, f"{name}_shim", pins), nets


def _broken(name: str, wrapped: WrappedPort) -> str:
    """Return the wrapper's output for the rules that a port breaks."""
    return f"broken_{MEMORIES.get(name, wrapped.kind.replace('-', '_'))}"


def _channel(pin: str) -> str:
    return pin[:2] if pin[:2] in ("aw", "ar") else pin[0]


def _defaults(bus_bytes: int) -> dict[str, str]:
    """Return what pins of AXI4 stand for that a device lacks: a burst of whole words, one after another."""
    return {"size": f"3'd{bus_bytes.bit_length() - 1}", "burst": "2'b01", "lock": "1'b0"} | dict.fromkeys(
        ("cache", "prot", "qos"), "0"
    )


def instance(module: str, name: str, connections: Sequence[str]) -> str:
    """Return an instance of a module, which may have parameters, with connections such as ``.pin(net)``."""
    return f"  {module} {name} (\n" + ",\n".join(f"    {line}" for line in connections) + "\n  );\n"


def vector(width: int) -> str:
    """Return the range of a net, or nothing for one of one bit."""
    return f"[{width - 1}:0] " if width > 1 else ""
