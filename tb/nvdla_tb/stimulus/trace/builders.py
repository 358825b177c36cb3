"""One function per trace command: from its arguments to the operation.

What operations mean: ``nvdla_tb.nvdla.program.ops``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from nvdla_models.limits import MEMORY_BYTES
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program import ops
from nvdla_tb.nvdla.registers import RegisterError
from nvdla_tb.stimulus.trace import words
from nvdla_tb.stimulus.trace.arguments import Arguments
from nvdla_tb.stimulus.trace.data import Chunks, split
from nvdla_tb.stimulus.trace.notes import NoteError


def _reg_write(arguments: Arguments) -> ops.RegWrite:
    arguments.expect("register, value")
    value = arguments.number(1, "value", words.WORD_LIMIT)
    return ops.RegWrite(arguments.register(0).full_name, value, arguments.note.posted)


def _reg_read(arguments: Arguments) -> ops.RegRead:
    # The second argument names a variable of the player; nothing in the format can use it.
    arguments.expect("register", "register, name")
    if len(arguments) == 2:
        arguments.identifier(1, "name")
    return ops.RegRead(arguments.register(0).full_name)


def _reg_read_expected(arguments: Arguments) -> ops.RegRead:
    arguments.expect("register, value")
    return ops.RegRead(arguments.register(0).full_name, arguments.number(1, "value", words.WORD_LIMIT))


def _poll(arguments: Arguments, comparison: ops.Comparison, of_field: bool) -> ops.Poll:
    form = "register, field, value" if of_field else "register, value"
    arguments.expect(form, f"target, {form}")
    first = len(arguments) - len(form.split(", "))
    register = arguments.register(first)
    if first:
        target = arguments.unit(0, "target")
        if target != register.unit:
            raise arguments.error(f"target must be {register.unit}, the unit of the register, not {target}")
    if not of_field:
        value, mask = arguments.number(first + 1, "value", words.WORD_LIMIT), arguments.note.mask
        if mask is not None and value & ~mask:
            raise NoteError(f"mask must have the bits of {value:#x}, not {mask:#x}")
        return ops.Poll(register.full_name, value, comparison, mask=mask)
    try:
        field = register.field(arguments.identifier(first + 1, "field").lower())
    except RegisterError as error:
        raise arguments.error(str(error)) from error
    value = arguments.number(first + 2, f"value of {register.full_name}.{field.name}", 1 << field.width)
    return ops.Poll(register.full_name, value, comparison, field.name)


def _mem_init(arguments: Arguments) -> ops.MemInit:
    arguments.expect("memory, address, size, pattern")
    ram, address, nbytes = _range(arguments, 0)
    pattern = arguments.word(3, "pattern")
    if pattern not in words.PATTERNS:
        raise arguments.error(f"pattern must be {', '.join(words.PATTERNS)}, not {pattern}")
    return ops.MemInit(ram, address, nbytes, words.PATTERNS[pattern])


def _mem_load(arguments: Arguments) -> ops.MemLoad | ops.MemInit:
    arguments.expect('memory, address, "file"')
    ram, address = arguments.ram(0), arguments.address(1)
    name, chunks = _data(arguments, 2)
    load = ops.MemLoad(ram, address, chunks, name)
    arguments.check_reach(address, load.nbytes)
    fill = arguments.note.fill
    if fill is None:
        return load
    if chunks != ((0, bytes([fill]) * load.nbytes),):
        raise NoteError(f"fill says {fill:#x} for every byte, and {name} says otherwise")
    return ops.MemInit(ram, address, load.nbytes, fill)


def _intr_notify(arguments: Arguments) -> ops.InterruptNotify:
    arguments.expect("interrupt, sync_id")
    text = arguments.word(0, "interrupt")
    found = words.interrupt(text)
    if found is None:
        allowed = ", ".join(ops.INTERRUPT_UNITS)
        raise arguments.error(f"interrupt must be one of {allowed} with _0 or _1, not {text}")
    arguments.check_unit(ops.unit_of_interrupt(found[0]), "interrupt")
    return ops.InterruptNotify(*found, arguments.identifier(1, "sync_id"))


def _sync(arguments: Arguments, kind: type[ops.SyncNotify | ops.SyncWait]) -> ops.Op:
    arguments.expect("target, sync_id")
    if arguments.note.line:
        return ops.LineWait()
    return kind(arguments.unit(0, "target"), arguments.identifier(1, "sync_id"))


def _check_crc(arguments: Arguments) -> ops.CheckCrc:
    arguments.expect("sync_id, memory, address, size, crc")
    sync_id, (ram, address, nbytes) = arguments.identifier(0, "sync_id"), _range(arguments, 1)
    return ops.CheckCrc(sync_id, ram, address, nbytes, arguments.number(4, "crc", words.WORD_LIMIT))


def _check_file(arguments: Arguments) -> ops.CheckFile:
    arguments.expect('sync_id, memory, address, size, "file"')
    sync_id, (ram, address, nbytes) = arguments.identifier(0, "sync_id"), _range(arguments, 1)
    name, chunks = _data(arguments, 4)
    complaint = words.golden_complaint(nbytes, [(offset, len(data)) for offset, data in chunks])
    if complaint:
        raise arguments.error(f"{name}: {complaint}")
    return ops.CheckFile(sync_id, ram, address, nbytes, chunks, name)


def _check_nothing(arguments: Arguments) -> ops.CheckNothing:
    arguments.expect("sync_id")
    return ops.CheckNothing(arguments.identifier(0, "sync_id"))


def _range(arguments: Arguments, index: int) -> tuple[Ram, int, int]:
    """Return the memory, the address and the size that begin at an argument."""
    ram, address = arguments.ram(index), arguments.address(index + 1)
    nbytes = arguments.number(index + 2, "size", MEMORY_BYTES + 1, least=1)
    arguments.check_reach(address, nbytes)
    return ram, address, nbytes


def _data(arguments: Arguments, index: int) -> tuple[str, Chunks]:
    """Return the name and the chunks of the data file that an argument names."""
    name = arguments.quoted(index, "file")
    chunks = arguments.folder.data(name, arguments.line)
    note = arguments.note
    if note.chunks is not None:
        cut = split(chunks, note.chunks)
        if cut is None:
            raise NoteError(f"chunks must cover exactly the packets of {name}")
        chunks = cut
    return name if note.file_name is None else note.file_name, chunks


BUILDERS: Mapping[str, Callable[[Arguments], ops.Op]] = {
    "reg_write": _reg_write,
    "reg_read": _reg_read,
    "reg_read_expected": _reg_read_expected,
    # What the public player calls it, where the guide says reg_read_expected.
    "reg_read_check": _reg_read_expected,
    "mem_init": _mem_init,
    "mem_load": _mem_load,
    "intr_notify": _intr_notify,
    "sync_notify": partial(_sync, kind=ops.SyncNotify),
    "sync_wait": partial(_sync, kind=ops.SyncWait),
    "check_crc": _check_crc,
    "check_file": _check_file,
    "check_nothing": _check_nothing,
    **{
        name: partial(_poll, comparison=comparison, of_field=of_field)
        for name, (comparison, of_field) in words.POLLS.items()
    },
}
"""Every command of the format, by name."""
