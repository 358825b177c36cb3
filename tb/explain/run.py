"""One way in which memory may have come about: what was read, computed, and written where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from models.arithmetic import HARDWARE, Rules
from tb.explain.engines import EngineRun
from tb.explain.memory import Bytes, Patch
from tb.explain.walk import Cube, Walk

CubeMap = Callable[[Cube], Cube]
"""A change of the values of a whole cube (C, H, W), lines in their places."""

Touch = Callable[[tuple[int, int, int]], NDArray[np.bool_]]
"""From (C, H, W) to the elements that are written at all."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """An engine that returns what is known already: the cube of the expectation."""

    cube: Cube
    work: ClassVar[int] = 1

    def compute(self, memory: Bytes, rows: slice, rules: Rules) -> Cube:
        """Return some lines of the cube."""
        del memory, rules
        return self.cube[:, rows]


@dataclass(frozen=True)
class Run:
    """A layer as hardware may have run it.

    Attributes:
        engine: reads operands and computes.
        dst: walk through the output.
        rules: rules of integer arithmetic.
        values: what else happens to the result, in order; pure functions of single elements.
        order: what else happens to the places of results, in order; needs the whole cube.
        touch: which elements are written, None for all.
        memory: what the engine reads instead of what lay there, None for that.
    """

    engine: EngineRun
    dst: Walk
    rules: Rules = HARDWARE
    values: tuple[CubeMap, ...] = ()
    order: tuple[CubeMap, ...] = ()
    touch: Touch | None = None
    memory: Bytes | None = None

    def cube(self, memory: Bytes, rows: slice | None = None) -> Cube:
        """Return the computed cube, (C, H, W) with padding channels, or some lines of it.

        Raises:
            InputError: when the engine cannot run so.
        """
        whole = slice(0, self.dst.shape[1])
        wanted = whole if rows is None or self.order else rows
        cube = self.engine.compute(memory if self.memory is None else self.memory, wanted, self.rules)
        if self.dst.dtype.kind == "f" and cube.dtype.kind == "u":
            cube = cube.view(self.dst.dtype)
        for change in (*self.values, *self.order):
            cube = change(cube)
        return cube[:, rows] if rows is not None and self.order else cube

    def patch(self, memory: Bytes) -> Patch:
        """Return the memory after the run.

        Raises:
            InputError: when the engine cannot run so, or writes too far apart.
        """
        cube = self.cube(memory)
        return self.dst.write(cube, None if self.touch is None else self.touch(cube.shape))


Make = Callable[[], Run]
"""Makes a run, or raises an InputError where no engine can run so."""
