"""Evidence about a layer that wrote wrong bytes: expected and written bytes, times, and the memory it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nvdla_models.errors import InputError
from nvdla_models.layout import FeatureLayout, PlanarLayout
from nvdla_tb.explain.build import AnyLayer, OtherLayer, run_of
from nvdla_tb.explain.engines import Recorded, Run
from nvdla_tb.explain.memory import ByteArray, Bytes, MaskArray, Patch
from nvdla_tb.explain.placed import Misplaced, misplaced
from nvdla_tb.explain.walk import CubeLayout, Walk
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.layer_id import Started
from nvdla_tb.judge.predictor.conv_operands import Operands
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.memory import Ram

AnyStarted = StartedLayer | Started[OtherLayer]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence about one surface.

    Attributes:
        name: name of the layer, or of the file, in messages.
        layout: layout of the surface: a feature cube, planes or lines.
        expected: its bytes; the mask says which must be written.
        actual: content of memory; known are the bytes that were written.
        memory: content of memory when the layer began.
        beats: write beats of the layer in their order, None when only memory is known.
        started: the layer, None when only memory is known.
        before: layers that ran before it, newest last.
        initial: content of memory before any layer, None when that is not known.
        left: real content of memory when the layer began, None when earlier layers left nothing wrong.
        dump: whether ``actual`` is a memory dump, which does not tell who wrote what.
        slack: how far singles may be from a prediction; 0 compares bytes.
        right: finds evidence of layers of the same engine that left nothing wrong.
        over: names of other layers into whose results it wrote.
        overwritten: when its result was overwritten after all of it had been right, in words; None when it was not.
        cut: whether the layer was given up while it ran, so that what it has not written says nothing.
        operands: what a convolution multiplies, where that is known.
        altered: content of memory with the bytes that the test altered, None when it altered none.
    """

    name: str
    layout: CubeLayout
    expected: Patch
    actual: Bytes
    memory: Bytes
    beats: Beats | None = None
    started: AnyStarted | None = None
    before: tuple[AnyLayer, ...] = ()
    initial: Bytes | None = None
    left: Bytes | None = None
    dump: bool = False
    slack: float = 0.0
    right: Callable[[], Sequence[Evidence]] = tuple
    over: tuple[str, ...] = ()
    overwritten: str | None = None
    cut: bool = False
    operands: Operands | None = None
    altered: Bytes | None = None

    def read(self, _: Ram, address: int, nbytes: int) -> ByteArray:
        """Return bytes of memory as the layer found them; all ports show the same."""
        return self.memory.read(address, nbytes).data

    @cached_property
    def others(self) -> tuple[Evidence, ...]:
        """Layers of the same engine that left nothing wrong: they contradict what would have changed them."""
        return tuple(self.right())

    @cached_property
    def truth(self) -> Bytes:
        """The right content of ``actual``."""
        right = self.blank()
        right.paint(self.expected)
        return right

    @cached_property
    def walk(self) -> Walk:
        """How the surface should have been written."""
        return Walk.of(self.layout, self.expected.address)

    @property
    def channels(self) -> int:
        """Channels that are no padding."""
        return self.layout.shape[0] if isinstance(self.layout, FeatureLayout | PlanarLayout) else self.walk.shape[0]

    @cached_property
    def cube(self) -> NDArray[np.generic]:
        """The expected cube with padding channels."""
        return self.walk.read(Bytes.of([self.expected]))

    @cached_property
    def run(self) -> Run:
        """How the hardware should have run the layer; what is known of it when it cannot be run again."""
        return self.known if self.rerun is None else self.rerun

    @cached_property
    def known(self) -> Run:
        """The known result, which can only be moved about."""
        return Run(Recorded(self.cube), self.walk)

    @cached_property
    def rerun(self) -> Run | None:
        """How the hardware should have run the layer, or None when the explainer cannot reproduce it."""
        if self.started is None:
            return None
        try:
            run = run_of(self.started.layer)
            patch = run.patch(self.memory)
        except InputError:
            return None
        same = patch.address == self.expected.address and np.array_equal(patch.mask, self.expected.mask)
        return run if same and self.same(patch.data, self.expected.data)[patch.mask].all() else None

    @cached_property
    def inherits(self) -> bool:
        """Whether what earlier layers left wrong changes the result, as far as that can be computed."""
        if self.left is None or self.rerun is None:
            return self.left is not None
        try:
            patch = self.rerun.patch(self.left)
        except InputError:
            return True
        return not self.same(patch.data, self.expected.data)[patch.mask].all()

    @cached_property
    def wrong(self) -> MaskArray:
        """Marks of the wrong bytes of ``actual``."""
        return self.differs(self.truth)

    @cached_property
    def wrong_bytes(self) -> int:
        """How many bytes of ``actual`` are wrong."""
        return int(np.count_nonzero(self.wrong))

    @property
    def got(self) -> Patch:
        """The bytes at the place of the expected surface."""
        return self.actual.read(self.expected.address, len(self.expected.data))

    @cached_property
    def bad(self) -> MaskArray:
        """Marks of the wrong or missing bytes of the surface, of its length."""
        got, expected = self.got, self.expected
        bad: MaskArray = self._due & ~(got.mask & self.same(got.data, expected.data))
        return bad

    @property
    def _due(self) -> MaskArray:
        """Marks of the bytes of the surface that must have been written."""
        return self.expected.mask & self.got.mask if self.cut else self.expected.mask

    @cached_property
    def bad_elements(self) -> MaskArray:
        """Marks of the elements of which a byte is wrong or missing, (C, H, W) with padding channels."""
        return self.walk.any_byte(self.bad)

    @cached_property
    def missing_elements(self) -> MaskArray:
        """Marks of the elements of which a byte was not written, (C, H, W) with padding channels."""
        return self.walk.any_byte(self._due & ~self.got.mask)

    def worst_lines(self, most: int) -> slice:
        """Return at most so many lines around the one with most wrong bytes."""
        height = self.walk.shape[1]
        count = max(1, min(height, most))
        worst = int(self.walk.marks(self.bad).sum(axis=(0, 2, 3)).argmax())
        first = max(0, min(worst - count // 2, height - count))
        return slice(first, first + count)

    @cached_property
    def rewritten(self) -> bool:
        """Whether the layer wrote a byte more than once, so that what is missing went to another place."""
        return self.beats is not None and int(self.beats.strobe.sum()) > int(np.count_nonzero(self.actual.known))

    @cached_property
    def strayed(self) -> bool:
        """Whether the layer wrote where nothing of it is expected."""
        return self.beats is not None and bool((self.actual.known & ~self.truth.known).any())

    @cached_property
    def lost(self) -> bool:
        """Whether bytes are missing that were written nowhere: none lies elsewhere, and none was written twice."""
        return self.beats is not None and not self.rewritten and not self.strayed and bool(self.missing_elements.any())

    @cached_property
    def misplaced(self) -> Misplaced | None:
        """Which atoms lie at wrong addresses, None unless all of them are right but for that."""
        if self.beats is None or self.slack:
            return None
        return misplaced(self.expected, self.beats, self.walk.atom_bytes)

    def blank(self) -> Bytes:
        """Return the ranges of ``actual`` before anything was written."""
        blank = self.actual.like()
        if self.dump:
            blank.data[:] = self.background
            blank.known[:] = True
        return blank

    def differs(self, other: Bytes) -> MaskArray:
        """Return which bytes of ``actual`` are not those of a prediction for the same ranges."""
        actual = self.actual
        values = actual.known & other.known & ~self.same(actual.data, other.data)
        written = actual.known & ~other.known if self.cut else actual.known != other.known
        different: MaskArray = values | written
        return different

    def same(self, some: ByteArray, other: ByteArray) -> MaskArray:
        """Return which bytes of two arrays are equal, or belong to singles that are close enough."""
        same: MaskArray = some == other
        if self.slack:
            with np.errstate(invalid="ignore", over="ignore"):
                apart = np.abs(some.view("<f4").astype(np.float64) - other.view("<f4"))
            same |= np.repeat(apart <= self.slack, 4).reshape(same.shape)
        return same

    @cached_property
    def background(self) -> int:
        """The byte that a dump most likely held before: the most frequent one where nothing is expected."""
        right = self.actual.like()
        right.paint(self.expected)
        rest = self.actual.data[~right.known]
        return int(np.bincount(rest, minlength=256).argmax()) if len(rest) else 0


def from_dumps(name: str, layout: CubeLayout, address: int, expected: ByteArray, actual: ByteArray) -> Evidence:
    """Return the evidence of two memory dumps that begin at the start of a surface.

    Args:
        name: their name in messages.
        layout: layout of the surface.
        address: address of the surface.
        expected: at least the bytes of the layout.
        actual: likewise; more bytes than the layout's are looked at, too.

    Raises:
        InputError: when a dump is shorter than the layout.
    """
    for which, data in (("expected", expected), ("actual", actual)):
        if len(data) < layout.nbytes:
            raise InputError(f"{which} must hold at least {layout.nbytes} bytes, not {len(data)}")
    right = Patch(address, expected[: layout.nbytes], layout.written_mask())
    found = Bytes((address,), (len(actual),), actual, np.ones(len(actual), dtype=np.bool_))
    memory = Bytes.blank([])
    return Evidence(name, layout, right, found, memory, dump=True)


def from_writes(
    started: AnyStarted,
    layout: CubeLayout,
    expected: Patch,
    beats: Beats,
    memory: Bytes,
    before: tuple[AnyLayer, ...] = (),
    slack: float = 0.0,
) -> Evidence:
    """Return the evidence of a layer whose writes were seen.

    Args:
        started: the layer.
        layout: layout of the output.
        expected: expected bytes.
        beats: written beats.
        memory: memory that it found.
        before: layers that ran before, newest last.
        slack: how far singles may be from a prediction.
    """
    written = written_bytes(expected, beats)
    return Evidence(started.name, layout, expected, written, memory, beats, started, before, slack=slack)


def written_bytes(expected: Patch, beats: Beats) -> Bytes:
    """Return the bytes that beats leave behind, over the surface and everything else that they touch."""
    first, behind = expected.address // _PAGE_BYTES, -(-expected.end // _PAGE_BYTES)
    touched = np.unique(beats.address // np.uint64(_PAGE_BYTES)).astype(np.int64)
    ranges = [(int(page) * _PAGE_BYTES, (int(page) + 1) * _PAGE_BYTES) for page in touched]
    actual = Bytes.blank([(first * _PAGE_BYTES, behind * _PAGE_BYTES), *ranges])
    if not len(beats):
        return actual
    width = beats.data.shape[1]
    if beats.strobe.all():
        rows = actual.positions(beats.address) // width
        actual.data.reshape(-1, width)[rows] = beats.data
        actual.known.reshape(-1, width)[rows] = True
        return actual
    places = (actual.positions(beats.address)[:, np.newaxis] + np.arange(width))[beats.strobe]
    actual.data[places] = beats.data[beats.strobe]
    actual.known[places] = True
    return actual


_PAGE_BYTES = 1 << 12
