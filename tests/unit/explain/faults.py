"""Memory as real faults leave it, made without the explainer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.layout import FeatureLayout
from nvdla_tb.explain.memory import Bytes, Patch
from nvdla_tb.nvdla.layers import Layer, Surface
from tests.unit.explain import cases
from tests.unit.explain import full_cases as full

MEMORY = cases.memory_for(1)
FP16 = full.fp16_memory(2)


@dataclass(frozen=True, eq=False)
class Fault:
    """A layer, what it leaves, what the explainer should name first, and the memory that the layer finds.

    ``or_else`` are other names that do as well. ``twice`` says that some bytes were written more than once, which what
    is left does not tell.
    """

    title: str
    layer: Layer
    left: Patch
    name: str
    memory: Bytes = MEMORY
    or_else: tuple[str, ...] = ()
    twice: bool = False


def run(layer: Layer, memory: Bytes = MEMORY) -> Patch:
    """Return what the reference model leaves."""
    return cases.result(cases.predicted(layer, memory))


def ran(title: str, layer: Layer, name: str, **new: Any) -> Fault:
    """Return the fault of a layer that runs with other attributes."""
    return Fault(title, layer, run(replace(layer, **new)), name)


def parameters(title: str, layer: Any, name: str, **new: Any) -> Fault:
    """Return the fault of a layer that runs with other parameters."""
    return ran(title, layer, name, params=replace(layer.params, **new))


def elements(layer: Layer, memory: Bytes = MEMORY) -> NDArray[Any]:
    """Return the cube that a layer leaves, (C, H, W) with padding channels."""
    assert isinstance(layer.dst, Surface)
    return layer.dst.layout.unpack_padded(run(layer, memory).data)


def written(layer: Layer, placed: Iterator[tuple[int, bytes]]) -> Patch:
    """Return single elements at their offsets from the start of a layer's output."""
    assert isinstance(layer.dst, Surface)
    space = 1 << 14
    patch = Patch(layer.dst.address - space // 4, np.zeros(space, np.uint8), np.zeros(space, np.bool_))
    for offset, data in placed:
        first = offset + space // 4
        patch.data[first : first + len(data)] = np.frombuffer(data, dtype=np.uint8)
        patch.mask[first : first + len(data)] = True
    return patch


def by_place(layer: Layer, place: Callable[[int, int, int], int], memory: Bytes = MEMORY) -> Patch:
    """Return the right elements of a layer, each at the offset that ``place`` says for (c, h, w)."""
    cube = elements(layer, memory)
    return written(layer, ((place(*at), cube[at].tobytes()) for at in np.ndindex(cube.shape)))


def by_value(layer: Layer, change: Callable[[NDArray[Any]], NDArray[Any]], memory: Bytes = MEMORY) -> Patch:
    """Return the elements of a layer at their places, changed."""
    assert isinstance(layer.dst, Surface)
    layout = layer.dst.layout
    cube = change(elements(layer, memory))
    padded = FeatureLayout(
        layout.config, layout.precision, cube.shape, layout.line_stride_bytes, layout.surface_stride_bytes
    )
    return Patch(layer.dst.address, padded.pack(cube), layout.written_mask())


def altered(
    layer: Layer, address: int, nbytes: int, change: Callable[[NDArray[np.uint8]], Any], memory: Bytes
) -> Patch:
    """Return what a layer leaves that finds other bytes at an address."""
    return run(layer, full.stored(memory, address, np.asarray(change(memory.read(address, nbytes).data), np.uint8)))


def strides(layer: Layer) -> tuple[int, int]:
    assert isinstance(layer.dst, Surface)
    return layer.dst.layout.surface_stride_bytes, layer.dst.layout.line_stride_bytes
