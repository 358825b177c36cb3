"""Traces of the public project's default branch, made of layers of ours."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_tb.nvdla.program import ops
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.registers import RegisterMap
from tests.unit.nvdla.samples import FULL, small_sdp

SOURCE, DESTINATION = 0x80200000, 0x80800000
SHAPE = (32, 2, 3)
DATA = np.random.default_rng(5).integers(-100, 100, (2 * 3 * 32,), dtype=np.int8).tobytes()
"""One surface: what a layer that passes its input on writes."""

DONE = "0x00000001"


def lines(data: bytes) -> str:
    """Return a memory file with headers, as the public project writes them."""
    rows = (data[at : at + 32] for at in range(0, len(data), 32))
    body = "\n".join(" 0x" + row.hex(" ").replace(" ", " 0x") for row in rows)
    return f"dumped memory,start_address=0x0 size={len(data):#x}\n====\n\n{body}\n\n====\ndump done\n"


def writes(program: Iterable[ops.Op], config: HwConfig = FULL) -> list[str]:
    """Return the register writes of a program as commands."""
    registers = RegisterMap.of(config)
    return [
        f"write_reg {0xFFFF0000 | registers.address(registers.parse(op.register)) // 4:#x} {op.value:#x} #{op.register}"
        for op in program
        if isinstance(op, ops.RegWrite)
    ]


def pass_on() -> list[str]:
    """Return the commands that run a layer which passes its input on."""
    return writes(encode(small_sdp(SHAPE, SOURCE, DESTINATION, FULL), FULL, 0, "done"))


def make(folder: Path, *commands: str, plusargs: str | None = None, **files: str) -> Path:
    """Write a trace and the files that it names, and return its folder."""
    folder.mkdir()
    (folder / "input.txn").write_text("".join(f"{line}\n" for line in commands), encoding="ascii")
    for name, text in ({"in": lines(DATA), "out": lines(DATA)} | files).items():
        (folder / f"{name}.dat").write_text(text, encoding="ascii")
    if plusargs is not None:
        (folder / "plusargs.txt").write_text(plusargs, encoding="ascii")
    return folder


def sdp_trace(folder: Path, *end: str, **files: str) -> Path:
    """Write a trace that loads, runs a layer, waits for its interrupt, looks at it and clears it."""
    waits = ("wait", f"read_reg 0xffff0003 {DONE} {DONE}", "write_reg 0xffff0003 0xffffffff")
    return make(folder, f"load_mem {SOURCE:#x} {len(DATA):#x} in.dat", *pass_on(), *waits, *end, **files)
