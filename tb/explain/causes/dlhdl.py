"""Causes that only the Deep Learning HDL processor has: beats, features and frames, its operands and arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from tb.dlhdl.expect import PlayedLayer
from tb.dlhdl.network import INPUT, Kind
from tb.explain.cause import Cause, Way
from tb.explain.causes import reach
from tb.explain.causes.history import early
from tb.explain.causes.reach import Part
from tb.explain.dlhdl_sources import Source
from tb.explain.engine_dlhdl import ROUNDINGS, DlhdlRun
from tb.explain.evidence import Evidence
from tb.explain.run import Make, Run

_LATE_BEATS = (1, -1, 2, -2)
_SHORT_BITS = (12, 8, 10, 13, 16)
_NEAR = (1, -1, 2, -2, 3, -3)
_WORDS = ("the source", "the second source", "the weights", "the result")


Engine = Part[DlhdlRun]
Ways = Callable[[Evidence, Engine], Iterator[Way]]


def _cause(name: str, about: str, ways: Ways) -> Cause:
    """Return a cause that changes the engine, which then computes the layer again."""

    def of_engine(evidence: Evidence, run: Run) -> Iterator[Way]:
        for engine in reach.engines(run, DlhdlRun):
            yield from ways(evidence, engine)

    return Cause(name, about, of_engine, reruns=True, cost_bits=7.0)


def _where(holds: Callable[[DlhdlRun], bool], where: str = "", words: str = "", /, **new: object) -> Ways:
    """Return the ways of a cause that is one thing, in layers for which something holds.

    Args:
        holds: for which layers.
        where: path from the engine to what is other.
        words: what the layer does then.
        new: its fields.
    """

    def ways(evidence: Evidence, engine: Engine) -> Iterator[Way]:
        if holds(engine.value):
            yield Way(words, engine.other(where, **new))

    return ways


def _played(evidence: Evidence) -> PlayedLayer:
    assert evidence.started is not None
    played = evidence.started.layer
    assert isinstance(played, PlayedLayer)
    return played


def _weighted(evidence: Evidence, kind: Kind | None = None) -> list[PlayedLayer]:
    """Return the earlier layers that have weights, the first one first, each once."""
    layers = [layer for layer in evidence.before if isinstance(layer, PlayedLayer) and layer.layer.kind.has_weights]
    return list({layer.number: layer for layer in layers if kind in (None, layer.layer.kind)}.values())


def _sources(engine: Engine) -> Iterator[tuple[str, Part[Source]]]:
    """Yield the sources with what they are called."""
    yield "source", engine.part("source")
    if engine.value.second is not None:
        yield "second source", engine.part("second")


def _n_and_c(evidence: Evidence, engine: Engine) -> Iterator[Way]:
    parallel = engine.value.result.parallel
    if parallel == engine.value.lanes:
        return
    yield Way("blocks of the result hold N features", partial(_resized, engine.other(lanes=parallel)))
    for words, source in _sources(engine):
        yield Way(f"blocks of the {words} hold N features", source.other(lanes=parallel))


def _resized(make: Make) -> Run:
    """Return a run whose result has another number of blocks."""
    run = make()
    engine = run.engine
    assert isinstance(engine, DlhdlRun)
    blocks = -(-engine.result.shape[0] // engine.lanes)
    shape = (blocks * engine.result.parallel, *run.dst.shape[1:])
    return replace(run, dst=replace(run.dst, shape=shape))


def _x_and_y(evidence: Evidence, engine: Engine) -> Iterator[Way]:
    for words, source in _sources(engine):
        yield Way(f"of the {words}", source.other(transposed=True))
    dst = engine.run.dst
    _, rows, pixels = dst.shape
    if rows > 1 and pixels > 1:
        surface, _, beat = dst.steps
        yield Way("of the result", partial(replace, engine.run, dst=dst.stepped(surface, beat, rows * beat)))


def _stride_x_and_y(evidence: Evidence, engine: Engine) -> Iterator[Way]:
    window = engine.value.window
    if window is not None:
        yield Way("strides", engine.other("window", stride_x=window.stride_y, stride_y=window.stride_x))
        yield Way("padding", engine.other("window", left=window.top, top=window.left))


def _padding_lane(evidence: Evidence, engine: Engine) -> Iterator[Way]:
    for fill, words in ((0xFF, "all bits set"), (0x80, "0x80 in each byte"), (0x01, "0x01 in each byte")):
        yield Way(words, engine.other(fill=fill))
    yield Way("what the beat before held", engine.other(tail=True))


def _block_offset(evidence: Evidence, engine: Engine) -> Iterator[Way]:
    for late in _LATE_BEATS:
        beats = f"{abs(late)} beat{'s' * (abs(late) > 1)} {'late' if late > 0 else 'early'}"
        for words, source in _sources(engine):
            yield Way(f"{words}, {beats}", source.other(late_beats=late))


def _source_place(evidence: Evidence, engine: Engine) -> Iterator[Way]:
    """Yield runs that read another tensor, or the beginning of its area."""
    played = _played(evidence)
    program, layers = played.program, range(INPUT, len(played.program.network.layers))
    places = {program.source_address(other, played.frame): f"layer {other}" for other in layers if other != INPUT}
    places[program.source_address(INPUT, played.frame)] = "the input"
    for address, whose in places.items():
        for words, source in _sources(engine):
            yield Way(f"{words} is read from the place of {whose}", source.other(address=address))


def _other_frame(evidence: Evidence, engine: Engine) -> Iterator[Way]:
    played = _played(evidence)
    program = played.program
    for slot in range(min(program.inputs.count, 8)):
        address = program.source_address(INPUT, slot)
        for number, (_, source) in zip(played.layer.sources, _sources(engine), strict=False):
            if number == INPUT and source.value.address != address:
                yield Way(f"slot {slot}", source.other(address=address))


def _stale_weights(evidence: Evidence, engine: Engine) -> Iterator[Way]:
    operands, kind = engine.value.operands, engine.value.kind
    if operands is None:
        return
    own = operands.address
    for earlier in reversed(_weighted(evidence, kind)):
        address = earlier.program.operands(earlier.number)[0]
        if address != own:
            yield Way(f"those of layer {earlier.number}", engine.other("operands", address=address))
    convolutions = _weighted(evidence, Kind.CONVOLUTION)
    if kind is Kind.CONVOLUTION:
        first = convolutions[0].program.operands(convolutions[0].number)[0] if convolutions else own
        words = "the first beat of each block of kernels is that of the first kernel"
        yield Way(words, engine.other("operands", first_beat=first))


def _bias(evidence: Evidence, engine: Engine) -> Iterator[Way]:
    operands = engine.value.operands
    if operands is None:
        return
    yield Way("left out", engine.other("operands", bias="lost"))
    yield Way("that of the first feature of each block", engine.other("operands", bias="block"))
    for earlier in _weighted(evidence):
        address = earlier.program.operands(earlier.number)[1]
        if address != operands.bias_address:
            yield Way(f"that of layer {earlier.number}", engine.other("operands", bias_address=address))


def _exponent(evidence: Evidence, engine: Engine) -> Iterator[Way]:
    if not engine.value.integer:
        return
    own = engine.value.exponents

    def one(place: int, value: int) -> Make:
        return engine.other(exponents=(*own[:place], value, *own[place + 1 :]))

    for place, words in enumerate(_WORDS):
        if own[place]:
            yield Way(f"that of {words} counts as 0", one(place, 0))
    yield Way("the second source has that of the first", one(1, own[0]))
    yield Way("the result has that of the source", one(3, own[0]))
    for layer in evidence.before:
        if isinstance(layer, PlayedLayer):
            network = layer.program.network
            sources = [network.tensor(number).exponent for number in (layer.layer.sources[0], layer.layer.sources[-1])]
            second = sources[1] if len(layer.layer.sources) > 1 else 0
            stale = (sources[0], second, layer.layer.weight_exponent, layer.tensor.exponent)
            yield Way(f"all are those of layer {layer.number}", engine.other(exponents=stale))
    for off in _NEAR:
        yield Way(f"that of the result is {off:+d} off", one(3, own[3] + off))


def _rounding(evidence: Evidence, engine: Engine) -> Iterator[Way]:
    if engine.value.integer:
        for name in ROUNDINGS:
            yield Way(name, engine.other(rounding=name))


def _sign(evidence: Evidence, engine: Engine) -> Iterator[Way]:
    if not engine.value.integer:
        return
    for words, source in _sources(engine):
        yield Way(words, source.other(unsigned=True))
    if engine.value.operands is not None:
        yield Way("weights", engine.other("operands", unsigned=True))


def _relu(evidence: Evidence, engine: Engine) -> Iterator[Way]:
    relu = engine.value.relu
    yield Way("left out" if relu else "without being asked for", engine.other(relu=not relu))


def _short(evidence: Evidence, engine: Engine) -> Iterator[Way]:
    if not engine.value.integer:
        for bits in _SHORT_BITS:
            yield Way(f"{bits} bits fewer", engine.other(bits=bits))


def _is(kind: Kind) -> Callable[[DlhdlRun], bool]:
    return lambda run: run.kind is kind


CAUSES = (
    Cause("frame-early", "frame read before it was given", early, reruns=True, cost_bits=7.5),
    _cause("other-frame", "frame of another slot", _other_frame),
    _cause("stale-weights", "weights of before", _stale_weights),
    _cause("n-c-swapped", "N and C swapped", _n_and_c),
    _cause("x-y-swapped", "x and y swapped", _x_and_y),
    _cause(
        "kernel-x-y-swapped", "x and y of kernels swapped", _where(_is(Kind.CONVOLUTION), "operands", transposed=True)
    ),
    _cause("window-x-y-swapped", "x and y of the window swapped", _stride_x_and_y),
    _cause("padding-lane", "padding lanes are not 0", _padding_lane),
    _cause(
        "padding-counts", "padding lanes of the source count", _where(_is(Kind.FULLY_CONNECTED), "source", loud=True)
    ),
    _cause("block-offset", "wrong offset of the blocks after the first", _block_offset),
    _cause("source-place", "wrong place of a source", _source_place),
    _cause("exponent", "wrong exponent", _exponent),
    _cause("bias", "wrong bias", _bias),
    _cause("rounding", "wrong rounding", _rounding),
    _cause(
        "saturation", "results are not limited", _where(lambda run: run.integer, "", "upper bits are lost", wraps=True)
    ),
    _cause("sign", "int8 counts as unsigned", _sign),
    _cause("relu", "ReLU", _relu),
    _cause("average-divisor", "padding does not count in the divisor", _where(_is(Kind.AVERAGE_POOLING), covered=True)),
    _cause("maximum-padding", "padding takes part in the maximum as 0", _where(_is(Kind.MAXIMUM_POOLING), padded=True)),
    _cause("second-twice", "second source counts twice", _where(lambda run: run.second is not None, twice=True)),
    _cause("product-bits", "products of singles are short", _short),
    _cause("sum-magnitudes", "sums of singles add magnitudes", _where(lambda run: not run.integer, magnitudes=True)),
)
