"""Build RTL once per content: check its ports, wrap it, compile it with Verilator or Icarus."""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from models.config import HwConfig
from tb.places import HDL
from tb.run import folders
from tb.run.compile.cached import is_sealed, read, seal, write
from tb.run.compile.elaborate import elaborate, library_arguments
from tb.run.compile.filelist import FileList, parse
from tb.run.compile.inputs import InputFile, collect
from tb.run.compile.ports import Port, PortMap, check, expected_ports, load_port_map
from tb.run.compile.runners import (
    ALL_SIGNALS,
    HARNESS_DIR,
    HIERARCHICAL,
    TOP_PORTS_CONTROL,
    TOP_PORTS_FILE,
    TOP_PORTS_ONLY,
    build_commands,
)
from tb.run.compile.telling import Silent, Teller, step_of
from tb.run.compile.toolchain import (
    SIMULATORS,
    fst_available,
    require,
    tool_environment,
    tool_versions,
    verilator_root,
    verilator_version,
)
from tb.run.compile.wrapper import WRAPPER_TOP, wrapper_text
from tb.run.errors import BuildError, LaunchError
from tb.run.process import last_relevant_lines, supervise
from tb.run.space import check_space

BACKENDS = ("native", "coroutine")
CODE_COVERAGE = {
    "line": ("--coverage-line",),
    "toggle": ("--coverage-toggle",),
    "both": ("--coverage-line", "--coverage-toggle"),
}
"""What Verilator can count, with its options."""

COVERAGE_FILE = "coverage.dat"
"""What a simulation of a model that counts leaves in its folder."""

SCOPE_DIR = HDL / "scope"
_BLOCK = re.compile(r"^\s*hier_block\b", re.MULTILINE)
_PLAIN_PATH = re.compile(r"[\w/.,+@%=-]*")
# What is written into a build folder follows from these files, so they are part of its key.
_RECIPE = ("elaborate.py", "wrapper.py", "runners.py")


@dataclass(frozen=True)
class BuildSpec:
    """What to build.

    Attributes:
        config: Configuration whose ports the RTL must have.
        simulator: ``verilator`` or ``icarus``.
        backend: ``coroutine``, whose agents are Python, or ``native``, compiled into the model (Verilator).
        top: The RTL's top module.
        filelist: The user's filelist, or None for the embedded DUT.
        port_map: The user's TOML of port differences, or None.
        debug: Whether signals below the top are visible to the test (slower to build and run).
        waves: Whether the model can write waves.
        coverage: What a run counts of the RTL's code: ``line``, ``toggle``, ``both``, or None (Verilator).

    Raises:
        LaunchError: for an unknown simulator, back end or coverage, and for what the simulator cannot have.
    """

    config: HwConfig
    simulator: str = "verilator"
    top: str = "NV_nvdla"
    filelist: Path | None = None
    port_map: Path | None = None
    debug: bool = False
    waves: bool = False
    backend: str = "coroutine"
    coverage: str | None = None

    def __post_init__(self) -> None:
        if self.simulator not in SIMULATORS:
            raise LaunchError(f"simulator must be one of {', '.join(SIMULATORS)}, not {self.simulator}")
        if self.backend not in BACKENDS:
            raise LaunchError(f"backend must be one of {', '.join(BACKENDS)}, not {self.backend}")
        if self.backend == "native" and self.simulator != "verilator":
            raise LaunchError(f"backend must be coroutine with {self.simulator}, not native: it is built by Verilator")
        if self.coverage is not None and self.coverage not in CODE_COVERAGE:
            raise LaunchError(f"coverage must be one of {', '.join(CODE_COVERAGE)}, not {self.coverage}")
        if self.coverage is not None and self.simulator != "verilator":
            raise LaunchError(f"coverage must be None with {self.simulator}, not {self.coverage}: Verilator counts it")

    @property
    def native(self) -> bool:
        """Whether the agents are compiled into the model."""
        return self.backend == "native"


@dataclass(frozen=True)
class Built:
    """A compiled model, ready for any number of simulations at once.

    Attributes:
        spec: What was asked for.
        directory: The build folder.
        log_path: Complete output of the build.
        wave_suffix: ``fst`` or ``vcd`` for a model that can write waves, else None.
        seconds: Time this call took.
        cached: Whether the model was there already.
    """

    spec: BuildSpec
    directory: Path
    log_path: Path
    wave_suffix: str | None
    seconds: float
    cached: bool


_SILENT = Silent()


def build(spec: BuildSpec, root: Path = folders.RESULTS, teller: Teller = _SILENT) -> Built:
    """Return the compiled model of ``spec``, compiling it when its content is new.

    Processes that ask for the same model at the same time build it once.

    Args:
        spec: What to build.
        root: Folder that holds all builds.
        teller: Who hears of the steps of a build that takes a while.

    Raises:
        FileListError: for a filelist that cannot be read.
        PortError: when the RTL's ports differ from the configuration's.
        ToolError: for a missing tool.
        BuildError: when a tool refuses the RTL.
        OSError: when the folder cannot be written, or its device is full.
    """
    started = time.monotonic()
    if spec.waves:
        # The scope that the bench drives needs Python at every write; the cycles are the same.
        spec = replace(spec, backend="coroutine")
    files = parse(spec.filelist or embedded_filelist(spec.config))
    _check_paths(spec, files, root.resolve())
    port_map = load_port_map(spec.port_map, spec.config) if spec.port_map else PortMap()
    inputs = collect(files)
    wave_suffix = _wave_suffix(spec)
    rtl_key = _key(_rtl_facts(spec, files, inputs))
    key = _key([rtl_key, *_model_facts(spec, port_map, wave_suffix)])
    flavour = "".join(f"-{name}" for name in ("native", "debug", "waves", "coverage") if getattr(spec, name))
    directory = root.resolve() / f"{folders.folder_name(spec.config.name)}-{spec.simulator}{flavour}-{key[:16]}"
    cached = is_sealed(directory, key)
    if not cached:
        folders.made(root)
        with _lock(directory.with_suffix(".lock"), teller):
            cached = is_sealed(directory, key)
            if not cached:
                teller.progress(f"reading the ports of {spec.top}")
                ports = _elaborated(spec.top, files, inputs, directory.parent / f"rtl-{rtl_key[:16]}.json")
                check(spec.config, spec.top, ports, port_map)
                text = wrapper_text(spec.config, spec.top, ports, port_map, dump=spec.waves, native=spec.native)
                _compile(spec, files, text, directory, wave_suffix, teller)
                seal(directory, key)
    return Built(spec, directory, directory / "build.log", wave_suffix, time.monotonic() - started, cached)


def embedded_filelist(config: HwConfig) -> Path:
    """Return the filelist of the embedded DUT.

    Raises:
        BuildError: for a configuration that there is none of.
    """
    path = HDL / f"{config.name}.f"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in HDL.glob("*.f"))) or "none"
        raise BuildError(f"no embedded DUT for {config.name} (embedded: {known}); give a filelist of your RTL")
    return path


def _wave_suffix(spec: BuildSpec) -> str | None:
    if not spec.waves:
        return None
    return "fst" if spec.simulator == "icarus" or fst_available() else "vcd"


def _rtl_facts(spec: BuildSpec, files: FileList, inputs: tuple[InputFile, ...]) -> list[object]:
    """Return what the elaborated RTL depends on."""
    return [
        [(entry.role, entry.name, entry.sha256) for entry in inputs],
        [spec.top, files.defines, files.library_extensions],
        [_file_key("elaborate.py"), verilator_version()],
    ]


def _model_facts(spec: BuildSpec, port_map: PortMap, wave_suffix: str | None) -> list[object]:
    """Return what the compiled model depends on besides the RTL."""
    recipe = [_file_key(name) for name in _RECIPE]
    ports = [asdict(port) for port in expected_ports(spec.config)]
    flavour = [spec.simulator, spec.backend, spec.debug, wave_suffix, *([spec.coverage] if spec.coverage else [])]
    if spec.waves:
        recipe += [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(SCOPE_DIR.iterdir())]
    if spec.native:
        recipe += [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(HARNESS_DIR.iterdir())]
    return [flavour, ports, asdict(port_map), recipe, tool_versions(spec.simulator)]


def _file_key(name: str) -> str:
    return hashlib.sha256((Path(__file__).parent / name).read_bytes()).hexdigest()


def _key(facts: list[object]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _elaborated(top: str, files: FileList, inputs: tuple[InputFile, ...], cache: Path) -> tuple[Port, ...]:
    """Return the ports of the RTL's top, elaborating it unless ``cache`` remembers this content."""
    remembered = read(cache)
    if remembered is not None:
        return tuple(Port(**port) for port in remembered)
    log_path = cache.with_suffix(".log")
    elaboration = elaborate(files, top, log_path)
    unseen = set(elaboration.read_files) - {entry.path.resolve() for entry in inputs}
    if unseen:
        raise BuildError(
            f"{min(unseen)} is included under a name that only a macro knows, so a change of it would go unnoticed: "
            "add it to the filelist's +incdir+ folders with a suffix such as .vh, or include it by its name",
            log_path,
        )
    write(cache, [asdict(port) for port in elaboration.ports])
    return elaboration.ports


def _compile(
    spec: BuildSpec, files: FileList, wrapper: str, directory: Path, wave_suffix: str | None, teller: Teller
) -> None:
    """Compile into an empty ``directory``; what an interrupted build left there is removed."""
    folders.emptied(directory.parent, directory.name)
    wrapper_path = directory / f"{WRAPPER_TOP}.sv"
    wrapper_path.write_text(wrapper, encoding="utf-8")
    log_path = directory / "build.log"
    teller.say(f"building {spec.top} once for this content (minutes for a large design); log: {log_path}")
    hierarchical = _is_hierarchical(spec, files)
    if hierarchical:
        require("perl")
        (directory / TOP_PORTS_FILE).write_text(TOP_PORTS_CONTROL, encoding="utf-8")
    sources = [wrapper_path, *_scope_sources(spec), *files.sources]
    arguments = _build_arguments(spec, files, wave_suffix, directory, hierarchical=hierarchical)
    for command in build_commands(spec.simulator, spec.backend, directory, sources, arguments):
        look = step_of(command, directory, teller)
        ended = supervise(command, cwd=directory, environment=tool_environment(), log_path=log_path, meanwhile=look)
        if ended.returncode != 0:
            check_space(directory)
            lines = last_relevant_lines(log_path)
            raise BuildError(f"{spec.simulator} cannot build {spec.top}:\n{lines}\nlog: {log_path}", log_path)
    # Precompiled headers are most of the folder and serve nobody any more.
    for header in directory.rglob("*.gch"):
        header.unlink()


def _check_paths(spec: BuildSpec, files: FileList, root: Path) -> None:
    """Check that Verilator, and make for a design in blocks, take the paths of a build for what they are."""
    given = (*files.sources, *files.include_dirs, *files.library_dirs, *files.library_files, *files.controls)
    for path in (root, *given):
        if "$" in str(path):
            raise BuildError(f"a path must hold no $, which begins a variable for Verilator, not be {path}")
    if not _is_hierarchical(spec, files):
        return
    for path in (verilator_root(), root, *given):
        if not _PLAIN_PATH.fullmatch(str(path)):
            raise BuildError(
                f"a design with hier_block must lie in folders of letters, digits and any of /.,+@%=-_ alone, "
                f"as Verilator gives their names to make: not {path}"
            )


def _is_hierarchical(spec: BuildSpec, files: FileList) -> bool:
    return spec.simulator == "verilator" and _has_blocks(files)


def _has_blocks(files: FileList) -> bool:
    return any(_BLOCK.search(path.read_text(encoding="utf-8", errors="replace")) for path in files.controls)


def _scope_sources(spec: BuildSpec) -> list[Path]:
    return sorted(SCOPE_DIR.iterdir()) if spec.waves else []


def _build_arguments(
    spec: BuildSpec, files: FileList, wave_suffix: str | None, directory: Path, *, hierarchical: bool
) -> list[str]:
    defined = [f"-D{name}={value}" for name, value in dict(files.defines).items()]
    texts = [*defined, *(f"-I{path}" for path in files.include_dirs)]
    if spec.simulator == "verilator":
        visible = ALL_SIGNALS if spec.debug else TOP_PORTS_ONLY
        if hierarchical:
            # A depth would count from the top of every block.
            visible = (HIERARCHICAL, *(ALL_SIGNALS if spec.debug else (str(directory / TOP_PORTS_FILE),)))
        waves = [f"--trace-{wave_suffix}"] if wave_suffix else []
        counts = CODE_COVERAGE[spec.coverage] if spec.coverage else ()
        return [*visible, *waves, *counts, *library_arguments(files), *map(str, files.controls), *texts]
    suffixes = [argument for extension in files.library_extensions for argument in ("-Y", extension)]
    folders = [argument for path in files.library_dirs for argument in ("-y", str(path))]
    libraries = [argument for path in files.library_files for argument in ("-l", str(path))]
    return [*suffixes, *folders, *libraries, *texts]


@contextmanager
def _lock(path: Path, teller: Teller) -> Iterator[None]:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            teller.say("another process builds the same model: waiting for its end")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
