"""The ports of a core, and ``tb_top`` around it."""

from __future__ import annotations

from collections.abc import Sequence

from dlhdl_tb.config import DlhdlConfig
from nvdla_tb.run.compile.ports import Port, refuse_differences
from nvdla_tb.run.compile.shims import instance, vector
from nvdla_tb.run.compile.wrapper import TIME_PRECISION, TIME_UNIT, WRAPPER_TOP

TOP = "dlhdl_core"
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
_DUMP = """\
  string wave_file;
  initial
    if ($value$plusargs("wave_file=%s", wave_file)) begin
      $dumpfile(wave_file);
      $dumpvars(0, {top});
    end
"""


def check_ports(config: DlhdlConfig, top: str, actual: Sequence[Port]) -> None:
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
        f"{_DUMP.format(top=WRAPPER_TOP) if dump else ''}"
        "endmodule\n"
    )
