"""Causes that only the Deep Learning HDL processor has: beats, features and frames, its operands and arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tb.dlhdl.expect import PlayedLayer
from tb.dlhdl.network import INPUT, Kind
from tb.explain.cause import Cause, Family, Variant
from tb.explain.dlhdl_sources import Operands, Source, shape_of
from tb.explain.engine_dlhdl import ROUNDINGS, DlhdlRun
from tb.explain.evidence import Evidence
from tb.explain.run import Run

Changes = Iterator[tuple[str, DlhdlRun]]
"""What differs, in words, and the engine in which it does."""

_LATE_BEATS = (1, -1, 2, -2)
_SHORT_BITS = (12, 8, 10, 13, 16)
_NEAR = (1, -1, 2, -2, 3, -3)
_WORDS = ("the source", "the second source", "the weights", "the result")


def _cause(name: str, about: str, family: Family, changes: Callable[[Evidence, DlhdlRun], Changes]) -> Cause:
    """Return a cause that changes the engine alone, which then computes the layer again."""

    def variants(evidence: Evidence, run: Run) -> Iterator[Variant]:
        if isinstance(run.engine, DlhdlRun):
            for detail, engine in changes(evidence, run.engine):
                yield Variant(detail, replace(run, engine=engine))

    return Cause(name, about, family, variants, reruns=True, cost_bits=7.0)


def _played(evidence: Evidence) -> PlayedLayer:
    assert evidence.started is not None
    played = evidence.started.layer
    assert isinstance(played, PlayedLayer)
    return played


def _weighted(evidence: Evidence, kind: Kind | None = None) -> list[PlayedLayer]:
    """Return the earlier layers that have weights, the first one first, each once."""
    layers = [layer for layer in evidence.before if isinstance(layer, PlayedLayer) and layer.layer.kind.has_weights]
    return list({layer.number: layer for layer in layers if kind in (None, layer.layer.kind)}.values())


def _sources(run: DlhdlRun, change: Callable[[Source], Source]) -> Changes:
    """Yield engines of which one source is changed."""
    yield "source", replace(run, source=change(run.source))
    if run.second is not None:
        yield "second source", replace(run, second=change(run.second))


def _with(run: DlhdlRun, operands: Operands | None) -> DlhdlRun:
    return replace(run, operands=operands)


def _n_and_c(evidence: Evidence, run: Run) -> Iterator[Variant]:
    engine = run.engine
    if not isinstance(engine, DlhdlRun) or engine.result.parallel == engine.lanes:
        return
    parallel = engine.result.parallel
    wide = replace(engine, lanes=parallel)
    yield Variant("blocks of the result hold N features", _resized(run, wide))
    for words, other in _sources(engine, lambda source: replace(source, lanes=parallel)):
        yield Variant(f"blocks of the {words} hold N features", replace(run, engine=other))


def _resized(run: Run, engine: DlhdlRun) -> Run:
    """Return a run whose result has another number of blocks."""
    blocks = -(-shape_of(engine.result)[0] // engine.lanes)
    shape = (blocks * engine.result.parallel, *run.dst.shape[1:])
    return replace(run, engine=engine, dst=replace(run.dst, shape=shape))


def _x_and_y(evidence: Evidence, run: Run) -> Iterator[Variant]:
    engine, (_, rows, pixels) = run.engine, run.dst.shape
    if not isinstance(engine, DlhdlRun):
        return
    for words, other in _sources(engine, lambda source: replace(source, transposed=True)):
        yield Variant(f"of the {words}", replace(run, engine=other))
    if rows > 1 and pixels > 1:
        surface, _, beat = run.dst.steps
        yield Variant("of the result", replace(run, dst=run.dst.stepped(surface, beat, rows * beat)))


def _kernel_x_and_y(evidence: Evidence, run: DlhdlRun) -> Changes:
    if run.kind is Kind.CONVOLUTION and run.operands is not None:
        yield "", _with(run, replace(run.operands, transposed=True))


def _stride_x_and_y(evidence: Evidence, run: DlhdlRun) -> Changes:
    window = run.window
    if window is None:
        return
    yield "strides", replace(run, window=replace(window, stride_x=window.stride_y, stride_y=window.stride_x))
    yield "padding", replace(run, window=replace(window, left=window.top, top=window.left))


def _padding_lane(evidence: Evidence, run: DlhdlRun) -> Changes:
    for fill, words in ((0xFF, "all bits set"), (0x80, "0x80 in each byte"), (0x01, "0x01 in each byte")):
        yield words, replace(run, fill=fill)
    yield "what the beat before held", replace(run, tail=True)


def _loud(evidence: Evidence, run: DlhdlRun) -> Changes:
    if run.kind is Kind.FULLY_CONNECTED:
        yield "", replace(run, source=replace(run.source, loud=True))


def _block_offset(evidence: Evidence, run: DlhdlRun) -> Changes:
    for late in _LATE_BEATS:
        beats = f"{abs(late)} beat{'s' * (abs(late) > 1)} {'late' if late > 0 else 'early'}"
        for words, other in _sources(run, lambda source, late=late: replace(source, late_beats=late)):  # type: ignore[misc]
            yield f"{words}, {beats}", other


def _source_place(evidence: Evidence, run: DlhdlRun) -> Changes:
    """Yield engines that read another tensor, or the beginning of its area."""
    played = _played(evidence)
    program, layers = played.program, range(INPUT, len(played.program.network.layers))
    places = {program.source_address(other, played.frame): f"layer {other}" for other in layers if other != INPUT}
    places[program.source_address(INPUT, played.frame)] = "the input"
    for address, whose in places.items():
        for words, other in _sources(run, lambda source, address=address: replace(source, address=address)):  # type: ignore[misc]
            yield f"{words} is read from the place of {whose}", other


def _other_frame(evidence: Evidence, run: DlhdlRun) -> Changes:
    played = _played(evidence)
    program = played.program
    for slot in range(min(program.inputs.count, 8)):
        address = program.source_address(INPUT, slot)
        for number, source in zip(played.layer.sources, (run.source, run.second), strict=False):
            if number == INPUT and source is not None and source.address != address:
                moved = replace(source, address=address)
                is_first = source is run.source
                yield f"slot {slot}", replace(run, source=moved) if is_first else replace(run, second=moved)


def _early(evidence: Evidence, run: Run) -> Iterator[Variant]:
    if evidence.initial is not None:
        yield Variant("", replace(run, memory=evidence.initial))


def _stale_weights(evidence: Evidence, run: DlhdlRun) -> Changes:
    operands = run.operands
    if operands is None:
        return
    own = operands.address
    for earlier in reversed(_weighted(evidence, run.kind)):
        address = earlier.program.operands(earlier.number)[0]
        if address != own:
            yield f"those of layer {earlier.number}", _with(run, replace(operands, address=address))
    convolutions = _weighted(evidence, Kind.CONVOLUTION)
    if run.kind is Kind.CONVOLUTION:
        first = convolutions[0].program.operands(convolutions[0].number)[0] if convolutions else own
        words = "the first beat of each block of kernels is that of the first kernel"
        yield words, _with(run, replace(operands, first_beat=first))


def _bias(evidence: Evidence, run: DlhdlRun) -> Changes:
    operands = run.operands
    if operands is None:
        return
    yield "left out", _with(run, replace(operands, bias="lost"))
    yield "that of the first feature of each block", _with(run, replace(operands, bias="block"))
    for earlier in _weighted(evidence):
        address = earlier.program.operands(earlier.number)[1]
        if address != operands.bias_address:
            yield f"that of layer {earlier.number}", _with(run, replace(operands, bias_address=address))


def _exponent(evidence: Evidence, run: DlhdlRun) -> Changes:
    if not run.integer:
        return
    own = run.exponents
    for place, words in enumerate(_WORDS):
        if own[place]:
            yield f"that of {words} counts as 0", _exponents(run, place, 0)
    yield "the second source has that of the first", _exponents(run, 1, own[0])
    yield "the result has that of the source", _exponents(run, 3, own[0])
    for layer in evidence.before:
        if isinstance(layer, PlayedLayer):
            network = layer.program.network
            sources = [network.tensor(number).exponent for number in (layer.layer.sources[0], layer.layer.sources[-1])]
            second = sources[1] if len(layer.layer.sources) > 1 else 0
            stale = (sources[0], second, layer.layer.weight_exponent, layer.tensor.exponent)
            yield f"all are those of layer {layer.number}", replace(run, exponents=stale)
    for off in _NEAR:
        yield f"that of the result is {off:+d} off", _exponents(run, 3, own[3] + off)


def _exponents(run: DlhdlRun, place: int, value: int) -> DlhdlRun:
    changed = list(run.exponents)
    changed[place] = value
    return replace(run, exponents=(changed[0], changed[1], changed[2], changed[3]))


def _rounding(evidence: Evidence, run: DlhdlRun) -> Changes:
    if run.integer:
        for name in ROUNDINGS:
            yield name, replace(run, rounding=name)


def _saturation(evidence: Evidence, run: DlhdlRun) -> Changes:
    if run.integer:
        yield "upper bits are lost", replace(run, wraps=True)


def _sign(evidence: Evidence, run: DlhdlRun) -> Changes:
    if not run.integer:
        return
    yield from _sources(run, lambda source: replace(source, unsigned=True))
    if run.operands is not None:
        yield "weights", _with(run, replace(run.operands, unsigned=True))


def _relu(evidence: Evidence, run: DlhdlRun) -> Changes:
    yield "left out" if run.relu else "without being asked for", replace(run, relu=not run.relu)


def _divisor(evidence: Evidence, run: DlhdlRun) -> Changes:
    if run.kind is Kind.AVERAGE_POOLING:
        yield "", replace(run, covered=True)


def _padded(evidence: Evidence, run: DlhdlRun) -> Changes:
    if run.kind is Kind.MAXIMUM_POOLING:
        yield "", replace(run, padded=True)


def _twice(evidence: Evidence, run: DlhdlRun) -> Changes:
    if run.second is not None:
        yield "", replace(run, twice=True)


def _short(evidence: Evidence, run: DlhdlRun) -> Changes:
    if not run.integer:
        for bits in _SHORT_BITS:
            yield f"{bits} bits fewer", replace(run, bits=bits)


def _magnitudes(evidence: Evidence, run: DlhdlRun) -> Changes:
    if not run.integer:
        yield "", replace(run, magnitudes=True)


CAUSES = (
    Cause("frame-early", "frame read before it was given", Family.CONTROL, _early, reruns=True, cost_bits=7.5),
    _cause("other-frame", "frame of another slot", Family.CONTROL, _other_frame),
    _cause("stale-weights", "weights of before", Family.CONTROL, _stale_weights),
    Cause("n-c-swapped", "N and C swapped", Family.LAYOUT, _n_and_c, reruns=True, cost_bits=7.0),
    Cause("x-y-swapped", "x and y swapped", Family.LAYOUT, _x_and_y, reruns=True, cost_bits=7.0),
    _cause("kernel-x-y-swapped", "x and y of kernels swapped", Family.LAYOUT, _kernel_x_and_y),
    _cause("window-x-y-swapped", "x and y of the window swapped", Family.LAYOUT, _stride_x_and_y),
    _cause("padding-lane", "padding lanes are not 0", Family.LAYOUT, _padding_lane),
    _cause("padding-counts", "padding lanes of the source count", Family.LAYOUT, _loud),
    _cause("block-offset", "wrong offset of the blocks after the first", Family.LAYOUT, _block_offset),
    _cause("source-place", "wrong place of a source", Family.LAYOUT, _source_place),
    _cause("exponent", "wrong exponent", Family.ARITHMETIC, _exponent),
    _cause("bias", "wrong bias", Family.ARITHMETIC, _bias),
    _cause("rounding", "wrong rounding", Family.ARITHMETIC, _rounding),
    _cause("saturation", "results are not limited", Family.ARITHMETIC, _saturation),
    _cause("sign", "int8 counts as unsigned", Family.ARITHMETIC, _sign),
    _cause("relu", "ReLU", Family.ARITHMETIC, _relu),
    _cause("average-divisor", "padding does not count in the divisor", Family.ARITHMETIC, _divisor),
    _cause("maximum-padding", "padding takes part in the maximum as 0", Family.ARITHMETIC, _padded),
    _cause("second-twice", "second source counts twice", Family.ARITHMETIC, _twice),
    _cause("product-bits", "products of singles are short", Family.ARITHMETIC, _short),
    _cause("sum-magnitudes", "sums of singles add magnitudes", Family.ARITHMETIC, _magnitudes),
)
