"""Causes in what RUBIK and BDMA move: mode and stride of a deconvolution, order of channels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from nvdla_tb.explain.cause import Cause, Way
from nvdla_tb.explain.engines import ChannelOrder, MoveRun, Run
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.nvdla.layers import RubikLayer, RubikMode

_CONTRACTED = (1, 1)


def _strides(evidence: Evidence, run: Run) -> Iterator[Way]:
    """Contract with another stride: other rows, columns and channels, at the strides of the output."""
    engine = run.engine
    if not isinstance(engine, MoveRun) or engine.stride == _CONTRACTED:
        return
    down, right = engine.stride
    channels, height, width = engine.src.shape
    for stride, what in (
        ((right, down), "y and x swapped"),
        ((1, right), "1 along y"),
        ((down, 1), "1 along x"),
        ((down + 1, right), "one too large along y"),
        ((down, right + 1), "one too large along x"),
        ((down - 1, right), "one too small along y"),
        ((down, right - 1), "one too small along x"),
    ):
        parts = stride[0] * stride[1]
        if stride == engine.stride or not parts or channels % (parts * run.dst.atom_elements):
            continue
        shape = (channels // parts, height * stride[0], width * stride[1])
        moved = replace(engine, stride=stride, moved=(shape[0], shape[2]), padded=(shape[0], shape[2]))
        detail = f"{stride[0]} x {stride[1]} instead of {down} x {right}, {what}"
        yield Way(detail, partial(replace, run, engine=moved, dst=replace(run.dst, shape=shape)))


def _orders(evidence: Evidence, run: Run) -> Iterator[Way]:
    """Contract with another order of the channels that become rows and columns."""
    engine = run.engine
    if isinstance(engine, MoveRun) and engine.stride != _CONTRACTED:
        for order in ChannelOrder:
            if order is not engine.order:
                detail = f"{order.value} instead of {engine.order.value}"
                yield Way(detail, partial(replace, run, engine=replace(engine, order=order)))


def _modes(evidence: Evidence, run: Run) -> Iterator[Way]:
    """Another mode: the cube is copied in the format in which it was read, or walked as the other one."""
    engine = run.engine
    layer = None if evidence.started is None else evidence.started.layer
    if not isinstance(engine, MoveRun) or not isinstance(layer, RubikLayer):
        return
    if layer.mode is RubikMode.CONTRACT:
        return
    source, per_atom, size = engine.src, layer.src.layout.config.memory_atomic_bytes, engine.src.dtype.itemsize
    whole = (source.shape[0], source.shape[2])
    copied = replace(engine, moved=whole, padded=whole)
    dst = replace(source, address=run.dst.address)
    yield Way("copied, not moved", partial(replace, run, engine=copied, dst=dst))
    strided = replace(dst, steps=(*run.dst.steps[:2], source.steps[2]))
    yield Way("copied at the strides of the output", partial(replace, run, engine=copied, dst=strided))
    if layer.mode is RubikMode.SPLIT:
        walk = replace(source, atom_elements=1, steps=(*source.steps[:2], size))
    else:
        walk = replace(source, atom_elements=per_atom // size, steps=(*source.steps[:2], per_atom))
    yield Way("input taken for the other format", partial(replace, run, engine=replace(engine, src=walk)))


CAUSES = (
    Cause("move-stride", "contract: wrong stride", _strides, reruns=True),
    Cause("move-order", "contract: wrong order of channels", _orders, reruns=True),
    Cause("move-mode", "wrong mode", _modes, reruns=True, cost_bits=7.5),
)
