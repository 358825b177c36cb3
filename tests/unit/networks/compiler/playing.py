"""Compiles a network, plays it on the reference model, and returns what came out beside floating point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator

from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision
from nvdla_networks.compiler.graph import Graph
from nvdla_networks.compiler.interpret import values_of
from nvdla_networks.compiler.onnx_network import OnnxNetwork, random_samples
from nvdla_networks.compiler.reader import parse_onnx
from nvdla_networks.compiler.reference import OPERATORS
from nvdla_networks.images import quantised
from nvdla_tb.nvdla.layers import Layer
from tests.unit.networks.loadables import SMALL, on_model

Array = NDArray[Any]


def computed(graph: Graph, sample: Mapping[str, Array]) -> Array:
    """Return the first output in floating point, flat."""
    return values_of(graph, sample)[graph.outputs[0]].ravel()


def graph_of(model: onnx.ModelProto) -> Graph:
    return parse_onnx(model.SerializeToString())


def reference(model: onnx.ModelProto, sample: dict[str, Array]) -> Array:
    """Return the first output as the evaluator of ``onnx`` computes it, flat."""
    batch = {name: value[np.newaxis].astype(np.float32) for name, value in sample.items()}
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    ((name, values),) = batch.items()
    evaluator = ReferenceEvaluator(model, new_ops=OPERATORS)
    return np.asarray(evaluator.run(None, {name: values.reshape(shape)})[0]).ravel()


def played(
    model: onnx.ModelProto,
    config: HwConfig = SMALL,
    *,
    runs: int = 1,
    precision: Precision = Precision.INT8,
    per_channel: bool = True,
) -> tuple[list[Array], list[Array], list[Layer]]:
    """Return the first output of each run, computed in integers and in floating point, both flat, and the layers.

    Raises:
        AssertionError: when the bench refuses a layer.
    """
    graph = graph_of(model)
    samples = random_samples(graph, max(runs, 2), seed=3)
    compiled = OnnxNetwork.compiled("net", graph, config, samples, precision=precision, per_channel=per_channel)
    networks = [compiled.place() for _ in range(runs)]
    inputs = [
        [quantised(sample[tensor.name], tensor) for tensor in network.inputs]
        for sample, network in zip(samples, networks, strict=False)
    ]
    result, outputs = on_model(networks, inputs, config)
    got = [values[0].astype(np.float64).ravel() for values in outputs]
    expected = [computed(compiled.graph, sample) for sample in samples[:runs]]
    return got, expected, [expectation.started.layer for expectation in result.expectations]


def error(got: Array, expected: Array) -> float:
    """Return the largest difference as a part of the largest expected magnitude."""
    return float(np.abs(got - expected).max() / np.abs(expected).max())
