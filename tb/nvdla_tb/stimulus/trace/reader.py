"""From a trace folder to a ``Scenario``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.limits import MEMORY_BYTES
from nvdla_tb.nvdla.program.ops import MemInit, MemLoad, Op
from nvdla_tb.plain_data import converted
from nvdla_tb.stimulus.player import unraised
from nvdla_tb.stimulus.scenario import Scenario, check_name
from nvdla_tb.stimulus.settings import BenchSettings
from nvdla_tb.stimulus.trace import notes
from nvdla_tb.stimulus.trace.arguments import Arguments
from nvdla_tb.stimulus.trace.builders import BUILDERS
from nvdla_tb.stimulus.trace.errors import TraceError, TraceUnsupported
from nvdla_tb.stimulus.trace.files import TraceFolder
from nvdla_tb.stimulus.trace.lexer import Command, commands
from nvdla_tb.stimulus.trace.txn import read_txn

SEED = 0
"""Seed of a trace that carries none: the bench behaves alike in every run."""


def read(path: Path, config: HwConfig) -> Scenario:
    """Read a trace.

    Args:
        path: The trace's folder, which holds one ``.cfg`` or ``input.txn``, or that file.
        config: The configuration that will play the trace.

    Returns:
        The trace as a scenario called like the folder, or like the ``.cfg`` when that was given. A
        trace without a note of ours has seed 0 and default settings.

    Raises:
        TraceUnsupported: when a sound trace needs what ``config`` lacks.
        TraceError: for a malformed trace, with file and line.

    Source: verification suite user guide, Trace Test format.
    """
    folder = TraceFolder.open(path)
    if folder.is_txn:
        return read_txn(folder, config)
    reader = _Reader(folder, config)
    for command in commands(folder.text(), folder.cfg):
        reader.take(command)
    return reader.finish()


class _Reader:
    """Collects the operations of one trace."""

    def __init__(self, folder: TraceFolder, config: HwConfig) -> None:
        self._folder = folder
        self._config = config
        self._header: notes.Header | None = None
        self._ops: list[Op] = []
        self._lines: list[int] = []
        self._note: dict[str, Any] = {}
        self._note_line = 0

    def take(self, command: Command) -> None:
        """Take the next command or note."""
        if command.is_note:
            self._take_note(command)
            return
        builder = BUILDERS.get(command.name)
        if builder is None:
            raise self._error(command.line, f"unknown command {command.name}; allowed: {', '.join(sorted(BUILDERS))}")
        try:
            note = notes.note_before(command.name, self._note)
            self._ops.append(builder(Arguments(command, self._folder, self._config, note)))
        except notes.NoteError as error:
            raise self._error(self._note_line, str(error)) from error
        self._lines.append(command.line)
        self._note = {}

    def finish(self) -> Scenario:
        """Check what only the whole trace shows and return the scenario."""
        if self._note:
            raise self._error(self._note_line, "a note must stand before a command, not at the end")
        filled = sum(op.nbytes for op in self._ops if isinstance(op, MemInit))
        loaded = sum(len(data) for op in self._ops if isinstance(op, MemLoad) for _, data in op.chunks)
        for command, nbytes in (("mem_init", filled), ("mem_load", loaded)):
            if nbytes > MEMORY_BYTES:
                raise TraceError(
                    f"{self._folder.cfg}: all {command} together must have at most {MEMORY_BYTES} bytes, not {nbytes}"
                )
        if not self._ops and self._header is None:
            raise TraceError(f"{self._folder.cfg}: a trace must hold at least one command")
        complaint = unraised(tuple(self._ops))
        if complaint:
            raise self._error(self._lines[complaint[0]], complaint[1])
        header = self._header or notes.Header(self._folder.name, self._config.name, SEED, BenchSettings())
        return Scenario(header.name, header.config, tuple(self._ops), header.seed, header.settings)

    def _take_note(self, command: Command) -> None:
        try:
            note = notes.parse_note(command.arguments[0].text)
        except notes.NoteError as error:
            raise self._error(command.line, str(error)) from error
        if notes.SCENARIO in note:
            self._take_header(note, command.line)
        elif self._note:
            raise self._error(command.line, "a note must stand before a command, not before another note")
        else:
            self._note, self._note_line = note, command.line

    def _take_header(self, note: dict[str, Any], line: int) -> None:
        if self._header is not None or self._ops or self._note or len(note) > 1:
            raise self._error(line, f"the note with {notes.SCENARIO} must stand alone, once and before every command")
        try:
            header = converted(note[notes.SCENARIO], notes.Header, "a note", path=notes.SCENARIO)
            check_name(header.name)
        except InputError as error:
            raise self._error(line, str(error)) from error
        if header.config != self._config.name:
            raise TraceUnsupported(
                f"{self._folder.cfg}:{line}: the trace is written for {header.config}, not for {self._config.name}"
            )
        self._header = header

    def _error(self, line: int, message: str) -> TraceError:
        return TraceError.at(self._folder.cfg, line, message)
