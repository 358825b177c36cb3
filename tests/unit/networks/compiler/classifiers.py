"""Networks that tell digits apart, to be quantised: that of the project, and two whose last layer alone has learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator

from networks.random_networks import NetworkBuilder
from tests.repository import ROOT

_FOLDER = ROOT / "networks"
_WHITE = 255
_RIDGE = 1e-2
"""By how much weights of the last layer are kept small, as a part of what they see."""


def pictures() -> tuple[NDArray[np.float32], NDArray[Any]]:
    """Return pictures of digits (N, 1, 8, 8) from 0 to 255, and what they show."""
    test = np.load(_FOLDER / "digits_test.npz")
    return test["images"].astype(np.float32), test["labels"]


def digits() -> onnx.ModelProto:
    """Return the network of the project without its probabilities, which turn over with a step where two are alike."""
    model = onnx.load(_FOLDER / "digits.onnx")
    (logits,) = model.graph.node.pop().input
    model.graph.output[0].name = logits
    return model


def residual() -> onnx.ModelProto:
    """Return a residual network."""
    net, value = _begun("residual", 1)
    value = net.relu(net.conv(value, 16, 3, pad=1))
    for width, stride in ((16, 1), (32, 2)):
        inner = net.relu(net.conv(value, width, 3, stride=stride, pad=1))
        inner = net.conv(inner, width, 3, pad=1)
        if stride > 1:
            value = net.conv(value, width, 1, stride=stride)
        value = net.relu(net.plus(inner, value))
    return _learnt(net, net.pool(value, "AveragePool", 2, 2))


def mobile() -> onnx.ModelProto:
    """Return a network of depthwise convolutions between pointwise ones, within bounds."""
    net, value = _begun("mobile", 3)

    def bounded(name: str) -> str:
        (clipped,) = net.add("Clip", [name, net.constant(0), net.constant(6)])
        net.shapes[clipped] = net.shapes[name]
        return clipped

    value = bounded(net.conv(value, 16, 3, pad=1))
    for width, stride in ((16, 1), (24, 2)):
        inner = bounded(net.conv(value, 48, 1))
        inner = bounded(net.conv(inner, 48, 3, stride=stride, pad=1, groups=48))
        inner = net.conv(inner, width, 1)
        value = net.plus(inner, value) if stride == 1 else inner
    return _learnt(net, value)


def _begun(name: str, seed: int) -> tuple[NetworkBuilder, str]:
    """Return a network that takes pictures, and their pixels from 0 to 1."""
    net = NetworkBuilder(name, (1, 8, 8), seed)
    (value,) = net.add("Mul", [net.input, net.constant(1 / _WHITE)])
    net.shapes[value] = net.shapes[net.input]
    return net, value


def _learnt(net: NetworkBuilder, value: str) -> onnx.ModelProto:
    """Return a network with a last layer that fits the digits best, by least squares."""
    images, labels = pictures()
    (flat,) = net.add("Flatten", [value], axis=1)
    net.shapes[flat] = (int(np.prod(net.shapes[value])),)
    model = net.model(flat)
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    seen = np.asarray(ReferenceEvaluator(model).run(None, {net.input: images})[0])
    seen = np.concatenate([seen, np.ones((len(seen), 1))], axis=1)
    products = seen.T @ seen
    products += _RIDGE * np.trace(products) / len(products) * np.eye(len(products))
    weights = np.linalg.solve(products, seen.T @ (np.eye(10)[labels] * 2 - 1))
    (name,) = net.add("Gemm", [flat, net.constant(weights[:-1].T), net.constant(weights[-1])], transB=1)
    net.shapes[name] = (10,)
    return net.model(name)


CLASSIFIERS: Mapping[str, Callable[[], onnx.ModelProto]] = {"digits": digits, "residual": residual, "mobile": mobile}
