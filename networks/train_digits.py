"""Trains the network of this folder: ``python -m networks.train_digits`` writes its files anew.

A residual network that reads handwritten digits of 8 x 8 pixels, trained with numpy on the digits that scikit-learn
ships (``pip install scikit-learn``; nothing else of the project needs it). The seed decides everything.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from networks.layers import Array, Conv, Dense, MaxPool, Relu
from networks.random_networks import NetworkBuilder

FOLDER = Path(__file__).parent
SEED = 1
EPOCHS = 30
BATCH = 32
TEST_IMAGES = 360
SAMPLES = 48
WHITE = 255
BRIGHTEST = 16


class DigitsNetwork:
    """Two convolutions around which the first one's result is added, one more, and a matrix."""

    def __init__(self, rng: np.random.Generator) -> None:
        """Start with random weights."""
        self.first, self.inner, self.last = Conv(8, 1, 3, rng), Conv(8, 8, 3, rng), Conv(16, 8, 3, rng)
        self.matrix = Dense(10, 64, rng)
        self._relus = [Relu(), Relu(), Relu()]
        self._pools = [MaxPool(), MaxPool()]

    def forward(self, images: Array) -> Array:
        """Return the logits (N, 10) of images (N, 1, 8, 8) from 0 to 1."""
        begun = self._relus[0].forward(self.first.forward(images))
        added = self._relus[1].forward(self.inner.forward(begun) + begun)
        ended = self._relus[2].forward(self.last.forward(self._pools[0].forward(added)))
        return self.matrix.forward(self._pools[1].forward(ended).reshape(len(images), -1))

    def backward(self, gradient: Array, rate: float) -> None:
        """Learn from the gradient of the logits."""
        pooled = self.matrix.backward(gradient, rate).reshape(-1, 16, 2, 2)
        ended = self._relus[2].backward(self._pools[1].backward(pooled))
        added = self._relus[1].backward(self._pools[0].backward(self.last.backward(ended, rate)))
        begun = self._relus[0].backward(self.inner.backward(added, rate) + added)
        self.first.backward(begun, rate)


def trained(images: Array, labels: NDArray[np.int64], epochs: int, seed: int) -> DigitsNetwork:
    """Return a network that has learnt images from 0 to 1, (N, 1, 8, 8), and their labels, (N,)."""
    rng = np.random.default_rng(seed)
    network = DigitsNetwork(rng)
    for epoch in range(epochs):
        rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * epoch / epochs))
        order = rng.permutation(len(images))
        for start in range(0, len(images), BATCH):
            batch = order[start : start + BATCH]
            logits = network.forward(images[batch])
            powers = np.exp(logits - logits.max(axis=1, keepdims=True))
            gradient = powers / powers.sum(axis=1, keepdims=True)
            gradient[np.arange(len(batch)), labels[batch]] -= 1
            network.backward(gradient / len(batch), rate)
    return network


def exported(network: DigitsNetwork) -> bytes:
    """Return a network as ONNX, which takes pixels from 0 to 255."""
    net = NetworkBuilder("digits", (1, 8, 8), SEED)

    def conv(value: str, layer: Conv, scale: float = 1.0) -> str:
        weights, bias = layer.parameters.values
        inputs = [value, net.constant(weights * scale), net.constant(bias)]
        return net.add("Conv", inputs, pads=[1, 1, 1, 1])[0]

    def pool(value: str) -> str:
        return net.add("MaxPool", [value], kernel_shape=[2, 2], strides=[2, 2])[0]

    begun = net.add("Relu", [conv(net.input, network.first, 1 / WHITE)])[0]
    added = net.add("Relu", net.add("Add", [conv(begun, network.inner), begun]))[0]
    ended = net.add("Relu", [conv(pool(added), network.last)])[0]
    flat = net.add("Flatten", [pool(ended)])[0]
    logits = net.add("Gemm", [flat, *map(net.constant, network.matrix.parameters.values)], transB=1)
    (probabilities,) = net.add("Softmax", logits)
    net.shapes[probabilities] = (10,)
    return net.model(probabilities).SerializeToString()


def main() -> None:
    """Train, and write network, samples, test images and a picture of each digit."""
    # Only this script needs scikit-learn, and only here.
    from sklearn.datasets import load_digits

    data, labels = load_digits(return_X_y=True)
    pixels = np.rint(data.reshape(-1, 1, 8, 8) * (WHITE / BRIGHTEST)).astype(np.uint8)
    images, learnt = pixels / WHITE, len(pixels) - TEST_IMAGES
    network = trained(images[:learnt], labels[:learnt], EPOCHS, SEED)
    right = network.forward(images[learnt:]).argmax(axis=1) == labels[learnt:]
    print(f"{right.sum()} of {TEST_IMAGES} test images right")
    (FOLDER / "digits.onnx").write_bytes(exported(network))
    np.save(FOLDER / "digits_samples.npy", pixels[:SAMPLES].astype(np.float32))
    test = {"images": pixels[learnt:], "labels": labels[learnt:].astype(np.uint8)}
    np.savez_compressed(FOLDER / "digits_test.npz", **test)
    (FOLDER / "digits").mkdir(exist_ok=True)
    for digit in range(10):
        image = pixels[learnt + int(np.argmax(labels[learnt:] == digit)), 0]
        Image.fromarray(image).save(FOLDER / "digits" / f"{digit}.pgm")


if __name__ == "__main__":
    main()
