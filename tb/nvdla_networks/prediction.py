"""Predicted cycles of the layers of networks: the model of the hardware's time, in the order of the public driver."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nvdla_networks.layers import NetworkLayer, keys, layers_of
from nvdla_networks.network import Operation
from nvdla_networks.order import Order
from nvdla_networks.program import counters_of
from nvdla_networks.scenario import NetworkScenario
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.performance import Work, work_of
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.nvdla.timing import Machine, Span, Timeline
from nvdla_tb.stimulus.model import Played

_WRITE_CYCLES, _READ_CYCLES, _REACTION_CYCLES = 3, 19, 100
"""Of the bench's CSB, and from a done bit to the enable of what waits for it; measured on the public nv_small RTL."""


@dataclass(frozen=True)
class Prediction:
    """What is said of a layer before it runs.

    Attributes:
        work: Its work, with the least cycles of each part.
        span: Its predicted begin and end; None for a configuration or a kind of layer that was not measured.
        other: Those with the hardware that was asked about, None when none was.
        what_if: That hardware as words.
    """

    work: Work
    span: Span | None
    other: Span | None = None
    what_if: str = ""

    @property
    def cycles(self) -> int | None:
        """Predicted cycles."""
        return None if self.span is None else self.span.cycles

    @property
    def otherwise(self) -> int | None:
        """Those of the hardware that was asked about."""
        return None if self.other is None else self.other.cycles

    def error(self, played: int) -> float | None:
        """Return how much longer the prediction is than the cycles played, as a part of them."""
        return None if self.cycles is None else self.cycles / played - 1


def predictions_of(playing: NetworkScenario, played: Played, machine: Machine | None) -> dict[int, Prediction]:
    """Return the predictions by the number of the layer.

    Args:
        playing: The networks, with the statistics read after each layer.
        played: Run of the model, which knows the layers and what they fetch; layers behind a refused one are missing.
        machine: Hardware and memory; None predicts no cycles.
    """
    layers = layers_of(playing.runs, playing.order)
    started = {e.started.index: e.started for e in played.expectations}
    in_order = [started[index] for index in sorted(started)]
    numbers = {key: number for number, key in enumerate(keys(layer.unit for layer in layers))}
    pairs = [(numbers[key], entry) for key, entry in zip(keys(s.layer.unit for s in in_order), in_order, strict=True)]
    if machine is None:
        return {number: Prediction(work_of(s.layer, s.fetch), None) for number, s in pairs}
    apart = playing.order is Order.APART
    spans, words = _spans(layers, pairs, machine.as_is, apart=apart), str(machine.what_if)
    others = _spans(layers, pairs, machine, apart=apart) if words else {}
    return {
        number: Prediction(work_of(s.layer, s.fetch), spans.get(number), others.get(number), words)
        for number, s in pairs
    }


def _spans(
    layers: Sequence[NetworkLayer], started: Iterable[tuple[int, StartedLayer]], machine: Machine, *, apart: bool
) -> dict[int, Span]:
    """Return begin and end by the number of the layer, as far as all layers before it are predicted.

    ``apart`` says that a run waits for the end of the one before.
    """
    registers = RegisterMap.of(machine.config)
    timeline = Timeline(machine)
    known: dict[tuple[int, int, str], float] = {}
    # By engine, the end of each layer and what it takes to read its statistics; each engine has two groups.
    before: dict[str, list[tuple[float, int]]] = defaultdict(lambda: [(0.0, 0), (0.0, 0)])
    csb = 0.0
    spans = {}
    for number, entry in started:
        layer = layers[number]
        task = layer.run, layer.task
        # The registers of a layer are written when the one before the last of its engine has ended and was read.
        free, read = max(before[operation.engine.name][-2] for operation in layer.operations)
        csb = max(csb, free) + read + _WRITE_CYCLES * sum(_writes(operation) for operation in layer.operations)
        # A task begins when all before it have ended, and a layer when those have ended that it waits for.
        waits = [
            end
            for (*of, name), end in known.items()
            if (name in layer.waits if tuple(of) == task else apart or of[0] == layer.run)
        ]
        span = timeline.add(entry.layer, max(csb, max(waits, default=0.0) + _REACTION_CYCLES), entry.fetch)
        if span is None:
            break
        read = _READ_CYCLES * sum(_reads(operation, registers) for operation in layer.operations)
        for operation in layer.operations:
            known[(*task, operation.name)] = span.ended + read
            before[operation.engine.name].append((span.ended, read))
        spans[number] = span
    return spans


def _writes(operation: Operation) -> int:
    """Return the registers that the driver writes before an operation runs, each unit's pointer twice."""
    return sum(len(words) for words in operation.words.values()) + 3 * len(operation.units)


def _reads(operation: Operation, registers: RegisterMap) -> int:
    """Return the statistics that it reads afterwards."""
    return sum(len(counters_of(registers, unit)) for unit in operation.units)
