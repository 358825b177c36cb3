"""The recipe of a model, its place, a build folder for each content, and its seal: damaged files count as missing."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nvdla_models.limits import SOURCE_BYTES
from nvdla_models.reading import read_bytes, resolved
from nvdla_tb.paths import HDL, PLANS
from nvdla_tb.run import folders, owners
from nvdla_tb.run.compile.filelist import FileList, InputFile, collect, parse
from nvdla_tb.run.compile.ports import PortMap
from nvdla_tb.run.compile.runners import HARNESS_DIR, VISIBLE_HANDOVERS
from nvdla_tb.run.compile.shims import SHIM_DIR
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.compile.toolchain import fst_available, processor, tool_versions, verilator_root, verilator_version
from nvdla_tb.run.errors import BuildError
from nvdla_tb.run.simulators import SIMULATORS
from nvdla_tb.run.space import write_whole
from nvdla_tb.run.system import AnyConfig
from nvdla_tb.run.systems import system_with

PROFILE = PLANS / "profile.toml"
"""The plan that optimised models play in training."""

SCOPE_DIR = HDL / "scope"
_BLOCK = re.compile(r"^\s*hier_block\b", re.MULTILINE)
_PLAIN_PATH = re.compile(r"[\w/.,+@%=-]*")
_UNQUOTED_PATH = re.compile(r"[\w/.,@%=-]*")
# What is written into a build folder follows from these files, so they are part of its key.
_RECIPE = ("elaborate.py", "kinds.py", "kinds.toml", "ports.py", "shims.py", "wrapper.py", "runners.py", "vendors.py")


@dataclass(frozen=True)
class Recipe:
    """The recipe of a model.

    Attributes:
        spec: Order for the model, as it can be built.
        files: The RTL.
        inputs: Every file that it can read.
        port_map: How its ports differ from the configuration's.
        wave_suffix: Of its waves, or None.
        rtl_key: Key of everything that the elaborated RTL depends on.
        key: Key of everything that the model depends on.
        is_hierarchical: Whether control files name modules that Verilator compiles as blocks of their own.
        directory: Its folder.
    """

    spec: BuildSpec
    files: FileList
    inputs: tuple[InputFile, ...]
    port_map: PortMap
    wave_suffix: str | None
    rtl_key: str
    key: str
    is_hierarchical: bool
    directory: Path

    @property
    def is_built(self) -> bool:
        """Whether the model is there, complete and undamaged.

        Raises:
            OwnerError: when somebody else may have put it there.
        """
        owners.check_executed(self.directory)
        return is_sealed(self.directory, self.key)

    def built(self, seconds: float, *, cached: bool) -> Built:
        """Return the model, the seconds that it took to get it, and whether it was there already."""
        return Built(self.spec, self.directory, self.wave_suffix, seconds, cached)


def recipe_of(spec: BuildSpec, root: Path) -> Recipe:
    """Return the recipe of the model of ``spec``, which lies below ``root`` with all others.

    Raises:
        FileListError: for a filelist that cannot be read.
        PortError: for a port map that cannot be.
        ToolError: for a missing tool.
        BuildError: for paths that Verilator cannot take.
    """
    if spec.waves:
        # The scope that the bench drives needs Python at every write; the cycles are the same.
        spec = replace(spec, backend="coroutine")
    files = parse(spec.filelist or embedded_filelist(spec.config))
    is_hierarchical = spec.tool.translates and any(
        _BLOCK.search(read_bytes(path, SOURCE_BYTES).decode("utf-8", "replace")) for path in files.controls
    )
    _check_paths(spec, files, resolved(root), is_hierarchical)
    port_map = PortMap()
    if spec.port_map is not None:
        port_map = system_with(spec.config).load_port_map(spec.port_map, spec.config)
    inputs = collect(files)
    wave_suffix = None
    if spec.waves:
        wave_suffix = "vcd" if spec.tool.links_waves and not fst_available() else spec.tool.waves
    rtl_key = _digest(_rtl_facts(spec, files, inputs))
    key = _digest([rtl_key, *_model_facts(spec, port_map, wave_suffix)])
    kinds = ("native", "debug", "waves", "coverage", "optimised")
    flavour = "".join(f"-{name}" for name in kinds if getattr(spec, name))
    directory = resolved(root) / f"{folders.folder_name(spec.config.name)}-{spec.simulator}{flavour}-{key[:16]}"
    return Recipe(spec, files, inputs, port_map, wave_suffix, rtl_key, key, is_hierarchical, directory)


def embedded_parameters(spec: BuildSpec) -> dict[str, int]:
    """Return the parameters of the embedded DUT's top that are not the default ones."""
    return system_with(spec.config).parameters(spec.config) if spec.filelist is None else {}


def embedded_filelist(config: AnyConfig) -> Path:
    """Return the filelist of the embedded DUT.

    Raises:
        BuildError: for a configuration that there is none of.
    """
    system = system_with(config)
    path = system.filelist(config)
    if not path.is_file():
        known = ", ".join(sorted(other.name for other in system.embedded())) or "none"
        raise BuildError(f"no embedded DUT for {config.name} (embedded: {known}); give a filelist of your RTL")
    return path


def _rtl_facts(spec: BuildSpec, files: FileList, inputs: tuple[InputFile, ...]) -> list[object]:
    """Return everything that the elaborated RTL depends on."""
    return [
        [(entry.role, entry.name, entry.sha256) for entry in inputs],
        [spec.top, files.defines, files.library_extensions, *([given] if (given := embedded_parameters(spec)) else [])],
        [_file_key(Path(__file__).with_name("elaborate.py")), verilator_version()],
    ]


def _model_facts(spec: BuildSpec, port_map: PortMap, wave_suffix: str | None) -> list[object]:
    """Return everything that the compiled model depends on besides the RTL."""
    system = system_with(spec.config)
    recipe = [_file_key(Path(__file__).with_name(name)) for name in _RECIPE] + [
        _file_key(path) for path in system.recipe
    ]
    flavour = [spec.simulator, spec.backend, spec.debug, wave_suffix, *spec.counting]
    if spec.waves:
        recipe += _digests(*sorted(SCOPE_DIR.iterdir()))
    if port_map.wrapped:
        recipe += _digests(*sorted(SHIM_DIR.iterdir()))
    if spec.tool.translates:
        recipe += _digests(VISIBLE_HANDOVERS)
    if spec.optimised:
        flavour += [*_digests(PROFILE), processor()]
    if spec.native:
        recipe += _digests(*sorted(HARNESS_DIR.iterdir()))
    return [flavour, system.port_facts(spec.config), asdict(port_map), recipe, tool_versions(spec.simulator)]


def _digests(*paths: Path) -> list[str]:
    found = []
    for path in paths:
        with path.open("rb") as file:
            found.append(hashlib.file_digest(file, "sha256").hexdigest())
    return found


def _file_key(path: Path) -> str:
    """Return a digest of a module without its imports, which have other names in an installed package."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return hashlib.sha256("\n".join(line for line in lines if not line.startswith("from ")).encode()).hexdigest()


def _check_paths(spec: BuildSpec, files: FileList, root: Path, is_hierarchical: bool) -> None:
    """Check that Verilator, make for a design in blocks, and scripts of cocotb take paths for what they are."""
    given = (*files.sources, *files.include_dirs, *files.library_dirs, *files.library_files, *files.controls)
    for path in (root, *given):
        if "$" in str(path):
            raise BuildError(f"a path must hold no $, which begins a variable for Verilator, not be {path}")
    if spec.tool.by_cocotb:
        for path in (root, *given):
            if not _UNQUOTED_PATH.fullmatch(str(path)):
                raise BuildError(
                    f"with {spec.simulator} a path must have letters, digits and any of /.,@%=-_ alone, "
                    f"as cocotb gives paths to it without quotes: not {path}"
                )
    if not is_hierarchical:
        return
    for path in (verilator_root(), root, *given):
        if not _PLAIN_PATH.fullmatch(str(path)):
            raise BuildError(
                f"a design with hier_block must lie in folders of letters, digits and any of /.,+@%=-_ alone, "
                f"as Verilator gives their names to make: not {path}"
            )


SEAL = "built.json"
_READABLE = 0o755
_MODELS = tuple(simulator.model for simulator in SIMULATORS.values())
"""The files that a simulation runs; a folder has that of its simulator."""


def seal(directory: Path, key: str) -> None:
    """Note that the build of a key is complete in a folder, and what its model holds, which nobody else may write."""
    for path in directory.rglob("*"):
        # Tools of vendors keep a model in folders of files, which nobody else may write, either.
        if not path.is_symlink():
            no_other_writes(path)
    write_checked(directory / SEAL, {"key": key, "models": _models_of(directory)})
    # Whoever may read the cache may read its models, now that they are complete.
    directory.chmod(stat.S_IMODE(directory.parent.stat().st_mode) & _READABLE)


def is_sealed(directory: Path, key: str) -> bool:
    """Return whether the build of a key is complete in a folder, which need not exist, and its model undamaged.

    Raises:
        OwnerError: when somebody else may write one of its files.
    """
    for name in _MODELS:
        owners.check_executed(directory / name)
    return read_checked(directory / SEAL) == {"key": key, "models": _models_of(directory)}


def write_checked(path: Path, content: Any) -> None:
    """Write plain data with its digest, whole or not at all."""
    write_whole(path, json.dumps({"content": content, "sha256": _digest(content)}))
    no_other_writes(path)


def no_other_writes(path: Path) -> None:
    """Keep all but its owner from writing a file or folder that was just made, whatever the user's umask allows."""
    path.chmod(stat.S_IMODE(path.stat().st_mode) & ~(stat.S_IWGRP | stat.S_IWOTH))


def read_checked(path: Path) -> Any | None:
    """Return the content that ``write_checked`` has written, or None for a file that is missing or damaged.

    Raises:
        OwnerError: when somebody else may write it.
    """
    owners.check_executed(path)
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    if not isinstance(stored, dict) or stored.get("sha256") != _digest(stored.get("content")):
        return None
    return stored["content"]


def _models_of(directory: Path) -> dict[str, str]:
    names = [name for name in _MODELS if (directory / name).is_file()]
    return dict(zip(names, _digests(*(directory / name for name in names)), strict=True))


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
