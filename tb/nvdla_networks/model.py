"""The model that the options of ``network`` name: a loadable, or an ONNX file that is compiled and compared."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from nvdla_models.config import HwConfig
from nvdla_models.limits import NETWORK_BYTES
from nvdla_models.precision import Precision
from nvdla_models.reading import read_bytes
from nvdla_networks.compiled import Compiled
from nvdla_networks.compiler.accuracy import Accuracy, accuracy_of
from nvdla_networks.compiler.graph import Graph, floats
from nvdla_networks.compiler.onnx_network import OnnxNetwork, Sample, random_samples
from nvdla_networks.compiler.reader import parse_onnx
from nvdla_networks.compiler.reference import Reference
from nvdla_networks.errors import NetworkError
from nvdla_networks.images import Preparation, read_samples
from nvdla_networks.loadable import read_loadable
from nvdla_networks.network import Network
from nvdla_tb.array_files import read_array

ACCURACY = 0.98
"""Smallest cosine between results and floating point.

Networks in INT8 whose scales fit have 0.9985 to 0.9999, an error of 2 to 6 % of the result's length; at 0.98 it is
20 %. A ReLU that got lost gave 0.15, and two branches that shared a scale 33 times too coarse for one of them 0.86.
"""

_MOST_COMPARED = 16
"""Samples that are compared with floating point: each takes as long as a run on the model."""

_NAME_LENGTH = 60
_RANDOM_SAMPLES = 4


@dataclass(frozen=True)
class Model:
    """A network that can be placed in memory, several times; of one from ONNX also what its accuracy is measured with.

    Attributes:
        network: The network.
        reference: The file in floating point; None for a loadable, which has no such numbers.
        samples: Inputs to compare.
        least: Smallest cosine that is allowed.
    """

    network: Compiled | OnnxNetwork
    reference: Reference | None = None
    samples: tuple[Sample, ...] = ()
    least: float = ACCURACY

    @property
    def name(self) -> str:
        """Name of the network."""
        return self.network.name

    def place(self) -> Network:
        """Return the network in memory that no earlier one has, constants apart."""
        return self.network.place()

    def accuracy(self) -> Accuracy | None:
        """Return how near its results are to floating point, or None for a loadable."""
        if self.reference is None:
            return None
        assert isinstance(self.network, OnnxNetwork)
        return accuracy_of(self.network, self.reference, self.samples, self.least)


def load_model(args: argparse.Namespace, config: HwConfig, preparation: Preparation) -> Model:
    """Return the model that the options name.

    Raises:
        NetworkError: for a file that cannot be read or compiled, and for options of ONNX with a loadable.
    """
    name = re.sub(r"\W+", "_", args.model.stem)[:_NAME_LENGTH] or "network"
    if args.model.suffix.lower() != ".onnx":
        for option in ("samples", "precision", "per_tensor", "accuracy"):
            if getattr(args, option) not in (None, False, []):
                raise NetworkError(f"--{option.replace('_', '-')} must be left out: a loadable is compiled already")
        return Model(Compiled(name, read_loadable(args.model), config))
    data = read_bytes(args.model, NETWORK_BYTES, NetworkError)
    graph = parse_onnx(data)
    # A .dimg holds integers of a certain scale, not real numbers.
    shown = [path for path in args.image if path.suffix.lower() != ".dimg"]
    if args.samples:
        shown = [path for path in shown if not _holds_integers(path)]
    images = _real(graph, shown, preparation)
    samples = _real(graph, args.samples, preparation) or images or random_samples(graph, _RANDOM_SAMPLES, seed=0)
    precision = Precision(args.precision or Precision.INT8.value)
    network = OnnxNetwork.compiled(name, graph, config, samples, precision=precision, per_channel=not args.per_tensor)
    compared = islice(_once([*images, *samples]), _MOST_COMPARED)
    least = ACCURACY if args.accuracy is None else args.accuracy
    return Model(network, Reference(data), tuple(compared), least)


def _holds_integers(path: Path) -> bool:
    return path.suffix.lower() == ".npy" and read_array(path, NetworkError).dtype.kind != "f"


def _once(samples: Iterable[Sample]) -> Iterable[Sample]:
    """Yield samples without those that came before."""
    seen = set()
    for sample in samples:
        key = tuple(values.tobytes() for values in sample.values())
        if key not in seen:
            seen.add(key)
            yield sample


def _real(graph: Graph, paths: list[Path], preparation: Preparation) -> list[Sample]:
    """Return files as samples."""
    if not paths:
        return []
    if len(graph.inputs) != 1:
        raise NetworkError(f"--samples and --image must be left out for a network with {len(graph.inputs)} inputs")
    (name,) = graph.inputs
    shape = graph.shapes[name]
    return [{name: floats(sample)} for path in paths for sample in read_samples(path, shape, preparation)]
