"""Files that name hand-overs inside the RTL.

A TOML file names the hand-overs, in the order in which data pass them:

    [[stage]]
    name = "CACC to SDP"
    unit = "CACC"                 # at fault when this is the first that is wrong; or a list of units
    engines = ["CONV"]            # whose layers pass it, names of ``tb.nvdla.engines``
    value = "sums"                # what passes it, see KINDS of ``tb.explain.handed``
    valid = "conv.sdp_valid"      # paths from the RTL's top
    ready = "conv.sdp_ready"      # may be left out: every valid beat is taken
    data = "conv.sdp_data"        # or a list of paths, from bit 0 up
    across_lines = true           # for these: stripes of images do not end with a line; may be left out
    is_pin = true                 # may be left out: the signals are pins of the device, by their canonical names
    delay = 3                     # may be left out: cycles by which the data come after valid
    zeros = false                 # may be left out: beats of zeros alone are not compared, nor counted
    mask = "conv.sdp_mask"        # may be left out: a bit an element, 0 for one that counts as 0
    element_bits = 32             # elements one after the other from bit 0; not for written
    stripe = [8, 16]              # for kernels, elements and products: outputs of the shortest and longest stripes
    cells = [0, 4]                # for these: first MAC cell and number; may be left out: all of them
    address = "sdp.wr_req_addr"   # for written alone

Bytes that are written come in any order; all other values in the order that ``tb.explain.handed`` gives them. Tables
``[[reader]]`` and ``[[writer]]`` name the clients of the memory interface: see ``tb.explain.clients``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TypeVar

from models.reading import read_toml, shown
from tb.explain.clients import PORT, Reader, Writer
from tb.explain.stages import Stage
from tb.explain.tap import StageError, Tap
from tb.plain_data import converted

_LISTS = {"unit", "engines", "data", "mask"}
"""Keys of a stage that hold a list, or one text alone."""


@dataclass(frozen=True)
class HandoverFile:
    """What a file names."""

    stages: tuple[Stage, ...]
    readers: tuple[Reader, ...] = ()
    writers: tuple[Writer, ...] = ()

    @property
    def taps(self) -> tuple[Tap, ...]:
        """All that is watched; with clients also the port that they share."""
        clients: tuple[Reader | Writer, ...] = (*self.readers, *self.writers)
        return (*self.stages, *(tap for client in clients for tap in client.taps), *(PORT if clients else ()))


T = TypeVar("T", Stage, Reader, Writer)


def load_handovers(path: Path) -> HandoverFile:
    """Return the hand-overs of a file.

    Raises:
        StageError: when it cannot be read, or a key is missing, unknown or wrong.
    """
    raw = read_toml(path, StageError)
    if "stage" not in raw or set(raw) - {"stage", "reader", "writer"}:
        raise StageError(
            f"{path}: the file must hold tables [[stage]], and may hold [[reader]] and [[writer]], "
            f"not {', '.join(raw) or 'nothing'}"
        )
    return HandoverFile(
        tuple(_entries(path, raw, "stage", Stage, _LISTS)),
        tuple(_entries(path, raw, "reader", Reader)),
        tuple(_entries(path, raw, "writer", Writer)),
    )


def _entries(path: Path, raw: Mapping[str, object], name: str, kind: type[T], lists: Iterable[str] = ()) -> Iterator[T]:
    """Yield the entries of a table; some of its keys may hold one text instead of a list."""
    table = raw.get(name, [])
    if not isinstance(table, list):
        raise StageError(f"{path}: {name} must be tables [[{name}]], not {shown(table)}")
    for number, entry in enumerate(table):
        where = f"{path}: {name}[{number}]"
        if not isinstance(entry, dict):
            raise StageError(f"{where} must be a table, not {shown(entry)}")
        known = {field.name: field for field in fields(kind)}
        for key in sorted(key for key, field in known.items() if field.default is MISSING and key not in entry):
            raise StageError(f"{path}: a {name} must have the key {key}")
        for key in sorted(set(entry) - set(known)):
            raise StageError(f"{path}: a {name} has no key {key}")
        alone = {key: [value] for key in lists if isinstance(value := entry.get(key), str)}
        yield converted({**entry, **alone}, kind, where, StageError)
