"""The outcome of a network: a verdict for each layer, and the results of model and RTL beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.precision import Precision
from nvdla_networks.compiler.accuracy import Accuracy
from nvdla_networks.compiler.precisions import HOST
from nvdla_networks.compiler.share import Share
from nvdla_networks.errors import NetworkError
from nvdla_networks.images import differing, top_classes, unique
from nvdla_networks.layers import HostStep, NetworkLayer, flows, keys, steps_of
from nvdla_networks.order import Order
from nvdla_networks.prediction import Prediction
from nvdla_networks.scenario import NetworkScenario, why_incomplete
from nvdla_tb.judge.layer_facts import LayerFacts
from nvdla_tb.judge.text import why_not_passed
from nvdla_tb.report.performance import LayerPerformance, performance_of
from nvdla_tb.stimulus.model import Played
from nvdla_tb.stimulus.result import Result


class LayerVerdict(Enum):
    """How a layer ended."""

    MODEL = "model"
    EQUAL = "equal"
    WITHIN = "within threshold"
    WRONG = "WRONG"
    UNFINISHED = "NOT FINISHED"
    NOT_RUN = "not run"


class Agreement(Enum):
    """How two results compare."""

    SAME = "same bits"
    SAME_CLASS = "bytes differ, class equal"
    DIFFERENT = "bytes and class differ"


@dataclass(frozen=True)
class LayerLine:
    """One line of the table."""

    number: int
    run: int
    name: str
    engine: str
    shape: tuple[int, int, int]
    verdict: LayerVerdict
    judged_bytes: int
    wrong_bytes: int
    cycles: int | None
    worst_margin: float | None
    waits: tuple[str, ...] = ()
    performance: LayerPerformance | None = None
    facts: LayerFacts | None = None
    prediction: Prediction | None = None
    float_error: float | None = None
    """What it costs against floating point of the same inputs: the difference as a part of the result's length."""


@dataclass(frozen=True)
class Comparison:
    """An output of a run beside another: names of the two, how they compare, elements that differ, and all of them."""

    what: str
    agreement: Agreement
    differing: int
    elements: int


@dataclass(frozen=True)
class RunLine:
    """The results of one run: those of the model, those of the RTL, and comparisons that decide."""

    label: str
    expected: tuple[NDArray[Any], ...]
    got: tuple[NDArray[Any], ...] | None
    comparisons: tuple[Comparison, ...]


class Outcome(Enum):
    """How a network ended."""

    PASSED = "passed"
    FAILED = "failed"
    COMPUTED = "computed, nothing compared"


@dataclass(frozen=True)
class Report:
    """All that is said of a run; ``problems`` fail it.

    ``steps`` has None for each layer, and what the host does before, between and after them. ``flows`` are pairs of
    their numbers. ``accuracy`` compares with floating point; None for a loadable, and for a network that has no
    results. ``share`` is what the accelerator computes of an ONNX file. ``order`` says when a run begins that is not
    the first. ``wider`` is where ``--precision`` may put a layer that costs too much.
    """

    name: str
    config: str
    layers: tuple[LayerLine, ...]
    steps: tuple[HostStep | None, ...]
    flows: tuple[tuple[int, int], ...]
    runs: tuple[RunLine, ...]
    problems: tuple[str, ...]
    result: Result | None
    accuracy: Accuracy | None = None
    share: Share | None = None
    order: Order = Order.APART
    wider: str = HOST

    @property
    def first_wrong(self) -> LayerLine | None:
        """The first layer with wrong or missing bytes, if there is one."""
        wrong = (LayerVerdict.WRONG, LayerVerdict.UNFINISHED)
        return next((line for line in self.layers if line.verdict in wrong), None)

    @property
    def costliest(self) -> LayerLine | None:
        """The layer that costs most against floating point; None where that is not known, or none costs anything."""
        return max(
            (line for line in self.layers if line.float_error), key=lambda line: line.float_error or 0.0, default=None
        )

    @property
    def advice(self) -> str | None:
        """What to try where a result is too far from floating point; None where nothing is known."""
        line = self.costliest
        if line is None or self.accuracy is None or not self.accuracy.problems:
            return None
        # Layers of one node have numbers behind its name.
        name = line.name.partition("+")[0]
        first = name.rpartition("_")[0] if name.rpartition("_")[2].isdigit() else name
        known = {other.name.partition("+")[0] for other in self.layers}
        return f"--precision {first if first in known else name}={self.wider}"

    @property
    def played_cycles(self) -> int | None:
        """Cycles from the begin of the first layer to the end of the last; None where layers have not ended."""
        facts = [line.facts for line in self.layers if line.facts is not None]
        ends = [fact.ended for fact in facts if fact.ended is not None]
        whole = len(ends) == len(self.layers) > 0
        return max(ends) - min(fact.begun for fact in facts) if whole else None

    @property
    def predicted_cycles(self) -> int | None:
        """The same, as predicted; None where not all layers are."""
        spans = [line.prediction.span for line in self.layers if line.prediction is not None]
        known = [span for span in spans if span is not None]
        whole = len(known) == len(self.layers) > 0
        return round(max(span.ended for span in known) - min(span.begun for span in known)) if whole else None

    @property
    def outcome(self) -> Outcome:
        """How it ended: passed means that bytes of a device or golden results were compared."""
        if self.problems or not (self.layers or self.share):
            return Outcome.FAILED
        return Outcome.PASSED if self.compared else Outcome.COMPUTED

    @property
    def compared(self) -> bool:
        """Whether bytes of a device or golden results of layers were compared."""
        return bool(self.layers) and (self.result is not None or any(run.comparisons for run in self.runs))

    @property
    def passed(self) -> bool:
        """Whether something was compared, and nothing is wrong."""
        return self.outcome is Outcome.PASSED


def report_of(
    playing: NetworkScenario,
    labels: Sequence[str],
    played: Played,
    result: Result | None,
    expected: Sequence[tuple[NDArray[Any], ...]],
    got: Sequence[tuple[NDArray[Any], ...]] | None,
    goldens: Sequence[NDArray[Any]],
    accuracy: Accuracy | None = None,
    share: Share | None = None,
    predictions: Mapping[int, Prediction] | None = None,
) -> Report:
    """Return the report of what was played.

    Args:
        playing: The scenario.
        labels: Names of the runs.
        played: Run of the model.
        result: Result of the simulation, if there was one.
        expected: Results of the model, by run and output.
        got: Results of the RTL, if there are any.
        goldens: A result to compare with for each run, or none.
        accuracy: How near the model's results are to floating point, where that was measured.
        share: What the accelerator computes of the file, for ONNX.
        predictions: What is said of layers before they run, by their number; None when nobody asked.

    Raises:
        NetworkError: for a golden result of another shape or type.
    """
    config = playing.runs[0].network.config
    drawn = steps_of(playing.runs, playing.order)
    found = [step for step in drawn if isinstance(step, NetworkLayer)]
    foretold = predictions or {}
    lines = _layer_lines(found, played, result)
    costs = {} if accuracy is None else accuracy.layers
    layers = tuple(
        replace(line, prediction=foretold.get(line.number), float_error=costs.get(line.name.partition("+")[0]))
        for line in lines
    )
    why = why_incomplete(played)
    problems = [] if why is None else [why]
    problems += [] if result is None else why_not_passed(result.verdict)
    if result is not None and not problems:
        problems += _not_judged(playing, layers, got)
    problems += [] if accuracy is None else [f"accuracy: {text}" for text in accuracy.problems]
    runs = []
    for number, label in enumerate(labels):
        ours = expected[number] if number < len(expected) else ()
        theirs = None if got is None else got[number]
        comparisons = []
        if theirs is not None:
            comparisons += [_compared("RTL and model", a, b) for a, b in zip(theirs, ours, strict=True)]
        if goldens and ours:
            comparisons += _golden(goldens[number], ours, label)
        runs.append(RunLine(label, ours, theirs, tuple(comparisons)))
    exact = played.verdict.worst_margin is None and all(layer.worst_margin is None for layer in layers)
    for run in runs:
        for comparison in run.comparisons:
            tolerated = not exact and comparison.what == "RTL and model"
            if comparison.agreement is not Agreement.SAME and not tolerated:
                problems.append(f"{run.label}: {said(comparison)}")
    return Report(
        playing.scenario.name,
        playing.scenario.config,
        layers,
        tuple(step if isinstance(step, HostStep) else None for step in drawn),
        tuple(flows(drawn)),
        tuple(runs),
        tuple(problems),
        result,
        accuracy,
        share,
        playing.order,
        Precision.INT16.value if Precision.INT16 in config.feature_data_types else HOST,
    )


def _not_judged(
    playing: NetworkScenario, layers: Sequence[LayerLine], got: Sequence[tuple[NDArray[Any], ...]] | None
) -> list[str]:
    """Return what a simulation without complaints has left out: layers, and the results."""
    out = (LayerVerdict.NOT_RUN, LayerVerdict.UNFINISHED)
    problems = [f"layer {line.number} ({line.name}): {line.verdict.value}" for line in layers if line.verdict in out]
    if got is None and any(run.is_whole for run in playing.runs):
        problems.append("the device has left no results")
    return problems


def _golden(golden: NDArray[Any], ours: tuple[NDArray[Any], ...], label: str) -> list[Comparison]:
    if len(ours) != 1:
        raise NetworkError(f"--golden must be left out for a network with {len(ours)} outputs")
    if golden.shape != ours[0].shape or golden.dtype != ours[0].dtype:
        raise NetworkError(
            f"golden result of {label} must be {ours[0].dtype} {ours[0].shape}, not {golden.dtype} {golden.shape}"
        )
    return [_compared("model and golden result", unique(ours[0]), unique(golden))]


def _compared(what: str, first: NDArray[Any], second: NDArray[Any]) -> Comparison:
    if first.shape != second.shape:
        # A list of found objects, for example.
        return Comparison(what, Agreement.DIFFERENT, max(first.size, second.size), max(first.size, second.size))
    count = differing(first, second)
    same_class = first.dtype.kind in "biuf" and _class(first) == _class(second)
    agreement = Agreement.SAME if not count else Agreement.SAME_CLASS if same_class else Agreement.DIFFERENT
    return Comparison(what, agreement, count, first.size)


def _class(values: NDArray[Any]) -> int:
    return next((number for number, _ in top_classes(values, 1)), 0)


def _layer_lines(layers: Sequence[NetworkLayer], played: Played, result: Result | None) -> list[LayerLine]:
    in_order = sorted(played.expectations, key=lambda e: e.started.index)
    predicted = dict(zip(keys(e.started.layer.unit for e in in_order), in_order, strict=True))
    ran = [] if result is None else sorted(result.layers, key=lambda entry: entry.index)
    seen = dict(zip(keys(entry.unit for entry in ran), ran, strict=True))
    lines = []
    for number, (layer, key) in enumerate(zip(layers, keys(layer.unit for layer in layers), strict=True)):
        expectation = predicted.get(key)
        head = (number, layer.run, layer.name, layer.engine, layer.shape)
        facts = seen.get(key)
        if facts is None:
            nbytes, verdict = 0, LayerVerdict.NOT_RUN
            if result is None and expectation is not None:
                nbytes, verdict = int(np.count_nonzero(expectation.must_write)), LayerVerdict.MODEL
            lines.append(LayerLine(*head, verdict, nbytes, 0, None, None, layer.waits))
            continue
        lines.append(
            LayerLine(
                *head,
                _verdict(facts),
                facts.judged_bytes,
                facts.wrong_bytes + facts.missing_bytes,
                None if facts.ended is None else facts.ended - facts.begun,
                facts.worst_margin,
                layer.waits,
                performance_of(facts, layer.name),
                facts,
            )
        )
    return lines


def _verdict(facts: LayerFacts) -> LayerVerdict:
    if facts.wrong_bytes:
        return LayerVerdict.WRONG
    if facts.missing_bytes:
        return LayerVerdict.UNFINISHED if facts.ended is None else LayerVerdict.WRONG
    if not facts.judged_bytes:
        return LayerVerdict.UNFINISHED
    return LayerVerdict.EQUAL if facts.worst_margin is None else LayerVerdict.WITHIN


def said(comparison: Comparison) -> str:
    """Return a comparison as a sentence."""
    counts = f"{comparison.elements - comparison.differing} of {comparison.elements} elements equal"
    return f"{comparison.what}: {comparison.agreement.value} ({counts})"
