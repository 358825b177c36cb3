"""Play a case on ``dlhdl_core`` with Icarus: memory image and script in, memory and complaints out.

Source: docs/dlhdl.md.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from nvdla_tb.paths import HDL

HERE = Path(__file__).parent
SIZE = 0x20000
"""Bytes of the bench's memory."""

POISON = 0xA5
"""What lies where a case places nothing."""

LIST, CONV_WEIGHTS, FC_WEIGHTS = 0x1000, 0x2000, 0x6000
INPUT, OUTPUT, SYSTEM = 0x10000, 0x14000, 0x18000

CONVOLUTION, MAXIMUM, AVERAGE, FULLY_CONNECTED, ADDITION = range(1, 6)


def offsets() -> dict[str, int]:
    """Return the offset of each register, by name."""
    text = (HDL / "dlhdl" / "dlhdl_addr.h").read_text(encoding="utf-8")
    return {
        name: int(offset, 16) for name, offset in re.findall(r"#define +(\w+)_Data_dlhdl_core +(0x[0-9A-F]+)", text)
    }


OFFSETS = offsets()


@dataclass(frozen=True)
class Case:
    """What is played and what must come of it.

    Attributes:
        threads: CONV_THREAD_NUMBER.
        memory: Bytes by the address at which they are placed.
        expected: Bytes by address; everything that is written must be named here, and is written once.
        script: Commands of bench.v.
        data_type: 0 int8, 1 single.
        repeated: Addresses may be written more than once.
    """

    threads: int
    memory: Mapping[int, bytes]
    expected: Mapping[int, bytes]
    script: Sequence[str]
    data_type: int = 0
    repeated: bool = False


def by_name(*cases: Callable[[], Case]) -> dict[str, Callable[[], Case]]:
    """Return the functions that make cases by their names."""
    return {case.__name__: case for case in cases}


def signed(values: Iterable[int]) -> bytes:
    """Return int8 values as bytes."""
    return bytes(value & 0xFF for value in values)


def words(*values: int) -> bytes:
    """Return words of 32 bits, little-endian."""
    return b"".join((value & 0xFFFFFFFF).to_bytes(4, "little") for value in values)


def write(name: str, value: int) -> str:
    """Return the command that writes a register."""
    return f"w {OFFSETS[name]:x} {value & 0xFFFFFFFF:x}"


def expect(name: str, value: int) -> str:
    """Return the command that reads a register, which must hold a value."""
    return f"e {OFFSETS[name]:x} {value:x}"


def until(name: str, value: int) -> str:
    """Return the command that reads a register until it holds a value."""
    return f"p {OFFSETS[name]:x} {value:x}"


def pulse(name: str) -> list[str]:
    """Return the commands that turn a register from 0 to 1 and back."""
    return [write(name, 1), write(name, 0)]


def store(address: int, data: bytes) -> list[str]:
    """Return the commands that change the memory while the core runs."""
    return [f"s {address + i:x} {byte:x}" for i, byte in enumerate(data)]


def check(address: int, data: bytes) -> list[str]:
    """Return the commands that compare the memory while the core runs."""
    return [f"c {address + i:x} {byte:x}" for i, byte in enumerate(data)]


def program(
    *layers: bytes, input_size: int = 0x100, input_slots: int = 1, output_size: int = 0x100, output_slots: int = 1
) -> bytes:
    """Return an instruction list: its header of 64 bytes, and the words of its layers."""
    fields = (0x54534C44, len(layers), INPUT, input_size, input_slots, OUTPUT, output_size, output_slots, SYSTEM)
    return words(*fields, *(0,) * 7) + b"".join(layers)


def layer(
    kind: int,
    source: tuple[int, int, int],
    result: tuple[int, int, int],
    *,
    kernel: tuple[int, int] = (1, 1),
    stride: tuple[int, int] = (1, 1),
    padding: tuple[int, int, int, int] = (0, 0, 0, 0),
    exponents: tuple[int, int, int, int] = (0, 0, 0, 0),
    flags: int = 1 << 11,
    at: tuple[int, int, int] = (0, 0, 0),
    weights: int = 0,
    biases: int = 0,
) -> bytes:
    """Return the words of a layer; sizes are (x, y, features), pairs (x, y), paddings left, top, right, bottom."""
    return words(
        kind | flags,
        *at,
        weights,
        biases,
        source[0] | source[1] << 16,
        source[2] | result[2] << 16,
        kernel[0] | kernel[1] << 8 | stride[0] << 16 | stride[1] << 24,
        int.from_bytes(bytes(padding), "little"),
        result[0] | result[1] << 16,
        int.from_bytes(signed(exponents), "little"),
        *(0,) * 4,
    )


RELU, FROM_SYSTEM, SECOND_FROM_SYSTEM, TO_OUTPUT, FC_FORMAT = (1 << bit for bit in range(8, 13))

SETUP = (
    write("skd_ddr_addr", LIST),
    write("conv_weight_ddr_addr", CONV_WEIGHTS),
    write("fc_weight_ddr_addr", FC_WEIGHTS),
)


def batch(frames: int = 1) -> list[str]:
    """Return the commands that play the list for some frames and wait for the end."""
    return [*SETUP, write("FrameCount", frames), *pulse("inputStart"), until("done", 1)]


def of_layers(
    threads: int,
    layers: Sequence[bytes],
    memory: Mapping[int, bytes],
    expected: Mapping[int, bytes],
    data_type: int = 0,
) -> Case:
    """Return the case that plays layers on one frame."""
    return Case(threads, {LIST: program(*layers), **memory}, expected, batch(), data_type)


@cache
def models() -> TemporaryDirectory[str]:
    """Return the folder of the compiled benches, which goes when Python ends."""
    return TemporaryDirectory(prefix="dlhdl")


@cache
def compiled(threads: int, data_type: int) -> Path:
    """Return the compiled bench of a build."""
    model = Path(models().name) / f"{threads}_{data_type}.vvp"
    subprocess.run(
        [
            *("iverilog", "-g2005", "-s", "bench", "-o", str(model)),
            *(f"-Pbench.CONV_THREAD_NUMBER={threads}", f"-Pbench.DATA_TYPE={data_type}"),
            *("-c", str(HDL / "dlhdl.f"), str(HERE / "bench.v"), str(HERE / "memory.v")),
        ],
        cwd=HDL,
        check=True,
    )
    return model


def complaints(case: Case, folder: Path, bug: str | None = None) -> list[str]:
    """Play a case.

    Args:
        case: The case.
        folder: Where files may lie.
        bug: Seeded bug, or none.

    Returns:
        What was wrong; empty when all is as expected.
    """
    image = bytearray([POISON]) * SIZE
    for address, data in case.memory.items():
        image[address : address + len(data)] = data
    files = {name: folder / f"{name}.txt" for name in ("image", "script", "dump", "writes")}
    files["image"].write_text("\n".join(f"{byte:02x}" for byte in image))
    files["script"].write_text("\n".join(case.script) + "\n")
    run = subprocess.run(
        [
            *("vvp", "-n", str(compiled(case.threads, case.data_type)), *(f"+{n}={p}" for n, p in files.items())),
            *([] if bug is None else [f"+bug={bug}"]),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = run.stdout.splitlines()
    ended = f"played {len(case.script)} lines"
    if ended not in lines:
        return [*lines, f"the script did not end: {run.stderr}"]
    found = [line for line in lines if line != ended]
    memory, writes = (read_dump(files[name]) for name in ("dump", "writes"))
    for address, data in case.expected.items():
        for i, byte in enumerate(data):
            if memory[address + i] != byte:
                found.append(f"byte {address + i:#x} is {memory[address + i]:#x}, not {byte:#x}")
            if writes[address + i] != 1 and not case.repeated:
                found.append(f"byte {address + i:#x} was written {writes[address + i]} times")
            writes[address + i] = 0
    return found + [f"byte {address:#x} was written" for address, count in enumerate(writes) if count]


def read_dump(path: Path) -> list[int]:
    """Return the bytes of a dump; those that no known value was written to count as -1."""
    text = path.read_text(encoding="ascii")
    return [int(word, 16) if "x" not in word else -1 for word in text.split() if not word.startswith(("//", "@", "0x"))]
