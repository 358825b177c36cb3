"""What it costs a network to be computed by the hardware's numbers: results of the model against floating point.

Compared is what the hardware makes, before a softmax or a class on the host: probabilities of a softmax may look alike
whatever the network computes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_networks.compiler.cut_network import CutNetwork
from nvdla_networks.compiler.graph import Floats, floats
from nvdla_networks.compiler.onnx_network import OnnxNetwork, Sample
from nvdla_networks.compiler.reference import Reference
from nvdla_networks.errors import NetworkError
from nvdla_networks.images import quantised
from nvdla_networks.network import Network, SoftwareOperation
from nvdla_networks.scenario import Memories, left_by_model, read
from nvdla_networks.software import real, source_of
from nvdla_networks.tensors import Tensor

_CONSTANT = 1e-6
"""Results of all samples that differ by less, as a part of the largest, do not depend on the input."""


@dataclass(frozen=True)
class OutputAccuracy:
    """One output over all samples.

    Attributes:
        name: The value, as the file calls it.
        samples: How many samples were compared.
        cosine: Of the angle between the result and floating point, of the worst sample; None where no sample has one.
        error: Length of the difference, as a part of the length of the result, of the worst sample.
        largest: The largest difference of an element, as a part of the largest element of all samples.
        same_class: Samples whose largest element is the same; None where the output is no vector.
        is_constant: Whether floating point gives the same for all of several samples.
    """

    name: str
    samples: int
    cosine: float | None
    error: float
    largest: float
    same_class: int | None
    is_constant: bool

    def problem(self, least: float) -> str | None:
        """Return what is wrong with it, None for nothing.

        Args:
            least: Smallest cosine that is allowed. As a cosine does not see a wrong length, the difference may be as
                long as that of two results of one length with this cosine. 0 allows everything.
        """
        if not least:
            return None
        if self.cosine is None or self.is_constant:
            state = "0" if self.cosine is None else "the same"
            return (
                f"output {self.name!r} shows nothing: floating point gives {state} for each of {self.samples} samples"
            )
        if not self.cosine >= least:
            return f"output {self.name!r}: cosine {self.cosine:.5f} against floating point, less than {least:g}"
        most = math.sqrt(2 * (1 - least))
        if not self.error <= most:
            return f"output {self.name!r}: {self.error:.1%} off against floating point, more than {most:.1%}"
        return None


@dataclass(frozen=True)
class Accuracy:
    """How near results are to floating point.

    Attributes:
        outputs: All outputs.
        least: The smallest cosine that is allowed.
        layers: What each layer costs by itself, by its first operation: the length of the difference between its
            result and what floating point makes of the same inputs, over all samples, as a part of the length of the
            latter. Layers that make parts of one value have one number. Empty where memory does not hold all values at
            once.
    """

    outputs: tuple[OutputAccuracy, ...]
    least: float
    layers: Mapping[str, float] = field(default_factory=dict)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong, an entry for each output that is."""
        return tuple(text for output in self.outputs if (text := output.problem(self.least)) is not None)


def accuracy_of(
    compiled: OnnxNetwork | CutNetwork, reference: Reference, samples: Sequence[Sample], least: float
) -> Accuracy:
    """Return how near the network's results on the reference model are to floating point.

    Args:
        compiled: The network.
        reference: The file that it was compiled from.
        samples: Inputs, at least one.
        least: Smallest cosine that is allowed.

    Raises:
        NetworkError: when the network is refused.
    """
    kept = compiled.elsewhere(keeps=True)
    all_at_once = True
    try:
        network = kept.place()
    except NetworkError:
        all_at_once, network = False, compiled.elsewhere().place()
    pairs = []
    squares: dict[str, Floats] = {}
    for sample in samples:
        results, memories = _results(compiled.name, network, sample)
        pairs.append((results, reference.values(sample)))
        for layers, got, wanted in kept.beside_float(partial(read, memories=memories)) if all_at_once else ():
            found = np.array([((got - wanted) ** 2).sum(), (wanted**2).sum()])
            squares |= {name: squares.get(name, 0) + found for name in layers}
    outputs = []
    for number, name in enumerate(reference.names):
        ours, theirs = ([np.asarray(side[number]) for side in sides] for sides in zip(*pairs, strict=True))
        if any(a.size != b.size or not a.size or b.dtype.kind != "f" for a, b in zip(ours, theirs, strict=True)):
            # Integers, and lists of found objects, whose number depends on the input.
            continue
        shape = ours[0].shape
        is_vector = max(shape, default=1) == ours[0].size > 1
        flat = (np.stack([floats(each).ravel() for each in side]) for side in (ours, theirs))
        outputs.append(compared(name, *flat, is_vector=is_vector))
    return Accuracy(tuple(outputs), least, {name: _part(*each) for name, each in squares.items()})


def _part(difference: float, length: float) -> float:
    """Return how long a difference is, as a part of a length, from the squares of both."""
    return math.sqrt(difference / length) if length else math.inf if difference else 0.0


def _results(name: str, placed: Network, sample: Sample) -> tuple[list[NDArray[Any]], Memories]:
    """Return the outputs by the reference model as real numbers, and the memory that it leaves.

    Those of hardware are (C, H, W), before the host makes probabilities or a class of them.
    """
    network = placed.given(sample)
    inputs = [quantised(t.cube(sample[t.name]), t) for t in network.inputs if isinstance(t, Tensor)]
    run, memories = left_by_model(name, network, inputs)
    operations = [operation for task in run.after for operation in task.operations]
    made = {op.dst.name: op for op in operations if isinstance(op, SoftwareOperation)}
    results = run.results(memories)
    outputs = [
        real(source_of(made[output.name]), read(made[output.name].src, memories))
        if isinstance(output, Tensor)
        else result
        for output, result in zip(network.outputs, results, strict=True)
    ]
    return outputs, memories


def compared(name: str, ours: Floats, theirs: Floats, *, is_vector: bool) -> OutputAccuracy:
    """Return how results of samples, (samples, elements), compare with those in floating point."""
    cosines, errors = zip(*_of_each(ours, theirs), strict=True)
    known = [cosine for cosine in cosines if cosine is not None]
    reach, largest = float(np.abs(theirs).max()), float(np.abs(ours - theirs).max())
    return OutputAccuracy(
        name,
        len(ours),
        # The least of numbers that are none is none.
        (math.nan if any(map(math.isnan, known)) else min(known)) if known else None,
        math.nan if any(map(math.isnan, errors)) else max(errors),
        largest / reach if reach else 0.0 if not largest else math.inf,
        int((ours.argmax(axis=1) == theirs.argmax(axis=1)).sum()) if is_vector else None,
        len(ours) > 1 and bool((np.ptp(theirs, axis=0) <= _CONSTANT * reach).all()),
    )


def _of_each(ours: Floats, theirs: Floats) -> Iterator[tuple[float | None, float]]:
    """Yield the cosine and the error of each sample; a result of zeros that must be one has no cosine."""
    for got, wanted in zip(ours, theirs, strict=True):
        lengths = float(np.linalg.norm(got)), float(np.linalg.norm(wanted))
        if not lengths[1]:
            yield (None, 0.0) if not lengths[0] else (0.0, math.inf)
            continue
        cosine = float(np.dot(got, wanted)) / (lengths[0] * lengths[1]) if lengths[0] else 0.0
        yield cosine, float(np.linalg.norm(got - wanted)) / lengths[1]
