"""Write ``tb_top``: the canonical top ports around a user's top module, whatever its names."""

from __future__ import annotations

from collections.abc import Sequence

from models.config import HwConfig
from tb.launch.ports import Port, PortMap, expected_ports

WRAPPER_TOP = "tb_top"
TIME_UNIT, TIME_PRECISION = "1ns", "1ps"
_DUMP = """\
  string wave_file;
  initial
    if ($value$plusargs("wave_file=%s", wave_file)) begin
      $dumpfile(wave_file);
      $dumpvars(0, {top});
    end
"""


def wrapper_text(config: HwConfig, top: str, actual: Sequence[Port], port_map: PortMap, *, dump: bool) -> str:
    """Return the Verilog of the wrapper, whose instance of the user's top is called ``dut``.

    Only these ports are visible to the simulator's VPI, so a test finds the same names whatever
    the user's RTL calls them, and the simulator may optimise everything below.

    Args:
        config: Configuration whose canonical ports the wrapper has.
        top: The user's top module.
        actual: Ports of that module, already checked against the configuration.
        port_map: The user's renamed, tied, open and absent ports.
        dump: Whether the wrapper writes waves when ``+wave_file=`` is given (Icarus).
    """
    ports = expected_ports(config)
    widths = {port.name: port.width for port in actual}
    declared = ",\n".join(f"  {port.direction} wire {_range(port.width)}{port.name}" for port in ports)
    connected = [f".{port_map.actual(p.name)}({p.name})" for p in ports if p.name not in port_map.absent]
    connected += [f".{name}({widths[name]}'d{value})" for name, value in port_map.ties.items()]
    connected += [f".{name}()" for name in port_map.open]
    instance = f"  {top} dut (\n" + ",\n".join(f"    {line}" for line in connected) + "\n  );\n"
    return (
        f"`timescale {TIME_UNIT}/{TIME_PRECISION}\n"
        f"module {WRAPPER_TOP} (\n{declared}\n);\n"
        f"{instance}"
        f"{_DUMP.format(top=WRAPPER_TOP) if dump else ''}"
        "endmodule\n"
    )


def _range(width: int) -> str:
    return f"[{width - 1}:0] " if width > 1 else ""
