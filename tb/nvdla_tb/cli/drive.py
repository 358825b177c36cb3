"""``drive``: run a driver in C or C++ on the DUT, and judge every layer that it starts."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.limits import MEMORY_BYTES
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

_AT = r"@(?:(?P<ram>MC|CVSRAM):)?(?P<address>0x[0-9a-fA-F]{1,16})"
_FILE = re.compile(rf"(?P<what>.+){_AT}", re.DOTALL)
_ROOM = re.compile(rf"(?P<what>[0-9]{{1,20}}){_AT}")
_END = "end"
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
    scenario = Scenario(args.library.stem, config.name, tuple(_ops(args, config)), args.seed, settings)
    driver = Driver(str(resolved(args.library)), args.entry, args.silent)
    options = again(args, "entry", "reserve", "hang_cycles", "silent", "seed")
    options += [word for name in ("memory", "expect") for text in getattr(args, name) for word in _absolute(name, text)]
    rerun = f"{COMMAND} drive {shlex.join([driver.library, *options])} {dut_arguments(args)}"
    job = Job(scenario.name, args.seed, rerun, lambda: scenario, driver=driver)
    return play_and_report(args, [(args, [job], build_dut(args, config, waves=args.waves))], "drive")


def _ops(args: argparse.Namespace, config: HwConfig) -> list[Op]:
    """Return what is loaded before the driver, and what is compared after it."""
    ops: list[Op] = []
    limits = {option: MEMORY_BYTES for option in ("memory", "reserve", "expect")}

    def placed(option: str, text: str) -> tuple[Ram, int, int, Chunks]:
        place = _placed(option, text)
        chunks, nbytes = ((), int(place.what)) if option == "reserve" else _content(Path(place.what))
        place.check(config, nbytes, limits[option])
        limits[option] -= nbytes
        return place.ram, place.address, nbytes, chunks

    for number, text in enumerate(args.memory):
        ram, address, _, chunks = placed("memory", text)
        ops.append(MemLoad(ram, address, chunks, f"memory_{number}.dat"))
    for text in args.reserve:
        ram, address, nbytes, _ = placed("reserve", text)
        ops.append(MemInit(ram, address, nbytes))
    if args.expect:
        ops.append(SyncNotify("GLB", _END))
    for number, text in enumerate(args.expect):
        ram, address, nbytes, chunks = placed("expect", text)
        ops.append(CheckFile(_END, ram, address, nbytes, chunks, f"expect_{number}.dat"))
    return ops


class _Place(NamedTuple):
    """What an option places, and where."""

    option: str
    text: str
    what: str
    ram: Ram
    address: int

    def check(self, config: HwConfig, nbytes: int, left: int) -> None:
        """Refuse bytes that a memory of the configuration has no place for, or more than are left of all together."""
        if self.ram is Ram.CVSRAM and not config.secondary_memif_enable:
            raise InputError(f"--{self.option} must be in MC, as {config.name} has no CVSRAM, not {shown(self.text)}")
        end = 1 << config.memif_address_width_bits
        if not (1 <= nbytes <= left and self.address + nbytes <= end):
            rule = f"have at least 1 byte, end by {end:#x}, and have at most {MEMORY_BYTES} bytes in all"
            raise InputError(f"--{self.option} must {rule}, not {shown(self.text)} ({shown(nbytes)} bytes)")


def _placed(option: str, text: str) -> _Place:
    """Return what an option places, and where."""
    found = (_ROOM if option == "reserve" else _FILE).fullmatch(text)
    if found is None:
        what = "BYTES" if option == "reserve" else "FILE"
        raise InputError(f"--{option} must be {what}@0xADDRESS or {what}@RAM:0xADDRESS, not {shown(text)}")
    return _Place(option, text, found["what"], Ram[found["ram"] or "MC"], int(found["address"], 16))


def _content(path: Path) -> tuple[Chunks, int]:
    """Return the bytes of a file, and how many bytes of memory they take."""
    chunks = read_memory_file(path) if path.suffix == ".dat" else ((0, read_bytes(path, MEMORY_BYTES)),)
    if not any(data for _, data in chunks):
        raise InputError(f"{shown(path)} must hold at least 1 byte")
    return chunks, max(offset + len(data) for offset, data in chunks)


def _absolute(option: str, text: str) -> Sequence[str]:
    path, at, place = text.rpartition("@")
    return f"--{option}", f"{resolved(Path(path))}{at}{place}"
