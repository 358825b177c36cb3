"""From a loadable to a network: where its memory lies, its tasks, and what is bound to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision
from nvdla_networks import emulated, hardware
from nvdla_networks.errors import NetworkError
from nvdla_networks.flat import Record
from nvdla_networks.loadable import Interface, Loadable
from nvdla_networks.network import Network
from nvdla_networks.places import Placer
from nvdla_networks.tensors import Tensor
from nvdla_tb.nvdla.memory import Ram

_PRECISIONS = {2: Precision.FP16, 3: Precision.INT16, 4: Precision.INT8}
_ATOM_BYTES = {36: 32, 37: 8}
"""Bytes of an atom by pixel format: software takes 36 for 32 lanes, whatever the hardware."""


@dataclass
class Compiled:
    """A loadable that can be placed in memory, several times: what no task writes to is there once.

    Example:
        compiled = Compiled("lenet", read_loadable(path), HwConfig.load("nv_small"))
        networks = [compiled.place() for image in images]
    """

    name: str
    loadable: Loadable
    config: HwConfig
    _free: dict[Ram, int] = field(default_factory=dict)
    _constants: dict[int, int] = field(default_factory=dict)

    def place(self) -> Network:
        """Return the network in memory that no earlier one of this object has, constants apart.

        Raises:
            NetworkError: for a task, tensor or operation that cannot be played, naming descriptor and rule.
            Refused: for a value that a register cannot hold.
        """
        placer = Placer(self.loadable, self.config, dict(self._free), dict(self._constants))
        tasks = []
        for task in self.loadable.tasks:
            read = hardware.read_task if task.interface is Interface.DLA1 else emulated.read_task
            tasks.append(read(task, placer))
        memories, tensors = self.loadable.memories, self.loadable.tensors
        inputs = [tensor for tensor in tensors if memories[tensor["mem_id"]].is_input]
        outputs = [tensor for tensor in tensors if memories[tensor["mem_id"]].is_output]
        for tensor in inputs:
            placer.write(tensor["mem_id"])
        ends = [tuple(_tensor(record, placer) for record in bound) for bound in (inputs, outputs)]
        allocations = placer.allocations()
        self._free = placer.free
        self._constants = placer.constants()
        return Network(self.name, self.config, allocations, tuple(tasks), *ends)


def _tensor(record: Record, placer: Placer) -> Tensor:
    what = f"tensor {record['name']!r}"
    kind, pixels, offset = (record[key] for key in ("data_type", "pixel_format", "offset"))
    if kind not in _PRECISIONS:
        known = ", ".join(f"{number} ({precision.name})" for number, precision in _PRECISIONS.items())
        raise NetworkError(f"{what}: data type must be {known}, not {kind}")
    if pixels not in _ATOM_BYTES:
        raise NetworkError(f"{what}: pixel format must be 36 or 37, a feature cube, not {pixels}: images are not known")
    memory = placer.loadable.memories[record["mem_id"]]
    tensor = Tensor(
        record["name"],
        memory.ram,
        placer.address(memory.id) + offset,
        _PRECISIONS[kind],
        _ATOM_BYTES[pixels],
        (record["c"], record["h"], record["w"]),
        record["stride_1"],
        record["stride_2"],
    )
    if offset + tensor.nbytes > memory.nbytes:
        raise NetworkError(
            f"{what} must lie within the {memory.nbytes} bytes of its memory, not {offset} + {tensor.nbytes}"
        )
    return tensor
