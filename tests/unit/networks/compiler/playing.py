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
from nvdla_networks.compiler.onnx_network import OnnxNetwork
from nvdla_networks.compiler.prepare import fixed, prepared
from nvdla_networks.compiler.reader import read_model
from nvdla_networks.compiler.reading import ranged_at_once
from nvdla_networks.compiler.reference import OPERATORS
from nvdla_networks.errors import NetworkError
from nvdla_networks.images import quantised
from nvdla_tb.nvdla.layers import Layer
from tests.unit.networks.loadables import SMALL, on_model

Array = NDArray[Any]


def computed(graph: Graph, sample: Mapping[str, Array]) -> Array:
    """Return the first output in floating point, flat."""
    return values_of(graph, sample)[graph.outputs[0]].ravel()


def graph_of(model: onnx.ModelProto | bytes) -> Graph:
    """Return a network all of which the accelerator must compute, with its outputs as cubes.

    Raises:
        NetworkError: for bytes that are no valid ONNX, or hold what no layer computes.
    """
    model = prepared(fixed(model if isinstance(model, bytes) else model.SerializeToString()))
    reading = read_model(model)
    if reading.refusals:
        raise reading.refusals[0]
    graph = reading.graph
    for value in model.graph.output:
        if (name := reading.cube(value.name)) not in graph.outputs or name in graph.orders:
            raise NetworkError(f"output {value.name!r} must have its elements as a cube has them")
    for name in graph.inputs:
        graph = ranged_at_once(graph, name)
    return graph


def random_samples(graph: Graph, count: int, seed: int) -> list[dict[str, Any]]:
    """Return inputs drawn from the standard normal distribution."""
    rng = np.random.default_rng(seed)
    return [{name: rng.standard_normal(graph.shapes[name]) for name in graph.inputs} for _ in range(count)]


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
