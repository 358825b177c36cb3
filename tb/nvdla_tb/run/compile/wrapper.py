"""Write ``tb_top``: the canonical top ports around a user's top module of NVDLA."""

from __future__ import annotations

from collections.abc import Sequence

from nvdla_models.config import HwConfig
from nvdla_tb.run.compile.kinds import CSB, MEMORIES, NUMBERS, PREFIXES
from nvdla_tb.run.compile.ports import Port, PortMap, bare_ports
from nvdla_tb.run.compile.shims import canonical_ports, csb_clock, harness_text, instance, marks, shim_text, vector

WRAPPER_TOP = "tb_top"
TIME_UNIT, TIME_PRECISION = "1ns", "1ps"
VISIBLE = " /* verilator public_flat_rw */"
"""What shows a signal to a test."""

_DUMP = """\
  string wave_file;
  reg wave_start{visible} = 1'b0;
  task start_waves;
    if ($value$plusargs("wave_file=%s", wave_file)) begin
      $dumpfile(wave_file);
      $dumpvars(0, {top});
    end
  endtask
  // Which of the two a simulator begins with is its own choice, so that neither may wait for the other.
  initial if (!$test$plusargs("wave_wait")) start_waves;
  always @(wave_start) if (wave_start) start_waves;
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
    # Not so the wires to the harness: what a test writes there would be lost, or never judged.
    seen = VISIBLE if native else ""
    declared = ",\n".join(f"  {port.direction} wire {vector(port.width)}{port.name}{seen}" for port in ports)
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
    text = _DUMP.format(top=WRAPPER_TOP, visible=VISIBLE)
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
