"""The top of a Deep Learning HDL processor: its ports are checked, and a wrapper gives them clock and reset."""

from __future__ import annotations

from collections.abc import Sequence

from tb.dlhdl.config import DlhdlConfig
from tb.run.compile.ports import Port
from tb.run.compile.shims import instance, vector
from tb.run.compile.wrapper import TIME_PRECISION, TIME_UNIT, WRAPPER_TOP
from tb.run.errors import PortError

TOP = "dlhdl_core"
"""Top module of the embedded stand-in."""

_DRIVEN = {"IPCORE_CLK": "clk", "AXI4_ACLK": "clk", "IPCORE_RESETN": "reset_n", "AXI4_ARESETN": "reset_n"}
_MASTERS = ("AXI4_Master_Activation_Data", "AXI4_Master_Weight_Data", "AXI4_Master_Debug")
_READ = {
    "output": ("ARADDR", "ARLEN", "ARSIZE", "ARBURST", "ARVALID", "RREADY"),
    "input": ("ARREADY", "RDATA", "RVALID"),
}
_WRITE = {
    "output": ("AWADDR", "AWLEN", "AWSIZE", "AWBURST", "AWVALID", "WDATA", "WSTRB", "WLAST", "WVALID", "BREADY"),
    "input": ("AWREADY", "WREADY", "BVALID"),
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
        for half, names in (("Rd", _READ), ("Wr", _WRITE)):
            for direction in ("output", "input"):
                wanted |= {f"{master}_{half}_{name}": (direction, 0) for name in names[direction]}
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
    if differences:
        lines = "\n".join(f"  {difference}" for difference in differences)
        places = "1 place" if len(differences) == 1 else f"{len(differences)} places"
        raise PortError(f"ports of {top} differ from {config.name} in {places}:\n{lines}")


def top_text(config: DlhdlConfig, top: str, actual: Sequence[Port], *, embedded: bool, dump: bool) -> str:
    """Return the Verilog of the wrapper: all ports of the core by their names, one clock and one reset.

    Args:
        config: the core's.
        top: its module.
        actual: its ports, already checked.
        embedded: whether it takes the parameters of the embedded stand-in.
        dump: whether the wrapper writes waves when ``+wave_file=`` is given.
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
