"""The model that the options of ``network`` name: a loadable, or an ONNX file that is compiled and compared."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.limits import NETWORK_BYTES
from nvdla_models.reading import read_bytes
from nvdla_networks.compiled import Compiled
from nvdla_networks.compiler.accuracy import Accuracy, accuracy_of
from nvdla_networks.compiler.calibration import Calibration
from nvdla_networks.compiler.cut_network import CutNetwork
from nvdla_networks.compiler.inputs import FileInput, file_inputs, random_inputs, read_inputs
from nvdla_networks.compiler.node import ONNX_DOMAINS
from nvdla_networks.compiler.onnx_network import Sample
from nvdla_networks.compiler.precisions import Precisions
from nvdla_networks.compiler.prepare import fixed, prepared
from nvdla_networks.compiler.reading import HostNode
from nvdla_networks.compiler.reference import BY_HOST, Reference
from nvdla_networks.compiler.share import Share
from nvdla_networks.errors import NetworkError
from nvdla_networks.images import Preparation, quantised, read_input
from nvdla_networks.loadable import read_loadable
from nvdla_networks.network import Network
from nvdla_networks.scenario import play_networks
from nvdla_networks.tensors import ImageTensor, Tensor
from nvdla_tb.array_files import read_array
from nvdla_tb.stimulus.refusal import takers
from nvdla_tb.stimulus.scenario import Scenario

ACCURACY = 0.98
"""Smallest cosine between results and floating point.

Networks in INT8 whose scales fit have 0.9985 to 0.9999, an error of 2 to 6 % of the result's length; at 0.98 it is
20 %. A ReLU that got lost gave 0.15, and two branches that shared a scale 33 times too coarse for one of them 0.86.
"""

_MOST_COMPARED = 16
"""Samples that are compared with floating point: each takes as long as a run on the model."""

_NAME_LENGTH = 60
_RANDOM_SAMPLES = 4
_SHOWN_NODES = 3


Values = Sequence[NDArray[Any] | None]
"""A value for each input that lies in memory; None leaves it zero."""


@dataclass(frozen=True)
class LoadableModel:
    """A loadable that can be placed in memory, several times; it has no numbers to measure an accuracy with."""

    network: Compiled
    preparation: Preparation
    share: None = None

    def run(self, path: Path | None) -> tuple[Network, Values]:
        """Return the network in memory that no earlier one has, constants apart, and the values of its inputs."""
        try:
            network = self.network.place()
        except InputError as error:
            raise NetworkError(self.why_not(str(error))) from error
        if path is not None and len(network.inputs) != 1:
            raise NetworkError(f"--image must be left out for a network with {len(network.inputs)} inputs")
        return network, [None if path is None else read_input(path, i, self.preparation) for i in network.inputs]

    def accuracy(self) -> Accuracy | None:
        """Return nothing."""
        return None

    def why_not(self, reason: str) -> str:
        """Return why the configuration refuses the loadable, with those that it is for."""
        names = takers(self.network.config, self._scenario)
        if not names:
            return reason
        return f"the loadable is for {' or '.join(names)}, not {self.network.config.name}: {reason}"

    def _scenario(self, config: HwConfig) -> Scenario:
        """Return what plays the loadable, with zeros as its input, for a configuration."""
        network = Compiled(self.network.name, self.network.loadable, config).place()
        return play_networks(network.name, [network], [[None for _ in network.inputs]]).scenario


@dataclass(frozen=True)
class OnnxModel:
    """A network from ONNX that can be placed in memory, several times, and what its accuracy is measured with.

    Attributes:
        network: The network.
        reference: The file in floating point.
        samples: Inputs to compare.
        least: Smallest cosine that is allowed.
        preparation: What becomes of pictures.
    """

    network: CutNetwork
    reference: Reference
    samples: tuple[Sample, ...]
    least: float
    preparation: Preparation

    @property
    def share(self) -> Share:
        """The accelerator's share of it."""
        return self.network.cut.share

    def run(self, path: Path | None) -> tuple[Network, Values]:
        """Return the network in memory that no earlier one has, constants apart, and the values of its inputs."""
        network, inputs = self.network.place(), self.network.inputs
        if path is None:
            zeros = {each.name: np.zeros(each.sizes, each.dtype) for each in inputs}
            return network.given(zeros), [None for _ in network.inputs]
        bound = network.inputs
        if path.suffix.lower() != ".npz" and len(inputs) == 1 and bound:
            values = read_input(path, bound[0], self.preparation)
            real = values.astype(np.float32) * np.float32(bound[0].scale or 1.0)
            # Parts of the accelerator that take one input may count in steps of different size.
            every = [values if _alike(tensor, bound[0]) else quantised(real, tensor) for tensor in bound]
            return network.given({inputs[0].name: inputs[0].value(real)}), every
        (sample,) = read_inputs(path, inputs, self.preparation)
        return network.given(sample), [quantised(t.cube(sample[t.name]), t) for t in bound if isinstance(t, Tensor)]

    def accuracy(self) -> Accuracy | None:
        """Return how near its results are to floating point, or None where the accelerator computes nothing."""
        if not self.network.cut.parts:
            return None
        return accuracy_of(self.network, self.reference, self.samples, self.least)

    def why_not(self, reason: str) -> str:
        """Return why the configuration refuses the network, which was compiled for it."""
        return reason


def load_model(args: argparse.Namespace, config: HwConfig, preparation: Preparation) -> LoadableModel | OnnxModel:
    """Return the model that the options name.

    Raises:
        NetworkError: for a file that cannot be read or compiled, and for options of ONNX with a loadable.
    """
    name = re.sub(r"\W+", "_", args.model.stem)[:_NAME_LENGTH] or "network"
    if args.model.suffix.lower() != ".onnx":
        for option in ("samples", "precision", "per_tensor", "calibration", "accuracy", "shape", "on_device"):
            if getattr(args, option) not in (None, False, []):
                raise NetworkError(f"--{option.replace('_', '-')} must be left out: a loadable is compiled already")
        return LoadableModel(Compiled(name, read_loadable(args.model), config), preparation)
    data = read_bytes(args.model, NETWORK_BYTES, NetworkError)
    whole = fixed(data, dict(args.shape), args.model.parent)
    model = prepared(whole)
    inputs = file_inputs(model)
    # A .dimg holds integers of a certain scale, not real numbers.
    shown = [path for path in args.image if path.suffix.lower() != ".dimg"]
    if args.samples:
        shown = [path for path in shown if not _holds_integers(path)]
    images = _real(inputs, shown, preparation)
    samples = _real(inputs, args.samples, preparation) or images or random_inputs(inputs, _RANDOM_SAMPLES, seed=0)
    precisions = Precisions.parse(args.precision)
    network = CutNetwork.compiled(
        name,
        model,
        config,
        samples,
        precisions=precisions,
        per_channel=not args.per_tensor,
        calibration=Calibration(args.calibration or Calibration.RANGE.value),
    )
    if args.on_device and network.cut.share.host:
        raise NetworkError(_not_on_device(network.cut.share.host))
    compared = islice(_once([*images, *samples]), _MOST_COMPARED)
    least = ACCURACY if args.accuracy is None else args.accuracy
    by_host = network.host_computes
    by_host |= any(node.domain not in ONNX_DOMAINS or node.op_type in BY_HOST for node in whole.graph.node)
    reference = Reference(whole, network.cut.compared, by_host=by_host)
    return OnnxModel(network, reference, tuple(compared), least, preparation)


def _alike(one: Tensor | ImageTensor, other: Tensor | ImageTensor) -> bool:
    """Return whether two inputs count alike."""
    return (one.scale, one.precision) == (other.scale, other.precision)


def _not_on_device(host: Sequence[HostNode]) -> str:
    nodes = "; ".join(f"{node.operator} {node.name}: {node.reason}" for node in host[:_SHOWN_NODES])
    more = f"; and {len(host) - _SHOWN_NODES} more" if len(host) > _SHOWN_NODES else ""
    return f"--on-device must be left out: the host has to run {nodes}{more}"


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


def _real(inputs: Sequence[FileInput], paths: list[Path], preparation: Preparation) -> list[Sample]:
    """Return files as samples."""
    return [sample for path in paths for sample in read_inputs(path, inputs, preparation)]
