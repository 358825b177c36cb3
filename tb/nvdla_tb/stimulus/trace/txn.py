"""From ``input.txn``, the traces of the public project's default branch, to a ``Scenario``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest

from nvdla_models.config import HwConfig
from nvdla_models.limits import MEMORY_BYTES
from nvdla_models.reading import shown
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program import ops
from nvdla_tb.nvdla.program.table import Refused
from nvdla_tb.nvdla.registers import INTR_STATUS, RegisterMap
from nvdla_tb.stimulus.refusal import started_layers
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.settings import BenchSettings
from nvdla_tb.stimulus.trace import words
from nvdla_tb.stimulus.trace.errors import TraceError, TraceUnsupported
from nvdla_tb.stimulus.trace.files import TraceFolder
from nvdla_tb.stimulus.trace.plusargs import read_plusargs

SEED = 0
REGISTER_MAP = "nv_full"
"""The register map that all of these traces are written for."""

_TARGET = "GLB"
_WORD_BYTES = 4
_REGISTER_BITS = 16
_COMPARISONS = {"==": ops.Comparison.EQUAL, "<=": ops.Comparison.NOT_GREATER, ">=": ops.Comparison.NOT_LESS}
_WORD_MASK = words.WORD_LIMIT - 1
_BASES: Mapping[int, Ram] = {0x5: Ram.CVSRAM, 0x8: Ram.MC}
"""The memory at an address, by its topmost four of 32 bits."""

_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]{1,16}")


@dataclass(frozen=True)
class _Line:
    """One command."""

    folder: TraceFolder
    config: HwConfig
    number: int
    name: str
    arguments: tuple[str, ...]

    def error(self, message: str) -> TraceError:
        return TraceError.at(self.folder.cfg, self.number, message)

    def expect(self, *forms: str) -> None:
        """Refuse a number of arguments that fits none of the forms, such as ``ADDRESS VALUE``."""
        if len(self.arguments) not in {len(form.split()) for form in forms}:
            shapes = " or ".join(f"{self.name} {form}".strip() for form in forms)
            raise self.error(f"the command must be {shapes}, not with {len(self.arguments)} arguments")

    def number_at(self, index: int, name: str, limit: int = words.WORD_LIMIT, least: int = 0) -> int:
        """Return an argument that is a hexadecimal number of at least ``least`` and below ``limit``."""
        text = self.arguments[index]
        if not _HEXADECIMAL.fullmatch(text):
            raise self.error(f"{name} must be a 0x-prefixed number, not {shown(text)}")
        value = int(text, 16)
        if not least <= value < limit:
            raise self.error(f"{name} must be {least:#x} to {limit - 1:#x}, not {shown(text)}")
        return value

    def register(self) -> str:
        """Return the register at a word address, above whose low 16 bits the public bench keeps what is its own."""
        word = self.number_at(0, "ADDRESS") & (1 << _REGISTER_BITS) - 1
        register = RegisterMap.of(self.config).at(word * _WORD_BYTES)
        if register is None:
            raise self.error(f"{self.config.name} has no register at word address {word:#x}")
        return register.full_name

    def place(self, nbytes: int) -> tuple[Ram, int]:
        """Return the memory and the address of a command that takes so many bytes there."""
        address = self.number_at(0, "ADDRESS")
        ram = _BASES.get(address >> 28)
        if ram is None:
            allowed = " or ".join(f"{base:#x}... ({known.value})" for base, known in _BASES.items())
            raise self.error(f"ADDRESS must be {allowed}, not {address:#x}")
        if ram is Ram.CVSRAM and not self.config.secondary_memif_enable:
            raise TraceUnsupported(f"{self.folder.cfg}:{self.number}: {self.config.name} has no second memory")
        if _BASES.get(address + nbytes - 1 >> 28) is not ram:
            raise self.error(f"{self.name} must end in the memory where it begins, not at {address + nbytes:#x}")
        return ram, address

    def file(self, size: int, *, whole: bool) -> bytes:
        """Return the bytes of the file that the third argument names, as many as the command takes."""
        data = self.folder.lines(self.arguments[2], self.number, size)
        if whole and len(data) < size:
            raise self.error(f"{self.arguments[2]} must hold the {size:#x} bytes of the command, not {len(data):#x}")
        return data


def read_txn(folder: TraceFolder, config: HwConfig) -> Scenario:
    """Read a trace.

    Args:
        folder: Its folder.
        config: The configuration that will play it.

    Raises:
        TraceUnsupported: when the configuration has another register map, or lacks what a sound trace needs.
        TraceError: for a malformed trace, with file and line.

    Source: ``inp_txn_to_hexdump.pl`` and ``csb_master_seq.v`` of the public project's default branch. That bench polls
        every 1000 cycles as often as ``plusargs.txt`` says, and compares whole words; the masks are those that the
        traces were written with.
    """
    if config.register_map != REGISTER_MAP:
        raise TraceUnsupported(
            f"{folder.cfg}: the trace is written for the register map of {REGISTER_MAP}, which {config.name} has not"
        )
    program = list(_with_looks(list(_program(folder, config))))
    if not program:
        raise TraceError(f"{folder.cfg}: a trace must hold at least one command")
    loaded = sum(len(data) for op in program if isinstance(op, ops.MemLoad) for _, data in op.chunks)
    if loaded > MEMORY_BYTES:
        raise TraceError(f"{folder.cfg}: all load_mem together must have at most {MEMORY_BYTES} bytes, not {loaded}")
    plusargs = read_plusargs(folder)
    settings = BenchSettings(
        serve_interrupts=False,
        poll_deadline_cycles=plusargs.poll_deadline_cycles,
        continue_on_fail=plusargs.continue_on_fail,
    )
    return Scenario(folder.name, config.name, (*_room(program, config), *program), SEED, settings)


def _program(folder: TraceFolder, config: HwConfig) -> Iterator[ops.Op]:
    for number, text in enumerate(folder.text().splitlines(), start=1):
        name, *arguments = text.partition("#")[0].split() or ("",)
        if not name:
            continue
        line = _Line(folder, config, number, name, tuple(arguments))
        if name not in _COMMANDS:
            raise line.error(f"unknown command {shown(name)}; allowed: {', '.join(sorted(_COMMANDS))}")
        yield from _COMMANDS[name](line)


def _with_looks(program: Sequence[ops.Op]) -> Iterator[ops.Op]:
    """Yield a program with a read of the interrupts after each wait for them that no read of the trace follows.

    Some traces clear what they have waited for without a look, and nobody would know which layer has ended.
    """
    for op, following in zip_longest(program, program[1:]):
        yield op
        looks = isinstance(following, ops.RegRead | ops.Poll) and following.register == INTR_STATUS
        if isinstance(op, ops.LineWait) and not looks:
            yield ops.RegRead(INTR_STATUS)


def _room(program: list[ops.Op], config: HwConfig) -> Iterator[ops.MemLoad]:
    """Yield room for what layers write and golden files hold: in the public bench all memory is there."""
    ranges: dict[tuple[Ram, int], int] = {}
    for op in program:
        if isinstance(op, ops.CheckFile):
            ranges[op.ram, op.address] = max(ranges.get((op.ram, op.address), 0), op.nbytes)
    with suppress(Refused):
        # Whoever plays the trace says why a layer is refused; golden files have their room.
        for started in started_layers(tuple(program), config):
            dst = started.layer.dst
            ranges[dst.ram, dst.address] = max(ranges.get((dst.ram, dst.address), 0), dst.layout.nbytes)
    limit = 1 << config.memif_address_width_bits
    for (ram, address), nbytes in sorted(ranges.items(), key=lambda item: (item[0][0].value, item[0][1])):
        known = ram is Ram.MC or config.secondary_memif_enable
        if known and address + nbytes <= limit:
            yield ops.MemLoad(ram, address, ((nbytes, b""),), f"room_{ram.value}_{address:x}.dat")


def _write_reg(line: _Line) -> Iterator[ops.Op]:
    line.expect("ADDRESS VALUE")
    yield ops.RegWrite(line.register(), line.number_at(1, "VALUE"))


def _read_reg(line: _Line) -> Iterator[ops.Op]:
    line.expect("ADDRESS MASK VALUE", "ADDRESS MASK COMPARISON VALUE", "ADDRESS MASK COMPARISON VALUE POLLS")
    register, mask = line.register(), line.number_at(1, "MASK")
    sign = line.arguments[2] if len(line.arguments) > 3 else "=="
    if sign not in _COMPARISONS:
        raise line.error(f"COMPARISON must be one of {', '.join(_COMPARISONS)}, not {shown(sign)}")
    value = line.number_at(2 if len(line.arguments) == 3 else 3, "VALUE") & mask
    if not mask:
        # Nothing is compared.
        yield ops.RegRead(register)
    else:
        yield ops.Poll(register, value, _COMPARISONS[sign], mask=None if mask == _WORD_MASK else mask)


def _wait(line: _Line) -> Iterator[ops.Op]:
    line.expect("")
    yield ops.LineWait()


def _load_mem(line: _Line) -> Iterator[ops.Op]:
    line.expect("ADDRESS SIZE FILE")
    size = line.number_at(1, "SIZE", MEMORY_BYTES + 1, least=1)
    ram, address = line.place(size)
    yield ops.MemLoad(ram, address, ((0, line.file(size, whole=False)),), line.arguments[2])


def _dump_mem(line: _Line) -> Iterator[ops.Op]:
    line.expect("ADDRESS SIZE FILE")
    size = line.number_at(1, "SIZE", MEMORY_BYTES + 1, least=1)
    ram, address = line.place(size)
    yield from _compared(line, ram, address, ((0, line.file(size, whole=True)),), size, line.arguments[2])


def _write_mem(line: _Line) -> Iterator[ops.Op]:
    line.expect("ADDRESS VALUE")
    ram, address = line.place(_WORD_BYTES)
    data = line.number_at(1, "VALUE").to_bytes(_WORD_BYTES, "little")
    yield ops.MemLoad(ram, address, ((0, data),), f"write_mem_{line.number}.dat")


def _read_mem(line: _Line) -> Iterator[ops.Op]:
    line.expect("ADDRESS VALUE", "ADDRESS MASK VALUE")
    ram, address = line.place(_WORD_BYTES)
    mask = line.number_at(1, "MASK") if len(line.arguments) == 3 else _WORD_MASK
    value = line.number_at(len(line.arguments) - 1, "VALUE").to_bytes(_WORD_BYTES, "little")
    taken = mask.to_bytes(_WORD_BYTES, "little")
    if not mask or set(taken) - {0, 0xFF}:
        raise line.error(f"MASK of memory must be of whole bytes, not {mask:#x}")
    chunks = tuple((at, value[at : at + 1]) for at in range(_WORD_BYTES) if taken[at])
    yield from _compared(line, ram, address, chunks, _WORD_BYTES, f"read_mem_{line.number}.dat")


def _compared(
    line: _Line, ram: Ram, address: int, chunks: tuple[tuple[int, bytes], ...], nbytes: int, name: str
) -> Iterator[ops.Op]:
    """Yield what compares memory when the program has come this far."""
    sync_id = f"line_{line.number}"
    # Checks are known before what raises them.
    yield ops.CheckFile(sync_id, ram, address, nbytes, chunks, name)
    yield ops.SyncNotify(_TARGET, sync_id)


_COMMANDS: Mapping[str, Callable[[_Line], Iterator[ops.Op]]] = {
    "write_reg": _write_reg,
    "read_reg": _read_reg,
    "load_mem": _load_mem,
    "write_mem": _write_mem,
    "read_mem": _read_mem,
    "dump_mem": _dump_mem,
    "wait": _wait,
}
"""Every command of the format, by name."""
