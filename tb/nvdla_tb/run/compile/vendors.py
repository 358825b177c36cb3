"""Simulators of vendors: a program of ours has cocotb's own runner compile and simulate, with the vendor's options.

Source: cocotb documentation, "Building HDL and Running Tests" (``cocotb_tools.runner``).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nvdla_tb.run.compile.filelist import FileList
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.compile.wrapper import WRAPPER_TOP

PROGRAM = Path(__file__).with_name("by_cocotb.py")
_SOURCES = "sources.sv"


def compile_command(simulator: str, directory: Path, sources: Sequence[Path], files: FileList) -> list[str]:
    """Return the command that compiles the wrapper of the top module and the RTL in a build folder.

    All sources are one compilation unit, as with Verilator and Icarus, whichever way a vendor compiles several: a
    macro, or the wrapper's time scale, holds in those that follow.
    """
    unit = directory / _SOURCES
    unit.write_text("".join(f'`include "{path}"\n' for path in sources), encoding="utf-8")
    libraries = {"-y": files.library_dirs, "-v": files.library_files}
    words = [word for option, paths in libraries.items() for path in paths for word in (option, str(path))]
    return _command(
        simulator,
        "build",
        sources=[str(unit)],
        includes=list(map(str, files.include_dirs)),
        defines=dict(files.defines),
        build_args=["+".join(("+libext", *files.library_extensions)), *words],
        hdl_toplevel=WRAPPER_TOP,
        build_dir=str(directory),
        always=True,
    )


def simulate_command(built: Built, test_module: str, results_path: Path, arguments: Sequence[str]) -> list[str]:
    """Return the command that runs a cocotb test on a compiled model, in the folder that its results go to."""
    return _command(
        built.spec.simulator,
        "test",
        beside=built.spec.tool.beside,
        test_module=test_module,
        hdl_toplevel=WRAPPER_TOP,
        hdl_toplevel_lang="verilog",
        gpi_interfaces=["vpi"],
        plusargs=list(arguments),
        build_dir=str(built.directory),
        test_dir=str(results_path.parent),
        results_xml=str(results_path),
    )


def _command(simulator: str, step: str, **options: Any) -> list[str]:
    """Return the command of a step; ``-P`` leaves out the folder of the program, whose modules are not for others."""
    return [sys.executable, "-P", str(PROGRAM), simulator, step, json.dumps(options)]
