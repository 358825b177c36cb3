"""Commands that compile and run models, composed of what cocotb, Verilator and Icarus document.

Those of other simulators are cocotb's own; see ``vendors``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import cocotb_tools.config
import find_libpython

from nvdla_tb.paths import HDL
from nvdla_tb.run.compile import vendors
from nvdla_tb.run.compile.elaborate import QUIET
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.compile.toolchain import build_jobs, verilator_root
from nvdla_tb.run.compile.wrapper import TIME_PRECISION, TIME_UNIT, WRAPPER_TOP
from nvdla_tb.run.errors import ToolError
from nvdla_tb.run.simulators import SIMULATORS

# Measured on the public nv_small RTL. Delays inside RTL are ignored: the clock comes from outside.
VERILATOR_FLAGS = (
    *QUIET,
    "--no-timing",
    "-O3",
    # Initial state, and every X that the RTL assigns, is 0, or a random number where a run asks Verilator for it. An X
    # that is always 0 can hide a bug, such as a flop whose enable is lost.
    *("--x-assign", "unique", "--x-initial", "unique"),
    # A reset that is low from time 0 has no falling edge otherwise, and flops behind gated clocks would
    # keep 0 instead of their reset value: the write command queue of nv_small then raised false interrupts.
    "--x-initial-edge",
    *("--output-split", "20000"),
)
HARNESS_DIR = HDL / "harness"
_HARNESS_LINK, _LIBRARIES_LINK, _MAIN_LINK, _ROOT_LINK = "harness", "libraries", "main", "verilator"
"""Symbolic links in a build folder: make cannot take a path with a blank, and these are all that it sees of paths."""

HANDOVERS_DIR = HDL / "handovers"
VISIBLE_HANDOVERS = HANDOVERS_DIR / "visible.vlt"
"""The control file that makes hand-overs inside visible."""

TOP_PORTS_ONLY = ("--public-depth", "1")
ALL_SIGNALS = ("--public-flat-rw",)
TOP_PORTS_FILE = "top_ports.vlt"
TOP_PORTS_CONTROL = f'`verilator_config\npublic_flat_rw -module "{WRAPPER_TOP}" -var "*"\n'
"""The rule of ``TOP_PORTS_ONLY``, as the text of a control file."""

HIERARCHICAL = "--hierarchical"
"""Compiles the modules that control files name as blocks of their own."""

_FOR_THIS_PROCESSOR = "-O3 -march=native"
PROFILING = f"{_FOR_THIS_PROCESSOR} -fprofile-generate"
"""Compiler options of a model that counts which of its branches are taken, in files beside its objects."""

PROFILED = f"{_FOR_THIS_PROCESSOR} -fprofile-use -fprofile-partial-training -Wno-missing-profile"
"""Those of the model that is compiled with these counts; what training did not reach is compiled for speed, too."""


def elaborate_command(
    simulator: str, backend: str, directory: Path, sources: Iterable[Path], arguments: Sequence[str]
) -> list[str]:
    """Return the command that reads the RTL: Icarus makes the model, Verilator the C++ that ``make_command`` compiles.

    The build folder gets symbolic links. ``sources`` are the wrapper of the top module and the RTL; ``arguments`` are
    further options of the simulator.

    Source: cocotb documentation, "Extending Existing Build Flows".
    """
    if not SIMULATORS[simulator].translates:
        compiled = str(directory / SIMULATORS[simulator].model)
        return ["iverilog", "-g2012", "-o", compiled, "-s", WRAPPER_TOP, *arguments, *map(str, sources)]
    _link(directory)
    hierarchical = HIERARCHICAL in arguments
    # With blocks Verilator starts itself for each, and then only by its launcher.
    program = "verilator" if hierarchical else "verilator_bin"
    if backend == "native":
        # The bench finds the harness's functions in the running program.
        main = ["-CFLAGS", f"-I{_HARNESS_LINK}", "-LDFLAGS", "-rdynamic", *map(str, _harness_sources())]
    else:
        main = [f"{_MAIN_LINK}/verilator.cpp"]
    return [
        *(str(verilator_root() / "bin" / program), "-cc", "--exe", "--vpi", *VERILATOR_FLAGS),
        *("-Mdir", ".", "--no-MMD", "--prefix", "Vtop", "--top-module", WRAPPER_TOP, "-o", WRAPPER_TOP),
        *("-LDFLAGS", f"-L{_LIBRARIES_LINK} -lcocotbvpi_verilator"),
        *("--timescale", f"{TIME_UNIT}/{TIME_PRECISION}"),
        *(("--build-jobs", str(build_jobs())) if hierarchical else ()),
        *(*arguments, *main, *map(str, sources)),
    ]


def make_command(directory: Path, *, hierarchical: bool, options: str | None = None) -> list[str]:
    """Return the command that compiles Verilator's C++ in a build folder, which may have been made in blocks.

    ``options`` are the compiler's in place of Verilator's ``-Os``.
    """
    return [
        *("make", "-j", str(build_jobs()), "-C", str(directory), "-f", "Vtop_hier.mk" if hierarchical else "Vtop.mk"),
        # The package was configured without these, and both are needed by larger designs.
        *("CFG_CXXFLAGS_PCH_I=-include", "PYTHON3=python3"),
        # It refuses a folder with a blank, which the links have made harmless; blocks have folders of their own.
        *(() if hierarchical else (f"VERILATOR_ROOT={_ROOT_LINK}", "CURDIR=.")),
        *(() if options is None else (f"OPT_FAST={options}", f"OPT_GLOBAL={options}", "USER_LDLIBS=-lgcov")),
    ]


def simulation(
    built: Built,
    test_module: str,
    testcase: str,
    env: Mapping[str, str],
    results_path: Path,
    arguments: Sequence[str],
    loaded: str | None = None,
) -> tuple[list[str], dict[str, str]]:
    """Return the command that runs one cocotb test on a compiled model, and its complete environment.

    Cocotb's results go to ``results_path``, and the module that it loads is ``loaded``, that of the test by default;
    see ``nvdla_tb.run.simulate.simulate`` for the rest.

    Source: cocotb documentation, "Extending Existing Build Flows" and "Environment Variables".
    """
    environment = {
        "GPI_USERS": f"{_libpython()};{cocotb_tools.config.pygpi_entry_point()}",
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYGPI_PYTHON_BIN": sys.executable,
        "COCOTB_TOPLEVEL": WRAPPER_TOP,
        "COCOTB_TEST_MODULES": loaded or test_module,
        "COCOTB_TEST_FILTER": rf"^{re.escape(test_module)}\.{re.escape(testcase)}$",
        "COCOTB_RESULTS_FILE": str(results_path),
        # A crash or a hang then leaves the Python stack in the log.
        "PYTHONFAULTHANDLER": "1",
    }
    tool, model = built.spec.tool, str(built.directory / built.spec.tool.model)
    if tool.by_cocotb:
        command = vendors.simulate_command(built, loaded or test_module, results_path, arguments)
    elif not tool.translates:
        library = cocotb_tools.config.lib_entry("vpi", built.spec.simulator)
        command = ["vvp", "-m", library, model, *arguments]
    else:
        # Verilator applies inertial writes as cocotb expects them.
        environment.setdefault("COCOTB_TRUST_INERTIAL_WRITES", "1")
        # Not from a folder in the model: another environment may have built it, and be gone.
        folders = [str(cocotb_tools.config.libs_dir), os.environ.get("LD_LIBRARY_PATH", "")]
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, folders))
        command = [model, *arguments]
    return command, {**environment, **env}


@cache
def _libpython() -> str:
    """Return the library of this interpreter, as ``cocotb-config --libpython`` prints it."""
    path = find_libpython.find_libpython()
    if path is None:
        raise ToolError("libpython is not installed; install a Python that is built with --enable-shared")
    return str(path)


def _link(directory: Path) -> None:
    targets = {
        _HARNESS_LINK: HARNESS_DIR,
        _LIBRARIES_LINK: cocotb_tools.config.libs_dir,
        _MAIN_LINK: cocotb_tools.config.share_dir / "lib" / "verilator",
        _ROOT_LINK: verilator_root(),
    }
    for name, target in targets.items():
        (directory / name).symlink_to(target)


def _harness_sources() -> list[Path]:
    """Return the harness's sources as Verilator takes them; make compiles the C++, which it finds by a link."""
    compiled = [Path(_HARNESS_LINK) / path.name for path in sorted(HARNESS_DIR.glob("*.cpp"))]
    return compiled + sorted(HARNESS_DIR.glob("*.sv"))
