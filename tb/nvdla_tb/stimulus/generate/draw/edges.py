"""Layers at edges: line buffers and rows of PDP, operands of SDP, late writes, ends of numbers, padding of any kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.pdp import MAX_KERNEL
from nvdla_models.pdp.params import MAX_STRIDE
from nvdla_models.precision import Precision
from nvdla_tb.stimulus.generate.draw.ends import draw_ends
from nvdla_tb.stimulus.generate.draw.numbers import (
    Cube,
    Description,
    draw_gaps,
    draw_kind,
    draw_precision,
    draw_wide,
    one_of,
    stages_of,
)
from nvdla_tb.stimulus.generate.draw.padding import draw_padded
from nvdla_tb.stimulus.generate.draw.pdp import cut_fits, pooling, widest_part, windowed
from nvdla_tb.stimulus.generate.draw.sdp import draw_processing
from nvdla_tb.stimulus.generate.draw.sizes import MOST_SIDE, Drawn

Found = tuple[Description, Cube, Cube | None]
"""A layer with what it reads, and what it writes for a layer that may follow."""

Draw = Callable[[np.random.Generator, HwConfig], tuple[list[Drawn], Description]]

_TRIES = 10
_FEW_COLUMNS = 6
_MOST_SURFACES = 3
_MOST_ROWS = 12
_FOUR_SIDES = 0.35
_LEAST_FOR_FOUR = 5
"""Kernels with paddings of four sizes, all above 0."""

_MOST_POWER = 13
_LEAST_POWER = 5
_FEWEST_ELEMENTS = 200
_MOST_ELEMENTS = 9000
_WRITTEN_LATE = (0.5, 0.97)
"""How often the port refuses a write."""


def draw_edge(rng: np.random.Generator, config: HwConfig, engines: Sequence[str]) -> tuple[Found | None, Description]:
    """Draw a layer at an edge, or nothing, and settings of the port that go with it.

    Args:
        rng: Randomness.
        config: The build.
        engines: Names of those that may be drawn.
    """
    kinds = [draw for engine, draw in _KINDS if engine in engines]
    if not kinds:
        return None, {}
    draw = kinds[int(rng.integers(len(kinds)))]
    for _ in range(_TRIES):
        drawn, port = draw(rng, config)
        if drawn:
            return (drawn[0].layer, drawn[0].src, drawn[0].dst), port
    return None, {}


def _line_buffers(rng: np.random.Generator, config: HwConfig) -> tuple[list[Drawn], Description]:
    """Draw a pooling whose widest part is one column less than the line buffer holds, or as many, with any overlap."""
    is_padded = rng.random() < _FOUR_SIDES
    least = _LEAST_FOR_FOUR if is_padded else 1
    rows = int(rng.integers(1, MAX_KERNEL + 1))
    fitting = _overlaps(rows, least)
    if not fitting:
        return [], {}
    kernels = [
        fitting[int(rng.integers(len(fitting)))],
        (int(rng.integers(least, MAX_KERNEL + 1)), int(rng.integers(1, 4))),
    ]
    if is_padded:
        pads = rng.permutation(np.arange(1, min(kernels)[0]))[:4].tolist()
    else:
        pads = [int(rng.integers(0, kernel)) for kernel, _ in kernels for _ in range(2)]
    height = windowed(*kernels[0], int(rng.integers(1, _MOST_ROWS + 1)), pads[:2])
    widest = widest_part(height)
    parts = one_of(rng, [1, 2, 3])
    first = widest - int(rng.integers(0, 2))
    middle = min(first, int(rng.integers(1, 9)))
    windows = first + (parts - 2) * middle + int(rng.integers(1, 9)) if parts > 1 else first
    width = windowed(*kernels[1], max(windows, 1), pads[2:])
    if not cut_fits(width, widest, parts, first, middle):
        return [], {}
    precision = draw_precision(rng, config, None)
    shape = (one_of(rng, [1, config.atom_elements(precision)]), height.size, width.size)
    src = Cube(shape, draw_gaps(rng, shape), precision)
    layer, dst = pooling(rng, src, height, width)
    if is_padded and precision is not Precision.FP16 and rng.random() < 0.5:
        # Only an average takes numbers from the registers for its padding.
        values = [draw_wide(rng, 16) for _ in range(MAX_KERNEL - 1)]
        layer = {key: value for key, value in layer.items() if key != "pad_value"}
        layer |= {"method": "average", "pad_values": values}
    cut = {"split": parts, **({"split_columns": [first, middle]} if parts > 1 else {})}
    own = {"shape": list(shape), "src_gaps": list(src.gaps), **draw_kind(rng, precision)}
    return [Drawn({**layer, **cut, **own}, src, dst)], {}


def _live_rows(rng: np.random.Generator, config: HwConfig) -> tuple[list[Drawn], Description]:
    """Draw a pooling of some surfaces in which so many rows are under way at a time, with any padding above and below.

    Rows of results begin, go on and end at each place of the line buffer, and the next surface begins at any of them.
    """
    rows = int(rng.integers(1, MAX_KERNEL + 1))
    overlaps = _overlaps(rows, 1)
    if not overlaps:
        return [], {}
    kernel, stride = overlaps[int(rng.integers(len(overlaps)))]
    pads = [one_of(rng, [0, kernel - 1, int(rng.integers(0, kernel))]) for _ in range(2)]
    around = rows * int(rng.integers(1, 3)) + int(rng.integers(-1, 2))
    height = windowed(kernel, stride, max(around, 1), pads)
    side = int(rng.integers(1, MAX_KERNEL + 1))
    width = windowed(
        side, int(rng.integers(1, 4)), int(rng.integers(1, _FEW_COLUMNS + 1)), rng.integers(0, side, 2).tolist()
    )
    precision = draw_precision(rng, config, None)
    channels = config.atom_elements(precision) * int(rng.integers(1, _MOST_SURFACES + 1)) - int(rng.integers(0, 3))
    src = Cube((max(channels, 1), height.size, width.size), (0, 0), precision)
    layer, dst = pooling(rng, src, height, width)
    return [Drawn({**layer, "shape": list(src.shape), **draw_kind(rng, precision)}, src, dst)], {}


def _overlaps(rows: int, least: int) -> list[tuple[int, int]]:
    """Return kernels, of at least some rows, and strides with which so many rows of results are under way at a time."""
    kernels, strides = range(least, MAX_KERNEL + 1), range(1, MAX_STRIDE + 1)
    return [(kernel, stride) for kernel in kernels for stride in strides if -(-kernel // stride) == rows]


def _operands(rng: np.random.Generator, config: HwConfig) -> tuple[list[Drawn], Description]:
    """Draw a layer whose stages read operands of each channel, so many that they lie beside a power of two."""
    precision = draw_precision(rng, config, None)
    power = 1 << int(rng.integers(_LEAST_POWER, _MOST_POWER + 1))
    beside = one_of(rng, [-1, 0, 1]) * one_of(rng, [1, config.atom_elements(precision)])
    channels = max(min(power + beside, MOST_SIDE), 1)
    height, width = (int(side) for side in rng.integers(1, 1 + max(1, min(3, _MOST_ELEMENTS // channels)), 2))
    return _with_stage(rng, config, (channels, height, width), precision, "channel"), {}


def _late_writes(rng: np.random.Generator, config: HwConfig) -> tuple[list[Drawn], Description]:
    """Draw a layer whose PReLU shifts products while the port refuses most writes, so that all of SDP is full."""
    precision = draw_precision(rng, config, None)
    atom = config.atom_elements(precision)
    width = int(rng.integers(1, 20))
    height = max(int(rng.integers(_FEWEST_ELEMENTS, _MOST_ELEMENTS // 4)) // (atom * width), 1)
    drawn = _with_stage(rng, config, (int(rng.integers(1, 2 * atom + 1)), height, width), precision, "element")
    port: Description = {"ready_stall": round(float(rng.uniform(*_WRITTEN_LATE)), 2)}
    if rng.random() < 0.5:
        pause = int(rng.integers(16, 200))
        port = {"pause_cycles": pause, "pause_period_cycles": pause + int(rng.integers(2, 60)), "pause_channels": "w"}
    return drawn, port


def _with_stage(
    rng: np.random.Generator, config: HwConfig, shape: tuple[int, int, int], precision: Precision, memory: str
) -> list[Drawn]:
    """Return a layer with a stage that reads operands of its multiplier, which is a PReLU if they are of elements."""
    processing = draw_processing(rng, config, shape, precision.bits - 1, precision, precision)
    stages = stages_of(config)
    if not stages or precision is Precision.FP16:
        return []
    name = one_of(rng, stages)
    both = bool(rng.random() < 0.5)
    stage = {
        "relu": bool(rng.random() < 0.2),
        "operand_bytes": int(rng.integers(1, 3)) if precision is Precision.INT8 else precision.nbytes,
        "mul": True,
        "mul_operand": memory,
        "prelu": memory == "element" or bool(rng.random() < 0.3),
        "mul_shift": int(rng.integers(1, 12)),
    }
    if both:
        stage |= {"alu": one_of(rng, ["max", "min", "sum"]), "alu_operand": memory, "alu_shift": 0}
    if memory == "element":
        stage["operand_gaps"] = list(draw_gaps(rng, shape))
    src, dst = (Cube(shape, draw_gaps(rng, shape), precision) for _ in range(2))
    layer: Description = {
        "engine": "SDP",
        "shape": list(shape),
        "src_gaps": list(src.gaps),
        "dst_gaps": list(dst.gaps),
        **draw_kind(rng, precision),
        **processing,
        name: stage,
    }
    return [Drawn(layer, src, dst)]


def _alone(draw: Callable[[np.random.Generator, HwConfig, str], list[Drawn]], engine: str) -> tuple[str, Draw]:
    """Return how layers of an engine are drawn that need nothing of the port."""
    return engine, lambda rng, config: (draw(rng, config, engine), {})


_KINDS: tuple[tuple[str, Draw], ...] = (
    ("PDP", _line_buffers),
    ("PDP", _line_buffers),
    ("PDP", _line_buffers),
    ("PDP", _live_rows),
    ("SDP", _operands),
    ("SDP", _operands),
    ("SDP", _late_writes),
    _alone(draw_ends, "SDP"),
    _alone(draw_ends, "PDP"),
    _alone(draw_ends, "CONV"),
    _alone(draw_padded, "PDP"),
    _alone(draw_padded, "CONV"),
    _alone(draw_padded, "CONV"),
)
"""Of layers at an edge: engine and draw; those that stand twice or thrice come as much more often."""
