"""The network of the repository: as good in integers as in floating point, and what its training computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from networks.layers import Array, Conv, Dense, MaxPool
from networks.train_digits import DigitsNetwork, exported, trained
from nvdla_networks.compiler.interpret import values_of
from nvdla_networks.compiler.onnx_network import OnnxNetwork
from nvdla_networks.images import quantised
from tests.repository import ROOT
from tests.unit.networks.compiler.playing import graph_of
from tests.unit.networks.loadables import SMALL, on_model

pytestmark = pytest.mark.slow

FOLDER = ROOT / "networks"
ONE_POINT = 0.01


def test_the_file_is_small() -> None:
    assert Path(FOLDER / "digits.onnx").stat().st_size < 200_000


def test_integers_read_as_many_digits_as_floating_point_but_for_a_point() -> None:
    test = np.load(FOLDER / "digits_test.npz")
    images, labels = test["images"].astype(np.float64), test["labels"]
    graph = graph_of((FOLDER / "digits.onnx").read_bytes())
    samples = [{"input": sample} for sample in np.load(FOLDER / "digits_samples.npy").astype(np.float64)]
    compiled = OnnxNetwork.compiled("digits", graph, SMALL, samples)
    networks = [compiled.place() for _ in images]
    (tensor,) = networks[0].inputs
    _, outputs = on_model(networks, [[quantised(image, tensor)] for image in images])
    got = [int(values[0].argmax()) for values in outputs]
    real = [int(values_of(graph, {"input": image})[graph.outputs[0]].argmax()) for image in images]
    right = [float(np.mean(np.array(classes) == labels)) for classes in (got, real)]
    assert right[1] > 0.94
    assert right[0] > right[1] - ONE_POINT


def test_what_is_exported_computes_what_was_trained() -> None:
    rng = np.random.default_rng(3)
    network = DigitsNetwork(rng)
    pixels = rng.integers(0, 256, (1, 8, 8)).astype(np.float64)
    graph = graph_of(exported(network))
    probabilities = values_of(graph, {"input": pixels})[graph.outputs[0]].ravel()
    logits = network.forward(pixels[np.newaxis] / 255)[0]
    powers = np.exp(logits - logits.max())
    np.testing.assert_allclose(probabilities, powers / powers.sum(), atol=1e-5)


def test_training_learns_and_a_seed_decides_it() -> None:
    labels = np.tile(np.arange(4), 16)
    images = np.zeros((64, 1, 8, 8))
    images[np.arange(64), 0, labels * 2, labels] = 1
    first, again = (trained(images, labels, epochs=20, seed=2) for _ in range(2))
    np.testing.assert_array_equal(first.forward(images), again.forward(images))
    assert (first.forward(images).argmax(axis=1) == labels).all()


def slopes(layer: Conv | Dense | MaxPool, values: Array, weights: Array) -> Array:
    """Return the gradient of the weighted sum of a layer's output, by differences."""
    found = np.zeros_like(values)
    for at in np.ndindex(values.shape):
        moved = [values.copy(), values.copy()]
        moved[0][at] += 1e-5
        moved[1][at] -= 1e-5
        found[at] = np.subtract(*[(layer.forward(value) * weights).sum() for value in moved]) / 2e-5
    return found


def test_gradients_are_those_of_differences() -> None:
    rng = np.random.default_rng(1)
    for layer, shape in ((Conv(3, 2, 3, rng), (2, 2, 4, 4)), (Dense(3, 5, rng), (2, 5)), (MaxPool(), (1, 2, 4, 4))):
        values = rng.standard_normal(shape)
        weights = rng.standard_normal(layer.forward(values).shape)
        expected = slopes(layer, values, weights)
        layer.forward(values)
        got = layer.backward(weights) if isinstance(layer, MaxPool) else layer.backward(weights, 0.0)
        np.testing.assert_allclose(got, expected, atol=1e-6)
