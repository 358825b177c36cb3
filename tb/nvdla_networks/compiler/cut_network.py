"""Networks of a file that can be placed in memory, several times: parts for the accelerator, and the host's between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_networks.compiler.calibration import Calibration
from nvdla_networks.compiler.cut import Cut, Segment, cut_model
from nvdla_networks.compiler.elementwise import TABLES
from nvdla_networks.compiler.graph import Floats, floats
from nvdla_networks.compiler.inputs import FileInput, file_inputs
from nvdla_networks.compiler.onnx_network import BufferPlacer, OnnxNetwork, Sample
from nvdla_networks.compiler.operations import TaskWriter
from nvdla_networks.compiler.precisions import Precisions, conversions
from nvdla_networks.compiler.prepare import inputs_of
from nvdla_networks.compiler.target import Target
from nvdla_networks.errors import NodeRefused
from nvdla_networks.host import HostGraph
from nvdla_networks.network import (
    HardwareTask,
    HostOutput,
    HostPart,
    Network,
    SoftwareOperation,
    SoftwareTask,
    Source,
    Task,
)
from nvdla_networks.places import BASE_ADDRESS
from nvdla_networks.software import real
from nvdla_networks.tensors import ImageTensor, Tensor


@dataclass
class CutNetwork:
    """A file compiled for a configuration: what that can compute runs on it, all else on the host.

    Example:
        model = prepared(fixed(path.read_bytes()))
        compiled = CutNetwork.compiled("detector", model, HwConfig.load("nv_small"), samples)
        network = compiled.place().given(samples[0])

    Attributes:
        name: Its name.
        config: The configuration.
        cut: The parts of the file.
        inputs: Inputs of the file.
    """

    name: str
    config: HwConfig
    cut: Cut
    inputs: tuple[FileInput, ...]
    _parts: tuple[OnnxNetwork, ...]
    _hosts: tuple[HostGraph | None, ...]
    _free: int = BASE_ADDRESS
    _conversions: tuple[tuple[list[str], Source, Tensor], ...] = ()
    """Layers of the last network that was placed that make one part's cube another's."""

    @classmethod
    def compiled(
        cls,
        name: str,
        model: onnx.ModelProto,
        config: HwConfig,
        samples: Sequence[Sample],
        *,
        precisions: Precisions | None = None,
        per_channel: bool = True,
        calibration: Calibration = Calibration.RANGE,
    ) -> CutNetwork:
        """Return a prepared model compiled for a configuration.

        Args:
            name: Its name.
            model: The model.
            config: Configuration to run it.
            samples: Inputs that show how large its values become.
            precisions: Types of elements on the accelerator, INT8 without them, and nodes for the host.
            per_channel: Whether each kernel has a scale of its own.
            calibration: What of the samples integers must hold.

        Raises:
            NetworkError: for a network that is too large, and when the host cannot compute its nodes.
        """
        precisions = precisions or Precisions()
        precisions.check([node.name for node in model.graph.node])
        reasons = [Target(config, precision).no_tables for precision in precisions.all]
        # With several precisions it turns out later who has tables.
        refused = {n.name: reasons[0] for n in model.graph.node if all(reasons) and reasons[0] and n.op_type in TABLES}
        known = {node.name for node in model.graph.node}
        refused |= dict.fromkeys(precisions.of_host([node.name for node in model.graph.node]), "--precision says so")
        while True:
            cut = cut_model(model, refused, precisions)
            try:
                shown = _shown(model, cut, samples)
                parts = tuple(
                    OnnxNetwork.compiled(
                        name,
                        part,
                        config,
                        [{value: sample[value] for value in part.inputs} for sample in shown],
                        precision=precision,
                        per_channel=per_channel,
                        calibration=calibration,
                    )
                    for part, precision in zip(cut.parts, cut.precisions, strict=True)
                )
                for part in parts:
                    part.elsewhere().place()
            except NodeRefused as error:
                # What turns out in a later step only: the host computes it, and all is cut anew.
                if error.node in refused or error.node not in known:
                    raise
                refused[error.node] = error.rule
                continue
            segments = (*cut.before, cut.after)
            hosts = tuple(None if segment.model is None else HostGraph(segment.model) for segment in segments)
            return cls(name, config, cut, file_inputs(model), parts, hosts)

    @property
    def host_computes(self) -> bool:
        """Whether the host does more than convert and arrange elements."""
        return any(host is not None and host.computes for host in self._hosts)

    def elsewhere(self, *, keeps: bool = False) -> CutNetwork:
        """Return the same network, none of which is in memory yet; ``keeps`` leaves every value there in the end."""
        return replace(self, _parts=tuple(part.elsewhere(keeps=keeps) for part in self._parts), _free=BASE_ADDRESS)

    def beside_float(self, read: Callable[[Tensor], NDArray[Any]]) -> Iterator[tuple[list[str], Floats, Floats]]:
        """Yield each step of each part, as ``OnnxNetwork.beside_float`` does, and what is converted between them."""
        for part in self._parts:
            yield from part.beside_float(read)
        for layers, source, target in self._conversions:
            made = real(Source(target, target.scale or 1.0), read(target))
            yield layers, floats(made), floats(real(source, read(source.tensor)))

    def place(self) -> Network:
        """Return the network in memory that no earlier one of this object has, constants apart.

        The host's nodes need values of the inputs that they take: ``Network.given``.

        Raises:
            NetworkError: when memory does not hold it.
        """
        named = [self.cut.reading.cube(name) for name in self.cut.outputs]
        placed: list[Network] = []
        operations: Counter[str] = Counter()
        for part in self._parts:
            part.free = self._free
            placed.append(part.place(named, operations))
            self._free = part.free
        sources = {name: source for part in self._parts for name, source in part.sources.items()}
        tasks: list[Task] = []
        placer, self._conversions = BufferPlacer(self.config, self._free), ()
        for network, segment, host in zip(placed, self.cut.before, self._hosts, strict=False):
            between = self._between(segment, host, network.inputs, sources)
            between, converting = self._converted(between, placer, operations)
            if segment.made or between.moved:
                tasks.append(SoftwareTask((between,)))
            tasks += [*converting, network.tasks[0]]
        self._free = placer.free
        ends: list[SoftwareOperation | HostPart] = [op for network in placed for op in _software(network)]
        if not self.cut.after.is_empty:
            ends.append(self._between(self.cut.after, self._hosts[-1], (), sources))
        made = {output.name: output for network in placed for output in network.outputs}
        outputs = [
            HostOutput(name) if name in self.cut.after.made else made[own]
            for name, own in zip(self.cut.outputs, named, strict=True)
        ]
        given = {each.name for each in self.inputs}
        return Network(
            self.name,
            self.config,
            tuple(
                replace(allocation, name=f"p{number}{allocation.name}" if len(placed) > 1 else allocation.name)
                for number, network in enumerate(placed)
                for allocation in network.allocations
            )
            + tuple(placer.allocations),
            (*tasks, SoftwareTask(tuple(ends))),
            tuple(tensor for network in placed for tensor in network.inputs if tensor.name in given),
            tuple(outputs),
        )

    def _converted(
        self, part: HostPart, placer: BufferPlacer, names: Counter[str]
    ) -> tuple[HostPart, list[HardwareTask]]:
        """Return what the host does for a part of one of several precisions, without what SDP can, and SDP's task."""
        writer, left, number = TaskWriter(self.config, names), [], 0
        for source, tensor in part.moved:
            layers = None
            if len(set(self.cut.precisions)) > 1:
                layers = conversions(self.config, source, tensor, placer.reserve)
            if layers is None:
                left.append((source, tensor))
                continue
            made: list[str] = []
            for layer in layers:
                made.append(writer.add(number, (f"{tensor.name}_{layer.dst.layout.precision.value}",), layer))
                number += 1
            self._conversions += ((made, source, tensor),)
        return replace(part, moved=tuple(left)), [writer.task()] if number else []

    def _between(
        self,
        segment: Segment,
        host: HostGraph | None,
        inputs: Sequence[Tensor | ImageTensor],
        sources: Mapping[str, Source],
    ) -> HostPart:
        """Return what the host does for a part, whose inputs have their places."""
        cube, cubes = self.cut.reading.cube, [tensor for tensor in inputs if isinstance(tensor, Tensor)]
        return HostPart(
            host,
            {name: sources[cube(name)] for name in segment.sources},
            segment.given,
            {name: tuple(tensor for tensor in cubes if tensor.name == name) for name in segment.made},
            tuple((sources[tensor.name], tensor) for tensor in cubes if tensor.name in segment.moved),
        )


def _software(network: Network) -> Iterator[SoftwareOperation | HostPart]:
    for task in network.tasks:
        if isinstance(task, SoftwareTask):
            yield from task.operations


def _shown(model: onnx.ModelProto, cut: Cut, samples: Iterable[Sample]) -> list[dict[str, Floats]]:
    """Return every input of every part for each sample, (C, H, W), in floating point."""
    given = {value.name for value in inputs_of(model.graph)}
    wanted = sorted({name for part in cut.parts for name in part.inputs} - given)
    extended = onnx.ModelProto()
    host = None
    if wanted:
        extended.CopyFrom(model)
        del extended.graph.output[:]
        kinds = {value.name: value for value in (*model.graph.value_info, *model.graph.output)}
        extended.graph.output.extend(kinds[name] for name in wanted)
        host = HostGraph(extended)
    shapes = {name: part.shapes[name] for part in cut.parts for name in part.inputs}
    orders = cut.reading.graph.orders
    shown = []
    for sample in samples:
        values = dict(sample) if host is None else {**sample, **host.values(sample)}
        arrays = {name: np.asarray(values[name], np.float64) for name in shapes}
        shown.append(
            {
                name: orders[name].cube(array, shapes[name]) if name in orders else array.reshape(shapes[name])
                for name, array in arrays.items()
            }
        )
    return shown
