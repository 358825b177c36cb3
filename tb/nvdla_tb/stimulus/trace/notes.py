"""What a trace of ours says beyond the public commands, in comments that every other player skips.

A note is a comment line: a fixed mark and a JSON object. The note before the first command holds the
scenario's name, configuration, seed and settings; any other note belongs to the command after it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nvdla_models.errors import InputError
from nvdla_models.reading import parse_json
from nvdla_tb.nvdla.program.ops import Comparison

MARK = "// nvdla-testbench: "

SCENARIO = "scenario"
"""Key of the note that describes the whole trace."""

POSTED = "posted"
"""Of ``reg_write``: false when the write is non-posted, which the public format cannot say."""

UNMAPPED = "unmapped"
"""Of accesses of registers: true when the address has none, which a public trace may not do."""

MASK = "mask"
"""Of ``poll_reg_equal`` and the other polls of a register: the bits that are compared, where the public format compares
all of them."""

LINE = "line"
"""Of ``sync_notify``: true when it stands for a wait for the interrupt line, for which there is no command."""

FILE_NAME = "file_name"
"""Of ``mem_load`` and ``check_file``: the name when it cannot be the name of a file in the folder."""

CHUNKS = "chunks"
"""Of ``mem_load`` and ``check_file``: [offset, size] of each chunk when chunks touch or are empty."""

FILL = "fill"
"""Of ``mem_load``: it stands for a ``mem_init`` with this byte value, for which there is no pattern."""

ALLOWED: Mapping[str, frozenset[str]] = {
    "reg_write": frozenset({POSTED, UNMAPPED}),
    **{name: frozenset({UNMAPPED}) for name in ("reg_read", "reg_read_expected")},
    **{f"poll_reg_{comparison.value}": frozenset({MASK}) for comparison in Comparison},
    "sync_notify": frozenset({LINE}),
    "mem_load": frozenset({FILE_NAME, CHUNKS, FILL}),
    "check_file": frozenset({FILE_NAME, CHUNKS}),
}
"""The keys that a note may hold, by the command after it."""


class NoteError(InputError):
    """A note that cannot be understood."""


def format_note(note: Mapping[str, Any]) -> str:
    """Return a note as the comment line that holds it."""
    return MARK + json.dumps(note)


def parse_note(comment: str) -> dict[str, Any]:
    """Return the content of a comment that begins with the mark.

    Raises:
        NoteError: when it is no JSON object.
    """
    note = parse_json(comment.removeprefix(MARK), "a note", NoteError)
    if not isinstance(note, dict):
        raise NoteError(f"a note must be a JSON object, not {comment.removeprefix(MARK).strip()}")
    return note


def chunk_sizes(value: object) -> list[tuple[int, int]]:
    """Return the value of ``CHUNKS`` as (offset, size) pairs.

    Raises:
        NoteError: when it is not a list of pairs of natural numbers.
    """
    if not isinstance(value, list):
        raise NoteError(f"{CHUNKS} must be a list of [offset, size], not {value!r}")
    pairs = []
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2 or any(type(part) is not int or part < 0 for part in pair):
            raise NoteError(f"{CHUNKS} must be a list of [offset, size], not of {pair!r}")
        pairs.append((pair[0], pair[1]))
    return pairs
