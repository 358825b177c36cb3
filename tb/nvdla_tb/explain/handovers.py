"""Hand-overs inside the RTL, and the files that name them.

A TOML file names the hand-overs in tables ``[[stage]]``, in the order in which data pass them: ``docs/explain.md``,
"The first bad stage", tells their fields. Tables ``[[reader]]`` and ``[[writer]]`` name the clients of the memory
interface: see ``nvdla_tb.explain.tap``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TypeVar

from nvdla_models.config import HwConfig
from nvdla_models.reading import read_toml, shown
from nvdla_tb.explain.cause_units import Region
from nvdla_tb.explain.tap import PORT, Reader, StageError, Tap, Writer
from nvdla_tb.nvdla.engines import ENGINES
from nvdla_tb.plain_data import converted


@dataclass(frozen=True)
class Kind:
    """A kind of values that pass a stage.

    Attributes:
        region: where a fault lies when they are the first that are wrong.
        made_of: the values before them that must be right when they are.
        in_stripes: whether they belong to atomic operations, whose order depends on stripes.
        is_written: whether they are bytes on their way to memory, in any order, each beat with its address.
        is_loaded: whether they are loaded into the convolution buffer, or say that others were.
        is_stored: whether each beat goes to an entry of the convolution buffer.
        is_handshake: whether it is a request that a unit must answer, without values.
        counts: for numbers that are added up instead of values that are compared, what they are numbers of.
    """

    region: Region
    made_of: tuple[str, ...] = ()
    in_stripes: bool = False
    is_written: bool = False
    is_loaded: bool = False
    is_stored: bool = False
    is_handshake: bool = False
    counts: str | None = None


KINDS = {
    "converted": Kind(Region.OPERANDS, is_loaded=True, is_stored=True),
    "loaded-lines": Kind(Region.OPERANDS, is_loaded=True, counts="lines"),
    "packed": Kind(Region.OPERANDS, is_loaded=True, is_stored=True),
    "loaded-kernels": Kind(Region.OPERANDS, is_loaded=True, counts="kernels"),
    "flush": Kind(Region.OPERANDS, is_handshake=True),
    "kernels": Kind(Region.OPERANDS, ("packed",), in_stripes=True),
    "elements": Kind(Region.OPERANDS, ("converted",), in_stripes=True),
    "products": Kind(Region.PRODUCTS, ("packed", "converted", "kernels", "elements"), in_stripes=True),
    "sums": Kind(Region.SUMS),
    "credits": Kind(Region.SUMS, counts="credits"),
    "entered": Kind(Region.AFTER),
    "written": Kind(Region.AFTER, is_written=True),
}
"""By the name that a file of stages gives them."""


MOST_OUTPUTS = 1 << 26
MOST_CELLS = 1 << 10


@dataclass(frozen=True, kw_only=True)
class Stage(Tap):
    """One hand-over: its signals, and which kind of values pass it; see ``docs/explain.md`` for the fields."""

    unit: tuple[str, ...]
    engines: tuple[str, ...]
    value: str
    stripe: tuple[int, int] | None = None
    cells: tuple[int, int] | None = None
    zeros: bool = True
    across_lines: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        known = [engine.name for engine in ENGINES]
        for name in self.engines:
            self.must(name in known, f"engines must be of {', '.join(known)}, not {name}")
        self.must(self.value in KINDS, f"value must be one of {', '.join(KINDS)}, not {self.value}")
        is_written, in_stripes, stripe, cells = self.kind.is_written, self.kind.in_stripes, self.stripe, self.cells
        placed = is_written == (self.address is not None) or self.kind.is_stored
        self.must(placed, "address must be given for written, may be for stored values, and for nothing else")
        placed = in_stripes == (stripe is not None) and (in_stripes or cells is None)
        self.must(placed, "stripe must be given, and cells may be, for kernels, elements and products alone")
        self.must(bool(self.data) != self.kind.is_handshake, "data must name a signal or more, and none for flush")
        if stripe is not None:
            lengths = f"stripe must be the shortest and the longest, 1 to {MOST_OUTPUTS}, not {stripe}"
            self.must(1 <= stripe[0] <= stripe[1] <= MOST_OUTPUTS, lengths)
        if cells is not None:
            count = f"cells must be the first and how many, below {MOST_CELLS}, not {cells}"
            self.must(cells[0] >= 0 and 1 <= cells[1] <= MOST_CELLS - cells[0], count)

    @property
    def kind(self) -> Kind:
        """The kind of what passes it."""
        return KINDS[self.value]

    def cells_of(self, config: HwConfig) -> slice:
        """Return the MAC cells that its values are of."""
        first, count = self.cells or (0, config.mac_atomic_k_size)
        return slice(first, first + count)

    def lanes(self, config: HwConfig) -> tuple[int, ...]:
        """Return how many values a beat may hold: kernels come all at once, or one after the other."""
        cells, channels = self.cells_of(config), config.mac_atomic_c_size
        together = cells.stop - cells.start
        return {"kernels": (together * channels, channels), "elements": (channels,), "products": (together,)}[
            self.value
        ]

    def stripes(self, outputs: int, line: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield the first output of each stripe, and the one after its last.

        Args:
            outputs: How many there are.
            line: Of an image, those of a line, with which a stripe ends; none is a shortest one.

        Source: ``CSC_sg`` of the public RTL, whose stripes of feature cubes have ATOMIC_K to 2 ATOMIC_K outputs.
        """
        assert self.stripe is not None
        if self.across_lines:
            line = None
        longest = self.stripe[1]
        shortest = self.stripe[0] if line is None else longest
        start = 0
        while start < outputs:
            left = outputs - start if line is None else line - start % line
            length = longest if left >= 2 * longest else shortest if left > longest else left
            yield start, start + length
            start += length


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
