"""Write ``tb_top``: the canonical top ports around a user's top module, of NVDLA or of the second system."""

from __future__ import annotations

from collections.abc import Sequence

from dlhdl_tb.config import DlhdlConfig
from nvdla_models.config import HwConfig
from nvdla_tb.run.compile.kinds import CSB, MEMORIES, NUMBERS, PREFIXES
from nvdla_tb.run.compile.ports import Port, PortMap, bare_ports, refuse_differences
from nvdla_tb.run.compile.shims import canonical_ports, csb_clock, harness_text, instance, marks, shim_text, vector

WRAPPER_TOP = "tb_top"
TIME_UNIT, TIME_PRECISION = "1ns", "1ps"
_DUMP = """\
  string wave_file;
  reg wave_start /* verilator public_flat_rw */ = 1'b0;
  initial if (!$test$plusargs("wave_wait")) wave_start = 1'b1;
  always @(wave_start)
    if (wave_start && $value$plusargs("wave_file=%s", wave_file)) begin
      $dumpfile(wave_file);
      $dumpvars(0, {top});
    end
  nvdla_bench_layer bench_layer ();
"""


_HARNESS_PINS = ("harness_wake", "harness_kick")
"""How the clock loop of the native back end calls the bench, and the harness."""

_SIZES = {"DATA_BITS": "w_wdata", "ADDRESS_BITS": "aw_awaddr", "ID_BITS": "aw_awid", "LENGTH_BITS": "aw_awlen"}
"""Parameters of the harness's port, and the pins that are so wide."""


def wrapper_text(
    config: HwConfig, top: str, actual: Sequence[Port], port_map: PortMap, *, dump: bool, native: bool = False
) -> str:
    """Return the Verilog of the wrapper, whose instance of the user's top is called ``dut``.

    Only these ports are visible to the simulator's VPI, so a test finds the same names whatever
    the user's RTL calls them, and the simulator may optimise everything below.

    Args:
        config: Configuration whose canonical ports the wrapper has.
        top: The user's top module.
        actual: Ports of that module, already checked against the configuration.
        port_map: How they differ.
        dump: Whether the wrapper writes waves when ``+wave_file=`` is given, with ``+wave_wait`` not before
            ``wave_start`` rises, and has the scope that the bench drives for them.
        native: Whether CSB and the memory ports end at the harness inside instead of at the wrapper's ports.
    """
    expected = canonical_ports(config, port_map, actual)
    played = tuple(prefix for prefixes in PREFIXES.values() for prefix in prefixes)
    inner = [port for port in expected if native and port.name.startswith(played)]
    ports = [port for port in expected if port not in inner] + marks(config, port_map, actual)
    if native:
        ports += [Port(name, "input", 1) for name in _HARNESS_PINS]
    widths = {port.name: port.width for port in actual}
    declared = ",\n".join(f"  {port.direction} wire {vector(port.width)}{port.name}" for port in ports)
    wires = "".join(f"  wire {vector(port.width)}{port.name};\n" for port in inner)
    shims, connected = shim_text(config, port_map, actual)
    connected += _connections(config, port_map)
    connected += [f".{name}({widths[name]}'d{value})" for name, value in port_map.ties.items()]
    connected += [f".{name}()" for name in port_map.open]
    interrupts = "".join(f"  wire interrupt_{name};\n" for name in port_map.interrupts)
    if interrupts:
        interrupts += f"  assign dla_intr = {' | '.join(f'interrupt_{name}' for name in port_map.interrupts)};\n"
    harness = _harness(inner, port_map) + harness_text(port_map) if native else ""
    return (
        f"`timescale {TIME_UNIT}/{TIME_PRECISION}\n"
        f"module {WRAPPER_TOP} (\n{declared}\n);\n"
        f"{wires}{interrupts}{shims}{instance(top, 'dut', connected)}"
        f"{harness}"
        f"{_waves(expected) if dump else ''}"
        "endmodule\n"
    )


def _connections(config: HwConfig, port_map: PortMap) -> list[str]:
    """Return the connections of the user's top that no shim makes."""
    connected = [f".{port_map.actual(port.name)}({port.name})" for port in bare_ports(config, port_map)]
    connected += [f".{name}({source.replace('!', '~')})" for name, source in port_map.drives.items()]
    return connected + [f".{name}(interrupt_{name})" for name in port_map.interrupts]


def _waves(expected: Sequence[Port]) -> str:
    """Return the Verilog that writes waves, and the signals that the bench drives for them."""
    text = _DUMP.format(top=WRAPPER_TOP)
    widths = {port.name: port.width for port in expected}
    for memory, name in MEMORIES.items():
        width = widths.get(f"{PREFIXES[memory][0]}w_wdata")
        if width is not None:
            text += f"  nvdla_bench_port #(.DATA_BITS({width})) bench_{name} ();\n"
    return text


def _harness(inner: Sequence[Port], port_map: PortMap) -> str:
    """Return the instances that play CSB and serve the memory ports."""
    clocked, reset = [".clk(dla_core_clk)", ".kick(harness_kick)"], ".reset_n(dla_reset_rstn)"
    pins = [f".{port.name}({port.name})" for port in inner if port.name.startswith(PREFIXES[CSB])]
    played = [f".clk({csb_clock(port_map)})", ".kick(harness_kick)", reset, ".dla_intr(dla_intr)"]
    text = instance("nvdla_harness_csb", "harness_csb", [*played, *pins])
    for memory in MEMORIES:
        prefix, number = PREFIXES[memory][0], NUMBERS[memory]
        width = {p.name.removeprefix(prefix): p.width for p in inner if p.name.startswith(prefix)}
        if width:
            sizes = {"PORT": number} | {name: width[pin] for name, pin in _SIZES.items()}
            parameters = ", ".join(f".{name}({value})" for name, value in sizes.items())
            pins = [reset, *(f".{name}({prefix}{name})" for name in width)]
            text += instance(f"nvdla_harness_port #({parameters})", f"harness_port_{number}", [*clocked, *pins])
    return text


DLHDL_TOP = "dlhdl_core"
"""Top module of the embedded stand-in."""

_DRIVEN = {"IPCORE_CLK": "clk", "AXI4_ACLK": "clk", "IPCORE_RESETN": "reset_n", "AXI4_ARESETN": "reset_n"}
_MASTERS = ("AXI4_Master_Activation_Data", "AXI4_Master_Weight_Data", "AXI4_Master_Debug")
_PINS = {
    ("Rd", "output"): ("ARADDR", "ARLEN", "ARSIZE", "ARBURST", "ARVALID", "RREADY"),
    ("Rd", "input"): ("ARREADY", "RDATA", "RVALID"),
    ("Wr", "output"): (
        *("AWADDR", "AWLEN", "AWSIZE", "AWBURST", "AWVALID"),
        *("WDATA", "WSTRB", "WLAST", "WVALID", "BREADY"),
    ),
    ("Wr", "input"): ("AWREADY", "WREADY", "BVALID"),
}
_DLHDL_DUMP = """\
  string wave_file;
  initial
    if ($value$plusargs("wave_file=%s", wave_file)) begin
      $dumpfile(wave_file);
      $dumpvars(0, {top});
    end
"""


def check_dlhdl_ports(config: DlhdlConfig, top: str, actual: Sequence[Port]) -> None:
    """Compare a top's ports with those that a core of this configuration has.

    Raises:
        PortError: listing every missing port and every difference in direction or width.
    """
    present = {port.name: port for port in actual}
    wanted = {name: ("input", 1) for name in _DRIVEN}
    for master in _MASTERS:
        for (half, direction), names in _PINS.items():
            wanted |= {f"{master}_{half}_{name}": (direction, 0) for name in names}
    data = max(32, 8 * config.beat_bytes)
    for master in _MASTERS[:2]:
        wanted[f"{master}_Rd_RDATA"] = ("input", data)
        wanted[f"{master}_Wr_WDATA"] = ("output", data)
        wanted[f"{master}_Wr_WSTRB"] = ("output", config.beat_bytes)
    differences = []
    for name, (direction, width) in wanted.items():
        port = present.get(name)
        if port is None:
            differences.append(f"missing {direction} {name}")
        elif port.direction != direction:
            differences.append(f"{name} must be {direction}, not {port.direction}")
        elif width not in (0, port.width):
            differences.append(f"{name} must have {width} bits, not {port.width}")
    refuse_differences(top, config.name, differences)


def top_text(config: DlhdlConfig, top: str, actual: Sequence[Port], *, embedded: bool, dump: bool) -> str:
    """Return the Verilog of the wrapper: all ports of the core by their names, one clock and one reset.

    The ``embedded`` stand-in takes parameters; with ``dump`` the wrapper writes waves when ``+wave_file=`` is given.
    """
    ports = [Port(name, "input", 1) for name in dict.fromkeys(_DRIVEN.values())]
    ports += [port for port in actual if port.name not in _DRIVEN]
    declared = ",\n".join(f"  {port.direction} wire {vector(port.width)}{port.name}" for port in ports)
    connected = [f".{port.name}({_DRIVEN.get(port.name, port.name)})" for port in actual]
    parameters = ", ".join(f".{name}({value})" for name, value in config.parameters.items()) if embedded else ""
    module = f"{top} #({parameters})" if parameters else top
    return (
        f"`timescale {TIME_UNIT}/{TIME_PRECISION}\n"
        f"module {WRAPPER_TOP} (\n{declared}\n);\n"
        f"{instance(module, 'dut', connected)}"
        f"{_DLHDL_DUMP.format(top=WRAPPER_TOP) if dump else ''}"
        "endmodule\n"
    )
