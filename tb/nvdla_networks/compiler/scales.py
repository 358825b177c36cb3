"""What the integers of each value mean: a step of so much, and an integer that stands for 0.

``real = scale * (integer - zero)``. Values that the network takes and makes are symmetric, their zero is 0. One in
between whose elements do not reach as far to both sides has its zero elsewhere, at an end where it is never negative,
so that no integer is left over: convolutions pad with it, X1 takes it away, and the output converter adds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.precision import Precision
from nvdla_networks.compiler.calibration import Calibration, reached
from nvdla_networks.compiler.fuse import Compute, Step
from nvdla_networks.compiler.graph import Concat, Conv, Floats, Graph, Interleave, Interval, Node, Pool, Slice
from nvdla_networks.compiler.target import Target

_ROOM = 1.5
"""By how much a value may go beyond the samples on the side to which it reaches less far."""

_GAIN = 0.98
"""A step that is not smaller than this part of the symmetric one is not worth a zero elsewhere."""


@dataclass(frozen=True, eq=False)
class Scales:
    """What is known of the numbers of each value.

    Attributes:
        scales: Scale of each channel of each value that a step reads or writes, (C,).
        zeros: Likewise the integer that stands for 0.
        reach: Least and most of every value over the samples; empty for FP16.
    """

    scales: Mapping[str, Floats]
    zeros: Mapping[str, NDArray[np.int64]]
    reach: Mapping[str, Interval]

    def scale(self, value: str) -> float:
        """Return the scale of a value whose channels must have the same."""
        (scale,) = set(self.scales[value].tolist())
        return float(scale)

    def zero(self, value: str) -> int:
        """Return the zero of a value whose channels must have the same."""
        (zero,) = set(self.zeros[value].tolist())
        return int(zero)


def scales_of(
    graph: Graph,
    steps: Sequence[Step],
    samples: Iterable[Mapping[str, Floats]],
    target: Target,
    calibration: Calibration = Calibration.RANGE,
) -> Scales:
    """Return the scales of each value that a step reads or writes.

    What a value reaches over the samples is what its integers can hold, unless the file has a range of its own.
    Scales of FP16 are 1. Values that the hardware moves without converting them keep their scales: pooled, joined and
    cut ones.
    """
    if target.is_float:
        ones = {value: np.ones(shape[0]) for value, shape in graph.shapes.items()}
        return Scales(ones, {value: np.zeros(len(one), dtype=np.int64) for value, one in ones.items()}, {})
    reach = reached(graph, samples, calibration)
    scales: dict[str, Floats] = {}
    zeros: dict[str, NDArray[np.int64]] = {}

    def make(value: str, *, is_free: bool) -> None:
        scale, zero = _numbers(reach[value], graph.ranges.get(value), target, is_free=is_free)
        scales[value] = np.full(graph.shapes[value][0], scale)
        zeros[value] = np.full(graph.shapes[value][0], zero)

    for value in graph.inputs:
        make(value, is_free=False)
    for step in steps:
        for known in (scales, zeros):
            _move(step, known)
        if step.output not in scales:
            is_free = target.precision is Precision.INT8 and isinstance(step, Compute)
            make(step.output, is_free=is_free and _bears_zero(graph, steps, step.output, mixed=False))
    return Scales(scales, zeros, reach)


def _move(step: Step, known: dict[str, NDArray[Any]]) -> None:
    """Give the result of what only moves channels their numbers."""
    match step:
        case Node(operation=Pool()):
            known[step.output] = known[step.inputs[0]]
        case Node(operation=Interleave(channels=channels)):
            known[step.output] = known[step.inputs[0]][:channels]
        case Node(operation=Concat()):
            known[step.output] = np.concatenate([known[value] for value in step.inputs])
        case Node(operation=Slice() as part):
            known[step.output] = known[step.inputs[0]][part.channels]


def _numbers(reach: Interval, interval: Interval | None, target: Target, *, is_free: bool) -> tuple[float, int]:
    """Return the scale and the zero of a value; ``is_free`` allows a zero that is not 0."""
    least, most = reach
    if interval is not None:
        symmetric, (least, most) = target.scale_of(interval), interval
    else:
        largest = max(-least, most)
        symmetric = (largest or 1.0) / target.most
        least, most = max(least * _ROOM, -largest), min(most * _ROOM, largest)
    first, last = target.precision.limits
    scale = (most - least) / (last - first)
    if not is_free or not scale or scale > symmetric * _GAIN:
        return symmetric, 0
    return scale, int(np.clip(np.rint(first - least / scale), first, last))


def _bears_zero(graph: Graph, steps: Sequence[Step], value: str, *, mixed: bool) -> bool:
    """Return whether all that take a value can take away its zero; ``mixed`` says that its channels have several."""
    if value in graph.outputs:
        return False
    for step in steps:
        if value not in step.inputs:
            continue
        match step:
            case Compute(multiplies=True, other=other):
                # X1 adds to the one before it multiplies with the other.
                if value == other:
                    return False
            case Compute(conv=None, other=other, activation=activation):
                # The converter takes it away there, behind the activation.
                if value == other and activation is not None:
                    return False
            case Compute(conv=Conv(window=window)):
                if mixed and max(window.before + window.after) > 0:
                    return False
            case Node(operation=Pool(window=window) as pool):
                padded = max(window.before + window.after) > 0
                if (pool.average and pool.counts_padding and padded) or not _bears_zero(
                    graph, steps, step.output, mixed=mixed
                ):
                    return False
            case Node(operation=Concat() | Slice() | Interleave() as moved):
                if not _bears_zero(graph, steps, step.output, mixed=mixed or isinstance(moved, Concat)):
                    return False
            case _:
                return False
    return True
