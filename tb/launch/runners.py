"""Runners for cocotb's own runner registry: only top ports visible, our supervision, our flags."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocotb_tools.config
from cocotb_tools.runner import SUPPORTED_RUNNERS, Icarus, Runner, Verilator, get_runner

from tb.launch.elaborate import QUIET
from tb.launch.process import Ended, supervise
from tb.launch.toolchain import build_jobs, tool_environment, verilator_root
from tb.launch.wrapper import TIME_PRECISION, TIME_UNIT, WRAPPER_TOP

# Measured on the public nv_small RTL. Delays inside RTL are ignored: the clock comes from outside.
VERILATOR_FLAGS = (
    *QUIET,
    "--no-timing",
    "-O3",
    *("--x-assign", "fast", "--x-initial", "fast"),
    # A reset that is low from time 0 has no falling edge otherwise, and flops behind gated clocks would
    # keep 0 instead of their reset value: the write command queue of nv_small then raised false interrupts.
    "--x-initial-edge",
    *("--output-split", "20000"),
)
HARNESS_DIR = Path(__file__).resolve().parents[2] / "hdl_stubs" / "harness"
_HARNESS_LINK, _LIBRARIES_LINK, _MAIN_LINK, _ROOT_LINK = "harness", "libraries", "main", "verilator"
"""Symbolic links in a build folder: make cannot take a path with a blank, and these are all that it sees of paths."""

TOP_PORTS_ONLY = ("--public-depth", "1")
ALL_SIGNALS = ("--public-flat-rw",)
TOP_PORTS_FILE = "top_ports.vlt"
TOP_PORTS_CONTROL = f'`verilator_config\npublic_flat_rw -module "{WRAPPER_TOP}" -var "*"\n'
"""What ``TOP_PORTS_ONLY`` says, as the text of a control file."""

HIERARCHICAL = "--hierarchical"
"""Compiles the modules that control files name as blocks of their own."""


class _CommandsEnded(Exception):
    """The runner's commands are over; carries how the last one ended.

    It leaves the stock ``build()`` and ``test()`` early, because what they do next depends on
    whether pytest happens to run: under pytest a failing test makes them exit the process.
    """

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended)
        self.ended = ended


@dataclass(frozen=True)
class Prepared:
    """A command that is ready to run: words, folder, complete environment."""

    command: list[str]
    cwd: Path
    environment: dict[str, str]


class _CommandReady(Exception):
    """The runner has prepared the command that it was asked for; see ``_CommandsEnded``."""

    def __init__(self, prepared: Prepared) -> None:
        super().__init__(prepared)
        self.prepared = prepared


class Supervised(Runner):  # type: ignore[misc]
    """What both simulators share: environment, log, deadline."""

    _timeout_seconds: float | None = None
    _only_prepare = False

    def run_build(self, **arguments: Any) -> Ended:
        """Run the stock ``build`` with ``arguments`` and return how its last command ended."""
        return _ended(self.build, arguments)

    def run_test(self, timeout_seconds: float, **arguments: Any) -> Ended:
        """Run the stock ``test`` with ``arguments`` and a deadline, and return how it ended."""
        self._timeout_seconds = timeout_seconds
        return _ended(self.test, arguments)

    def prepare_test(self, **arguments: Any) -> Prepared:
        """Return the command that the stock ``test`` would run with ``arguments``."""
        self._only_prepare = True
        try:
            self.test(**arguments)
        except _CommandReady as ready:
            return ready.prepared
        raise RuntimeError("the runner finished without preparing a command")

    def _set_env_build(self) -> None:
        super()._set_env_build()
        self.env.update(tool_environment())

    def _set_env_test(self) -> None:
        # The stock runner lets the surrounding environment win over what it was given.
        given = dict(self.env)
        super()._set_env_test()
        self.env.update(given)

    def _execute(self, cmds: Sequence[list[str]], cwd: os.PathLike[str] | str) -> None:
        if self._only_prepare:
            raise _CommandReady(Prepared(cmds[0], Path(cwd), dict(self.env)))
        log_path = Path(str(self.log_file))
        log_path.write_bytes(b"")
        ended = Ended(0, timed_out=False)
        for command in cmds:
            ended = supervise(
                command,
                cwd=Path(cwd),
                environment=self.env,
                log_path=log_path,
                timeout_seconds=self._timeout_seconds,
            )
            if ended.returncode != 0:
                break
        raise _CommandsEnded(ended)


class TopPortsVerilator(Supervised, Verilator):  # type: ignore[misc]
    """Verilator from its Python package; what is visible is chosen by the build arguments."""

    def _main_sources(self) -> tuple[Path, ...]:
        return (Path(_MAIN_LINK) / "verilator.cpp",)

    def _main_flags(self) -> tuple[str, ...]:
        return ()

    def _build_command(self) -> list[list[str]]:
        self._link()
        hierarchical = HIERARCHICAL in self.build_args
        jobs = str(build_jobs())
        # With blocks Verilator starts itself for each, and then only by its launcher.
        program, makefile = ("verilator", "Vtop_hier.mk") if hierarchical else ("verilator_bin", "Vtop.mk")
        verilate = [
            *(str(verilator_root() / "bin" / program), "-cc", "--exe", "--vpi", *VERILATOR_FLAGS),
            *("-Mdir", ".", "--no-MMD", "--prefix", "Vtop", "--top-module", WRAPPER_TOP, "-o", WRAPPER_TOP),
            *("-LDFLAGS", f"-Wl,-rpath,'$$ORIGIN/{_LIBRARIES_LINK}' -L{_LIBRARIES_LINK} -lcocotbvpi_verilator"),
            *("--timescale", f"{TIME_UNIT}/{TIME_PRECISION}"),
            *(("--build-jobs", jobs) if hierarchical else ()),
            *self.build_args,
            *self._get_define_options(self.defines),
            *self._get_include_options(self.includes),
            *self._main_flags(),
            *(str(source) for source in (*self._main_sources(), *self.sources)),
        ]
        compile_model = [
            *("make", "-j", jobs, "-C", str(self.build_dir), "-f", makefile),
            # The package was configured without these, and both are needed by larger designs.
            *("CFG_CXXFLAGS_PCH_I=-include", "PYTHON3=python3"),
            # It refuses a folder with a blank, which the links have made harmless; blocks have folders of their own.
            *(() if hierarchical else (f"VERILATOR_ROOT={_ROOT_LINK}", "CURDIR=.")),
        ]
        return [verilate, compile_model]

    def _link(self) -> None:
        targets = {
            _HARNESS_LINK: HARNESS_DIR,
            _LIBRARIES_LINK: cocotb_tools.config.libs_dir,
            _MAIN_LINK: cocotb_tools.config.share_dir / "lib" / "verilator",
            _ROOT_LINK: verilator_root(),
        }
        for name, target in targets.items():
            (Path(self.build_dir) / name).symlink_to(target)

    def _test_command(self) -> list[list[str]]:
        return [[str(self.build_dir / WRAPPER_TOP), *self.test_args, *self.plusargs]]


class NativeVerilator(TopPortsVerilator):
    """Verilator with our own clock loop and the native back end compiled in."""

    def _main_sources(self) -> tuple[Path, ...]:
        # Only C++ is compiled by make.
        return tuple(
            Path(_HARNESS_LINK) / source.name if source.suffix == ".cpp" else source for source in harness_sources()
        )

    def _main_flags(self) -> tuple[str, ...]:
        # The bench finds the harness's functions in the running program.
        return ("-CFLAGS", f"-I{_HARNESS_LINK}", "-LDFLAGS", "-rdynamic")


class OwnDumpIcarus(Supervised, Icarus):  # type: ignore[misc]
    """Icarus whose waves are written by the wrapper, where ``+wave_file=`` names the file."""

    def _build_command(self) -> list[list[str]]:
        compile_model = [
            *("iverilog", "-g2012", "-o", str(self.sim_file), "-s", WRAPPER_TOP),
            *self.build_args,
            *self._get_define_options(self.defines),
            *self._get_include_options(self.includes),
            *(str(source) for source in self.sources),
        ]
        return [compile_model]

    def _test_command(self) -> list[list[str]]:
        library = cocotb_tools.config.lib_entry("vpi", "icarus")
        return [["vvp", "-m", library, *self.test_args, str(self.sim_file), *self.plusargs]]


SUPPORTED_RUNNERS.update(
    {
        "verilator_top_ports": TopPortsVerilator,
        "verilator_native": NativeVerilator,
        "icarus_own_dump": OwnDumpIcarus,
    }
)
_REGISTERED = {
    ("verilator", "coroutine"): "verilator_top_ports",
    ("verilator", "native"): "verilator_native",
    ("icarus", "coroutine"): "icarus_own_dump",
}


def make_runner(simulator: str, backend: str = "coroutine") -> Supervised:
    """Return a new runner for a simulator and a back end, from cocotb's registry."""
    name = _REGISTERED[simulator, backend]
    runner = get_runner(name)
    if not isinstance(runner, Supervised):
        raise TypeError(f"runner {name} was registered by someone else: {type(runner).__name__}")
    return runner


def harness_sources() -> tuple[Path, ...]:
    """Return the harness's sources as Verilator takes them."""
    return tuple(sorted(HARNESS_DIR.glob("*.cpp")) + sorted(HARNESS_DIR.glob("*.sv")))


def _ended(run: Callable[..., object], arguments: dict[str, Any]) -> Ended:
    try:
        run(**arguments)
    except _CommandsEnded as end:
        return end.ended
    raise RuntimeError("the runner finished without running a command")
