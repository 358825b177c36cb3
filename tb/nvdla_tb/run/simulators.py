"""The simulators that a device is played in, and what each can: everything else asks this table, never for a name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Simulator:
    """One simulator, by the name that cocotb's runner has for it.

    Attributes:
        title: Its name in the field.
        program: The program that is looked for in the PATH; None for one that comes as a Python package.
        model: The file of a build folder that a simulation runs.
        beside: What of the build folder its tools look for in the folder of a simulation.
        by_cocotb: Whether cocotb's own runner composes its command lines.
        translates: Whether it makes C++ that a compiler has to make a model of, in blocks where control files say so.
        native: Whether agents can be compiled into its models.
        optimises: Whether its models can be compiled by profile.
        counts_code: Whether it counts what of the RTL's code was reached.
        random_registers: Whether registers and memories can begin with random numbers.
        waves: Format of its waves.
        links_waves: Whether it needs libraries for that, and writes VCD without them.
        with_waves: Arguments of a simulation that writes waves.
        without_waves: Arguments of one that does not.
    """

    title: str
    program: str | None
    model: str
    beside: tuple[str, ...] = ()
    by_cocotb: bool = False
    translates: bool = False
    native: bool = False
    optimises: bool = False
    counts_code: bool = False
    random_registers: bool = False
    waves: str = "vcd"
    links_waves: bool = False
    with_waves: tuple[str, ...] = ()
    without_waves: tuple[str, ...] = ()


DEFAULT_SIMULATOR = "verilator"

SIMULATORS = {
    DEFAULT_SIMULATOR: Simulator(
        "Verilator",
        None,
        "tb_top",
        translates=True,
        native=True,
        optimises=True,
        counts_code=True,
        random_registers=True,
        waves="fst",
        links_waves=True,
    ),
    "icarus": Simulator("Icarus", "iverilog", "sim.vvp", waves="fst", with_waves=("-fst",), without_waves=("-none",)),
    "questa": Simulator("Siemens Questa", "vsim", "top/_info", ("top",), by_cocotb=True),
    "vcs": Simulator("Synopsys VCS", "vcs", "simv", by_cocotb=True),
    "xcelium": Simulator("Cadence Xcelium", "xrun", "xrun_snapshot", by_cocotb=True),
    "riviera": Simulator("Aldec Riviera-PRO", "vsimsa", "top/top.lib", ("top", "library.cfg"), by_cocotb=True),
}
"""All of them, by name."""
