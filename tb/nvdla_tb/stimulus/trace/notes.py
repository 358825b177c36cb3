"""What a trace of ours says beyond the public commands, in comments that every other player skips.

A note is a comment line: a fixed mark and a JSON object. The note before the first command holds the
scenario's name, configuration, seed and settings; any other note belongs to the command after it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from nvdla_models.errors import InputError
from nvdla_models.reading import parse_json
from nvdla_tb.nvdla.program.ops import Comparison
from nvdla_tb.plain_data import converted
from nvdla_tb.stimulus.settings import BenchSettings

MARK = "// nvdla-testbench: "

SCENARIO = "scenario"
"""Key of the note that describes the whole trace."""

Natural = Annotated[int, Meta(ge=0)]


class NoteError(InputError):
    """A note that cannot be understood."""


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole trace: its scenario without the operations."""

    name: str
    config: str
    seed: Natural
    settings: BenchSettings


class Note(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What the command after it cannot say.

    Attributes:
        posted: of ``reg_write``: false when the write is non-posted.
        unmapped: of accesses of registers: true when the address has none, which a public trace may not do.
        mask: of ``poll_reg_equal`` and the other polls of a register: the bits that are compared, where the public
            format compares all of them.
        line: of ``sync_notify``: true when it stands for a wait for the interrupt line, for which there is no command.
        chunks: of ``mem_load`` and ``check_file``: offset and size of each chunk when chunks touch or are empty.
        file_name: of the same: the name when it cannot be the name of a file in the folder.
        fill: of ``mem_load``: it stands for a ``mem_init`` with this byte value, for which there is no pattern.
    """

    posted: bool = True
    unmapped: bool = False
    mask: Annotated[int, Meta(ge=1, le=0xFFFFFFFF)] | None = None
    line: bool = False
    chunks: tuple[tuple[Natural, Natural], ...] | None = None
    file_name: str | None = None
    fill: Annotated[int, Meta(ge=0, le=0xFF)] | None = None


_ALLOWED: Mapping[str, tuple[str, ...]] = {
    "reg_write": ("posted", "unmapped"),
    "reg_read": ("unmapped",),
    "reg_read_expected": ("unmapped",),
    **{f"poll_reg_{comparison.value}": ("mask",) for comparison in Comparison},
    "sync_notify": ("line",),
    "mem_load": ("file_name", "chunks", "fill"),
    "check_file": ("file_name", "chunks"),
}
"""The keys that a note may hold, by the command after it."""


def format_note(note: Mapping[str, Any] | Note) -> str:
    """Return a note as the comment line that holds it."""
    return MARK + json.dumps(msgspec.to_builtins(note))


def parse_note(comment: str) -> dict[str, Any]:
    """Return the content of a comment that begins with the mark.

    Raises:
        NoteError: when it is no JSON object.
    """
    note = parse_json(comment.removeprefix(MARK), "a note", NoteError)
    if not isinstance(note, dict):
        raise NoteError(f"a note must be a JSON object, not {comment.removeprefix(MARK).strip()}")
    return note


def note_before(command: str, content: Mapping[str, Any]) -> Note:
    """Return the note that stands before a command.

    Raises:
        NoteError: for a key that says nothing of the command, and for a value that cannot be.
    """
    for key in content:
        if key not in _ALLOWED.get(command, ()):
            raise NoteError(f"a note before {command} must not hold {key}")
    return converted(content, Note, "a note", NoteError)
