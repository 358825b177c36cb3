"""The hardware layers of each step, with addresses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.cdp import CdpParams
from nvdla_models.conv import ConvParams
from nvdla_models.layout import OperandLayout, PixelConversion, PixelLayout
from nvdla_models.sdp import SdpParams, SdpStage, output_converter
from nvdla_networks.compiler.arrange import Channels
from nvdla_networks.compiler.convolutions import Block, Tile, blocks_of, packed_weights, tiles_of
from nvdla_networks.compiler.cubes import Cube, Extent, extent
from nvdla_networks.compiler.fuse import Compute
from nvdla_networks.compiler.graph import Conv, Interleave, Lrn, Node, Pool, shape_of
from nvdla_networks.compiler.interleave import moves
from nvdla_networks.compiler.plan import Layered, Plan, Pooled
from nvdla_networks.compiler.pooling import parts_of
from nvdla_networks.compiler.quantise import Arithmetic, Operand, Operands
from nvdla_networks.compiler.target import Target
from nvdla_tb.nvdla.layers import (
    CdpLayer,
    ConvLayer,
    Layer,
    OperandSurface,
    PdpLayer,
    PooledLayer,
    SdpLayer,
    StageSource,
    Surface,
    on_the_fly,
)
from nvdla_tb.nvdla.surfaces import CbufUse, ImageSurface, WeightSurface, cube_operand, tight_weight_bytes

_OPERAND_BYTES = 2


class LayerBuilder:
    """Makes the layers of one network."""

    def __init__(
        self,
        plan: Plan,
        target: Target,
        numbers: Mapping[str, Arithmetic | CdpParams],
        buffers: Sequence[int],
        constant: Callable[[str, bytes], int],
    ) -> None:
        """Bind it to a plan and to memory.

        Args:
            plan: Where values lie.
            target: Configuration and precision.
            numbers: Integers of the steps of SDP, and tables of CDP, by what they make.
            buffers: Address of each buffer.
            constant: Puts bytes that no layer writes somewhere, and returns their address; the same name gets the same.
        """
        self._plan, self._target, self._config, self._numbers = plan, target, target.config, numbers
        self._buffers, self._constant = buffers, constant

    def layers(self, step: Layered) -> Iterator[Layer]:
        """Yield the layers of a step.

        Raises:
            InputError: for what the hardware cannot do.
        """
        match step:
            case Pooled(compute=compute, pool=Node(operation=Pool() as pool)):
                yield from self._pooled(compute, pool, self._plan.cubes[step.output])
            case Compute():
                yield from self._computed(step, self._plan.cubes[step.output])
            case Node(operation=Pool() as pool):
                yield from self._pools(pool, self._plan.cubes[step.inputs[0]], self._plan.cubes[step.output])
            case Node(operation=Interleave() as interleave):
                same = SdpParams(None, None, output_converter(0, 1, 0), self._target.precision, self._target.precision)
                src, dst = self._plan.cubes[step.inputs[0]], self._plan.cubes[step.output]
                for read, written in moves(interleave, src, dst):
                    yield SdpLayer(self._surface(read), self._surface(written), same)
            case Node(operation=Lrn()):
                src, dst = self._plan.cubes[step.inputs[0]], self._plan.cubes[step.output]
                params = self._numbers[step.output]
                assert isinstance(params, CdpParams)
                yield CdpLayer(self._surface(src), self._surface(dst), params)

    def _surface(self, cube: Cube) -> Surface:
        return cube.surface(self._buffers[cube.buffer])

    def _arithmetic(self, step: Compute) -> Arithmetic:
        numbers = self._numbers[step.output]
        assert isinstance(numbers, Arithmetic)
        return numbers

    def _pools(self, pool: Pool, src: Cube, dst: Cube) -> Iterator[PdpLayer]:
        for read, written, params in parts_of(self._target, pool, src, dst):
            yield PdpLayer(self._surface(read), self._surface(written), params)

    def _pooled(self, step: Compute, pool: Pool, dst: Cube) -> Iterator[PooledLayer]:
        """Yield the layers of a step whose result PDP takes on the fly."""
        src = self._plan.cubes[step.src]
        shape = src.shape if step.conv is None else shape_of(step.conv, [src.shape])
        between = Cube.packed(self._target, 0, shape)
        ((_, _, params),) = parts_of(self._target, pool, between, dst)
        for layer in self._computed(step, between):
            channels, height, width = layer.dst.shape
            first = (layer.dst.address - self._buffers[between.buffer]) // between.surface_stride_bytes
            flying = replace(layer, dst=on_the_fly(self._config, self._target.precision, (channels, height, width)))
            yield PooledLayer(flying, self._surface(dst.channels(first * self._target.lanes, channels)), params)

    def _computed(self, step: Compute, dst: Cube) -> Iterator[ConvLayer | SdpLayer]:
        src = self._plan.cubes[step.src]
        other = None if step.other is None else self._plan.cubes[step.other]
        if step.conv is None:
            x1, x2 = self._sources(step, Block(0, len(step.scale), 0, src.shape[0]), dst, other)
            params = self._arithmetic(step).params
            y = None if params.y is None else StageSource()
            yield SdpLayer(self._surface(src), self._surface(dst), params, x1, x2, y)
            return
        channels = self._plan.channels[step.src]
        for block in blocks_of(step.conv, channels, self._target.lanes, self._plan.pictures.get(step.src)):
            for tile in tiles_of(step.name, self._target, step.conv, src.shape, block):
                kernels = block.kernel, block.kernels
                to = dst.lines(tile.line, tile.lines).channels(*kernels)
                added = None if other is None else other.channels(*kernels)
                if added is not None and added.shape[1:] == dst.shape[1:]:
                    added = added.lines(tile.line, tile.lines)
                yield self._convolution(step, step.conv, (block, tile), (src, to), added)

    def _convolution(
        self, step: Compute, conv: Conv, part: tuple[Block, Tile], cubes: tuple[Cube, Cube], other: Cube | None
    ) -> ConvLayer:
        """Return the layer that makes a part of the output from the whole input, and adds a part of another cube."""
        (block, tile), (whole, dst) = part, cubes
        window = conv.window
        rows = extent(window, 0, whole.shape[1], tile.line, tile.lines)
        columns = extent(window, 1, whole.shape[2], 0, dst.shape[2])
        src: Surface | ImageSurface
        if block.is_image:
            src = self._image(step.src, whole.buffer, rows, columns.count)
        else:
            read = whole.lines(rows.first, rows.count).columns(columns.first, columns.count)
            src = self._surface(read.channels(block.channel, block.channels))
        params = ConvParams(
            stride_x=window.stride[1],
            stride_y=window.stride[0],
            dilation_x=window.dilation[1],
            dilation_y=window.dilation[0],
            pad_left=columns.before,
            pad_right=columns.after,
            pad_top=rows.before,
            pad_bottom=rows.after,
            pad_value=self._arithmetic(step).pad_value,
            truncate=self._arithmetic(step).truncate,
            precision=self._target.precision,
        )
        x1, x2 = self._sources(step, block, dst, other)
        return ConvLayer(
            src,
            self._weights(step, conv, block),
            self._surface(dst),
            params,
            self._arithmetic(step).params,
            CbufUse(tile.data_banks, self._config.cbuf_bank_number - tile.data_banks, release_slices=rows.count),
            conversion=PixelConversion(self._target.precision, signed=True) if block.is_image else None,
            x1=x1,
            x2=x2,
            y=None if self._arithmetic(step).params.y is None else StageSource(),
        )

    def _image(self, value: str, buffer: int, rows: Extent, columns: int) -> ImageSurface:
        """Return the part of an image that a layer reads, from the beginning of lines."""
        whole = self._plan.pictures[value]
        shape = whole.shape[0], rows.count, columns
        layout = PixelLayout(self._config, whole.format_name, shape, whole.line_stride_bytes)
        return ImageSurface(layout, (self._buffers[buffer] + rows.first * whole.line_stride_bytes[0],))

    def _weights(self, step: Compute, conv: Conv, block: Block) -> WeightSurface:
        values = self._arithmetic(step).weights
        assert values is not None
        layout, data = packed_weights(self._target, values, conv.groups, block, self._plan.channels[step.src])
        address = self._constant(f"{step.output}_w{block.kernel}", data)
        return WeightSurface(layout, address, whole_bytes=tight_weight_bytes(layout))

    def _sources(
        self, step: Compute, block: Block, dst: Cube, other: Cube | None
    ) -> tuple[StageSource | None, StageSource | None]:
        """Return where X1 and X2 take their operands from."""
        numbers = self._arithmetic(step)
        places = tuple(range(block.kernels)) if step.conv is not None else self._plan.channels[step.src].places
        channels = Channels(dst.shape[0], places)

        def source(name: str, stage: SdpStage | None, operands: Operands) -> StageSource | None:
            if stage is None:
                return None
            mine = _block_of(operands, block)
            if name == "x1" and step.multiplies and other is not None:
                return StageSource(alu=_register(mine.alu), memory=cube_operand(self._surface(other), "mul"))
            if name == "x2" and other is not None:
                return StageSource(mul=_register(mine.mul), memory=cube_operand(self._surface(other)))
            return self._source(f"{step.output}_{name}_{block.kernel}", stage, mine, channels)

        return source("x1", numbers.params.x1, numbers.x1), source("x2", numbers.params.x2, numbers.x2)

    def _source(self, name: str, stage: SdpStage, operands: Operands, channels: Channels) -> StageSource | None:
        if stage.alu is None and not stage.mul:
            return None
        values = {"alu": operands.alu, "mul": operands.mul}
        in_memory = {component: each for component, each in values.items() if isinstance(each, np.ndarray)}
        memory = None
        if in_memory:
            layout = OperandLayout.packed(
                self._config, self._target.precision, (channels.count, 1, 1), tuple(in_memory), _OPERAND_BYTES
            )
            dtype = layout.component_dtype
            data = {component: _spread(each, channels).view(dtype) for component, each in in_memory.items()}
            memory = OperandSurface(layout, self._constant(name, layout.pack(data).tobytes()))
        return StageSource(_register(operands.alu), _register(operands.mul), memory)


def _register(operand: Operand) -> int | None:
    return operand if isinstance(operand, int) else None


def _block_of(operands: Operands, block: Block) -> Operands:
    """Return the operands of some kernels."""

    def part(operand: Operand) -> Operand:
        return operand[block.kernel : block.kernel + block.kernels] if isinstance(operand, np.ndarray) else operand

    return Operands(part(operands.alu), part(operands.mul))


def _spread(values: NDArray[Any], channels: Channels) -> NDArray[Any]:
    """Return one operand for each channel in memory, 0 for those that mean nothing."""
    wide = np.zeros((channels.count, 1, 1), dtype=values.dtype)
    wide[np.array(channels.places), 0, 0] = values
    return wide
