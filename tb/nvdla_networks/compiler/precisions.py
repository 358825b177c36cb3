"""Which precision each node of a file is computed in, and the layers of SDP that convert between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.fixed_point import multipliers
from nvdla_models.layout import FeatureLayout
from nvdla_models.layout.raw import round_up
from nvdla_models.precision import Precision
from nvdla_models.sdp import SdpParams, SdpStage, output_converter
from nvdla_networks.compiler.graph import Concat, Conv, Lrn, Node
from nvdla_networks.compiler.operations import layer_name
from nvdla_networks.errors import NetworkError
from nvdla_networks.network import Source
from nvdla_networks.tensors import Tensor
from nvdla_tb.nvdla.layers import SdpLayer, StageSource, Surface

HOST = "host"
"""What stands for no precision: the host computes a node."""

_PLAIN = output_converter(0, 1, 0)
_FINER = 2.0**7
"""Steps of INT16 in one of INT8, on the way from FP16."""


@dataclass(frozen=True)
class Precisions:
    """Precisions by the names of nodes or layers, patterns among them, and that of all others; None for the host.

    Example:
        precisions = Precisions.parse(["int8", "conv7=int16", "head_*=fp16", "norm_*=host"])
    """

    others: Precision = Precision.INT8
    named: tuple[tuple[str, Precision | None], ...] = ()

    @classmethod
    def parse(cls, texts: Sequence[str]) -> Precisions:
        """Return what options say, ``int16`` for all and ``conv7=int16`` for nodes; later ones count more.

        Raises:
            NetworkError: for a precision that there is not.
        """
        found = cls()
        for text in texts:
            name, _, kind = text.rpartition("=")
            if kind not in {precision.value for precision in Precision} and not (name and kind == HOST):
                known = ", ".join(precision.value for precision in Precision)
                raise NetworkError(f"--precision must be {known}, or NODE= and one of them or {HOST}, not {text}")
            precision = None if kind == HOST else Precision(kind)
            if precision is not None and not name:
                found = replace(found, others=precision)
            else:
                found = replace(found, named=((name, precision), *found.named))
        return found

    @property
    def all(self) -> tuple[Precision, ...]:
        """All of them, each once."""
        kinds = (precision for _, precision in self.named if precision is not None)
        return tuple(dict.fromkeys([self.others, *kinds]))

    def of_host(self, names: Sequence[str]) -> list[str]:
        """Return the nodes that the host is asked to compute."""
        kinds = {name: next((kind for at, kind in self.named if _matches(name, at)), self.others) for name in names}
        return [name for name, kind in kinds.items() if kind is None]

    def check(self, names: Sequence[str]) -> None:
        """Refuse a name that no node has.

        Raises:
            NetworkError: naming it.
        """
        for pattern, _ in self.named:
            if not any(_matches(name, pattern) for name in names):
                raise NetworkError(f"--precision must name a node of the file or a layer, not {pattern}")

    def of_nodes(self, nodes: Sequence[Node]) -> Mapping[str, Precision]:
        """Return the precision of each node of a file, by its name, from all that the accelerator computes of them.

        What computes each element by itself, or pools, goes with what it follows, so that it can be one layer. A Concat
        goes with what follows it, so that each of its parts is converted by itself, and keeps its scale.
        """
        by_name: dict[str, list[Node]] = {}
        for node in nodes:
            by_name.setdefault(node.name, []).append(node)
        found: dict[str, Precision] = {}
        makers = {node.output: node.name for node in nodes}
        for name, mine in by_name.items():
            named = (kind for pattern, kind in self.named if kind is not None and _matches(name, pattern))
            taken = {value for node in mine for value in node.inputs} - {node.output for node in mine}
            follows = len(taken) == 1 and not any(isinstance(node.operation, Conv | Lrn) for node in mine)
            before = found.get(makers.get(next(iter(taken)), ""), self.others) if follows else self.others
            found[name] = next(named, before)
        for node in (node for node in nodes if isinstance(node.operation, Concat)):
            users = {found[other.name] for other in nodes if node.output in other.inputs}
            is_named = any(_matches(node.name, pattern) for pattern, _ in self.named)
            if not is_named and len(by_name[node.name]) == len(users) == 1:
                found[node.name] = users.pop()
        return found


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) or fnmatchcase(layer_name(name), pattern)


def conversions(
    config: HwConfig, source: Source, target: Tensor, reserve: Callable[[str, int], int]
) -> list[SdpLayer] | None:
    """Return the layers that make one part's cube another's, None where the host has to.

    Args:
        config: The configuration.
        source: The cube, and its scale.
        target: Where it is to lie, in another precision.
        reserve: Returns the address of memory for what lies between, by a name and its size in bytes.
    """
    if not isinstance(source.scale, float) or target.range is not None:
        return None
    hops = _hops(source.tensor.precision, target.precision, source.scale / (target.scale or 1.0))
    layers: list[SdpLayer] = []
    try:
        src = _surface(config, source.tensor)
        for number, (precision, factor) in enumerate(hops):
            if number == len(hops) - 1:
                dst = _surface(config, target)
            else:
                layout = FeatureLayout.packed(config, precision, src.layout.shape)
                dst = Surface(layout, reserve(f"{target.name}_{number}", layout.nbytes))
            layers.append(_layer(src, dst, factor))
            src = dst
    except InputError:
        return None
    return layers


def _hops(first: Precision, last: Precision, ratio: float) -> list[tuple[Precision, float]]:
    """Return the precisions on the way to another, and what elements are multiplied with before each.

    SDP makes no FP16 of INT8 or back, and multiplies with real numbers in FP16 alone.
    """
    match first, last:
        case Precision.FP16, Precision.INT8:
            return [(Precision.INT16, ratio * _FINER), (last, 1 / _FINER)]
        case Precision.INT8, Precision.FP16:
            return [(Precision.INT16, 1.0), (last, 1.0), (last, ratio)]
        case Precision.INT16, Precision.FP16:
            return [(last, 1.0), (last, ratio)]
        case _:
            return [(last, ratio)]


def _surface(config: HwConfig, tensor: Tensor) -> Surface:
    """Return a cube with as many channels as fill atoms in every precision; its buffer has room for them."""
    if tensor.atom_bytes != config.memory_atomic_bytes:
        raise InputError("SDP writes no images")
    channels, height, width = tensor.shape
    shape = round_up(channels, config.atom_elements(Precision.INT8)), height, width
    strides = tensor.line_stride_bytes, tensor.surface_stride_bytes
    return Surface(FeatureLayout(config, tensor.precision, shape, *strides), tensor.address)


def _layer(src: Surface, dst: Surface, factor: float) -> SdpLayer:
    """Return the layer that multiplies elements and converts them."""
    one, other = src.layout.precision, dst.layout.precision
    if one is not Precision.FP16:
        scale, shift = multipliers(np.full(1, factor))
        converter = output_converter(0, int(scale[0]), shift)
        return SdpLayer(src, dst, SdpParams(None, None, converter, one, other))
    # The exponents of very small and very large factors need both stages.
    mantissa, exponent = np.frexp(factor)
    half = int(exponent) // 2
    stage = SdpStage(None, 0, mul=True, mul_prelu=False, mul_shift=0, relu=False)
    factors = mantissa * 2.0**half, 2.0 ** (int(exponent) - half)
    x1, x2 = (StageSource(mul=int(np.float16(each).view(np.uint16))) for each in factors)
    return SdpLayer(src, dst, SdpParams(stage, stage, _PLAIN, one, other), x1, x2)
