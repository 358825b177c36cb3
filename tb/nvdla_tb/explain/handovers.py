"""Hand-overs inside the RTL, and the files that name them.

A TOML file names the hand-overs in tables ``[[stage]]``, in the order in which data pass them: ``docs/explain.md``,
"The first bad stage", tells their fields. Tables ``[[reader]]`` and ``[[writer]]`` name the clients of the memory
interface: see ``nvdla_tb.explain.tap``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from nvdla_models.config import HwConfig
from nvdla_models.reading import read_toml
from nvdla_tb.explain.tap import PORT, Reader, StageError, Tap, Writer
from nvdla_tb.nvdla.engines import ENGINES
from nvdla_tb.plain_data import converted


@dataclass(frozen=True)
class Kind:
    """A kind of values that pass a stage.

    Attributes:
        made_of: the values before them that must be right when they are.
        in_stripes: whether they belong to atomic operations, whose order depends on stripes.
        is_written: whether they are bytes on their way to memory, in any order, each beat with its address.
        is_loaded: whether they are loaded into the convolution buffer, or say that others were.
        is_stored: whether each beat goes to an entry of the convolution buffer.
        is_handshake: whether it is a request that a unit must answer, without values.
        is_element: whether a beat is one element of a cube, on its way through SDP, PDP or CDP.
        is_last: whether they pass the engine that ends a layer, when two work on it.
        counts: for numbers that are added up instead of values that are compared, what they are numbers of.
    """

    made_of: tuple[str, ...] = ()
    in_stripes: bool = False
    is_written: bool = False
    is_loaded: bool = False
    is_stored: bool = False
    is_handshake: bool = False
    is_element: bool = False
    is_last: bool = False
    counts: str | None = None


def _elements(*names: str, before: tuple[str, ...] = (), is_last: bool = False) -> dict[str, Kind]:
    """Return kinds of elements, of which each is made of those before."""
    return {
        name: Kind(made_of=(*before, *names[:number]), is_element=True, is_last=is_last)
        for number, name in enumerate(names)
    }


_OPERATIONS = ("packed", "converted", "kernels", "elements")
_X = ("alu-operands", "mul-operands", "alu", "product")
_SDP = ("entered", *(f"x1-{name}" for name in _X), "x1", *(f"x2-{name}" for name in _X), "x2", "sdp-result")
_CORE = (*_OPERATIONS, "products", "sums")

KINDS = {
    "converted": Kind(is_loaded=True, is_stored=True),
    "loaded-lines": Kind(is_loaded=True, counts="lines"),
    "packed": Kind(is_loaded=True, is_stored=True),
    "loaded-kernels": Kind(is_loaded=True, counts="kernels"),
    "flush": Kind(is_handshake=True),
    "kernels": Kind(("packed",), in_stripes=True),
    "elements": Kind(("converted",), in_stripes=True),
    "products": Kind(_OPERATIONS, in_stripes=True),
    "sums": Kind((*_OPERATIONS, "products")),
    "credits": Kind(counts="credits"),
    **_elements(*_SDP, before=_CORE),
    **_elements("pdp-input", before=(*_CORE, *_SDP)),
    **_elements("pdp-rows", "pdp-result", before=(*_CORE, *_SDP, "pdp-input"), is_last=True),
    **_elements("cdp-read", "cdp-input", "cdp-sums", "cdp-factors", "cdp-products", "cdp-result"),
    "written": Kind(is_written=True, is_last=True),
}
"""By the name that a file of stages gives them."""


SIDES = (
    "layer-end",
    "stripe-start",
    "stripe-end",
    "channel-end",
    "lane",
    "line-end",
    "surface-end",
    "last-line-of-surface",
    "last-line-of-part",
    "last-line",
    "last-channels",
    "last-columns",
)
"""What signals beside the data may say."""

MOST_OUTPUTS = 1 << 26
MOST_CELLS = 1 << 10


class Stage(Tap, frozen=True, kw_only=True):
    """One hand-over: its signals, and which kind of values pass it; see ``docs/explain.md`` for the fields."""

    unit: tuple[str, ...]
    engines: tuple[str, ...]
    value: str
    stripe: tuple[int, int] | None = None
    cells: tuple[int, int] | None = None
    zeros: bool = True
    across_lines: bool = False
    packets: bool = False

    def __post_init__(self) -> None:
        chains = [chain.name for engine in ENGINES for chain in engine.chains]
        known = dict.fromkeys([*(engine.name for engine in ENGINES), *chains])
        for name in self.engines:
            self.must(name in known, f"engines must be of {', '.join(known)}, not {name}")
        self.must(self.value in KINDS, f"value must be one of {', '.join(KINDS)}, not {self.value}")
        is_written, in_stripes, stripe, cells = self.kind.is_written, self.kind.in_stripes, self.stripe, self.cells
        placed = (is_written and not self.packets) == (self.address is not None) or self.kind.is_stored
        self.must(placed, "address must be given for written, may be for stored values, and for nothing else")
        self.must(is_written or not self.packets, "packets must be of bytes that are written")
        unknown = ", ".join(name for name in self.sides if name not in SIDES)
        self.must(not unknown, f"sides must be of {', '.join(SIDES)}, not {unknown}")
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

    def is_passed_by(self, engine: str) -> bool:
        """Return whether layers of an engine pass it; what is pooled on the fly is written by PDP.

        Args:
            engine: As it is called in messages.
        """
        units = engine.split("-")
        return engine in self.engines or units[-1 if self.kind.is_last else 0] in self.engines

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


_LISTS = ("unit", "engines", "data", "mask")
"""Keys of a stage that hold a list, or one text alone."""


class HandoverFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file names."""

    stages: Annotated[tuple[Stage, ...], Meta(min_length=1)] = msgspec.field(name="stage")
    readers: tuple[Reader, ...] = msgspec.field(default=(), name="reader")
    writers: tuple[Writer, ...] = msgspec.field(default=(), name="writer")

    @property
    def taps(self) -> tuple[Tap, ...]:
        """All that is watched; with clients also the port that they share."""
        clients: tuple[Reader | Writer, ...] = (*self.readers, *self.writers)
        return (*self.stages, *(tap for client in clients for tap in client.taps), *(PORT if clients else ()))


def load_handovers(path: Path) -> HandoverFile:
    """Return the hand-overs of a file.

    Raises:
        StageError: when it cannot be read, or a key is missing, unknown or wrong.
    """
    raw = read_toml(path, StageError)
    stages = raw.get("stage")
    for entry in stages if isinstance(stages, list) else ():
        if isinstance(entry, dict):
            entry |= {key: [value] for key in _LISTS if isinstance(value := entry.get(key), str)}
    return converted(raw, HandoverFile, str(path), StageError)
