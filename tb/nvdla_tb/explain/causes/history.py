"""Causes in what happened before: memory, buffer and registers as earlier layers left them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from functools import partial
from typing import Any

from nvdla_tb.explain.cause import Cause, Way
from nvdla_tb.explain.causes import reach
from nvdla_tb.explain.engine_conv import ConvRun
from nvdla_tb.explain.engines import CdpRun, PdpRun, Run, SdpRun
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.walk import Walk
from nvdla_tb.nvdla.layers import ConvLayer, PooledLayer

_WITH_PARAMETERS: tuple[type[Any], ...] = (ConvRun, CdpRun, PdpRun)


def _inherited(evidence: Evidence, run: Run) -> Iterator[Way]:
    """The layer is right, but read what an earlier one left."""
    if evidence.left is not None:
        yield Way("", partial(replace, run, memory=evidence.left))


def _altered(evidence: Evidence, run: Run) -> Iterator[Way]:
    """The layer is right, but read what the test had altered."""
    if evidence.altered is not None:
        yield Way("", partial(replace, run, memory=evidence.altered))


def early(evidence: Evidence, run: Run) -> Iterator[Way]:
    """The layer read before an earlier one had written."""
    if evidence.initial is not None:
        yield Way("", partial(replace, run, memory=evidence.initial))


def _kernels(evidence: Evidence, run: Run) -> Iterator[Way]:
    """The convolution buffer still held kernels of the layer before."""
    before = (layer.producer if isinstance(layer, PooledLayer) else layer for layer in reversed(evidence.before))
    layers = [layer for layer in before if isinstance(layer, ConvLayer)][:2]
    for conv in reach.engines(run, ConvRun):
        for layer, whose in zip(layers, ("of the layer before", "of 2 layers before"), strict=False):
            yield Way(f"kernels {whose}", conv.other("weights", address=layer.weights.address))
            address = getattr(layer.src, "address", None)
            if address is not None:
                for _, walk in reach.inputs(run):
                    yield Way(f"input {whose}", walk.other(address=address))


def _stale(evidence: Evidence, run: Run) -> Iterator[Way]:
    for whose, other in reach.earlier(evidence):
        for mine, theirs in zip(reach.engines(run, SdpRun), reach.engines(other, SdpRun), strict=False):
            yield from _of_sdp(mine, theirs.value, whose)
        for kind in _WITH_PARAMETERS:
            for own, old in zip(reach.engines(run, kind), reach.engines(other, kind), strict=False):
                params = old.value.params
                for field in fields(params):
                    register = {field.name: getattr(params, field.name)}
                    yield Way(f"{field.name} {whose}", own.other("params", **register))
                yield Way(f"all parameters {whose}", own.other(params=replace(params)))
        for end, walks in (("input", reach.inputs), ("output", reach.output)):
            for (_, own_walk), (_, old_walk) in zip(walks(run), walks(other), strict=False):
                yield from _placed(own_walk, old_walk.value, f"of the {end} {whose}")


def _of_sdp(mine: reach.Part[SdpRun], theirs: SdpRun, whose: str) -> Iterator[Way]:
    yield Way(f"output converter {whose}", mine.other("params", converter=theirs.params.converter))
    for name in reach.STAGES:
        stage, own = getattr(theirs, name), getattr(mine.value, name)
        yield Way(f"{name.upper()} {whose}", mine.other(**{name: stage}))
        if stage is None or own is None:
            continue
        yield Way(f"operand registers of {name.upper()} {whose}", mine.other(name, alu=stage.alu, mul=stage.mul))
        if stage.walk is not None and own.walk is not None:
            address = stage.walk.address
            yield Way(f"operand address of {name.upper()} {whose}", mine.other(f"{name}.walk", address=address))


def _placed(mine: reach.Part[Walk], theirs: Walk, whose: str) -> Iterator[Way]:
    """Yield runs with each register that says where a cube lies from another one."""
    surface, line, _ = theirs.steps
    yield Way(f"address {whose}", mine.other(address=theirs.address))
    yield Way(f"line stride {whose}", mine.put(mine.value.stepped(line=line)))
    yield Way(f"surface stride {whose}", mine.put(mine.value.stepped(surface=surface)))
    yield Way(f"both strides {whose}", mine.put(mine.value.stepped(surface=surface, line=line)))


INHERITED = Cause(
    "inherited", "right, but of what earlier layers left wrong", _inherited, reruns=True, cost_bits=6.0, symptom=True
)

CAUSES = (
    INHERITED,
    Cause(
        "altered", "right, but of the bytes that the test altered", _altered, reruns=True, cost_bits=1.0, declared=True
    ),
    Cause("read-early", "input read before an earlier layer wrote it", early, reruns=True),
    Cause("stale-buffer", "convolution buffer not filled again", _kernels, reruns=True, cost_bits=7.5),
)

STALE_REGISTER = Cause("stale-register", "registers that belong to another layer", _stale, reruns=True)
