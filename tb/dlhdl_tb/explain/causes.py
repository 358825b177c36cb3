"""Causes that only the Deep Learning HDL processor has: beats, features and frames, its operands and arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from operator import attrgetter

from dlhdl_tb.expect import PlayedLayer
from dlhdl_tb.explain.engine import ROUNDINGS, DlhdlRun, Source
from dlhdl_tb.network import INPUT, Kind
from nvdla_tb.explain.cause import Cause, Way
from nvdla_tb.explain.causes import COMMON, reach
from nvdla_tb.explain.causes.history import early
from nvdla_tb.explain.causes.reach import Part
from nvdla_tb.explain.engines import Make, Run
from nvdla_tb.explain.evidence import Evidence

Engine = Part[DlhdlRun]
Ways = Callable[[Evidence, Engine], Iterator[Way]]


def _cause(name: str, about: str, ways: Ways) -> Cause:
    """Return a cause that changes the engine, which then computes the layer again."""

    def of_engine(evidence: Evidence, run: Run) -> Iterator[Way]:
        for engine in reach.engines(run, DlhdlRun):
            yield from ways(evidence, engine)

    return Cause(name, about, of_engine, reruns=True, cost_bits=7.0)


def _options(holds: Callable[[DlhdlRun], bool], options: Mapping[str, Mapping[str, object]], where: str = "") -> Ways:
    """Return the ways of a cause in which fields have other values.

    Args:
        holds: for which layers.
        options: the fields, by what the layer does then in words.
        where: path from the engine to what has them.
    """

    def ways(evidence: Evidence, engine: Engine) -> Iterator[Way]:
        for words, new in options.items() if holds(engine.value) else ():
            yield Way(words, engine.other(where, **new))

    return ways


def _one(holds: Callable[[DlhdlRun], bool], where: str = "", /, **new: object) -> Ways:
    """Return the ways of a cause that is one thing."""
    return _options(holds, {"": new}, where)


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


def _block_offset(evidence: Evidence, engine: Engine) -> Iterator[Way]:
    for late in (1, -1, 2, -2):
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

    for place, words in enumerate(("the source", "the second source", "the weights", "the result")):
        if own[place]:
            yield Way(f"that of {words} counts as 0", one(place, 0))
    yield Way("the second source has that of the first", one(1, own[0]))
    yield Way("the result has that of the source", one(3, own[0]))
    for layer in evidence.before:
        if isinstance(layer, PlayedLayer):
            theirs = layer.engine()
            first, second, *others = theirs.exponents
            stale = (first, 0 if theirs.second is None else second, *others)
            yield Way(f"all are those of layer {layer.number}", engine.other(exponents=stale))
    for off in (1, -1, 2, -2, 3, -3):
        yield Way(f"that of the result is {off:+d} off", one(3, own[3] + off))


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


def _is(kind: Kind) -> Callable[[DlhdlRun], bool]:
    return lambda run: run.kind is kind


def _is_single(run: DlhdlRun) -> bool:
    return not run.integer


_PADDING_LANES: dict[str, dict[str, object]] = {
    "all bits set": {"fill": 0xFF},
    "0x80 in each byte": {"fill": 0x80},
    "0x01 in each byte": {"fill": 0x01},
    "what the beat before held": {"tail": True},
}
_is_integer = attrgetter("integer")
_TRANSPOSED = _one(_is(Kind.CONVOLUTION), "operands", transposed=True)
_ROUNDINGS = {name: {"rounding": name} for name in ROUNDINGS}
_SHORT = {f"{bits} bits fewer": {"bits": bits} for bits in (12, 8, 10, 13, 16)}
_WRAPS = {"upper bits are lost": {"wraps": True}}

CAUSES: tuple[Cause, ...] = (
    Cause("frame-early", "frame read before it was given", early, reruns=True, cost_bits=7.5),
    _cause("other-frame", "frame of another slot", _other_frame),
    _cause("stale-weights", "weights of before", _stale_weights),
    _cause("n-c-swapped", "N and C swapped", _n_and_c),
    _cause("x-y-swapped", "x and y swapped", _x_and_y),
    _cause("kernel-x-y-swapped", "x and y of kernels swapped", _TRANSPOSED),
    _cause("window-x-y-swapped", "x and y of the window swapped", _stride_x_and_y),
    _cause("padding-lane", "padding lanes are not 0", _options(lambda run: True, _PADDING_LANES)),
    _cause("padding-counts", "padding lanes of the source count", _one(_is(Kind.FULLY_CONNECTED), "source", loud=True)),
    _cause("block-offset", "wrong offset of the blocks after the first", _block_offset),
    _cause("source-place", "wrong place of a source", _source_place),
    _cause("exponent", "wrong exponent", _exponent),
    _cause("bias", "wrong bias", _bias),
    _cause("rounding", "wrong rounding", _options(_is_integer, _ROUNDINGS)),
    _cause("saturation", "results are not limited", _options(_is_integer, _WRAPS)),
    _cause("sign", "int8 counts as unsigned", _sign),
    _cause("relu", "ReLU", _relu),
    _cause("average-divisor", "padding does not count in the divisor", _one(_is(Kind.AVERAGE_POOLING), covered=True)),
    _cause("maximum-padding", "padding takes part in the maximum as 0", _one(_is(Kind.MAXIMUM_POOLING), padded=True)),
    _cause("second-twice", "second source counts twice", _one(lambda run: run.second is not None, twice=True)),
    _cause("product-bits", "products of singles are short", _options(_is_single, _SHORT)),
    _cause("sum-magnitudes", "sums of singles add magnitudes", _one(_is_single, magnitudes=True)),
    *COMMON,
)
"""All causes of a core; of two that fit equally well the earlier one is named first."""
