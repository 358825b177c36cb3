"""From a ``Scenario`` to a trace folder that any player of the public format accepts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from nvdla_models.reading import resolved
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program import ops
from nvdla_tb.stimulus.player import unraised
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.trace import notes, words
from nvdla_tb.stimulus.trace.data import Chunks, canonical, format_data
from nvdla_tb.stimulus.trace.errors import TraceError
from nvdla_tb.stimulus.trace.files import SUFFIX
from nvdla_tb.writing import writing

_REGISTER = re.compile(r"(\w+)\.(\w+)", re.ASCII)
_PLAIN_FILE = re.compile(r"(?=.{1,100}\Z)\w+(\.\w+)*\.dat", re.ASCII)
"""File names that the public player takes, kept to one folder and to names that every file system takes."""

_LINE_ID = "dla_intr"
"""What players that skip notes are told to raise where this one waits for the interrupt line."""

_MEMORY = {Ram.MC: "pri_mem", Ram.CVSRAM: "sec_mem"}
_PATTERN = {value: name for name, value in words.PATTERNS.items()}
_POLL = {meaning: name for name, meaning in words.POLLS.items()}


def write(scenario: Scenario, folder: Path) -> Path:
    """Save a scenario as a trace; ``read`` gives back an equal one.

    Only public commands are used, one a line. Comments hold the rest (``nvdla_tb.stimulus.trace.notes``).

    Args:
        scenario: The scenario.
        folder: The trace's folder; it must be empty or not exist.

    Returns:
        The ``.cfg`` file, called like the folder.

    Raises:
        TraceError: for an operation that no trace can hold, and for a folder that is not empty;
            nothing is written then.

    Source: verification suite user guide, Trace Test format. ``poll_reg_equal`` without target as in
        the public nv_small traces; every other poll with target as in the guide.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TraceError(f"{folder}: a trace must be written to a folder that is new or empty")
    writer = _Writer()
    header = notes.Header(scenario.name, scenario.config, scenario.seed, scenario.settings)
    lines = [notes.format_note({notes.SCENARIO: header})]
    for index, op in enumerate(scenario.ops):
        try:
            lines.extend(writer.lines(op))
        except TraceError as error:
            raise TraceError(f"operation {index} ({type(op).__name__}): {error}") from error
    complaint = unraised(scenario.ops)
    if complaint:
        index, message = complaint
        raise TraceError(f"operation {index} ({type(scenario.ops[index]).__name__}): {message}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, chunks in writer.files.items():
        with writing(folder / name), (folder / name).open("w", encoding="ascii", newline="\n") as file:
            file.writelines(format_data(chunks))
    cfg = folder / f"{resolved(folder).name}{SUFFIX}"
    with writing(cfg):
        cfg.write_text("".join(f"{line}\n" for line in lines), encoding="ascii", newline="\n")
    return cfg


def write_command(op: ops.RegWrite) -> str:
    """Return the command of one register write.

    Raises:
        TraceError: for a value or a register that traces cannot spell.
    """
    return f"reg_write({_register(op.register)}, {_number('value', op.value, words.WORD_LIMIT)})"


class _Writer:
    """Spells operations and collects the data files that they need."""

    def __init__(self) -> None:
        self.files: dict[str, Chunks] = {}
        self._taken: dict[str, str] = {}
        self._count = 0

    def lines(self, op: ops.Op) -> Iterator[str]:
        """Yield the lines of one operation: its note, when it needs one, and its command."""
        note = notes.Note()
        match op:
            case ops.RegWrite():
                note.posted, note.unmapped = op.posted, _is_unmapped(op.register)
                text = write_command(op)
            case ops.RegRead():
                note.unmapped = _is_unmapped(op.register)
                text = _reg_read(op)
            case ops.Poll():
                if op.mask is not None:
                    _number("mask", op.mask, words.WORD_LIMIT)
                    note.mask = op.mask
                text = _poll(op)
            case ops.MemInit():
                text = self._mem_init(op, note)
            case ops.MemLoad():
                _check_reach(op.address, op.nbytes)
                text = f"mem_load({_memory(op.ram, op.address)}, {self._file(op.file_name, op.chunks, note)})"
            case ops.InterruptNotify():
                text = f"intr_notify({_interrupt(op)}, {_identifier('sync_id', op.sync_id)})"
            case ops.LineWait():
                note.line = True
                text = f"sync_notify({words.UNIT_PREFIX}GLB, {_LINE_ID})"
            case ops.SyncNotify() | ops.SyncWait():
                name = "sync_notify" if isinstance(op, ops.SyncNotify) else "sync_wait"
                target = words.UNIT_PREFIX + _identifier("target", op.target)
                text = f"{name}({target}, {_identifier('sync_id', op.sync_id)})"
            case ops.CheckCrc():
                text = f"check_crc({_checked(op)}, {_number('crc', op.crc, words.WORD_LIMIT)})"
            case ops.CheckFile():
                complaint = words.golden_complaint(op.nbytes, [(offset, len(data)) for offset, data in op.chunks])
                if complaint:
                    raise TraceError(complaint)
                text = f"check_file({_checked(op)}, {self._file(op.file_name, op.chunks, note)})"
            case ops.CheckNothing():
                text = f"check_nothing({_identifier('sync_id', op.sync_id)})"
        if note != notes.Note():
            yield notes.format_note(note)
        yield f"{text};"

    def _mem_init(self, op: ops.MemInit, note: notes.Note) -> str:
        size = _size(op.address, op.nbytes)
        if op.value in _PATTERN:
            return f"mem_init({_memory(op.ram, op.address)}, {size}, {_PATTERN[op.value]})"
        _number("value", op.value, 0x100)
        note.fill = op.value
        # The name is no part of a ops.MemInit, so the note need not keep it.
        name = self._place("fill.dat", ((0, bytes([op.value]) * op.nbytes),))
        return f'mem_load({_memory(op.ram, op.address)}, "{name}")'

    def _file(self, file_name: str, chunks: Chunks, note: notes.Note) -> str:
        """Return the quoted file argument and note what the file cannot say."""
        for offset, _ in chunks:
            _number("chunk offset", offset, words.ADDRESS_LIMIT)
        sizes = [(offset, len(data)) for offset, data in chunks]
        if canonical(sizes) != sizes:
            note.chunks = tuple(sizes)
        name = self._place(file_name, chunks)
        if name != file_name:
            note.file_name = file_name
        return f'"{name}"'

    def _place(self, wanted: str, chunks: Chunks) -> str:
        """Return the name of the file that will hold ``chunks``: the wanted one where that can be."""
        name = wanted
        while not (_PLAIN_FILE.fullmatch(name) and self._is_free(name, chunks)):
            name = f"data_{self._count}.dat"
            self._count += 1
        self.files[name] = chunks
        self._taken[name.casefold()] = name
        return name

    def _is_free(self, name: str, chunks: Chunks) -> bool:
        # Some file systems hold names that differ only in case to be the same.
        other = self._taken.get(name.casefold())
        return other is None or (other == name and self.files[name] == chunks)


def _reg_read(op: ops.RegRead) -> str:
    register = _register(op.register)
    if op.expected is None:
        return f"reg_read({register}, value)"
    return f"reg_read_expected({register}, {_number('expected', op.expected, words.WORD_LIMIT)})"


def _poll(op: ops.Poll) -> str:
    register = _register(op.register)
    name = _POLL[op.comparison, op.field is not None]
    value = _number("value", op.value, words.WORD_LIMIT)
    if name == "poll_reg_equal":
        return f"{name}({register}, {value})"
    target = register.partition(".")[0]
    if op.field is None:
        return f"{name}({target}, {register}, {value})"
    if op.field != op.field.lower():
        raise TraceError(f"field must be lower-case, not {op.field}")
    return f"{name}({target}, {register}, {_identifier('field', op.field).upper()}, {value})"


def _is_unmapped(register: str) -> bool:
    """Return whether an access is one of an address where no register is."""
    return words.number(register) is not None


def _register(full_name: str) -> str:
    if _is_unmapped(full_name):
        return full_name
    match = _REGISTER.fullmatch(full_name)
    if match is None:
        raise TraceError(f"register must be spelt UNIT.NAME, not {full_name}")
    return f"{words.UNIT_PREFIX}{match[1]}.{match[2]}{words.REGISTER_SUFFIX}"


def _checked(op: ops.CheckCrc | ops.CheckFile) -> str:
    sync_id = _identifier("sync_id", op.sync_id)
    return f"{sync_id}, {_memory(op.ram, op.address)}, {_size(op.address, op.nbytes)}"


def _memory(ram: Ram, address: int) -> str:
    return f"{_MEMORY[ram]}, {_number('address', address, words.ADDRESS_LIMIT)}"


def _size(address: int, nbytes: int) -> str:
    _check_reach(address, nbytes)
    return _number("size", nbytes, words.ADDRESS_LIMIT, least=1)


def _check_reach(address: int, nbytes: int) -> None:
    _number("address after the range", address + nbytes, words.ADDRESS_LIMIT + 1)


def _interrupt(op: ops.InterruptNotify) -> str:
    text = f"{op.unit}_{op.group}"
    if words.interrupt(text) != (op.unit, op.group):
        allowed = ", ".join(ops.INTERRUPT_UNITS)
        raise TraceError(f"interrupt must be one of {allowed} with group 0 or 1, not {op.unit} with {op.group}")
    return text


def _identifier(name: str, text: str) -> str:
    if not words.IDENTIFIER.fullmatch(text):
        raise TraceError(f"{name} must be letters, digits and _, not {text!r}")
    return text


def _number(name: str, value: int, limit: int, least: int = 0) -> str:
    if not least <= value < limit:
        raise TraceError(f"{name} must be {least} to {limit - 1:#x}, not {value:#x}")
    return f"{value:#x}"
