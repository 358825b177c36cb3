"""Engines as the explainer runs them: the reference models over walks through memory, whole or a few lines.

The parameters are those of the models, but nothing is checked against the rest of the layer, so that a
wrong one can be tried out. What an engine returns of FP16 are patterns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models import cdp, pdp, sdp
from nvdla_models.arithmetic import HARDWARE, Rules
from nvdla_models.cdp import CdpParams
from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.pdp import PdpParams
from nvdla_models.sdp import SdpParams, SdpStage, YStage
from nvdla_tb.explain.memory import Bytes, Patch
from nvdla_tb.explain.walk import Cube, CubeMap, Walk


class EngineRun(ABC):
    """A computation of the lines of a surface."""

    @property
    def work(self) -> int:
        """How much more an element takes than a copied one."""
        return 1

    @abstractmethod
    def compute(self, memory: Bytes, rows: slice, rules: Rules) -> Cube:
        """Return some lines of the output, (C, lines, W) with padding channels, computed by rules of arithmetic."""


def patterns(cube: Cube) -> Cube:
    """Return FP16 as the patterns that models take, anything else as it is."""
    return np.ascontiguousarray(cube).view(np.uint16) if cube.dtype.kind == "f" else cube


def seen_by_windows(first: int, behind: int, size: int) -> tuple[slice, tuple[int, int]]:
    """Return the places along an axis that windows see, and how many before and after these are padding.

    Args:
        first: the first place that they reach; negative in the padding.
        behind: the place after the last.
        size: places of the cube.

    Raises:
        InputError: for windows that lie in the padding alone.
    """
    start, stop = max(first, 0), min(behind, size)
    if start >= stop:
        raise InputError("windows must touch the cube")
    return slice(start, stop), (start - first, behind - stop)


@dataclass(frozen=True)
class StageRun:
    """A stage of SDP with its operands: a register each, or a walk through memory.

    Attributes:
        stage: its operation.
        alu: the register, or None when memory has it or nothing needs it.
        mul: likewise.
        walk: through the operands in memory.
        components: content of each element.
        unsigned: whether operands in memory are taken as unsigned numbers.
        added: what is added to the ALU operand; not for FP16.
    """

    stage: SdpStage | YStage
    alu: int | None = None
    mul: int | None = None
    walk: Walk | None = None
    components: tuple[str, ...] = ()
    unsigned: bool = False
    added: int = 0

    def operands(self, memory: Bytes, rows: slice, is_float: bool) -> sdp.Operands:
        """Return the operands for some lines of the cube, as patterns for a layer of FP16."""
        fetched: dict[str, NDArray[Any]] = {}
        if self.walk is not None:
            per_channel = self.walk.shape[1:] == (1, 1)
            cube = (self.walk if per_channel else self.walk.rows(rows)).read(memory)
            cube = patterns(cube) if is_float else cube.astype(np.int64)
            if self.unsigned and not is_float:
                cube &= (1 << (8 * self.walk.dtype.itemsize)) - 1
                cube = np.minimum(cube, (1 << 15) - 1)
            pairs = cube.reshape(-1, len(self.components), *cube.shape[1:])
            fetched = {name: pairs[:, index] for index, name in enumerate(self.components)}
        # The number of another, integer layer is a pattern to this one.
        width = (1 << (32 if isinstance(self.stage, YStage) else 16)) - 1 if is_float else -1
        alu, mul = (None if register is None else register & width for register in (self.alu, self.mul))
        taken = sdp.Operands.of(self.stage, alu, mul, fetched, is_float)
        if self.added and taken.alu is not None:
            taken = replace(taken, alu=taken.alu + self.added)
        return taken


@dataclass(frozen=True)
class SdpRun(EngineRun):
    """SDP from memory.

    Attributes:
        src: walk through the input.
        params: parameters of the model; its stages are those of ``x1``, ``x2`` and ``y``.
        x1: stage X1, None when bypassed.
        x2: stage X2, None when bypassed.
        y: stage Y, None when bypassed.
        unsigned: whether input elements are taken as unsigned numbers.
        added: what is added to every input element; not for FP16.
    """

    src: Walk
    params: SdpParams
    x1: StageRun | None
    x2: StageRun | None
    y: StageRun | None = None
    unsigned: bool = False
    added: int = 0

    def compute(self, memory: Bytes, rows: slice, rules: Rules) -> Cube:
        """Return some lines of the output, (C, lines, W) with padding channels."""
        cube = patterns(self.src.rows(rows).read(memory))
        if self.unsigned and not self.params.is_float:
            cube = cube.astype(np.int32) & ((1 << (8 * self.src.dtype.itemsize)) - 1)
        return self.finish(cube, memory, rows, rules)

    def finish(self, cube: Cube, memory: Bytes, rows: slice, rules: Rules) -> Cube:
        """Return the result of the stages and the output converter for a cube."""
        if self.added:
            cube = cube.astype(np.int32) + np.int32(self.added)
        stages = {"x1": self.x1, "x2": self.x2, "y": self.y}
        operations: dict[str, Any] = {name: stage.stage if stage else None for name, stage in stages.items()}
        params = replace(self.params, **operations)
        taken = [stage.operands(memory, rows, params.is_float) if stage else None for stage in stages.values()]
        return sdp.run(params, cube, *taken, rules=rules)


@dataclass(frozen=True)
class PdpRun(EngineRun):
    """PDP.

    Attributes:
        src: walk through the input.
        params: parameters of the model; padding after the cube follows from ``out_size``.
        out_size: (H, W) of the output.
        config: configuration of the build.
        shift: elements (down, right) that every window is displaced.
        pads_take_part: whether maximum and minimum see zeros in the padding.
    """

    src: Walk
    params: PdpParams
    out_size: tuple[int, int]
    config: HwConfig
    shift: tuple[int, int] = (0, 0)
    pads_take_part: bool = False

    def compute(self, memory: Bytes, rows: slice, rules: Rules) -> Cube:
        """Return some lines of the output, (C, lines, W) with padding channels."""
        return self.pool(lambda lines: patterns(self.src.rows(lines).read(memory)), rows, rules)

    def pool(self, read: Callable[[slice], Cube], rows: slice, rules: Rules) -> Cube:
        """Return some lines of the output, (C, lines, W) with padding channels.

        Args:
            read: from lines to the input cube there, FP16 as patterns; ``src`` says how large the whole is.
            rows: which lines of the output.
            rules: rules of integer rounding.

        Raises:
            InputError: for windows that lie in the padding alone.
        """
        params, (height, width) = self.params, self.src.shape[1:]
        top, left = self.shift[0] - params.pad_top, self.shift[1] - params.pad_left
        behind = (rows.stop - 1) * params.stride_y + top + params.kernel_height
        lines, (above, below) = seen_by_windows(rows.start * params.stride_y + top, behind, height)
        behind = (self.out_size[1] - 1) * params.stride_x + left + params.kernel_width
        columns, (before, after) = seen_by_windows(left, behind, width)
        cube = read(lines)[:, :, columns]
        # Windows wholly past the cube come of a wrong stride or padding; their result is not known.
        extra = (max(0, below - params.kernel_height + 1), max(0, after - params.kernel_width + 1))
        cube = np.pad(cube, ((0, 0), (0, extra[0]), (0, extra[1])))
        below, after = below - extra[0], after - extra[1]
        if self.pads_take_part:
            cube = np.pad(cube, ((0, 0), (above, below), (before, after)))
            above = below = before = after = 0
        padded = replace(params, pad_top=above, pad_bottom=below, pad_left=before, pad_right=after)
        return pdp.run(padded, cube, self.config, rules)


@dataclass(frozen=True)
class CdpRun(EngineRun):
    """CDP.

    Attributes:
        src: walk through the input.
        params: parameters of the model.
        channels: how many channels are real.
    """

    src: Walk
    params: CdpParams
    channels: int

    def compute(self, memory: Bytes, rows: slice, rules: Rules) -> Cube:
        """Return some lines of the output, (C, lines, W) with padding channels."""
        cube = patterns(self.src.rows(rows).read(memory))
        return cdp.run(self.params, cube, self.channels, rules)


class ChannelOrder(Enum):
    """Where contract finds channel c of row y and column x of a stride."""

    ROWS = "(y * stride_x + x) * C' + c"
    COLUMNS = "(x * stride_y + y) * C' + c"
    CHANNELS = "(c * stride_y + y) * stride_x + x"


_AXES = {ChannelOrder.ROWS: (0, 1, 2), ChannelOrder.COLUMNS: (1, 0, 2), ChannelOrder.CHANNELS: (1, 2, 0)}
"""Where y, x and c stand among the parts of a channel number."""


@dataclass(frozen=True)
class MoveRun(EngineRun):
    """A movement of a cube.

    Attributes:
        src: walk through the input.
        moved: channels and columns of the output that are moved.
        padded: channels and columns that are written: those after the moved ones are 0.
        stride: rows and columns that contract makes of one, (1, 1) for anything else.
        order: order of the channels that become rows and columns.
    """

    src: Walk
    moved: tuple[int, int]
    padded: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    order: ChannelOrder = ChannelOrder.ROWS

    def compute(self, memory: Bytes, rows: slice, rules: Rules) -> Cube:
        """Return some lines of the output, (C, lines, W) with padding.

        Raises:
            InputError: when the channels cannot be divided by the stride.
        """
        down = self.stride[0]
        first = rows.start // down
        cube = self._contracted(self.src.rows(slice(first, -(-rows.stop // down))).read(memory))
        lines = cube[: self.moved[0], rows.start - first * down : rows.stop - first * down, : self.moved[1]]
        missing = [size - got for size, got in zip(self.padded, (lines.shape[0], lines.shape[2]), strict=True)]
        return np.pad(lines, ((0, missing[0]), (0, 0), (0, missing[1])))

    def _contracted(self, cube: Cube) -> Cube:
        """Return a cube whose channels of one stride became rows and columns."""
        parts, (channels, height, width) = self.stride[0] * self.stride[1], cube.shape
        if channels % parts:
            raise InputError(f"channels must be a multiple of {parts} for the stride {self.stride}, not {channels}")
        sizes = (*self.stride, channels // parts)
        axes = _AXES[self.order]
        stored = [0, 0, 0]
        for size, axis in zip(sizes, axes, strict=True):
            stored[axis] = size
        split = cube.reshape(*stored, height, width)
        turned = split.transpose(axes[2], 3, axes[0], 4, axes[1])
        return turned.reshape(sizes[2], height * self.stride[0], width * self.stride[1])


Touch = Callable[[tuple[int, int, int]], NDArray[np.bool_]]
"""From (C, H, W) to the elements that are written at all."""


@dataclass(frozen=True, eq=False)
class Recorded(EngineRun):
    """An engine that returns what is known already: the cube of the expectation."""

    cube: Cube

    def compute(self, memory: Bytes, rows: slice, rules: Rules) -> Cube:
        """Return some lines of the cube."""
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
