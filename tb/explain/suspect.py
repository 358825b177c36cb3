"""The unit that the findings of a failed run point at, from their data, and from where in a surface bytes are wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum, auto

import numpy as np

from models.arithmetic import Site
from tb.explain.cause import Fit
from tb.explain.text import Explanation
from tb.explain.units import FLOW, WRITERS, Suspect, Unit, listed, passed, shared, units_named, units_of
from tb.judge.detail import (
    BadAccess,
    CsbViolation,
    EarlyAccess,
    EarlyInterrupt,
    Hang,
    MissingInterrupt,
    NoAnswer,
    PollExpired,
    PortViolation,
    Restless,
    TooManyOutstanding,
    UnexpectedInterrupt,
    UnfairTurns,
    Unmatched,
    WrongCounter,
    WrongLine,
    WrongRegister,
)
from tb.judge.finding import Check, Finding
from tb.judge.layer_id import LayerId
from tb.judge.verdict import Verdict


class _Role(Enum):
    """A unit of a cause that depends on the layer's engine."""

    ALL = auto()
    SOURCE = auto()
    WRITER = auto()


_CSB = "CSB master, or the register file of the unit that is accessed"
_CLIENTS = {
    1: "SDP",
    2: "PDP",
    3: "CDP",
    5: "SDP",
    6: "SDP",
    7: "SDP",
    8: "CONV",
    9: "CONV",
}
_READERS = {
    1: "SDP_RDMA (input)",
    2: "PDP_RDMA",
    3: "CDP_RDMA",
    5: "SDP_RDMA (operands of X1)",
    6: "SDP_RDMA (operands of X2)",
    7: "SDP_RDMA (operands of Y)",
    8: "CDMA (data)",
    9: "CDMA (weights)",
}
"""By id on the memory port, the engine whose request it is, and the unit that reads.

Source: measured on the public nv_small RTL; 7, which nv_small lacks, as the public hardware documents number clients.
"""

_COMPUTING = {
    "CONV": (Unit.CMAC, Unit.CACC, Unit.SDP_RDMA, Unit.SDP),
    "CONV-PDP": (Unit.CMAC, Unit.CACC, Unit.SDP_RDMA, Unit.SDP, Unit.PDP),
}
_SOURCES = {"CONV": "CDMA (data)", "SDP": "SDP_RDMA", "PDP": "PDP_RDMA", "CDP": "CDP_RDMA", "SDP-PDP": "SDP_RDMA"}
_VALUES = ("byte-order", "narrow", "bit-order", "negated", "sign-bit", "element-size", "lanes")
_CDMA, _CSC, _CMAC, _CACC, _SDP, _PDP = Unit.CDMA, Unit.CSC, Unit.CMAC, Unit.CACC, Unit.SDP, Unit.PDP
_MEMORY = (Unit.MEMORY,)
_WRITES = (_Role.WRITER, Unit.MEMORY)
_OF_CAUSES: tuple[tuple[tuple[str, ...], str, tuple[Unit | _Role, ...]], ...] = (
    (
        ("conv-mask", "conv-group-size", "conv-kernel-base", "conv-kernel-extension"),
        "CDMA (weights) or CSC",
        (_CDMA, _CSC),
    ),
    (("conv-kernel",), "CDMA (weights), CSC, CMAC or CACC", (_CDMA, _CSC, _CMAC, _CACC)),
    (
        ("conv-input-converter", "conv-mean", "conv-pixel", "conv-x-offset", "conv-image"),
        "CDMA (data)",
        (_CDMA,),
    ),
    (("conv-truncate", "conv-accumulator"), "CACC", (_CACC,)),
    (("conv-lane", "conv-sign", "conv-nan"), "CSC, CMAC or CACC", (_CSC, _CMAC, _CACC)),
    (("conv-padding", "conv-pad-value", "conv-window"), "CDMA (data) or CSC", (_CDMA, _CSC)),
    (("conv-winograd",), "CDMA, CSC, CMAC or CACC", (_CDMA, _CSC, _CMAC, _CACC)),
    (("conv-",), "CSC", (_CSC,)),
    (("stale-buffer",), "CDMA (weights), CBUF or CSC", (_CDMA, Unit.CBUF, _CSC)),
    (("stage-", "y-", "converter-", "prelu"), "SDP", (_SDP,)),
    (tuple(f"operand-{kind}" for kind in _VALUES), "SDP_RDMA or SDP", (Unit.SDP_RDMA, _SDP)),
    (("operand-",), "SDP_RDMA", (Unit.SDP_RDMA,)),
    (("pool-window", "pool-split", "pool-padding"), "{units}", (_Role.ALL,)),
    (("pool-",), "PDP", (_PDP,)),
    (("strobe", "misplaced"), "{writer}, its writes, or the memory interface", _WRITES),
    (("overwritten",), "{writer}, the unit that wrote there then, or the memory interface", _WRITES),
    (
        ("dst-base", "dst-order", "dst-stuck", "dst-lanes", "bus-lanes"),
        "{writer}, its writes, or the memory interface",
        _WRITES,
    ),
    (("dst-",), "{writer}, its writes", (_Role.WRITER,)),
    (tuple(f"src-{kind}" for kind in _VALUES), "{units}", (_Role.ALL,)),
    (("src-",), "{source}", (_Role.SOURCE,)),
)
"""By the beginning of a cause's name, the units whose faults look so, in words and as data."""

_OF_SITES = {
    Site.CDMA: (_CDMA,),
    Site.WINOGRAD: (_CSC, _CMAC),
    Site.CACC: (_CACC,),
    Site.PDP_WIDTH: (_PDP,),
    Site.PDP_HEIGHT: (_PDP,),
    Site.CDP_INPUT: (Unit.CDP,),
    Site.CDP_OUTPUT: (Unit.CDP,),
}
"""Sites of arithmetic outside SDP; tables are in SDP or CDP."""

_OF_PLACES = {
    "misplaced": "its bytes are right, at wrong addresses",
    "overwritten": "its bytes were right, and were overwritten",
}
"""Symptoms that tell what computes from what writes."""

_MANY, _FEW, _DENSE, _SCATTERED, _RARE = 0.8, 0.5, 0.5, 0.15, 0.03
"""Shares of pixels, of channels, of the elements where wrong ones of both meet, and of all elements."""


def suspects(verdict: Verdict, explanations: Sequence[Explanation] = ()) -> list[Suspect]:
    """Return the units that a failed run points at, the most telling evidence first; empty when nothing does.

    Args:
        verdict: What was found.
        explanations: Of its layers.
    """
    if any(finding.layer is not None and finding.layer.frame is not None for finding in verdict.findings):
        # The second system has other units.
        return []
    ports = list(_of_ports(verdict))
    control = list(_of_control(verdict))
    wrong = [finding for finding in verdict.wrong_bytes if finding.layer is not None]
    # Bytes that are missing alone are those that a layer owes which never ended.
    written = [finding for finding in wrong if finding.check is not Check.MISSING] if control else wrong
    pointed = None if ports or not written else _of_bytes(written, explanations)
    found = [*ports, *([] if pointed is None else [pointed]), *control]
    if not found and wrong:
        found = [_of_engine(wrong[0])]
    return list(dict.fromkeys(found))


def _of_engine(finding: Finding) -> Suspect:
    """Return all units that a wrong layer passes, where nothing says more."""
    assert finding.layer is not None
    engine = finding.layer.engine
    units = units_of(engine)
    return Suspect(listed(units) if units else engine, f"layers of {engine} are wrong", units)


def _of_ports(verdict: Verdict) -> Iterator[Suspect]:
    """Yield what the ports say, whatever was written."""
    details = [finding.detail for finding in verdict.failures]
    for detail in details:
        match detail:
            case Unmatched() as halves:
                yield _unmatched(halves, [f.layer.engine for f in verdict.findings if f.layer is not None])
            case TooManyOutstanding(reading=reading):
                yield Suspect(_interface(reading), "it lets out more requests than it was told", _MEMORY)
            case UnfairTurns(reading=reading):
                because = "turns are not as long as the weights"
                yield Suspect(f"arbiter of the {_interface(reading)}, or the weights that reach it", because, _MEMORY)
            case PortViolation():
                yield Suspect("memory interface", "it breaks a rule of its port", _MEMORY)
            case NoAnswer() | CsbViolation():
                yield Suspect(_CSB, "an access is not answered as it must be", (Unit.CSB,))
            case _:
                pass
    registers = [detail for detail in details if isinstance(detail, WrongRegister)]
    units = sorted({detail.register.split(".")[0] for detail in registers})
    if len(units) == 1:
        names = {detail.register for detail in registers}
        many = f"{len(names)} of its registers read" if len(names) > 1 else "one of its registers reads"
        yield Suspect(
            f"register file of {units[0]}, or the way to it in the CSB master",
            f"{many} another value than was written",
            (*units_named(*units), Unit.CSB),
        )
    elif units:
        because = f"registers of {', '.join(units)} read other values than were written"
        yield Suspect(_CSB, because, (Unit.CSB, *units_named(*units)))


def _unmatched(halves: Unmatched, engines: Sequence[str]) -> Suspect:
    counts = ((halves.addresses, "addresses without data"), (halves.beats, "data without address"))
    writers = dict.fromkeys(map(_writer, engines))
    return Suspect(
        f"{_interface(False)}, or the unit that writes",
        f"it sent {' and '.join(f'{n} {what}' for n, what in counts if n)}",
        (Unit.MEMORY, *units_named(*writers)),
    )


def _interface(reading: bool) -> str:
    return f"memory interface, {'read' if reading else 'write'} side"


def _of_control(verdict: Verdict) -> Iterator[Suspect]:
    """Yield what interrupts, states and addresses say."""
    bytes_are_right = not verdict.wrong_bytes
    engines = {finding.layer.engine.split("-")[0] for finding in verdict.findings if finding.layer is not None}
    for finding in verdict.failures:
        match finding.detail:
            case Hang() as hang:
                yield _of_hang(hang, [f.layer for f in verdict.wrong_bytes if f.check is Check.MISSING])
            case MissingInterrupt(name=name) if bytes_are_right:
                unit = name.rpartition("_")[0]
                because = "all bytes are right, the interrupt alone is missing"
                yield Suspect(f"done event of {unit},{_answers(unit)} or GLB", because, _of_done(unit))
            case UnexpectedInterrupt(name=name):
                unit = name.rpartition("_")[0]
                named = (*units_named(unit), Unit.GLB)
                yield Suspect(f"done event of {unit}, or GLB", "an interrupt that no layer raises", named)
            case EarlyInterrupt() as early:
                unit = early.name.rpartition("_")[0]
                yield Suspect(
                    f"{unit}, or the answers to writes in the memory interface",
                    "done before its last write was answered",
                    (*units_named(unit), Unit.MEMORY),
                )
            case WrongLine():
                yield Suspect("GLB", "the interrupt line is not what its registers say", (Unit.GLB,))
            case WrongCounter(register=register) if bytes_are_right:
                unit = register.split(".")[0]
                yield Suspect(f"statistics of {unit}", "all bytes are right, a counter is not", units_named(unit))
            case PollExpired(register=register):
                unit = register.split(".")[0]
                because = "the state that is polled never comes"
                yield Suspect(f"{unit}, or what it waits for", because, units_named(unit))
            case EarlyAccess() | Restless():
                because = "memory is accessed without a layer"
                yield Suspect("memory interface, or a unit that does not stop", because, _MEMORY)
            case BadAccess(reading=True, axi_id=number) if _CLIENTS.get(number) in engines or not engines:
                if number in _READERS:
                    because = "it reads where nothing of the layer lies"
                    named = (*units_named(_READERS[number]), Unit.MEMORY)
                    yield Suspect(f"{_READERS[number]}, or the {_interface(True)}", because, named)
            case _:
                pass


def _of_hang(hang: Hang, missing: Sequence[LayerId | None]) -> Suspect:
    if hang.unanswered is not None or hang.csb is not None:
        return Suspect(_CSB, "an access has no answer", (Unit.CSB,))
    for halves in hang.unmatched:
        return _unmatched(halves, [layer.engine for layer in hang.running])
    states = {unit.unit: unit.states for unit in hang.units}
    running = [unit for unit in FLOW if "RUNNING" in states.get(unit, ())]
    if not running:
        waited = list(dict.fromkeys(name.rpartition("_")[0] for name in hang.waiting_for))
        names = ", ".join(waited)
        if not names or states:
            because = "the program waits, and no unit is running"
            return Suspect(", ".join(states) or "unknown", because, units_named(*states))
        lost = [layer for layer in hang.running if layer in missing]
        if lost:
            writer = _writer(lost[0].engine)
            because = "every unit is idle, and not all bytes were written"
            return Suspect(f"{writer}, its writes, or the {_interface(False)}", because, units_named(writer) + _MEMORY)
        because = "every unit is idle, and the interrupt never came"
        return Suspect(f"done event of {names},{_answers(*waited)} or GLB", because, _of_done(*waited))
    first = running[0]
    taking = units_named(*running)
    if hang.requests:
        because = f"{first} waits, and {len(hang.requests)} requests are open"
        return Suspect(f"memory, the memory interface, {first}, or {_rest(running)}", because, (Unit.MEMORY, *taking))
    through = set().union(*(passed(layer.engine) for layer in hang.running))
    # Nothing in a layer comes before its readers, which may well be done.
    after_it = [unit for unit in FLOW[FLOW.index(first) :] if unit in through and not unit.endswith("_RDMA")]
    resting = [unit for unit in after_it if unit not in running]
    if resting:
        waits = "waits for its other group" if resting[0] in states else "is done"
        because = f"{resting[0]} {waits}, and {first} before it is not done"
        return Suspect(f"{resting[0]} or {first}", because, units_named(resting[0], first))
    before = [unit for unit in FLOW[: FLOW.index(first)] if unit in through and unit not in states]
    done = f"; {', '.join(before)} before it {'are' if len(before) > 1 else 'is'} done" if before else ""
    if first.endswith("_RDMA") or first == "CDMA":
        because = f"{first} still reads, and no request is open{done}"
        return Suspect(f"{first}, {_rest(running)}, or the {_interface(True)}", because, (*taking, Unit.MEMORY))
    last = running[-1]
    after = f"{_rest(running)}, or " if len(running) > 1 else "or "
    writes = f"what feeds it, {after}the {_interface(False)}" if last in WRITERS else f"{after}what feeds it"
    named = (*taking, *_MEMORY) if last in WRITERS else taking
    return Suspect(f"{first}, {writes}", f"the first unit that is not done{done}", (*units_named(*before[-1:]), *named))


def _rest(running: Sequence[str]) -> str:
    """Return in words who may not take what the first one hands on."""
    after = running[1:]
    if not after:
        return "what takes its data"
    return f"{after[0]} that takes its data" if len(after) == 1 else "a unit after it that takes no more data"


def _of_done(*units: str) -> tuple[Unit, ...]:
    """Return the units that a missing done event points at."""
    return (*units_named(*units), *(_MEMORY if _answers(*units) else ()), Unit.GLB)


def _answers(*units: str) -> str:
    """Return a further reason why units that write do not end."""
    return " the answers to its writes," if any(unit in WRITERS for unit in units) else ""


def _of_bytes(wrong: Sequence[Finding], explanations: Sequence[Explanation]) -> Suspect | None:
    """Return what wrong bytes say: by the cause or the pattern of the first layer, or by the engines that are wrong."""
    first = explanations[0] if explanations else None
    started = None if first is None else first.evidence.started
    layers = [finding.layer for finding in wrong if finding.layer is not None]
    explained = next((layer.engine for layer in layers if started is not None and layer.index == started.index), None)
    if first is not None and explained is not None and first.causes and not first.causes[0].symptom:
        return _of_cause(first.causes[0], explained, "the probable cause is its work")
    if first is not None and explained is not None and first.causes and first.causes[0].causes[0].name in _OF_PLACES:
        return _of_cause(first.causes[0], explained, _OF_PLACES[first.causes[0].causes[0].name])
    engines = list(dict.fromkeys(layer.engine for layer in layers))
    several = None if _reads_others(explanations) else shared(engines)
    if several is not None:
        return several
    if wrong[0].check is Check.LATE:
        units = units_of(engines[0])
        words = f"{listed(units) if units else engines[0]}, its done event, or GLB"
        return Suspect(words, "done before its data", (*units, Unit.GLB))
    return None if first is None or explained is None else _of_pattern(first, explained)


def _reads_others(explanations: Sequence[Explanation]) -> bool:
    """Return whether a later layer may be wrong because an earlier one is."""
    return any(explanation.evidence.inherits for explanation in explanations)


def _of_cause(fit: Fit, engine: str, because: str) -> Suspect:
    site = fit.variants[0].run.rules.site
    if site is not None:
        tables = (Unit.CDP,) if engine == "CDP" else (_SDP,)
        return Suspect(site.value, because, _OF_SITES.get(site, tables))
    writer = _writer(engine)
    units, source = units_of(engine), _SOURCES.get(engine, engine)
    words = listed(units) if units else engine
    for beginnings, text, places in _OF_CAUSES:
        if fit.causes[0].name.startswith(beginnings):
            roles = {_Role.ALL: units, _Role.SOURCE: units_named(source), _Role.WRITER: units_named(writer)}
            named = [unit for place in places for unit in (roles[place] if isinstance(place, _Role) else (place,))]
            return Suspect(text.format(writer=writer, source=source, units=words), because, tuple(named))
    return Suspect(words, because, units)


def _writer(engine: str) -> str:
    """Return the unit that writes the results of layers of an engine."""
    return "PDP" if engine.endswith("PDP") else "SDP" if engine == "CONV" else engine


def _of_pattern(explanation: Explanation, engine: str) -> Suspect | None:
    """Return what it says which elements of a convolution are wrong, where some of its units are most unlikely.

    Pixels that are wrong in all channels say nothing: control of any unit, a buffer and an address leave them so.
    """
    evidence = explanation.evidence
    wrong = evidence.bad_elements[: evidence.channels]
    channels, pixels = wrong.any(axis=(1, 2)), wrong.any(axis=0)
    if (
        engine not in _COMPUTING
        or not wrong.any()
        or evidence.missing_elements.any()
        or min(channels.size, pixels.size) < 4
    ):
        return None
    count = int(np.count_nonzero(wrong))
    density = count / (int(channels.sum()) * int(pixels.sum()))
    some_channels, some_pixels = float(channels.mean()), float(pixels.mean())
    if some_pixels >= _MANY and some_channels <= _FEW and density >= _DENSE:
        units = units_of(engine)
        because = f"{int(channels.sum())} of {channels.size} channels are wrong, at most pixels"
        return Suspect(f"rather CDMA (weights){listed(units).removeprefix(_CDMA.value)}", because, units)
    if count >= 2 and density <= _SCATTERED and count <= _RARE * wrong.size:
        units = _COMPUTING[engine]
        return Suspect(f"rather arithmetic, of {listed(units)}", f"{count} scattered elements are wrong", units)
    return None
