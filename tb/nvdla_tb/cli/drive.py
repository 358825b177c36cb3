"""``drive``: run a driver in C or C++ on the DUT, and judge every layer that it starts."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.limits import DATA_BYTES
from nvdla_models.reading import read_bytes, resolved, shown
from nvdla_tb.cli import numbers
from nvdla_tb.cli.dut import again, build_dut, dut_arguments
from nvdla_tb.cli.dut_options import add_dut_options
from nvdla_tb.cli.playing import check_run_options, play_and_report
from nvdla_tb.cli.run_options import add_run_options
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import CheckFile, MemInit, MemLoad, Op, SyncNotify
from nvdla_tb.paths import COMMAND, PACKAGE
from nvdla_tb.run.jobs import Job
from nvdla_tb.stimulus.exchange import ENTRY, SILENT_SECONDS, Driver
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.settings import BenchSettings
from nvdla_tb.stimulus.trace.data import Chunks
from nvdla_tb.stimulus.trace.lines import read_memory_file

INCLUDE = PACKAGE / "sim" / "driver"
"""Folder of ``nvdla_tb.h``."""

_PLACE = re.compile(r"(?P<what>.+)@(?:(?P<ram>MC|CVSRAM):)?(?P<address>0x[0-9a-fA-F]{1,16})", re.DOTALL)
_END = "end"
Placed = TypeVar("Placed", Path, int)
_HANG_CYCLES = BenchSettings().hang_cycles
_MOST_CYCLES = 1 << 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("library", nargs="?", type=Path, metavar="DRIVER", help="shared library, such as driver.so")
    parser.add_argument("--include", action="store_true", help="print the folder of nvdla_tb.h and exit")
    parser.add_argument("--entry", default=ENTRY, metavar="NAME", help=f"its function to call (default: {ENTRY})")
    for option, about in (
        ("memory", "load a .dat or any other file of bytes, before the driver begins"),
        ("reserve", "so many bytes of memory that are neither loaded nor allocated by the driver"),
        ("expect", "a file that memory must hold after the driver's end"),
    ):
        what = "BYTES" if option == "reserve" else "FILE"
        metavar = f"{what}@[RAM:]0xADDRESS"
        parser.add_argument(f"--{option}", action="append", default=[], metavar=metavar, help=about)
    parser.add_argument(
        "--hang-cycles",
        type=numbers.whole(1, _MOST_CYCLES),
        default=_HANG_CYCLES,
        metavar="N",
        help=f"end a driver when so long no layer starts and no memory moves (default: {_HANG_CYCLES})",
    )
    parser.add_argument(
        "--silent",
        type=numbers.seconds,
        default=SILENT_SECONDS,
        metavar="SECONDS",
        help=f"end a driver that computes for so long without asking anything (default: {SILENT_SECONDS:g})",
    )
    parser.add_argument("--seed", type=numbers.seed, default=1, metavar="N", help="of the bench (default: 1)")
    add_dut_options(parser)
    add_run_options(parser)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    if args.include:
        print(INCLUDE)
        return 0
    if args.library is None:
        raise InputError("DRIVER must be given: the shared library to run")
    if not args.library.is_file():
        raise InputError(f"DRIVER must be a file, not {shown(args.library)}")
    check_run_options(args)
    config = HwConfig.load(args.config)
    settings = BenchSettings(serve_interrupts=False, hang_cycles=args.hang_cycles)
    scenario = Scenario(args.library.stem, config.name, tuple(_ops(args)), args.seed, settings)
    driver = Driver(str(resolved(args.library)), args.entry, args.silent)
    options = again(args, "entry", "reserve", "hang_cycles", "silent", "seed")
    options += [word for name in ("memory", "expect") for text in getattr(args, name) for word in _absolute(name, text)]
    rerun = f"{COMMAND} drive {shlex.join([driver.library, *options])} {dut_arguments(args)}"
    job = Job(scenario.name, args.seed, rerun, lambda: scenario, driver=driver)
    return play_and_report(args, [(args, [job], build_dut(args, config, waves=args.waves))], "drive")


def _ops(args: argparse.Namespace) -> list[Op]:
    """Return what is loaded before the driver, and what is compared after it."""
    ops: list[Op] = []
    for number, text in enumerate(args.memory):
        path, ram, address = _placed("memory", text, Path)
        ops.append(MemLoad(ram, address, _chunks(path), f"memory_{number}.dat"))
    for text in args.reserve:
        nbytes, ram, address = _placed("reserve", text, int)
        ops.append(MemInit(ram, address, nbytes))
    if args.expect:
        ops.append(SyncNotify("GLB", _END))
    for number, text in enumerate(args.expect):
        path, ram, address = _placed("expect", text, Path)
        chunks = _chunks(path)
        nbytes = max(offset + len(data) for offset, data in chunks)
        ops.append(CheckFile(_END, ram, address, nbytes, chunks, f"expect_{number}.dat"))
    return ops


def _placed(option: str, text: str, read: Callable[[str], Placed]) -> tuple[Placed, Ram, int]:
    """Return what an option places, and where."""
    found = _PLACE.fullmatch(text)
    try:
        if found is not None:
            ram = Ram[found["ram"] or "MC"]
            return read(found["what"]), ram, int(found["address"], 16)
    except ValueError:
        pass
    what = "BYTES" if option == "reserve" else "FILE"
    raise InputError(f"--{option} must be {what}@0xADDRESS or {what}@RAM:0xADDRESS, not {shown(text)}")


def _chunks(path: Path) -> Chunks:
    """Return the bytes of a file."""
    chunks = read_memory_file(path) if path.suffix == ".dat" else ((0, read_bytes(path, DATA_BYTES)),)
    if not any(data for _, data in chunks):
        raise InputError(f"{shown(path)} must hold at least 1 byte")
    return chunks


def _absolute(option: str, text: str) -> Sequence[str]:
    path, at, place = text.rpartition("@")
    return f"--{option}", f"{resolved(Path(path))}{at}{place}"
