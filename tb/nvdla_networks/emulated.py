"""Software tasks of loadables: what the runtime computes on the host."""

from __future__ import annotations

from nvdla_models.precision import Precision
from nvdla_networks import descriptors as d
from nvdla_networks.errors import NetworkError
from nvdla_networks.loadable import Task
from nvdla_networks.network import Power, Softmax, SoftwareOperation, SoftwareTask
from nvdla_networks.places import Descriptors, Placer
from nvdla_networks.tensors import Tensor
from nvdla_tb.nvdla.program.table import Flat

_FORMATS = {
    16: {2: (Precision.FP16, 32)},
    24: {0: (Precision.INT8, 32), 1: (Precision.INT8, 8), 2: (Precision.INT16, 32), 3: (Precision.FP16, 32)},
}
"""Precision and bytes of an atom by the size of the operation and the format of the buffer."""


def read_task(task: Task, placer: Placer) -> SoftwareTask:
    """Return the operations of a software task.

    Raises:
        NetworkError: naming task, operation, field and rule.
    """
    at = Descriptors(task, placer.loadable)
    network = d.flat(at.records(0, "the network descriptor", d.SOFTWARE_NETWORK, 1)[0])
    count = network["number"]
    data, _ = at.blob_at(network["operations"], "operations")
    size = len(data) // count if count else 0
    if size not in d.SOFTWARE_OPERATIONS:
        sizes = " or ".join(map(str, d.SOFTWARE_OPERATIONS))
        raise NetworkError(f"{at.what}: {count} operations must have {sizes} bytes each, not {len(data)} together")
    operations = at.records(network["operations"], "operations", d.SOFTWARE_OPERATIONS[size], count)
    buffers = at.records(network["buffers"], "buffers", d.SOFTWARE_BUFFERS[size], count)
    read = []
    for number in range(count):
        what = f"{at.what}: operation {number}"
        ends = {
            end: _tensor(f"{what}: {end}", d.flat(buffers[number][end]), size, at, placer) for end in ("src", "dst")
        }
        position = d.flat(buffers[number]["dst"])["address"]
        placer.write(at.address(position, "destination").memory)
        read.append(_operation(what, d.flat(operations[number]), ends["src"], ends["dst"]))
    return SoftwareTask(tuple(read))


def _operation(what: str, flat: Flat, src: Tensor, dst: Tensor) -> SoftwareOperation:
    scales = flat.get("in_scale", 1.0), flat.get("out_scale", 1.0)
    match flat["type"]:
        case 0:
            kind: Power | Softmax = Power(flat["power"], flat["scale"], flat["shift"])
        case 1:
            kind = Softmax()
        case other:
            raise NetworkError(f"{what}: type must be 0 (power) or 1 (softmax), not {other}")
    if src.shape != dst.shape or src.precision is not dst.precision:
        raise NetworkError(
            f"{what}: destination must be {src.precision.name} {src.shape} as its source, "
            f"not {dst.precision.name} {dst.shape}"
        )
    return SoftwareOperation(kind, src, dst, *scales)


def _tensor(what: str, flat: Flat, size: int, at: Descriptors, placer: Placer) -> Tensor:
    formats = _FORMATS[size]
    if flat["format"] not in formats:
        known = ", ".join(f"{number} ({p.name})" for number, (p, _) in formats.items())
        raise NetworkError(f"{what}: format must be {known}, not {flat['format']}")
    precision, atom_bytes = formats[flat["format"]]
    address = at.address(flat["address"], what, flat.get("offset", 0))
    shape = (flat["channel"], flat["height"], flat["width"])
    if not all(shape):
        raise NetworkError(f"{what}: shape must have no size of 0, not {shape}")
    span = placer.span(address, 1, what)
    tensor = Tensor(
        what, span.ram, span.address, precision, atom_bytes, shape, flat["line_stride"], flat["surf_stride"]
    )
    placer.span(address, tensor.nbytes, what)
    return tensor
