"""Networks as files: a loadable, or an ONNX file that is compiled for the configuration."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from models.config import HwConfig
from models.precision import Precision
from tb.stimulus.network.compiled import Compiled
from tb.stimulus.network.compiler.graph import Graph, floats
from tb.stimulus.network.compiler.onnx_network import OnnxNetwork, Sample, random_samples
from tb.stimulus.network.compiler.reader import read_onnx
from tb.stimulus.network.errors import NetworkError
from tb.stimulus.network.images import Preparation, read_samples
from tb.stimulus.network.loadable import read_loadable

_NAME_LENGTH = 60
_RANDOM_SAMPLES = 4


Model = Compiled | OnnxNetwork
"""A network that can be placed in memory, several times."""


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what a model is, and how one is compiled."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="loadable of the public compiler, or .onnx")
    group = parser.add_argument_group("ONNX")
    group.add_argument(
        "--samples",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="calibration inputs: pictures, or .npy (default: those of --image, or random ones)",
    )
    group.add_argument(
        "--precision",
        choices=[precision.value for precision in Precision],
        help="type of all elements; the configuration must support it (default: int8)",
    )
    group.add_argument(
        "--per-tensor", action="store_true", help="one scale for each layer (default: one for each kernel)"
    )


def load_model(args: argparse.Namespace, config: HwConfig, preparation: Preparation) -> Model:
    """Return the model that the options name.

    Raises:
        NetworkError: for a file that cannot be read or compiled, and for options of ONNX with a loadable.
    """
    name = re.sub(r"\W+", "_", args.model.stem)[:_NAME_LENGTH] or "network"
    if args.model.suffix.lower() != ".onnx":
        for option, value in (
            ("--samples", args.samples),
            ("--precision", args.precision),
            ("--per-tensor", args.per_tensor),
        ):
            if value:
                raise NetworkError(f"{option} must be left out: a loadable is compiled already")
        return Compiled(name, read_loadable(args.model), config)
    graph = read_onnx(args.model)
    # A .dimg holds integers of a certain scale, not real numbers.
    samples = _samples(graph, args.samples or [p for p in args.image if p.suffix.lower() != ".dimg"], preparation)
    precision = Precision(args.precision or Precision.INT8.value)
    return OnnxNetwork.compiled(name, graph, config, samples, precision=precision, per_channel=not args.per_tensor)


def _samples(graph: Graph, paths: list[Path], preparation: Preparation) -> list[Sample]:
    if not paths:
        return list(random_samples(graph, _RANDOM_SAMPLES, seed=0))
    if len(graph.inputs) != 1:
        raise NetworkError(f"--samples and --image must be left out for a network with {len(graph.inputs)} inputs")
    (name,) = graph.inputs
    shape = graph.shapes[name]
    return [{name: floats(sample)} for path in paths for sample in read_samples(path, shape, preparation)]
