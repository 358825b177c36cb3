"""From a loadable to a network: where its memory lies, its tasks, and what is bound to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout import PixelLayout
from nvdla_models.layout.pixel_formats import PACKED_NAMES, SEMI_PLANAR_NAMES, pixel_format
from nvdla_models.precision import Precision
from nvdla_networks import emulated, hardware
from nvdla_networks.errors import NetworkError
from nvdla_networks.flat import Record
from nvdla_networks.loadable import Interface, Loadable
from nvdla_networks.network import Network
from nvdla_networks.places import Placer
from nvdla_networks.tensors import ImageTensor, Tensor
from nvdla_tb.nvdla.memory import Ram

_PRECISIONS = {2: Precision.FP16, 3: Precision.INT16, 4: Precision.INT8}
_ATOM_BYTES = {36: 32, 37: 8}
"""Bytes of an atom by pixel format: software takes 36 for 32 lanes, whatever the hardware."""

_PIXEL_FORMATS = PACKED_NAMES + SEMI_PLANAR_NAMES
"""Formats of images by the numbers that the registers have, too."""


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
        taken = tuple(_tensor(record, placer) for record in inputs)
        left = tuple(_cube(record, placer) for record in outputs)
        allocations = placer.allocations()
        self._free = placer.free
        self._constants = placer.constants()
        return Network(self.name, self.config, allocations, tuple(tasks), taken, left)


def _tensor(record: Record, placer: Placer) -> Tensor | ImageTensor:
    what = f"tensor {record['name']!r}"
    kind, pixels, offset = (record[key] for key in ("data_type", "pixel_format", "offset"))
    if kind not in _PRECISIONS:
        known = ", ".join(f"{number} ({precision.name})" for number, precision in _PRECISIONS.items())
        raise NetworkError(f"{what}: data type must be {known}, not {kind}")
    memory = placer.loadable.memories[record["mem_id"]]
    shape = record["c"], record["h"], record["w"]
    place = record["name"], memory.ram, placer.address(memory.id) + offset, _PRECISIONS[kind]
    tensor: Tensor | ImageTensor
    if pixels in _ATOM_BYTES:
        tensor = Tensor(*place, _ATOM_BYTES[pixels], shape, record["stride_1"], record["stride_2"])
    elif pixels < len(_PIXEL_FORMATS):
        tensor = _image(what, place, shape, record, placer.config)
    else:
        raise NetworkError(
            f"{what}: pixel format must be 0 to {len(_PIXEL_FORMATS) - 1}, an image, or 36 or 37, a cube, not {pixels}"
        )
    if offset + tensor.nbytes > memory.nbytes:
        raise NetworkError(
            f"{what} must lie within the {memory.nbytes} bytes of its memory, not {offset} + {tensor.nbytes}"
        )
    return tensor


def _cube(record: Record, placer: Placer) -> Tensor:
    tensor = _tensor(record, placer)
    if isinstance(tensor, ImageTensor):
        raise NetworkError(f"tensor {record['name']!r}: pixel format of an output must be 36 or 37, a cube")
    return tensor


def _image(
    what: str,
    place: tuple[str, Ram, int, Precision],
    shape: tuple[int, int, int],
    record: Record,
    config: HwConfig,
) -> ImageTensor:
    name, precision = _PIXEL_FORMATS[record["pixel_format"]], place[-1]
    known = pixel_format(name)
    if shape[0] > known.channels:
        raise NetworkError(f"{what}: c must be at most the {known.channels} channels of {name}, not {shape[0]}")
    if precision.nbytes != known.element_dtype.itemsize or known.is_float != (precision is Precision.FP16):
        raise NetworkError(f"{what}: data type must be that of {name}, {known.precision.name}, not {precision.name}")
    # Pixels of the second plane are two chrominances.
    strides = tuple(record["stride_1"] * (number + 1) for number in range(len(known.planes)))
    try:
        layout = PixelLayout(config, name, (known.channels, *shape[1:]), strides)
    except InputError as error:
        raise NetworkError(f"{what}: {error}") from error
    return ImageTensor(*place, shape, layout, (0, record["stride_2"])[: len(known.planes)])
