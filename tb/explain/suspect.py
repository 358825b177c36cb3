"""The unit that the findings of a failed run point at, from their data, and from where in a surface bytes are wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tb.explain.cause import Fit
from tb.explain.text import Explanation
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
from tb.judge.verdict import Verdict
from tb.nvdla.engines import ENGINES


@dataclass(frozen=True)
class Suspect:
    """Units, and the evidence that points at them."""

    units: str
    because: str

    def __str__(self) -> str:
        """Return both in one line."""
        return f"{self.units}: {self.because}"


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

_FLOW = (
    *("BDMA", "RUBIK", "CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC"),
    *("SDP_RDMA", "SDP", "PDP_RDMA", "PDP", "CDP_RDMA", "CDP"),
)
"""Units with registers, in the order in which data pass them."""

_WRITERS = ("BDMA", "RUBIK", "SDP", "PDP", "CDP")

_UNITS = {
    "CONV": "CDMA, CBUF, CSC, CMAC, CACC or SDP",
    "SDP": "SDP_RDMA or SDP",
    "PDP": "PDP_RDMA or PDP",
    "CDP": "CDP_RDMA or CDP",
    "SDP-PDP": "SDP_RDMA, SDP or PDP",
    "CONV-PDP": "CDMA, CBUF, CSC, CMAC, CACC, SDP or PDP",
}
_COMPUTING = {"CONV": "CMAC, CACC, SDP_RDMA or SDP", "CONV-PDP": "CMAC, CACC, SDP_RDMA, SDP or PDP"}
_SOURCES = {"CONV": "CDMA (data)", "SDP": "SDP_RDMA", "PDP": "PDP_RDMA", "CDP": "CDP_RDMA", "SDP-PDP": "SDP_RDMA"}
_VALUES = ("byte-order", "narrow", "bit-order", "negated", "sign-bit", "element-size", "lanes")
_OF_CAUSES = (
    (("conv-mask", "conv-group-size", "conv-kernel-base", "conv-kernel-extension"), "CDMA (weights) or CSC"),
    (("conv-kernel",), "CDMA (weights), CSC, CMAC or CACC"),
    (("conv-input-converter", "conv-mean", "conv-pixel", "conv-x-offset", "conv-image"), "CDMA (data)"),
    (("conv-truncate", "conv-accumulator"), "CACC"),
    (("conv-lane", "conv-sign", "conv-nan"), "CSC, CMAC or CACC"),
    (("conv-padding", "conv-pad-value", "conv-window"), "CDMA (data) or CSC"),
    (("conv-winograd",), "CDMA, CSC, CMAC or CACC"),
    (("conv-",), "CSC"),
    (("stale-buffer",), "CDMA (weights), CBUF or CSC"),
    (("stage-", "y-", "converter-", "prelu"), "SDP"),
    (tuple(f"operand-{kind}" for kind in _VALUES), "SDP_RDMA or SDP"),
    (("operand-",), "SDP_RDMA"),
    (("pool-window", "pool-split", "pool-padding"), "{units}"),
    (("pool-",), "PDP"),
    (("strobe", "misplaced"), "{writer}, its writes, or the memory interface"),
    (("overwritten",), "{writer}, the unit that wrote there then, or the memory interface"),
    (("dst-base", "dst-order", "dst-stuck", "dst-lanes", "bus-lanes"), "{writer}, its writes, or the memory interface"),
    (("dst-",), "{writer}, its writes"),
    (tuple(f"src-{kind}" for kind in _VALUES), "{units}"),
    (("src-",), "{source}"),
)
"""By the beginning of a cause's name, the units whose faults look so."""

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
    return Suspect(_UNITS.get(engine, engine), f"layers of {engine} are wrong")


def shared(engines: Sequence[str]) -> Suspect | None:
    """Return what layers of several engines share that are wrong; None for layers of one engine alone.

    Args:
        engines: By the names that layers have in messages.
    """
    names = list(dict.fromkeys(engines))
    passed = [_passed(name) for name in names]
    if len(names) < 2 or not all(passed):
        return None
    common = [unit for unit in _FLOW if all(unit in units for units in passed)]
    because = f"layers of {', '.join(names)} are wrong"
    if common:
        if "CSC" in common:
            common.insert(common.index("CSC"), "CBUF")
        return Suspect(" or ".join(common), f"{because}, and pass it")
    return Suspect("rather what all units share, as the memory interface", because)


def following(unit: str, engine: str) -> str:
    """Return the units that data of a layer pass after one, in words.

    Args:
        unit: The unit; CMAC_A and CMAC_B pass on what both have computed.
        engine: That of the layer, as it is called in messages.
    """
    passed = _passed(engine)
    later = [name for name in _FLOW[_FLOW.index(unit) + 1 :] if name in passed] if unit in _FLOW else []
    return " or ".join(later) or "the memory interface"


def _passed(name: str) -> set[str]:
    """Return the units that layers pass, by their name in messages."""
    return {unit for engine in ENGINES for chain in engine.chains if chain.name == name for unit in chain.units}


def _of_ports(verdict: Verdict) -> Iterator[Suspect]:
    """Yield what the ports say, whatever was written."""
    details = [finding.detail for finding in verdict.failures]
    for detail in details:
        match detail:
            case Unmatched() as halves:
                yield _unmatched(halves)
            case TooManyOutstanding(reading=reading):
                yield Suspect(_interface(reading), "it lets out more requests than it was told")
            case UnfairTurns(reading=reading):
                because = "turns are not as long as the weights"
                yield Suspect(f"arbiter of the {_interface(reading)}, or the weights that reach it", because)
            case PortViolation():
                yield Suspect("memory interface", "it breaks a rule of its port")
            case NoAnswer() | CsbViolation():
                yield Suspect(_CSB, "an access is not answered as it must be")
            case _:
                pass
    registers = [detail for detail in details if isinstance(detail, WrongRegister)]
    units = sorted({detail.register.split(".")[0] for detail in registers})
    if len(units) == 1:
        names = {detail.register for detail in registers}
        many = f"{len(names)} of its registers read" if len(names) > 1 else "one of its registers reads"
        yield Suspect(
            f"register file of {units[0]}, or the way to it in the CSB master", f"{many} another value than was written"
        )
    elif units:
        yield Suspect(_CSB, f"registers of {', '.join(units)} read other values than were written")


def _unmatched(halves: Unmatched) -> Suspect:
    counts = ((halves.addresses, "addresses without data"), (halves.beats, "data without address"))
    return Suspect(
        f"{_interface(False)}, or the unit that writes",
        f"it sent {' and '.join(f'{n} {what}' for n, what in counts if n)}",
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
                yield _of_hang(hang)
            case MissingInterrupt(name=name) if bytes_are_right:
                unit = name.rpartition("_")[0]
                because = "all bytes are right, the interrupt alone is missing"
                yield Suspect(f"done event of {unit},{_answers(unit)} or GLB", because)
            case UnexpectedInterrupt(name=name):
                yield Suspect(f"done event of {name.rpartition('_')[0]}, or GLB", "an interrupt that no layer raises")
            case EarlyInterrupt() as early:
                unit = early.name.rpartition("_")[0]
                yield Suspect(
                    f"{unit}, or the answers to writes in the memory interface",
                    "done before its last write was answered",
                )
            case WrongLine():
                yield Suspect("GLB", "the interrupt line is not what its registers say")
            case WrongCounter(register=register) if bytes_are_right:
                yield Suspect(f"statistics of {register.split('.')[0]}", "all bytes are right, a counter is not")
            case PollExpired(register=register):
                yield Suspect(f"{register.split('.')[0]}, or what it waits for", "the state that is polled never comes")
            case EarlyAccess() | Restless():
                yield Suspect("memory interface, or a unit that does not stop", "memory is accessed without a layer")
            case BadAccess(reading=True, axi_id=number) if _CLIENTS.get(number) in engines or not engines:
                if number in _READERS:
                    because = "it reads where nothing of the layer lies"
                    yield Suspect(f"{_READERS[number]}, or the {_interface(True)}", because)
            case _:
                pass


def _of_hang(hang: Hang) -> Suspect:
    if hang.unanswered is not None or hang.csb is not None:
        return Suspect(_CSB, "an access has no answer")
    for halves in hang.unmatched:
        return _unmatched(halves)
    states = {unit.unit: unit.states for unit in hang.units}
    running = [unit for unit in _FLOW if "RUNNING" in states.get(unit, ())]
    if not running:
        waited = list(dict.fromkeys(name.rpartition("_")[0] for name in hang.waiting_for))
        names = ", ".join(waited)
        if not names or states:
            return Suspect(", ".join(states) or "unknown", "the program waits, and no unit is running")
        because = "every unit is idle, and the interrupt never came"
        return Suspect(f"done event of {names},{_answers(*waited)} or GLB", because)
    first = running[0]
    if hang.requests:
        because = f"{first} waits, and {len(hang.requests)} requests are open"
        return Suspect(f"memory, the memory interface, {first}, or {_rest(running)}", because)
    passed = set().union(*(_passed(layer.engine) for layer in hang.running))
    resting = [unit for unit in _FLOW[_FLOW.index(first) :] if unit in passed and unit not in running]
    if resting:
        waits = "waits for its other group" if resting[0] in states else "is done"
        return Suspect(f"{resting[0]} or {first}", f"{resting[0]} {waits}, and {first} before it is not done")
    before = [unit for unit in _FLOW[: _FLOW.index(first)] if unit in passed and unit not in states]
    done = f"; {', '.join(before)} before it {'are' if len(before) > 1 else 'is'} done" if before else ""
    if first.endswith("_RDMA") or first == "CDMA":
        because = f"{first} still reads, and no request is open{done}"
        return Suspect(f"{first}, {_rest(running)}, or the {_interface(True)}", because)
    last = running[-1]
    after = f"{_rest(running)}, or " if len(running) > 1 else "or "
    writes = f"what feeds it, {after}the {_interface(False)}" if last in _WRITERS else f"{after}what feeds it"
    return Suspect(f"{first}, {writes}", f"the first unit that is not done{done}")


def _rest(running: Sequence[str]) -> str:
    """Return in words who may not take what the first one hands on."""
    after = running[1:]
    if not after:
        return "what takes its data"
    return f"{after[0]} that takes its data" if len(after) == 1 else "a unit after it that takes no more data"


def _answers(*units: str) -> str:
    """Return a further reason why units that write do not end."""
    return " the answers to its writes," if any(unit in _WRITERS for unit in units) else ""


def _of_bytes(wrong: Sequence[Finding], explanations: Sequence[Explanation]) -> Suspect | None:
    """Return what wrong bytes say: by the cause or the pattern of the first layer, or by the engines that are wrong."""
    first = explanations[0] if explanations else None
    started = None if first is None else first.evidence.started
    layers = [finding.layer for finding in wrong if finding.layer is not None]
    explained = next((layer.engine for layer in layers if started is not None and layer.index == started.index), None)
    if first is not None and explained is not None and first.causes and not first.causes[0].symptom:
        return Suspect(_of_cause(first.causes[0], explained), "the probable cause is its work")
    if first is not None and explained is not None and first.causes and first.causes[0].causes[0].name in _OF_PLACES:
        return Suspect(_of_cause(first.causes[0], explained), _OF_PLACES[first.causes[0].causes[0].name])
    engines = list(dict.fromkeys(layer.engine for layer in layers))
    several = None if _reads_others(explanations) else shared(engines)
    if several is not None:
        return several
    if wrong[0].check is Check.LATE:
        units = f"{_UNITS.get(engines[0], engines[0])}, its done event, or GLB"
        return Suspect(units, "done before its data")
    return None if first is None or explained is None else _of_pattern(first, explained)


def _reads_others(explanations: Sequence[Explanation]) -> bool:
    """Return whether a later layer may be wrong because an earlier one is."""
    return any(explanation.evidence.inherits for explanation in explanations)


def _of_cause(fit: Fit, engine: str) -> str:
    site = fit.variants[0].run.rules.site
    if site is not None:
        return site.value
    writer = "PDP" if engine.endswith("PDP") else "SDP" if engine == "CONV" else engine
    for beginnings, unit in _OF_CAUSES:
        if fit.causes[0].name.startswith(beginnings):
            units = _UNITS.get(engine, engine)
            return unit.format(writer=writer, source=_SOURCES.get(engine, engine), units=units)
    return _UNITS.get(engine, engine)


def _of_pattern(explanation: Explanation, engine: str) -> Suspect | None:
    """Return what it says which elements of a convolution are wrong, where some of its units are most unlikely.

    Pixels that are wrong in all channels say nothing: control of any unit, a buffer and an address leave them so.
    """
    where = explanation.where
    wrong = where.wrong[: where.real]
    channels, pixels = wrong.any(axis=(1, 2)), wrong.any(axis=0)
    if engine not in _COMPUTING or not wrong.any() or where.missing.any() or min(channels.size, pixels.size) < 4:
        return None
    count = int(np.count_nonzero(wrong))
    density = count / (int(channels.sum()) * int(pixels.sum()))
    some_channels, some_pixels = float(channels.mean()), float(pixels.mean())
    if some_pixels >= _MANY and some_channels <= _FEW and density >= _DENSE:
        units = f"CDMA (weights){_UNITS[engine].removeprefix('CDMA')}"
        return Suspect(
            f"rather {units}", f"{int(channels.sum())} of {channels.size} channels are wrong, at most pixels"
        )
    if count >= 2 and density <= _SCATTERED and count <= _RARE * wrong.size:
        return Suspect(f"rather arithmetic, of {_COMPUTING[engine]}", f"{count} scattered elements are wrong")
    return None
