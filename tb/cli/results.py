"""Options and steps that the readers of a store of results share."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from models.errors import InputError
from tb.cli.dut import BUILD_ROOT, DEFAULT_CONFIG, device_of
from tb.run.dut import Device
from tb.run.regress.store import Run, Store

STORE = "results.sqlite"
DEFAULT_RESULTS = BUILD_ROOT / "regress"


def add_device_options(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the options that say whose results are meant; ``default`` says whose when neither is given."""
    parser.add_argument("--config", metavar="NAME|FILE", help=f"configuration of the results (default: {default})")
    parser.add_argument(
        "--rtl", type=Path, metavar="FILELIST", help="your RTL that they are of (default: the embedded DUT)"
    )


def add_results_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where the store is."""
    parser.add_argument(
        "--results",
        type=Path,
        default=DEFAULT_RESULTS,
        metavar="DIR",
        help=f"folder of the store and of what failures leave behind (default: {DEFAULT_RESULTS})",
    )


def existing_store(folder: Path) -> Store:
    """Open the store of a folder.

    Raises:
        InputError: when there is none, which only a regression makes.
    """
    path = folder / STORE
    if not os.path.isfile(path):
        raise InputError(f"--results must be a folder with {STORE}, which regress makes, not {folder}")
    return Store(path)


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
