"""Causes in the operands of SDP's stages: where they lie, their order, size and which element gets which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from nvdla_models.errors import InputError
from nvdla_tb.explain.cause import Cause, Way
from nvdla_tb.explain.causes import layout, reach
from nvdla_tb.explain.engines import Run
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.walk import Cube


def _moved(moves: layout.Moves, evidence: Evidence, run: Run) -> Iterator[Way]:
    for name, walk in reach.operands(run):
        for detail, other in moves(evidence, run, walk.value):
            yield Way(f"{name}, {detail}", walk.put(other))


def _pairs(evidence: Evidence, run: Run) -> Iterator[Way]:
    for name, stage in reach.stages(run):
        walk, components = stage.value.walk, stage.value.components
        if walk is None or len(components) != 2:
            continue
        yield Way(f"{name}: ALU and multiplier swapped", stage.other(components=components[::-1]))
        detail = f"{name}: all ALU operands of an atom before all of the multiplier"
        yield Way(detail, stage.other("walk", twist=_planes))
        single = replace(
            walk,
            shape=(2 * (walk.shape[0] // 2), *walk.shape[1:]),
            steps=(walk.steps[0] // 2, walk.steps[1] // 2, walk.steps[2] // 2),
            atom_elements=max(1, walk.atom_elements // 2),
            twist=lambda cube: np.repeat(cube[: len(cube) // 2], 2, axis=0),
        )
        for _ in components:
            yield Way(f"{name}: one component read as both", stage.other(walk=single, components=("alu", "mul")))


def _planes(cube: Cube) -> Cube:
    """Return (C, H, W) of pairs as if each half of the channels were one component."""
    if len(cube) % 2:
        raise InputError(f"channels must be an even number for pairs, not {len(cube)}")
    return cube.reshape(2, -1, *cube.shape[1:]).swapaxes(0, 1).reshape(cube.shape)


def _sharing(evidence: Evidence, run: Run) -> Iterator[Way]:
    """One operand for all: an element's for a channel, a surface's for the cube, one for everything."""
    _, height, width = evidence.cube.shape
    for name, stage in reach.stages(run):
        walk = stage.value.walk
        if walk is None:
            continue
        surface, line, column = walk.steps
        atom = walk.atom_bytes
        spread = (walk.shape[0], height, width)
        for steps, shape, what in (
            (
                ((surface, 0, 0), spread, "one for each channel, from the first element"),
                ((surface, line, 0), spread, "one for each line"),
                ((surface, 0, column), spread, "the first line for all lines"),
                ((0, line, column), spread, "the first surface for all surfaces"),
                ((atom, 0, 0), spread, "per channel instead of per element"),
            )
            if walk.shape[1:] != (1, 1)
            else (
                ((0, line, column), walk.shape, "the first atom for all surfaces"),
                ((height * width * atom, width * atom, atom), spread, "per element instead of per channel"),
            )
        ):
            yield Way(f"{name}: {what}", stage.other("walk", steps=steps, shape=shape))
        first = partial(_first, number=len(stage.value.components))
        yield Way(f"{name}: that of the first channel for all", stage.other("walk", twist=first))
        yield Way(f"{name}: all operands 0", stage.other("walk", twist=np.zeros_like))


def _first(cube: Cube, number: int) -> Cube:
    """Return the operands of the first channel for all."""
    return np.tile(cube[:number], (len(cube) // number, 1, 1))


def _twisted(evidence: Evidence, run: Run) -> Iterator[Way]:
    for name, walk in reach.operands(run):
        for what in layout.LANES:
            twist = partial(layout.lanes_moved, what, walk.value.atom_elements)
            yield Way(f"{name}: {what}", walk.other(twist=twist))


def _of_walks() -> Iterator[Cause]:
    for key in ("base", "line-stride", "surface-stride", "element-size", "axes"):
        about, moves = layout.MOVES[key]
        yield Cause(f"operand-{key}", f"operands: {about}", partial(_moved, moves), reruns=True)


CAUSES = (
    *_of_walks(),
    Cause("operand-pairs", "operands: wrong order of components", _pairs, reruns=True),
    Cause("operand-sharing", "operands: wrong one", _sharing, reruns=True),
    Cause("operand-lanes", "operands: wrong lane", _twisted, reruns=True, cost_bits=9.0),
)
