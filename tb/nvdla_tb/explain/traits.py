"""Traits of the wrong elements of a layer: what its arithmetic meets in them, and hardly in those that are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from nvdla_models.arithmetic import HARDWARE, Rules, Site, Step, limits
from nvdla_models.errors import InputError
from nvdla_models.precision import Precision
from nvdla_tb.explain.engine_conv import ConvRun, CubeInput
from nvdla_tb.explain.engines import Run
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.memory import Bytes, MaskArray
from nvdla_tb.explain.walk import Cube
from nvdla_tb.stimulus.explained import Traits

MOST_CHANCE = 1e-3
"""How many traits may be expected to fit as well by chance, of those that were looked at.

Less than for layers, because the elements of a layer are not independent of each other.
"""

_LARGEST_SHARE = 0.25
"""Of the right elements that may have a trait, too."""

_SMALLEST_BLOCK = 4
_WIDTHS = (8, 12, 15, 16, 17, 20, 24, 28, 31)


def traits_of(evidence: Evidence) -> Traits | None:
    """Return the traits of the wrong elements of a layer, None where they cannot be told from the right ones.

    That is so where elements are missing, where the layer read what others left wrong, where it cannot be computed
    again, and where the wrong elements are a block: then it is their place that they have in common.
    """
    run = evidence.rerun
    if run is None or evidence.missing_elements.any() or evidence.inherits:
        return None
    rows, events = watched(evidence, run)
    bad = evidence.bad_elements[:, rows]
    if not bad.any() or _is_block(bad):
        return None
    # Padding channels are computed from other operands.
    bad = bad[: evidence.channels]
    named = {**dict(_marks(events)), **dict(_extreme_products(evidence.memory, run, rows))}
    right: dict[str, tuple[int, int]] = {}
    for name, mask in named.items():
        # Its axes are those of the output, or 1; the channels may be padded.
        if mask.ndim != 3 or any(side not in (1, of) for side, of in zip(mask.shape[1:], bad.shape[1:], strict=True)):
            continue
        mask = mask[: evidence.channels]
        shared = tuple(axis for axis in range(3) if mask.shape[axis] == 1 and bad.shape[axis] > 1)
        wrong = bad.any(axis=shared, keepdims=True)
        if wrong.shape == mask.shape and mask[wrong].all() and bad.any():
            right[name] = (int(np.count_nonzero(mask & ~wrong)), int(np.count_nonzero(~wrong)))
    return Traits(int(np.count_nonzero(bad)), right, len(named)) if bad.any() else None


def element_leads(layers: Sequence[Traits]) -> list[str]:
    """Return in words the traits that all wrong elements of some layers have, the most telling first.

    Nothing is returned that chance explains as well.
    """
    if not layers:
        return []
    wrong = sum(layer.wrong for layer in layers)
    tried = max(layer.tried for layer in layers)
    rated = []
    for number, name in enumerate(layers[0].right):
        if all(name in layer.right for layer in layers):
            having, of = (sum(layer.right[name][part] for layer in layers) for part in (0, 1))
            chance = tried * exp(sum(log((having + n) / (of + n)) for n in range(1, wrong + 1)))
            if chance <= MOST_CHANCE and having <= _LARGEST_SHARE * of:
                rated.append((chance, number, name, having, of))
    return [_words(name, wrong, having, of) for _, _, name, having, of in sorted(rated)[:1]]


def _words(name: str, wrong: int, having: int, of: int) -> str:
    all_of = "the wrong element has" if wrong == 1 else f"all {wrong} wrong elements that were looked at have"
    others = "none" if not having else f"{having}"
    return f"{all_of} {name}, and {others} of the {of} right ones"


def _is_block(bad: MaskArray) -> bool:
    """Return whether some lines, columns and channels are wrong throughout."""
    count = int(np.count_nonzero(bad))
    sides = [int(np.count_nonzero(bad.any(axis=axes))) for axes in ((1, 2), (0, 2), (0, 1))]
    return count >= _SMALLEST_BLOCK and count == int(np.prod(sides))


def _marks(events: Sequence[Event]) -> Iterator[tuple[str, MaskArray]]:
    """Yield traits and the elements that have them, (C, lines, W) or with axes of 1."""
    for event in events:
        for text, mask in _BY_STEP[event.step](event):
            yield f"{text} in the {event.site.value}", mask


def _of_shift(event: Event) -> Iterator[tuple[str, MaskArray]]:
    values, half = event.values, 1 << (event.amount - 1)
    dropped = values & (2 * half - 1)
    near = max(half >> 2, 1)
    above, below = (dropped > half) & (dropped < half + near), (dropped < half) & (dropped >= half - near)
    signs = (("a", values == values), ("a negative", values < 0), ("a positive", values > 0))
    for sign, mask in signs[1:]:
        yield f"{sign} number", mask
    yield "the number 0", values == 0
    for sign, mask in signs:
        yield f"{sign} number without bits to drop", mask & (dropped == 0)
        yield f"{sign} number with bits to drop", mask & (dropped != 0)
        yield f"{sign} number half way between two", mask & (dropped == half)
        yield f"{sign} number whose dropped bits are above a half by less than an eighth", mask & above
        yield f"{sign} number whose dropped bits are below a half by less than an eighth", mask & below


def _of_saturation(event: Event) -> Iterator[tuple[str, MaskArray]]:
    values, (low, high) = event.values, limits(event.amount)
    where = f"{event.amount} bits"
    yield f"a number beyond {where}", event.acts
    yield f"a positive number beyond {where}", values > high
    yield f"a negative number beyond {where}", values < low
    yield f"a number beyond {where} by one bit", event.acts & (values >= 2 * low) & (values <= 2 * high + 1)
    yield f"the largest number of {where}", values == high
    yield f"the smallest number of {where}", values == low
    for width in (width for width in _WIDTHS if width < event.amount):
        least, largest = limits(width)
        yield f"a number that needs more than {width} bits", (values < least) | (values > largest)


def _of_index(event: Event) -> Iterator[tuple[str, MaskArray]]:
    yield "an index below the table", event.values < 0
    yield "the first index", event.values == 0
    yield "the last index", event.values == event.amount - 1
    yield "the index right after the last", event.values == event.amount
    yield "an index beyond the table", event.values >= event.amount
    yield "an index in the table", (event.values >= 0) & (event.values < event.amount)


_BY_STEP = {Step.SHIFT_RIGHT: _of_shift, Step.SATURATE: _of_saturation, Step.INDEX: _of_index}


_EXTREMES = ((-128, -128), (-128, 127), (127, -128), (127, 127))


def _counted(data: int, weight: int, lanes: NDArray[np.bool_], cube: Cube, weights: Cube) -> tuple[Cube, Cube]:
    """Return 1 in the places of two numbers and 0 elsewhere, so that their products in some multipliers are counted."""
    counted = (cube == data) & np.resize(lanes, len(cube))[:, np.newaxis, np.newaxis]
    return counted.astype(np.int8), (weights == weight).astype(np.int8)


def _extreme_products(memory: Bytes, run: Run, rows: slice) -> Iterator[tuple[str, MaskArray]]:
    """Yield which sums hold a product of two extreme numbers, in whichever multiplier of a cell and in each.

    Direct convolutions of feature cubes of INT8 alone have them.
    """
    engine = run.engine
    if not isinstance(engine, ConvRun) or not isinstance(engine.source, CubeInput):
        return
    if engine.params.precision is not Precision.INT8 or engine.params.winograd:
        return
    # Products are counted, not truncated, and the padding has none.
    plain = replace(engine.params, truncate=0, pad_value=0)
    lanes = engine.weights.layout.config.mac_atomic_c_size
    for data, weight in _EXTREMES:
        for lane in (None, *range(lanes)):
            where = "" if lane is None else f" in multiplier {lane} of {lanes}"
            chosen = np.isin(np.arange(lanes), np.arange(lanes) if lane is None else lane)
            counting = replace(engine, params=plain, lane=partial(_counted, data, weight, chosen))
            yield f"a product of {data} and {weight}{where}", counting.sums(memory, rows, HARDWARE) > 0


_MOST_ELEMENTS = 1 << 15
"""The models compute so many elements at once, so that each site is seen with all of them."""


@dataclass(frozen=True, eq=False)
class Event:
    """The values that a site takes.

    Attributes:
        site: where.
        step: what happens to them.
        values: int64, (C, lines, W) with padding channels, or with an axis of 1 where all share them.
        amount: shift, bits of the result, or last index of the table.
    """

    site: Site
    step: Step
    values: NDArray[np.int64]
    amount: int

    @property
    def acts(self) -> NDArray[np.bool_]:
        """Which values the step changes: those with bits to drop, or out of range."""
        if self.step is Step.SHIFT_RIGHT:
            acts: NDArray[np.bool_] = (self.values & ((1 << self.amount) - 1)) != 0
            return acts
        low, high = (0, self.amount - 1) if self.step is Step.INDEX else limits(self.amount)
        outside: NDArray[np.bool_] = (self.values < low) | (self.values > high)
        return outside


@lru_cache(maxsize=2)
def watched(evidence: Evidence, run: Run) -> tuple[slice, tuple[Event, ...]]:
    """Return the lines of a layer around the one with most wrong bytes, and what happens in them; nothing of FP16.

    Args:
        evidence: What is known of the layer.
        run: How it should have run.
    """
    shape = evidence.cube.shape
    rows = evidence.worst_lines(_MOST_ELEMENTS // (shape[0] * shape[2]))
    events: list[Event] = []

    def watch(site: Site | None, step: Step, values: NDArray[np.int64], amount: int) -> None:
        if site is not None:
            events.append(Event(site, step, np.array(values), amount))

    try:
        run.engine.compute(evidence.memory, rows, Rules(watch=watch))
    except InputError:
        return rows, ()
    return rows, tuple(events)
