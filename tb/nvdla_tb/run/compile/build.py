"""Build RTL once per content: check its ports, wrap it, compile it, and tell how far it is."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

from nvdla_models.reading import resolved
from nvdla_tb.counting import counted
from nvdla_tb.run import cache, folders
from nvdla_tb.run.compile import vendors
from nvdla_tb.run.compile.advice import refused
from nvdla_tb.run.compile.elaborate import elaborate, library_arguments
from nvdla_tb.run.compile.ports import Port
from nvdla_tb.run.compile.recipe import (
    SCOPE_DIR,
    Recipe,
    embedded_parameters,
    no_other_writes,
    read_checked,
    recipe_of,
    seal,
    write_checked,
)
from nvdla_tb.run.compile.runners import (
    ALL_SIGNALS,
    HIERARCHICAL,
    PROFILED,
    PROFILING,
    TOP_PORTS_CONTROL,
    TOP_PORTS_FILE,
    TOP_PORTS_ONLY,
    VISIBLE_HANDOVERS,
    elaborate_command,
    make_command,
)
from nvdla_tb.run.compile.shims import SHIM_DIR
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.compile.toolchain import require, tool_environment
from nvdla_tb.run.compile.wrapper import WRAPPER_TOP
from nvdla_tb.run.errors import BuildError, LaunchError
from nvdla_tb.run.process import supervise
from nvdla_tb.run.space import check_space
from nvdla_tb.run.systems import system_with
from nvdla_tb.writing import writing


class Teller(Protocol):
    """Whoever wants to hear of it."""

    def say(self, text: str) -> None:
        """Take what is worth a line."""

    def progress(self, text: str) -> None:
        """Show how far it is, in place of the message before."""


class _Silent:
    """Tells nobody."""

    def say(self, text: str) -> None:
        """Drop it."""

    progress = say


SILENT = _Silent()


def step_of(command: Sequence[str], directory: Path, teller: Teller) -> Callable[[], None]:
    """Return the function to call now and then while a command of a build runs in its folder."""
    started = time.monotonic()
    is_make = command[0] == "make"
    total = _files_of(command, directory) if is_make else 0
    if total:
        teller.say(f"compiling {counted(total, 'file')}")

    def look() -> None:
        what = "compiling" if is_make else "translating"
        if is_make:
            # Tools remove folders meanwhile, which this leaves out.
            done = sum(name.endswith(".o") for _, _, names in os.walk(directory) for name in names)
            what = f"compiling: {min(done, total) if total else done}{f' of {total}' if total else ''} files"
        teller.progress(f"{what}, {time.monotonic() - started:.0f} s")

    return look


def _files_of(command: Sequence[str], directory: Path) -> int:
    """Return how many files make compiles, 0 for blocks whose makefiles are written on the way."""
    if "Vtop_hier.mk" in command:
        return 0
    dry = [*command, "--dry-run"]
    ran = subprocess.run(dry, cwd=directory, env=tool_environment(), capture_output=True, text=True, check=False)
    return sum(" -c " in line for line in ran.stdout.splitlines())


Training = Callable[[Built], None]
"""Plays on a model that counts which of its branches are taken."""


def build(spec: BuildSpec, root: Path = cache.MODELS, teller: Teller = SILENT, train: Training | None = None) -> Built:
    """Return the compiled model of ``spec``, compiling it when its content is new.

    Processes that ask for the same model at the same time build it once.

    Args:
        spec: Order for the model.
        root: Folder that holds all builds; the oldest go when they take more than the cache may.
        teller: Who hears of the steps of a build that takes a while.
        train: What an optimised model is compiled for; others need none.

    Raises:
        FileListError: for a filelist that cannot be read.
        PortError: when the RTL's ports differ from the configuration's.
        ToolError: for a missing tool.
        BuildError: when a tool refuses the RTL, or training left no profile.
        LaunchError: for an optimised model without training.
        OwnerError: when somebody else may have put the model there, or may exchange it.
        OSError: when the folder cannot be written, or its device is full.
    """
    started = time.monotonic()
    recipe = recipe_of(spec, root)
    cached = recipe.is_built
    if not cached:
        _make_cache(root)
        lock = recipe.directory.with_name(f"{recipe.directory.name}.lock")
        with folders.alone(lock, lambda: teller.say("another process builds the same model: waiting for its end")):
            cached = recipe.is_built
            if not cached:
                _compile(recipe, teller, train)
                if recipe_of(spec, root).key != recipe.key:
                    raise BuildError(f"the sources of {spec.top} must not change while it is built: build it again")
                seal(recipe.directory, recipe.key)
                for model in cache.make_room(root.resolve(), cache.limit_bytes(os.environ), recipe.directory.name):
                    teller.say(f"removed to make room: {model.name}")
    cache.touch(recipe.directory)
    return recipe.built(time.monotonic() - started, cached=cached)


def _make_cache(root: Path) -> None:
    """Make the folder of all builds when it is missing; who else may write one that is there was the user's choice."""
    is_new = not root.exists()
    folders.made(root)
    if is_new:
        no_other_writes(root)


def _elaborated(recipe: Recipe) -> tuple[Port, ...]:
    """Return the ports of the RTL's top, elaborating it unless a file remembers this content."""
    path = recipe.directory.parent / f"rtl-{recipe.rtl_key[:16]}.json"
    remembered = read_checked(path)
    if remembered is not None:
        return tuple(Port(**port) for port in remembered)
    log_path = path.with_suffix(".log")
    ports, files_read = elaborate(recipe.files, recipe.spec.top, log_path, embedded_parameters(recipe.spec))
    unseen = set(files_read) - {entry.path.resolve() for entry in recipe.inputs}
    if unseen:
        raise BuildError(
            f"{min(unseen)} is included under a name that only a macro knows, so a change of it would go unnoticed: "
            "add it to the filelist's +incdir+ folders with a suffix such as .vh, or include it by its name",
            log_path=log_path,
        )
    write_checked(path, [asdict(port) for port in ports])
    return ports


def _compile(recipe: Recipe, teller: Teller, train: Training | None) -> None:
    """Compile into an empty folder; what an interrupted build left there is removed."""
    spec, directory, hierarchical = recipe.spec, recipe.directory, recipe.is_hierarchical
    if spec.optimised and train is None:
        raise LaunchError("an optimised model must be built with something to play in training")
    teller.progress(f"reading the ports of {spec.top}")
    text = _wrapper_text(recipe, _elaborated(recipe))
    # What compilers leave on the way is nobody else's to write, whatever the user's umask allows.
    folders.emptied(directory.parent, directory.name).chmod(0o700)
    cache.note_about(directory, _about(spec))
    wrapper = directory / f"{WRAPPER_TOP}.sv"
    with writing(wrapper):
        wrapper.write_text(text, encoding="utf-8")
    log_path = directory / "build.log"
    teller.say(f"building {spec.top} once for this content (minutes for a large design); log: {log_path}")
    if hierarchical:
        require("perl")
        (directory / TOP_PORTS_FILE).write_text(TOP_PORTS_CONTROL, encoding="utf-8")
    shims = sorted(SHIM_DIR.iterdir()) if recipe.port_map.wrapped else []
    scopes = sorted(SCOPE_DIR.iterdir()) if spec.waves else []
    sources = [wrapper, *scopes, *shims, *recipe.files.sources]
    if spec.tool.by_cocotb:
        command = vendors.compile_command(spec.simulator, directory, sources, recipe.files)
    else:
        command = elaborate_command(spec.simulator, spec.backend, directory, sources, _arguments(recipe))
    _run(recipe, command, teller)
    if train is not None and spec.optimised:
        _run(recipe, make_command(directory, hierarchical=hierarchical, options=PROFILING), teller)
        _train(recipe, train, teller)
        _run(recipe, make_command(directory, hierarchical=hierarchical, options=PROFILED), teller)
    elif spec.tool.translates:
        _run(recipe, make_command(directory, hierarchical=hierarchical), teller)
    # Precompiled headers are most of the folder and serve nobody any more.
    _remove(directory, "*.gch")


def _about(spec: BuildSpec) -> cache.About:
    kind = [name for name in ("optimised", "waves", "debug") if getattr(spec, name)]
    kind += ["coroutine"] if spec.tool.native and not spec.native else []
    kind += [] if spec.coverage is None else [f"code coverage: {spec.coverage}"]
    rtl = None if spec.filelist is None else str(resolved(spec.filelist))
    return cache.About(spec.config.name, rtl, (spec.simulator, *kind))


def _wrapper_text(recipe: Recipe, ports: tuple[Port, ...]) -> str:
    """Check the ports of the RTL and return its wrapper."""
    spec = recipe.spec
    return system_with(spec.config).wrapper(
        spec.config,
        spec.top,
        ports,
        recipe.port_map,
        embedded=spec.filelist is None,
        dump=spec.waves,
        native=spec.native,
    )


def _run(recipe: Recipe, command: list[str], teller: Teller) -> None:
    """Run one command of a build."""
    directory = recipe.directory
    log_path = directory / "build.log"
    look = step_of(command, directory, teller)
    ended = supervise(command, cwd=directory, environment=tool_environment(), log_path=log_path, meanwhile=look)
    if ended.returncode != 0:
        check_space(directory)
        raise refused(f"{recipe.spec.simulator} cannot build {recipe.spec.top}:", log_path)


def _train(recipe: Recipe, train: Training, teller: Teller) -> None:
    """Play on the model that counts, and leave its counts for the compiler and nothing that was compiled to count."""
    directory = recipe.directory
    teller.progress("training")
    train(recipe.built(0.0, cached=False))
    if not any(directory.rglob("*.gcda")):
        raise BuildError(f"training on {recipe.spec.top} left no profile, so that it cannot be optimised")
    _remove(directory, WRAPPER_TOP, "*.o", "*.a", "*.gch")


def _remove(directory: Path, *patterns: str) -> None:
    for pattern in patterns:
        for path in directory.rglob(pattern):
            path.unlink()


def _arguments(recipe: Recipe) -> list[str]:
    """Return the options of Verilator or Icarus for the RTL, and for what of it is visible and written to waves."""
    spec, files = recipe.spec, recipe.files
    texts = [f"-D{name}={value}" for name, value in files.defines] + [f"-I{path}" for path in files.include_dirs]
    if not spec.tool.translates:
        options = {"-Y": files.library_extensions, "-y": files.library_dirs, "-l": files.library_files}
        return [word for option, values in options.items() for value in values for word in (option, str(value))] + texts
    visible = [HIERARCHICAL] if recipe.is_hierarchical else []
    if spec.debug:
        visible += ALL_SIGNALS
    else:
        # The wrapper of a native model says itself what of it is visible.
        if not spec.native:
            # A depth would count from the top of every block.
            visible += [str(recipe.directory / TOP_PORTS_FILE)] if recipe.is_hierarchical else TOP_PORTS_ONLY
        visible.append(str(VISIBLE_HANDOVERS))
    waves = [f"--trace-{recipe.wave_suffix}"] if recipe.wave_suffix else []
    return [*visible, *waves, *spec.counting, *library_arguments(files), *map(str, files.controls), *texts]
