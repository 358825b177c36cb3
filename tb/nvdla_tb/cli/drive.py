"""``drive``: run a driver in C or C++ on the DUT, and judge every layer that it starts."""

from __future__ import annotations

import argparse
import os
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
from nvdla_tb.cli.console import Console
from nvdla_tb.cli.dut import again, build_dut, dut_arguments
from nvdla_tb.cli.dut_options import add_dut_options, add_reports_option
from nvdla_tb.cli.playing import check_run_options, play_and_report
from nvdla_tb.cli.run_options import add_run_options
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import CheckFile, MemInit, MemLoad, Op, SyncNotify
from nvdla_tb.paths import COMMAND, PACKAGE
from nvdla_tb.run.jobs import Job
from nvdla_tb.run.owners import check_socket
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
_FIRST_PORT, _LAST_PORT = 1024, 65535
_SOCKET_BYTES = 107
"""What the address of a Unix socket takes."""

_HANG_CYCLES = BenchSettings().hang_cycles
_MOST_CYCLES = 1 << 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("library", nargs="?", type=Path, metavar="DRIVER", help="shared library, such as driver.so")
    remote = parser.add_mutually_exclusive_group()
    remote.add_argument(
        "--socket",
        type=Path,
        metavar="PATH",
        help="in the place of DRIVER: a client in another process, at this path",
    )
    remote.add_argument(
        "--tcp",
        type=numbers.whole(_FIRST_PORT, _LAST_PORT),
        metavar="PORT",
        help="the same at a port of this machine alone, for clients that know no Unix sockets",
    )
    parser.add_argument(
        "--include",
        action="store_true",
        help="print the folder of nvdla_tb.h, nvdla_tb_client.h and client.py, and exit",
    )
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
    add_reports_option(parser)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    if args.include:
        print(INCLUDE)
        return 0
    where = _where(args)
    if (args.library is None) == (where is None):
        raise InputError("DRIVER must be given, the shared library to run, or --socket or --tcp in its place")
    if where is None and not args.library.is_file():
        raise InputError(f"DRIVER must be a file, not {shown(args.library)}")
    if where is not None and args.entry != ENTRY:
        raise InputError("--entry must be left out: a client has no function to call")
    check_run_options(args)
    config = HwConfig.load(args.config)
    settings = BenchSettings(serve_interrupts=False, hang_cycles=args.hang_cycles)
    name = "client" if args.library is None else args.library.stem
    scenario = Scenario(name, config.name, tuple(_ops(args, config)), args.seed, settings)
    library = "" if args.library is None else str(resolved(args.library))
    driver = Driver(library, args.entry, args.silent, where)
    options = again(args, "socket", "tcp") if where is not None else [library, *again(args, "entry")]
    options += again(args, "reserve", "hang_cycles", "silent", "seed")
    options += [word for name in ("memory", "expect") for text in getattr(args, name) for word in _absolute(name, text)]
    rerun = f"{COMMAND} drive {shlex.join(options)} {dut_arguments(args)}"
    job = Job(scenario.name, args.seed, rerun, lambda: scenario, driver=driver)
    built = build_dut(args, config, waves=args.waves)
    if where is not None:
        Console.of(args).say(f"waiting for a client at {where}, for {args.silent:g} s")
    try:
        return play_and_report(args, [(args, [job], built)], "drive")
    finally:
        if args.socket is not None:
            # A simulator that was killed has left it.
            Path(str(where)).unlink(missing_ok=True)


def _where(args: argparse.Namespace) -> str | None:
    """Return where a client connects, None without one.

    Raises:
        InputError: for a socket that cannot be made, or not safely.
    """
    if args.socket is None:
        return None if args.tcp is None else str(args.tcp)
    path = resolved(args.socket.parent) / args.socket.name
    most = _SOCKET_BYTES
    if not path.name or path.name.isdecimal() or len(os.fsencode(path)) > most:
        raise InputError(f"--socket must be a path of at most {most} bytes, not {shown(args.socket)}")
    if os.path.lexists(path):
        raise InputError(f"--socket must be a path where nothing is, not {shown(args.socket)}")
    if not path.parent.is_dir():
        raise InputError(f"--socket must be in a folder that exists, not {shown(args.socket)}")
    check_socket(path)
    return str(path)


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
