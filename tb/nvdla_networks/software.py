"""Steps that the host computes: powers and softmax in the formats of the public runtime, and nodes of a file.

Source: behaviour of the public runtime, measured against its golden results.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.precision import Precision
from nvdla_networks.errors import NetworkError
from nvdla_networks.images import quantised
from nvdla_networks.network import HostPart, Largest, Power, Softmax, SoftwareOperation, SoftwareTask, Source
from nvdla_networks.tensors import Tensor
from nvdla_tb.nvdla.memory import MemoryImage, Ram

_INT8_MIN, _INT8_MAX = -128, 127
_MOST = np.float32(np.finfo(np.float16).max)


def run(task: SoftwareTask, memories: Mapping[Ram, MemoryImage]) -> dict[str, NDArray[Any]]:
    """Compute the operations of a task on memory, which changes.

    Returns:
        What nodes of a file have made, by name.

    Raises:
        NetworkError: for an operation that is not known for its precision.
    """
    made: dict[str, NDArray[Any]] = {}
    for operation in task.operations:
        if isinstance(operation, HostPart):
            made |= _run_nodes(operation, memories)
            continue
        src, dst = operation.src, operation.dst
        values = src.unpack(memories[src.ram].read_array(src.address, src.nbytes))
        match operation.kind:
            case Power() as kind:
                result = _power(kind, operation, values)
            case Softmax():
                result = _softmax(operation, values)
            case Largest():
                result = np.full(dst.shape, np.argmax(real(source_of(operation), values)), dtype=dst.precision.dtype)
        _write(dst, result, memories)
    return made


def written(operation: SoftwareOperation | HostPart) -> tuple[Tensor, ...]:
    """Return what an operation writes."""
    if isinstance(operation, SoftwareOperation):
        return (operation.dst,)
    targets = (tensor for tensors in operation.targets.values() for tensor in tensors)
    return (*targets, *(tensor for _, tensor in operation.moved))


def taken(operation: SoftwareOperation | HostPart) -> tuple[Tensor, ...]:
    """Return what an operation reads of memory."""
    if isinstance(operation, SoftwareOperation):
        return (operation.src,)
    return tuple(source.tensor for source in (*operation.sources.values(), *(source for source, _ in operation.moved)))


def _write(tensor: Tensor, values: NDArray[Any], memories: Mapping[Ram, MemoryImage]) -> None:
    data = memories[tensor.ram].read_array(tensor.address, tensor.nbytes)
    tensor.place(data, values)
    memories[tensor.ram].write(tensor.address, data)


def _run_nodes(part: HostPart, memories: Mapping[Ram, MemoryImage]) -> dict[str, NDArray[Any]]:
    """Compute nodes of a file on real numbers, and write what the accelerator takes of them as its numbers."""

    def read(source: Source) -> NDArray[np.float32]:
        tensor = source.tensor
        return real(source, tensor.unpack(memories[tensor.ram].read_array(tensor.address, tensor.nbytes)))

    made: dict[str, NDArray[Any]] = {}
    for name, source in part.sources.items():
        cube, order = read(source), source.tensor.order
        made[name] = cube if order is None else order.values(cube)
    if part.graph is not None:
        made |= part.graph.values(made | {name: part.given[name] for name in part.inputs})
    for name, tensors in part.targets.items():
        for tensor in tensors:
            finite = np.nan_to_num(made[name].astype(np.float64), nan=0.0)
            _write(tensor, quantised(tensor.cube(finite), tensor), memories)
    for source, tensor in part.moved:
        _write(tensor, quantised(read(source), tensor), memories)
    return made


def source_of(operation: SoftwareOperation) -> Source:
    """Return what an operation takes, as real numbers."""
    return Source(operation.src, operation.in_scale)


def real(source: Source, values: NDArray[Any]) -> NDArray[np.float32]:
    """Return the real numbers that the elements of a cube stand for, (C, H, W)."""
    numbers = values.astype(np.float32)
    if source.tensor.precision is Precision.FP16:
        return numbers
    return np.asarray(numbers * np.asarray(source.scale, dtype=np.float32).reshape(-1, 1, 1), dtype=np.float32)


def _power(kind: Power, operation: SoftwareOperation, values: NDArray[Any]) -> NDArray[Any]:
    numbers = real(source_of(operation), values)
    with np.errstate(all="ignore"):
        result = np.power(np.float32(kind.shift) + np.float32(kind.scale) * numbers, np.float32(kind.power))
        match operation.dst.precision:
            case Precision.FP16:
                return np.asarray(result, dtype=Precision.FP16.dtype)
            case Precision.INT8:
                return _to_int8(result / np.float32(operation.out_scale))
            case Precision.INT16:
                raise NetworkError("power must be of FP16 or INT8: how the runtime rounds INT16 is not known")


def _softmax(operation: SoftwareOperation, values: NDArray[Any]) -> NDArray[Any]:
    if operation.src.shape[1:] != (1, 1):
        raise NetworkError(f"softmax must be over the channels of one pixel, not of {operation.src.shape}")
    half = Precision.FP16.dtype
    with np.errstate(all="ignore"):
        match operation.src.precision:
            case Precision.FP16:
                return _probabilities(values.astype(np.float32)).astype(half)
            case Precision.INT8 | Precision.INT16 if operation.dst.precision is not Precision.INT16:
                # What FP16 cannot hold counts as its limit: infinities have no probability.
                numbers = np.clip(real(source_of(operation), values), -_MOST, _MOST)
                scaled = numbers.astype(half)
                halves = _probabilities(scaled.astype(np.float32)).astype(half)
                if operation.dst.precision is Precision.FP16:
                    return halves
                return _to_int8(halves.astype(np.float32) / np.float32(operation.out_scale))
            case _:
                raise NetworkError("softmax must be of FP16 or INT8: how the runtime rounds INT16 is not known")


def _probabilities(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return exp(x - max) / sum, added up in the order of the channels as the runtime does."""
    powers = np.exp(numbers - numbers.max())
    total = np.float32(0)
    for power in powers.ravel():
        total = np.float32(total + power)
    probabilities: NDArray[np.float32] = (powers / total).astype(np.float32)
    return probabilities


def _to_int8(numbers: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return numbers clamped and cut off towards zero."""
    finite = np.nan_to_num(numbers, nan=0.0, posinf=_INT8_MAX, neginf=_INT8_MIN)
    return np.trunc(np.clip(finite, _INT8_MIN, _INT8_MAX)).astype(np.int8)
