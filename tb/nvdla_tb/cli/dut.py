"""The options that select a device under test, and its build; and those of readers of a store of results."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

import msgspec

from nvdla_models.errors import InputError
from nvdla_models.reading import resolved
from nvdla_tb.cli.console import Console
from nvdla_tb.paths import PROJECT_FILE
from nvdla_tb.run import cache, folders, project
from nvdla_tb.run.compile.build import Teller, build
from nvdla_tb.run.compile.spec import BACKENDS, Built
from nvdla_tb.run.dut import Device, Dut
from nvdla_tb.run.optimise import BUILDS, Model
from nvdla_tb.run.regress.store import Run, Store
from nvdla_tb.run.system import AnyConfig

BUILD_ROOT = folders.RESULTS
MODELS = cache.MODELS
DEFAULT_CONFIG = "nv_small"
DEFAULT_TOP = "NV_nvdla"


def add_dut_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which RTL to build and how."""
    group = device_options(parser)
    group.add_argument(
        "--backend",
        choices=BACKENDS,
        help="agents compiled into the model, or in Python (default: native with Verilator, coroutine with Icarus)",
    )
    group.add_argument(
        "--debug", action="store_true", help="make all signals visible to tests (slower; default: top ports)"
    )
    build_option(group)


def device_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options that say which RTL it is, and in which simulator, in a group, and return it."""
    own = project.current()
    config, sim = own.config or DEFAULT_CONFIG, own.sim or "verilator"
    group = parser.add_argument_group("device under test", f"defaults: those of {PROJECT_FILE}, if there is one")
    group.add_argument("--config", default=config, metavar="NAME|FILE", help=f"configuration (default: {config})")
    group.add_argument("--sim", default=sim, choices=("verilator", "icarus"), help=f"default: {sim}")
    rtl_options(group, "the embedded DUT")
    group.add_argument("--port-map", type=Path, default=own.port_map, metavar="TOML", help="how port names differ")
    return group


def rtl_options(group: argparse._ActionsContainer, otherwise: str) -> None:
    """Add the options that say which RTL it is; ``otherwise`` is what is taken without a filelist."""
    own = project.current()
    top = own.top or DEFAULT_TOP
    about = f"filelist of your RTL (default: {own.rtl or otherwise})"
    group.add_argument("--rtl", type=Path, default=own.rtl, metavar="FILELIST", help=about.replace("%", "%%"))
    group.add_argument("--top", default=top, metavar="MODULE", help=f"top module (default: {top})")


def build_option(group: argparse._ActionsContainer) -> None:
    """Add the option that says how the model is compiled."""
    group.add_argument(
        "--build",
        choices=BUILDS,
        help="quick to compile, or optimised for this processor by a profile, which plays up to twice as fast "
        "(default: optimised as soon as it was built)",
    )


def again(args: argparse.Namespace, *options: str) -> list[str]:
    """Return those of some options that have a value, as words that give it again, in whichever folder."""
    words = []
    for option in options:
        value = getattr(args, option)
        if value is not None and value is not False and value != []:
            values = [] if value is True else value if isinstance(value, list) else [value]
            words += [f"--{option.replace('_', '-')}", *map(anywhere, values)]
    return words


def anywhere(value: object) -> str:
    """Return a value of an option as a word that means the same in every folder."""
    is_file = isinstance(value, Path) or (isinstance(value, str) and value.endswith(".toml"))
    return os.path.abspath(str(value)) if is_file else str(value)


def dut_arguments(args: argparse.Namespace) -> str:
    """Return the options that select the same DUT again, with another project file or none as well."""
    top = [] if args.top == DEFAULT_TOP == (project.current().top or DEFAULT_TOP) else ["top"]
    return shlex.join(again(args, "config", "sim", "rtl", "port_map", *top, "backend", "debug"))


def altered(args: argparse.Namespace, **options: object) -> argparse.Namespace:
    """Return options of which some are others."""
    return argparse.Namespace(**{**vars(args), **options})


def device_of(config: str, rtl: Path | None) -> Device:
    """Return the device that options name, with paths that every worker and every folder understands."""
    absolute = str(resolved(Path(config))) if config.endswith(".toml") else config
    return Device(absolute, None if rtl is None else str(resolved(rtl)))


def dut_of(args: argparse.Namespace) -> Dut:
    """Return the device under test that the options select, with paths that every worker understands."""
    config, rtl = device_of(args.config, args.rtl)
    port_map = None if args.port_map is None else str(resolved(args.port_map))
    backend = args.backend or ("native" if args.sim == "verilator" else "coroutine")
    return Dut(config, args.sim, rtl, args.top, port_map, args.debug, backend)


def compiled(dut: Dut, teller: Teller, *, waves: bool = False, how: str | None = None) -> Built:
    """Return the model of a device, which is built when there is none; one with waves is never an optimised one."""
    return build(dut.build_spec(waves=True), MODELS, teller) if waves else Model(dut, MODELS, how, teller).current()


def build_dut(
    args: argparse.Namespace, config: AnyConfig, *, waves: bool = False, coverage: str | None = None
) -> Built:
    """Build the DUT that the options select, saying so when it takes a while."""
    dut = msgspec.structs.replace(dut_of(args), coverage=coverage)
    console = Console.of(args)
    console.say(f"DUT: {args.rtl or 'embedded'} ({config.name}, {args.sim}, {dut.backend} back end)")
    built = compiled(dut, console, waves=waves, how=args.build)
    console.clear()
    if not built.cached:
        console.say(f"built in {built.seconds:.0f} s: {built.directory}")
    return built


STORE = "results.sqlite"
DEFAULT_RESULTS = BUILD_ROOT / "regress"


def add_device_options(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the options that say whose results are meant; ``default`` says whose when neither is given."""
    parser.add_argument("--config", metavar="NAME|FILE", help=f"configuration of the results (default: {default})")
    parser.add_argument(
        "--rtl", type=Path, metavar="FILELIST", help="your RTL that they are of (default: the embedded DUT)"
    )


def add_results_option(parser: argparse._ActionsContainer) -> None:
    """Add the option that says where the store is."""
    parser.add_argument(
        "--results",
        type=Path,
        default=DEFAULT_RESULTS,
        metavar="DIR",
        help=f"folder of the store and of what failures leave behind (default: {DEFAULT_RESULTS})",
    )


_REPORTS = "runs"


def add_reports_option(parser: argparse._ActionsContainer) -> None:
    """Add the option that says where reports, logs and the store of a command go that plays here and now."""
    usual = f"{BUILD_ROOT / _REPORTS}, and the store in {DEFAULT_RESULTS}"
    parser.add_argument(
        "--results", type=Path, metavar="DIR", help=f"folder of reports, logs and the store (default: {usual})"
    )


def reports_folder(args: argparse.Namespace) -> Path:
    """Return the folder of the reports of commands that play here and now."""
    return getattr(args, "results", None) or BUILD_ROOT / _REPORTS


def existing_store(folder: Path) -> Store:
    """Open the store of a folder.

    Raises:
        InputError: when there is none, which only a regression makes.
    """
    if not os.path.isfile(folder / STORE):
        raise InputError(f"--results must be a folder with {STORE}, which regress makes, not {folder}")
    return Store(folder / STORE)


def wanted_device(args: argparse.Namespace) -> Device | None:
    """Return the device that the options name, or None when they name none."""
    if args.config is None and args.rtl is None:
        return None
    return device_of(DEFAULT_CONFIG if args.config is None else args.config, args.rtl)


def check_device(store: Store, run: Run, device: Device) -> None:
    """Check that a run says something of a device.

    Raises:
        InputError: when it is of another one.
    """
    if store.device(run) != device:
        raise InputError(f"run {run.id} must be of {device}, not of {store.device(run)}")
