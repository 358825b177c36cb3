"""Networks of random operators whose elements lie anyhow: what comes out is that of onnxruntime."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from nvdla_models.precision import Precision
from nvdla_networks.compiler.accuracy import accuracy_of
from nvdla_networks.compiler.cut_network import CutNetwork
from nvdla_networks.compiler.inputs import file_inputs, random_inputs
from nvdla_networks.compiler.precisions import Precisions
from nvdla_networks.compiler.prepare import fixed, prepared
from nvdla_networks.compiler.reference import Reference
from tests.unit.networks.compiler.test_layouts import File
from tests.unit.networks.loadables import FULL

pytest.importorskip("onnxruntime")

Value = tuple[str, list[int]]
"""A value and its sizes."""


def _turned(net: File, value: str, sizes: list[int]) -> Value:
    perm = [0, *(int(axis) + 1 for axis in net.rng.permutation(len(sizes) - 1))]
    return net.add("Transpose", value, perm=perm), [sizes[axis] for axis in perm]


def _reshaped(net: File, value: str, sizes: list[int]) -> Value:
    found, rest = [1], int(np.prod(sizes))
    for _ in range(int(net.rng.integers(1, 4))):
        found.append(int(net.rng.choice([size for size in range(1, rest + 1) if rest % size == 0])))
        rest //= found[-1]
    found[-1] *= rest
    return net.add("Reshape", value, found), found


def _scaled(net: File, value: str, sizes: list[int]) -> Value:
    by_channel = net.rng.random() < 0.5
    factors = net.rng.standard_normal([1, sizes[1], *[1] * (len(sizes) - 2)] if by_channel else sizes[-1:])
    return net.add("Mul", value, factors), sizes


def _dense(net: File, value: str, sizes: list[int]) -> Value:
    kernels = int(net.rng.choice([3, 4, 8]))
    matrix = net.rng.standard_normal((sizes[-1], kernels)) / np.sqrt(sizes[-1])
    return net.add("MatMul", value, matrix), [*sizes[:-1], kernels]


def _convolved(net: File, value: str, sizes: list[int]) -> Value:
    if len(sizes) < len("NCL"):
        return _scaled(net, value, sizes)
    weights = net.rng.standard_normal((6, sizes[1], *[3] * (len(sizes) - 2))) / np.sqrt(9 * sizes[1])
    return net.add("Conv", value, weights, pads=[1] * 2 * (len(sizes) - 2)), [1, 6, *sizes[2:]]


def _changed(net: File, value: str, sizes: list[int]) -> Value:
    axis = int(net.rng.integers(1, len(sizes)))
    match net.rng.integers(3):
        case 0:
            return net.add("Concat", value, value, axis=axis), [n * 2 if a == axis else n for a, n in enumerate(sizes)]
        case 1:
            pads = [int(at == axis) for at in range(2 * len(sizes))]
            return net.add("Pad", value, pads), [n + 1 if a == axis else n for a, n in enumerate(sizes)]
        case _:
            end = -(-sizes[axis] // 2)
            return net.add("Slice", value, [0], [end], [axis]), [end if a == axis else n for a, n in enumerate(sizes)]


def _meaned(net: File, value: str, sizes: list[int]) -> Value:
    if len(sizes) < len("NCL"):
        return _turned(net, value, sizes)
    axes = sorted(int(axis) for axis in net.rng.choice(np.arange(1, len(sizes)), len(sizes) - 2, replace=False))
    means = net.add("ReduceMean", value, axes=axes, keepdims=0)
    return means, [size for axis, size in enumerate(sizes) if axis not in axes]


def _bounded(net: File, value: str, sizes: list[int]) -> Value:
    return net.add(str(net.rng.choice(["LeakyRelu", "Relu", "Sin"], p=[0.5, 0.4, 0.1])), value), sizes


STEPS: list[Callable[[File, str, list[int]], Value]] = [
    _turned,
    _turned,
    _reshaped,
    _scaled,
    _dense,
    _convolved,
    _changed,
    _meaned,
    _bounded,
]


@pytest.mark.parametrize("seed", range(60))
def test_elements_that_lie_anyhow_are_those_of_onnxruntime(seed: int) -> None:
    draw = np.random.default_rng(seed)
    net = File((1, *(int(size) for size in draw.choice([1, 2, 3, 4, 6, 8], 3))))
    net.rng = draw
    values: list[Value] = [("input", [*net.sizes])]
    for _ in range(int(draw.integers(3, 9))):
        values.append(
            STEPS[draw.integers(len(STEPS))](net, *values[draw.integers(max(0, len(values) - 2), len(values))])
        )
    taken = {name for node in net.nodes for name in node.input}
    whole = fixed(net.model(*(name for name, _ in values[1:] if name not in taken), opset=13).SerializeToString())
    ready = prepared(whole)
    samples = random_inputs(file_inputs(ready), 2, seed=1)
    network = CutNetwork.compiled("net", ready, FULL, samples, precisions=Precisions(Precision.FP16))
    found = accuracy_of(network, Reference(whole, network.cut.compared, by_host=True), samples, 0)
    for output in found.outputs:
        assert output.cosine is None or output.cosine > 0.9999
        # Sums that cancel each other leave what FP16 rounds.
        assert output.error < 0.1
