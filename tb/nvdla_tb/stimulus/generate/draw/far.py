"""Layers of SDP, PDP and CDP whose sizes go to the limits of their fields, thin where they are long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.pdp import MAX_KERNEL
from nvdla_models.pdp.params import MAX_STRIDE
from nvdla_tb.stimulus.generate.draw.numbers import Axis, Cube, Description, draw_kind, draw_precision, one_of
from nvdla_tb.stimulus.generate.draw.pdp import cut_fits, draw_pdp, pooling, widest_part
from nvdla_tb.stimulus.generate.draw.sizes import (
    MOST_SIDE,
    Drawn,
    draw_reaching,
    draw_reaching_gaps,
    draw_reaching_shape,
)

_MOST_PARTS = 256


def draw_long(
    draw: Callable[[np.random.Generator, HwConfig, Cube], tuple[Description, Cube] | None],
    rng: np.random.Generator,
    config: HwConfig,
    cycles: int,
) -> list[Drawn]:
    """Draw a layer that reads a long cube, or nothing; ``cycles`` is about how many it may take."""
    src = _cube(rng, config, cycles)
    drawn = draw(rng, config, src)
    return [] if drawn is None else _spread(rng, config, src, *drawn)


def far_pdp(rng: np.random.Generator, config: HwConfig, cycles: int) -> list[Drawn]:
    """Draw a long cube, or a wide one that is cut into many parts, or nothing, for PDP."""
    return _parts(rng, config, cycles) if rng.random() < 0.5 else draw_long(draw_pdp, rng, config, cycles)


def _parts(rng: np.random.Generator, config: HwConfig, cycles: int) -> list[Drawn]:
    """Draw a cube that is cut into up to as many parts as a register holds, each as wide as any."""
    precision = draw_precision(rng, config, None)
    height, width = _axis(rng), _axis(rng)
    parts = max(draw_reaching(rng, _MOST_PARTS), 2)
    most = min(widest_part(height), max(1, MOST_SIDE // (parts * width.stride)))
    first, middle, last = (draw_reaching(rng, most) for _ in range(3))
    windows = first + (parts - 2) * middle + last
    size = (windows - 1) * width.stride + width.kernel - width.before - width.after
    width = Axis(size, width.kernel, width.stride, 1, width.before, width.after)
    surfaces = one_of(rng, [1, 1, 2])
    shape = (config.atom_elements(precision) * surfaces - int(rng.integers(0, 2)), height.size, size)
    atoms = surfaces * height.size * (size + parts * max(width.kernel - width.stride, 0))
    if not (1 <= size <= MOST_SIDE and atoms * config.memory_atomic_bytes <= cycles):
        return []
    if not cut_fits(width, widest_part(height), parts, first, middle):
        return []
    src = _with_gaps(rng, config, Cube(shape, precision=precision))
    layer, dst = pooling(rng, src, height, width)
    return _spread(rng, config, src, {**layer, "split": parts, "split_columns": [first, middle]}, dst)


def _axis(rng: np.random.Generator) -> Axis:
    """Draw a few windows: kernel, stride and padding up to their limits."""
    kernel, stride = draw_reaching(rng, MAX_KERNEL), draw_reaching(rng, MAX_STRIDE)
    before, after = (one_of(rng, [0, kernel - 1, int(rng.integers(0, kernel))]) for _ in range(2))
    least = -(-max(before + after + 1 - kernel, 0) // stride) + 1
    windows = least + one_of(rng, [0, 0, 1, 3])
    return Axis((windows - 1) * stride + kernel - before - after, kernel, stride, 1, before, after)


def _cube(rng: np.random.Generator, config: HwConfig, cycles: int) -> Cube:
    precision = draw_precision(rng, config, None)
    shape = draw_reaching_shape(rng, config, precision, cycles // config.memory_atomic_bytes)
    return _with_gaps(rng, config, Cube(shape, precision=precision))


def _with_gaps(rng: np.random.Generator, config: HwConfig, cube: Cube) -> Cube:
    return replace(cube, gaps=draw_reaching_gaps(rng, config, cube))


def _spread(rng: np.random.Generator, config: HwConfig, src: Cube, layer: Description, dst: Cube) -> list[Drawn]:
    """Return a layer that was drawn for a cube before it with that cube as its own, and its result far apart."""
    if max(dst.shape) > MOST_SIDE:
        return []
    dst = _with_gaps(rng, config, dst)
    own = {"shape": list(src.shape), "src_gaps": list(src.gaps), **draw_kind(rng, src.precision)}
    rest = {key: value for key, value in layer.items() if key != "chain"}
    return [Drawn({**rest, **own, "dst_gaps": list(dst.gaps)}, src, dst)]
