"""Causes in the operands of SDP's stages: where they lie, their order, size and which element gets which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from models.errors import InputError
from tb.explain.cause import Cause, Family, Variant, attempt
from tb.explain.causes import layout, reach
from tb.explain.engines import StageRun
from tb.explain.evidence import Evidence
from tb.explain.run import Run
from tb.explain.walk import Cube, Walk


def _fetched(run: Run) -> Iterator[tuple[str, StageRun, Walk]]:
    for name, part in reach.stages(run):
        if part.walk is not None:
            yield name, part, part.walk


def _moved(moves: layout.Moves, evidence: Evidence, run: Run) -> Iterator[Variant]:
    for name, part, walk in _fetched(run):
        for detail, other in moves(evidence, run, walk):
            changed = replace(part, walk=other)
            yield from attempt(f"{name.upper()}, {detail}", partial(reach.with_stage, run, name, changed))


def _pairs(evidence: Evidence, run: Run) -> Iterator[Variant]:
    for name, part, walk in _fetched(run):
        title = name.upper()
        if len(part.components) == 2:
            changed = replace(part, components=part.components[::-1])
            yield from attempt(f"{title}: ALU and multiplier swapped", partial(reach.with_stage, run, name, changed))
            planes = replace(walk, twist=_planes)
            changed = replace(part, walk=planes)
            yield from attempt(
                f"{title}: all ALU operands of an atom before all of the multiplier",
                partial(reach.with_stage, run, name, changed),
            )
            for component in part.components:
                pair = replace(
                    walk, shape=(walk.shape[0] // 2, *walk.shape[1:]), atom_elements=max(1, walk.atom_elements // 2)
                )
                steps = (walk.steps[0] // 2, walk.steps[1] // 2, walk.steps[2] // 2)
                changed = replace(part, walk=replace(pair, steps=steps), components=(component, component))
                yield from attempt(f"{title}: one component read as both", partial(_both, run, name, changed))


def _both(run: Run, name: str, part: StageRun) -> Run:
    assert part.walk is not None
    double = replace(
        part.walk,
        shape=(2 * part.walk.shape[0], *part.walk.shape[1:]),
        twist=_doubled,
    )
    return reach.with_stage(run, name, replace(part, walk=double, components=("alu", "mul")))


def _doubled(cube: Cube) -> Cube:
    return np.repeat(cube[: len(cube) // 2], 2, axis=0)


def _planes(cube: Cube) -> Cube:
    """Return (C, H, W) of pairs as if each half of the channels were one component."""
    if len(cube) % 2:
        raise InputError(f"channels must be an even number for pairs, not {len(cube)}")
    return cube.reshape(2, -1, *cube.shape[1:]).swapaxes(0, 1).reshape(cube.shape)


def _sharing(evidence: Evidence, run: Run) -> Iterator[Variant]:
    """One operand for all: an element's for a channel, a surface's for the cube, one for everything."""
    _, height, width = evidence.cube.shape
    for name, part, walk in _fetched(run):
        title = name.upper()
        per_channel = walk.shape[1:] == (1, 1)
        if not per_channel:
            shared = replace(walk, shape=(walk.shape[0], height, width))
            for steps, what in (
                ((walk.steps[0], 0, 0), "one for each channel, from the first element"),
                ((walk.steps[0], walk.steps[1], 0), "one for each line"),
                ((walk.steps[0], 0, walk.steps[2]), "the first line for all lines"),
                ((0, walk.steps[1], walk.steps[2]), "the first surface for all surfaces"),
                ((walk.atom_bytes, 0, 0), "per channel instead of per element"),
            ):
                changed = replace(part, walk=replace(shared, steps=steps))
                yield from attempt(f"{title}: {what}", partial(reach.with_stage, run, name, changed))
        else:
            changed = replace(part, walk=walk.stepped(surface=0))
            yield from attempt(
                f"{title}: the first atom for all surfaces", partial(reach.with_stage, run, name, changed)
            )
            spread = replace(walk, shape=(walk.shape[0], height, width))
            atom = walk.atom_bytes
            spread = spread.stepped(height * width * atom, width * atom, atom)
            changed = replace(part, walk=spread)
            yield from attempt(
                f"{title}: per element instead of per channel", partial(reach.with_stage, run, name, changed)
            )
        first = replace(walk, twist=partial(_first, number=len(part.components)))
        changed = replace(part, walk=first)
        yield from attempt(f"{title}: that of the first channel for all", partial(reach.with_stage, run, name, changed))
        zero = replace(part, walk=replace(walk, twist=np.zeros_like))
        yield from attempt(f"{title}: all operands 0", partial(reach.with_stage, run, name, zero))


def _first(cube: Cube, number: int) -> Cube:
    """Return the operands of the first channel for all."""
    return np.tile(cube[:number], (len(cube) // number, 1, 1))


def _twisted(evidence: Evidence, run: Run) -> Iterator[Variant]:
    for name, part, walk in _fetched(run):
        for what, twist in layout.LANES.items():
            per_atom = walk.atom_elements
            other = replace(walk, twist=partial(twist, per_atom=per_atom))
            changed = replace(part, walk=other)
            yield from attempt(f"{name.upper()}: {what}", partial(reach.with_stage, run, name, changed))


_MOVES = (
    ("base", "operands: wrong start address", layout.bases),
    ("line-stride", "operands: wrong line stride", layout.line_strides),
    ("surface-stride", "operands: wrong surface stride", layout.surface_strides),
    ("element-size", "operands: wrong element size", layout.sizes),
    ("axes", "operands: wrong order of axes", layout.axes),
)

CAUSES = (
    *(
        Cause(f"operand-{key}", about, Family.LAYOUT, partial(_moved, moves), reruns=True)
        for key, about, moves in _MOVES
    ),
    Cause("operand-pairs", "operands: wrong order of components", Family.LAYOUT, _pairs, reruns=True),
    Cause("operand-sharing", "operands: wrong one", Family.LAYOUT, _sharing, reruns=True),
    Cause("operand-lanes", "operands: wrong lane", Family.LAYOUT, _twisted, reruns=True, cost_bits=9.0),
)
