"""The device under test that options select, and its build; and the store whose results they mean."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

import msgspec

from nvdla_models.errors import InputError
from nvdla_models.reading import resolved
from nvdla_tb.cli.console import Console
from nvdla_tb.cli.dut_options import DEFAULT_CONFIG, DEFAULT_TOP
from nvdla_tb.run import cache, project
from nvdla_tb.run.compile.build import Teller, build
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.dut import build_spec
from nvdla_tb.run.optimise import Model
from nvdla_tb.run.regress.store import Run, Store
from nvdla_tb.run.simulators import SIMULATORS
from nvdla_tb.run.system import AnyConfig
from nvdla_tb.stimulus.result import Device, Dut

MODELS = cache.MODELS


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


def dut_words(args: argparse.Namespace) -> list[str]:
    """Return the options that select the same DUT again, with another project file or none as well."""
    top = [] if args.top == DEFAULT_TOP == (project.current().top or DEFAULT_TOP) else ["top"]
    return again(args, "config", "sim", "rtl", "port_map", *top, "backend", "debug")


def dut_arguments(args: argparse.Namespace) -> str:
    """Return the options that select the same DUT again as a part of a command line."""
    return shlex.join(dut_words(args))


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
    backend = args.backend or default_backend(args.sim)
    return Dut(config, args.sim, rtl, args.top, port_map, args.debug, backend)


def default_backend(simulator: str) -> str:
    """Return the back end of a simulator unless an option says another."""
    return "native" if SIMULATORS[simulator].native else "coroutine"


def compiled(dut: Dut, teller: Teller, *, waves: bool = False, how: str | None = None) -> Built:
    """Return the model of a device, which is built when there is none; one with waves is never an optimised one."""
    return build(build_spec(dut, waves=True), MODELS, teller) if waves else Model(dut, MODELS, how, teller).current()


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
