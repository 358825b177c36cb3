"""ONNX networks that can be placed in memory, several times: read, simplified, quantised and cut into layers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.cdp import CdpParams
from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout.raw import round_up
from nvdla_models.lrn import normalisation
from nvdla_models.precision import Precision
from nvdla_networks.compiler.arrange import Arranged, arranged
from nvdla_networks.compiler.calibration import Calibration, channels_seen
from nvdla_networks.compiler.equalise import equalised
from nvdla_networks.compiler.fuse import Compute, Step, fused
from nvdla_networks.compiler.graph import Floats, Graph, Lrn, Node, floats
from nvdla_networks.compiler.interleave import one_by_one
from nvdla_networks.compiler.interpret import values_of
from nvdla_networks.compiler.layers import LayerBuilder
from nvdla_networks.compiler.operations import TaskWriter
from nvdla_networks.compiler.plan import Plan, Pooled, planned
from nvdla_networks.compiler.quantise import Arithmetic, arithmetic
from nvdla_networks.compiler.reuse import Placed, reusing
from nvdla_networks.compiler.scales import Scales, scales_of
from nvdla_networks.compiler.simplify import simplified
from nvdla_networks.compiler.tabulate import tabulated
from nvdla_networks.compiler.target import Target
from nvdla_networks.errors import NetworkError, NodeRefused
from nvdla_networks.network import (
    Allocation,
    Largest,
    Network,
    Power,
    Softmax,
    SoftwareOperation,
    SoftwareTask,
    Source,
)
from nvdla_networks.places import BASE_ADDRESS, PAGE_BYTES
from nvdla_networks.tensors import Tensor
from nvdla_tb.nvdla.memory import Ram

Sample = Mapping[str, Floats]


@dataclass
class OnnxNetwork:
    """A network that was compiled from ONNX; what no layer writes is in memory once.

    Example:
        compiled = OnnxNetwork.compiled("digits", graph, HwConfig.load("nv_small"), samples)
        networks = [compiled.place() for image in images]
    """

    name: str
    graph: Graph
    outputs: tuple[str, ...]
    target: Target
    _arranged: Arranged
    _steps: tuple[Step, ...]
    _plan: Plan
    _scales: Scales
    _numbers: Mapping[str, Arithmetic | CdpParams]
    free: int = BASE_ADDRESS
    _constants: dict[str, int] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    """Where the outputs of the last network lie that was placed."""
    _buffers: tuple[int, ...] = ()
    _layered: dict[int, list[str]] = field(default_factory=dict)

    @classmethod
    def compiled(
        cls,
        name: str,
        graph: Graph,
        config: HwConfig,
        samples: Iterable[Sample],
        *,
        precision: Precision = Precision.INT8,
        per_channel: bool = True,
        calibration: Calibration = Calibration.RANGE,
    ) -> OnnxNetwork:
        """Return a network compiled for a configuration.

        Args:
            name: Its name.
            graph: Graph that it computes.
            config: Configuration to run it.
            samples: Inputs that show how large its values become.
            precision: Type of all elements.
            per_channel: Whether each kernel has a scale of its own.
            calibration: What of the samples its integers must hold.

        Raises:
            NetworkError: for what the configuration cannot compute, naming the node.
        """
        target = Target(config, precision)
        small = tabulated(simplified(graph), target)
        if precision is Precision.INT8:
            samples = list(samples)
            small = equalised(small, channels_seen(small, samples))
        whole = one_by_one(small, target.lanes)
        placed = arranged(whole, target.lanes, scaled=not target.is_float)
        steps = fused(placed.graph, target)
        scales = scales_of(placed.graph, steps, samples, target, calibration)
        plan = planned(placed, steps, target)
        numbers: dict[str, Arithmetic | CdpParams] = {}
        for step in steps:
            if isinstance(step, Compute):
                try:
                    numbers[step.output] = arithmetic(step, scales, target, per_channel=per_channel)
                except InputError as error:
                    raise NodeRefused(step.name, str(error)) from error
            elif isinstance(lrn := step.operation, Lrn):
                numbers[step.output] = _normalised(step, lrn, target, placed.graph.shapes[step.output][0], scales)
        return cls(name, placed.graph, graph.outputs, target, placed, steps, plan, scales, numbers)

    def elsewhere(self, *, keeps: bool = False) -> OnnxNetwork:
        """Return the same network, none of which is in memory yet; ``keeps`` leaves every value there in the end."""
        plan = planned(self._arranged, self._steps, self.target, keeps=True) if keeps else self._plan
        return replace(self, free=BASE_ADDRESS, _constants={}, _plan=plan)

    def place(self, results: Collection[str] | None = None, names: Counter[str] | None = None) -> Network:
        """Return the network in memory that no earlier one of this object has, constants apart.

        Args:
            results: Outputs that the host makes results of; others are left as they are. None for all.
            names: Names of operations of earlier parts of the network.

        Raises:
            NetworkError: for a layer that the hardware does not have, naming the node.
        """
        placer = BufferPlacer(self.target.config, self.free, self._constants)
        self._buffers = buffers = tuple(placer.reserve(f"b{n}", size) for n, size in enumerate(self._plan.buffers))
        builder = LayerBuilder(self._plan, self.target, self._numbers, buffers, placer.constant)
        writer = TaskWriter(self.target.config, names)
        self._layered = defaultdict(list)
        for placed in reusing(self._layers(builder)):
            step = placed.step
            nodes = (step.compute.name, step.pool.name) if isinstance(step, Pooled) else (step.name,)
            self._layered[placed.number].append(writer.add(placed.number, nodes, placed.layer))
        inputs = tuple(self._input(value, buffers) for value in self.graph.inputs)
        # An output with gaps between its channels has a copy without any, which goes out in its place.
        ends = dict(zip(self.outputs, self.graph.outputs, strict=True))
        wanted = [name for name in ends if results is None or name in results]
        operations = [self._host(name, ends[name], buffers, placer) for name in wanted]
        cubes = self._plan.cubes
        self.sources = {name: self._source(value, buffers) for name, value in ends.items() if value in cubes}
        self.free = placer.free
        outputs = tuple(operation.dst for operation in operations)
        tasks = (writer.task(), SoftwareTask(tuple(operations)))
        return Network(self.name, self.target.config, tuple(placer.allocations), tasks, inputs, outputs)

    def beside_float(self, read: Callable[[Tensor], NDArray[Any]]) -> Iterator[tuple[list[str], Floats, Floats]]:
        """Yield each step: its layers, its result, and what floating point makes of the same inputs.

        Args:
            read: Returns a cube out of memory as the last network that was placed has left it, (C, H, W). It must keep
                every value.
        """
        for number, step in enumerate(self._plan.steps):
            given = {value: self._real(value, read) for value in step.inputs}
            nodes: list[Node] = []
            made = {step.output}
            for node in reversed(self.graph.nodes):
                if node.output in made - given.keys():
                    nodes.insert(0, node)
                    made |= {*node.inputs}
            part = replace(self.graph, inputs=step.inputs, nodes=tuple(nodes))
            yield self._layered[number], self._real(step.output, read), values_of(part, given)[step.output]

    def _real(self, value: str, read: Callable[[Tensor], NDArray[Any]]) -> Floats:
        """Return the real numbers that a value in memory stands for, (C, H, W)."""
        scales, zeros, channels = self._scales.scales[value], self._scales.zeros[value], self._plan.channels[value]
        tensor = self._tensor(value, self._buffers)
        elements = read(replace(tensor, shape=(channels.count, *tensor.shape[1:])))[list(channels.places)]
        return (floats(elements) - zeros[:, np.newaxis, np.newaxis]) * scales[:, np.newaxis, np.newaxis]

    def _source(self, value: str, buffers: Sequence[int]) -> Source:
        scales = tuple(self._scales.scales[value].tolist())
        return Source(self._tensor(value, buffers), scales[0] if len(set(scales)) == 1 else scales)

    def _layers(self, builder: LayerBuilder) -> Iterator[Placed]:
        for number, step in enumerate(self._plan.steps):
            try:
                for layer in builder.layers(step):
                    yield Placed(number, step, layer)
            except NetworkError:
                raise
            except InputError as error:
                raise NodeRefused(step.name, str(error)) from error

    def _input(self, value: str, buffers: Sequence[int]) -> Tensor:
        """Return an input, with what whoever writes it must know of its integers."""
        scale, interval = self._scales.scale(value), self.graph.ranges.get(value)
        return replace(self._tensor(value, buffers), scale=scale, range=interval)

    def _tensor(self, value: str, buffers: Sequence[int]) -> Tensor:
        """Return a value as software sees it."""
        cube = self._plan.cubes[value]
        address, shape = buffers[cube.buffer] + cube.offset, self.graph.shapes[value]
        picture = self._plan.pictures.get(value)
        if picture is not None:
            atom, line, surface = picture.shape[0], picture.line_stride_bytes[0], picture.plane_nbytes[0]
        else:
            atom = self.target.config.memory_atomic_bytes
            line, surface = cube.line_stride_bytes, cube.surface_stride_bytes
        order = self.graph.orders.get(value)
        return Tensor(value, Ram.MC, address, self.target.precision, atom, shape, line, surface, order=order)

    def _host(self, name: str, output: str, buffers: Sequence[int], placer: BufferPlacer) -> SoftwareOperation:
        """Return the host's step after the hardware: real numbers, probabilities or a class."""
        node = next((node for node in self._plan.host if node.output == output), None)
        value = output if node is None else node.inputs[0]
        if value not in self._plan.cubes:
            raise NodeRefused(output if node is None else node.name, "hardware must compute what the host goes on with")
        source = self._source(value, buffers)
        kind: Power | Softmax | Largest = Power(1.0, 1.0, 0.0)
        if node is not None:
            assert isinstance(node.operation, Softmax | Largest)
            kind = node.operation
        precision = Precision.INT16 if isinstance(kind, Largest) else Precision.FP16
        (_, height, width), atom = self.graph.shapes[output], self.target.config.memory_atomic_bytes
        dst = Tensor(name, Ram.MC, 0, precision, atom, self.graph.shapes[output], width * atom, height * width * atom)
        dst = replace(dst, address=placer.reserve(f"o_{len(placer.allocations)}", dst.nbytes))
        return SoftwareOperation(kind, source.tensor, dst, in_scale=source.scale)


class BufferPlacer:
    """Gives each buffer and constant pages of its own; a page stays free between, so that what leaves one is seen."""

    def __init__(self, config: HwConfig, free: int, constants: dict[str, int] | None = None) -> None:
        """Begin at a free address, with the addresses of constants that are in memory already."""
        self.free, self._config, self._constants = free, config, {} if constants is None else constants
        self.allocations: list[Allocation] = []

    def reserve(self, name: str, nbytes: int, data: bytes | None = None) -> int:
        """Return the address of memory for a value, or of bytes that no layer writes."""
        address = self.free
        end = address + round_up(nbytes, PAGE_BYTES)
        if end > 1 << self._config.memif_address_width_bits:
            raise NetworkError(f"memory must end in the {self._config.memif_address_width_bits}-bit address space")
        self.free = end + PAGE_BYTES
        chunks = () if data is None else ((0, data),)
        self.allocations.append(Allocation(name, Ram.MC, address, end - address, chunks, is_constant=data is not None))
        return address

    def constant(self, name: str, data: bytes) -> int:
        """Return the address of bytes that no layer writes."""
        if name not in self._constants:
            self._constants[name] = self.reserve(f"c{len(self._constants)}", len(data), data)
        return self._constants[name]


def _normalised(node: Node, lrn: Lrn, target: Target, channels: int, scales: Scales) -> CdpParams:
    try:
        return normalisation(
            target.precision,
            channels,
            lrn.size,
            alpha=lrn.alpha,
            beta=lrn.beta,
            bias=lrn.bias,
            src_scale=scales.scale(node.inputs[0]),
            dst_scale=scales.scale(node.output),
        )
    except InputError as error:
        raise NodeRefused(node.name, str(error)) from error
